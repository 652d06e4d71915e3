// `orrery serve`: the server.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/limits.h"
#include "cli/node_options.h"
#include "cli/volumes.h"
#include "face/settings.h"

namespace orrery::cosmos {
class Entra;
}

namespace orrery::cli {

struct ServeOptions {
  std::string data = "./orrery-data";
  VolumeOptions volume;
  NodeOptions node;
  std::string address = "127.0.0.1";
  uint16_t port = 8081;  // of the main face, and of the pages of no face
  // The other ports of faces, by their names; those that are not here are off.
  std::map<std::string, uint16_t, std::less<>> face_ports;
  bool all_faces = false;            // those at their usual numbers instead, where these are free
  face::GivenOptions face_options;   // that faces declare (faces.h)
  std::optional<uint16_t> ops_port;  // of the pages of no face alone
  bool dev = false;
  bool no_console = false;
  std::string version;              // of the program
  std::vector<std::string> limits;  // NAME=VALUE
  std::string certificate;
  std::string private_key;
  std::string throttling;  // on, report; empty: on, or report with dev
  std::string durability = "sync";
  uint32_t replica_staleness_ms = 5000;
  std::string account = "orrery";
  std::string region = "Local";
  std::string entra;  // a file: who may sign in by tokens of an issuer; empty: nobody
  std::shared_ptr<cosmos::Entra> sign_in;  // what that file says; set by serve()
  std::string log_level = "info";
  std::string log_format = "text";
  uint32_t threads = 0;
  uint32_t grace_s = 30;
};

// Serves until SIGTERM or SIGINT. Returns the process's exit code.
int serve(const ServeOptions& options);

}  // namespace orrery::cli

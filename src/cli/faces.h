// The registry of faces. Adding a face adds a line in faces.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/serve.h"
#include "cluster/engine_options.h"
#include "face/face.h"

namespace orrery::cli {

struct KnownFace {
  std::string_view name;  // of --NAME-port and of the section in a configuration file
  uint16_t usual_port;    // with --all-faces
  std::string_view help;  // of --NAME-port
  // Checks the face's own options. Code::invalid when one has a value that the face does not know.
  Status (*check)(const ServeOptions& options);
  std::unique_ptr<face::Face> (*make)(const face::Context& context, const ServeOptions& options);
  // How a request that HTTP itself refuses is answered: net::HttpLimits has it. Null: as usual.
  std::string (*http_error)(int status, std::string_view message) = nullptr;
};

// The first is the one on the main port, --port, and always there.
std::span<const KnownFace> known_faces();

// How faces store items that are not JSON, by the names that their containers have for it. All of
// them are known whichever faces are on: the main one shows what others have.
using Codecs = decltype(cluster::EngineOptions::codecs);
Codecs face_codecs();

}  // namespace orrery::cli

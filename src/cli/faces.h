// The registry: which faces there are. One more is one more line in faces.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "cli/serve.h"
#include "face/face.h"

namespace orrery::cli {

struct KnownFace {
  std::string_view name;  // of --NAME-port and of the section in a configuration file
  uint16_t usual_port;    // with --all-faces
  std::string_view help;  // of --NAME-port
  // Code::invalid when an option of its own has no such value.
  Status (*check)(const ServeOptions& options);
  std::unique_ptr<face::Face> (*make)(const face::Context& context, const ServeOptions& options);
};

// The first is the one on the main port, --port, and always there.
std::span<const KnownFace> known_faces();

}  // namespace orrery::cli

// The registry of faces. Adding a face adds a line in faces.cc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/serve.h"
#include "cluster/engine_options.h"
#include "face/face.h"
#include "face/settings.h"

namespace orrery::cli {

struct KnownFace {
  std::string_view name;              // in options, and of the section in a configuration file
  std::span<const face::Port> ports;  // it is on when the first is
  std::span<const face::Option> options;
  std::unique_ptr<face::Face> (*make)(const face::Context& context, const ServeOptions& options,
                                      const face::OptionValues& values);
  // How a request that HTTP itself refuses is answered: net::HttpLimits has it. Null: as usual.
  std::string (*http_error)(int status, std::string_view message) = nullptr;
};

// The first is the one on the main port, --port, and always there.
std::span<const KnownFace> known_faces();

// Code::invalid when one has a value that the face does not take.
Result<face::OptionValues> option_values(const KnownFace& known, const ServeOptions& options);
// With options that were found good.
std::unique_ptr<face::Face> make_face(const KnownFace& known, const face::Context& context,
                                      const ServeOptions& options);

// How faces store items that are not JSON, by the names that their containers have for it. All of
// them are known whichever faces are on: the main one shows what others have.
using Codecs = decltype(cluster::EngineOptions::codecs);
Codecs face_codecs();

}  // namespace orrery::cli

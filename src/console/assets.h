// The files of the web page, which are part of the program. CMake has them made from console/ by
// console/build.mjs, which also writes the table of them.
//
// Immutable; any thread may call.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace orrery::console {

struct Asset {
  std::string_view path;  // below /console/: assets/app-1A2B3C4D.js; empty for the page itself
  std::string_view type;  // its content type
  bool gzipped = false;
  std::string_view bytes;
};

// All of them, as the build wrote them down.
std::span<const Asset> assets();
// The one with exactly this path. Nothing of the file system is looked at, so a path cannot lead
// anywhere else.
const Asset* find_asset(std::string_view path);

}  // namespace orrery::console

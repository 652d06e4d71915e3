// See assets.h.
#include "console/assets.h"

#include <algorithm>

namespace orrery::console {

const Asset* find_asset(std::string_view path) {
  const std::span<const Asset> all = assets();
  const auto found = std::ranges::find(all, path, &Asset::path);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace orrery::console

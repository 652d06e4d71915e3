// See volume.h.
#include "volume/volume.h"

#include <algorithm>

namespace orrery::volume {

bool is_valid_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

}  // namespace orrery::volume

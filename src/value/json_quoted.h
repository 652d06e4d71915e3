// A string as JSON, for texts that are put together from parts.
#pragma once

#include <string>
#include <string_view>

#include "value/json.h"

namespace orrery::value {

// With its quotes and escapes. `text` is UTF-8.
inline std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

}  // namespace orrery::value

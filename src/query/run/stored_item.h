// A stored body as values, by its container's codec.
#pragma once

#include <string_view>

#include "base/result.h"
#include "value/codec.h"

namespace orrery::query {

inline Result<value::Document> parse_stored(const value::Codec& codec, std::string_view body) {
  auto item = codec.parse(body);
  if (item || item.error().code == Code::unsupported) return item;
  return fail(Code::corrupt, "a stored item cannot be read: " + item.error().message);
}

}  // namespace orrery::query

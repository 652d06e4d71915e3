// See feed_bounds.h. Several headers at once narrow one another.
#include "api/cosmos/wire/feed_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/cosmos/wire/error_body.h"
#include "api/cosmos/wire/partition_key_header.h"
#include "base/bytes.h"
#include "value/placement.h"

namespace orrery::cosmos {

std::optional<KeyBounds> range_bounds(const catalog::PartitionMap& map, uint32_t id,
                                      GoneRange gone) {
  const auto there = std::ranges::find(map.ranges, id, &catalog::PartitionRange::id);
  if (there != map.ranges.end()) return KeyBounds{.min = there->min, .max = there->max};
  if (gone == GoneRange::refuse) return std::nullopt;
  std::optional<KeyBounds> bounds;
  if (auto known = map.bounds_of(id)) {
    bounds = KeyBounds{.min = std::move(known->min), .max = std::move(known->max)};
  }
  // Too long ago. What was merged since may have keys that the range did not have.
  if (bounds || !map.merges.empty()) return bounds;
  for (const catalog::PartitionRange& range : map.ranges) {
    if (std::ranges::find(range.parents, id) == range.parents.end()) continue;
    // Children lie side by side.
    if (!bounds) bounds = KeyBounds{.min = range.min, .max = {}};
    bounds->max = range.max;
  }
  return bounds;
}

std::expected<KeyBounds, Refusal> bounds_of(const RequestHeaders& headers,
                                            const catalog::Container& container,
                                            const Limits& limits, GoneRange gone) {
  KeyBounds bounds;
  if (!headers.partition_key.empty()) {
    auto key = parse_key_header(headers.partition_key);
    if (!key) return std::unexpected(Refusal{key.error()});
    if (auto checked = check_key_values(*key, limits); !checked) {
      return std::unexpected(Refusal{checked.error()});
    }
    if (auto checked = check_levels(container.spec.key, *key, true); !checked) {
      return std::unexpected(Refusal{checked.error()});
    }
    value::KeyScope scope = value::place_prefix(container.spec.key, *key);
    bounds.narrow(scope.min, scope.max);
    bounds.only = std::move(scope.only);
  }
  if (!headers.partition_key_range.empty()) {
    // Clients may send "rid,id".
    std::string_view text = headers.partition_key_range;
    if (size_t comma = text.rfind(','); comma != std::string_view::npos) {
      text.remove_prefix(comma + 1);
    }
    uint32_t id = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc() || end != text.data() + text.size()) {
      return std::unexpected(Refusal{{.code = Code::invalid,
                                      .message = fmt::format("'{}' is not a partition key range",
                                                             headers.partition_key_range)}});
    }
    auto named = range_bounds(*container.map, id, gone);
    if (!named) {
      return std::unexpected(
          Refusal{{.code = Code::moved,
                   .message = fmt::format("partition key range {} is gone: it was split or merged. "
                                          "Read the ranges again and go on in its children",
                                          id)},
                  kSubstatusRangeGone});
    }
    bounds.narrow(named->min, named->max);
  }
  for (std::string_view epk : {headers.start_epk, headers.end_epk}) {
    if (epk.empty()) continue;
    auto placement = from_hex(epk);
    if (!placement) {
      return std::unexpected(Refusal{
          {.code = Code::invalid,
           .message = fmt::format("'{}' is not an effective partition key in hexadecimal", epk)}});
    }
    if (epk.data() == headers.start_epk.data()) {
      bounds.narrow(*placement, value::placement_max());
    } else {
      bounds.narrow(value::placement_min(), *placement);
    }
  }
  return bounds;
}

}  // namespace orrery::cosmos

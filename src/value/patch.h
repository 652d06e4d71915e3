// Partial changes to a JSON document: operations on the places that JSON pointers (RFC 6901) name,
// in the manner of JSON Patch (RFC 6902).
//
//   add        an object's member is put, or replaced; in an array, a new element goes before the
//              one at the index, or after the last one at the index that is its size, or at `-`
//   set        as add, but an array's element is replaced
//   replace    as set, but something must be there
//   remove     what is there; elements behind it move up
//   increment  a number by a number; one that is not there counts as 0
//   move       remove at `from`, then add at `path`, which must not lie below `from`
// The parent of the target must exist. The root cannot be the target.
//
// Whole numbers stay whole and exact as long as they fit into 64 bits.
//
// Pure; any thread may call. What is not touched keeps its spelling.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "value/json.h"

namespace orrery::value {

inline constexpr size_t kMaxPointerSteps = 256;

// The steps of a pointer, unescaped: `/a~1b/0` is {"a/b", "0"}.
using Pointer = std::vector<std::string>;
Result<Pointer> parse_pointer(std::string_view text);
std::string to_string(const Pointer& pointer);
// Whether `pointer` is `above`, or names something inside of it.
bool is_within(const Pointer& pointer, const Pointer& above);

struct PatchOperation {
  enum class Kind : uint8_t { add, set, replace, remove, increment, move };
  Kind kind = Kind::add;
  Pointer path;
  Pointer from;                       // of a move
  std::optional<JsonDocument> value;  // of all but remove and move; a number for increment
};
std::string_view to_string(PatchOperation::Kind kind);

// The text of the changed document. The operations apply in order, all or none; an error tells
// which one failed. The result may nest deeper than kMaxDepth: whoever keeps it parses it.
Result<std::string> apply_patch(const Node& document, std::span<const PatchOperation> operations);

}  // namespace orrery::value

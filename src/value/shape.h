// The shape of an item: the set of paths it has terms for, whatever their values. A partition has
// few distinct shapes, and each is a term of its items. So a query for items that lack a path reads
// the terms of the shapes without it. The terms of the path itself cannot answer that.
//
//   shape  = the term paths (terms.h) without array steps, in order, one after the other. An
//            array's own path counts; what is in it does not.
//   term   = 04 + 8 bytes: the hash of the shape, or FF FF FF FF FF FF FF FF for all other shapes:
//            those that are too large, and those that a partition has no room to remember
//
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace orrery::value {

inline constexpr char kShapeLead = 0x04;
inline constexpr size_t kShapeTermBytes = 9;
inline constexpr size_t kMaxShapePaths = 200;
inline constexpr size_t kMaxShapeBytes = 8192;
inline constexpr uint64_t kOtherShapes = UINT64_MAX;

// Of an item with these terms, which must be sorted; nothing when it is too large.
std::optional<std::string> shape_of(std::span<const std::string_view> terms);
// Never kOtherShapes. Different shapes may have the same: whoever relies on it compares them.
uint64_t shape_hash(std::string_view shape);
std::string shape_term(uint64_t hash);

// The paths of a shape, as views into it. Code::corrupt when it is none.
Result<std::vector<std::string_view>> shape_paths(std::string_view shape);

}  // namespace orrery::value

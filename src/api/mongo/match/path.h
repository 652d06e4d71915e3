// A dotted path of a filter, and what it leads to in a document. Arrays on the way are entered
// without being named: "a.b" leads to the b of every document in the array a. A component that is a
// number leads to that element of an array as well.
//
// Immutable; any thread may call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "value/value.h"

namespace orrery::mongo {

using value::Value;

// The number that a path's component is: "0", "12"; nothing for "01", "-1", "a".
std::optional<size_t> index_of(std::string_view component);
std::vector<std::string> split_path(std::string_view path);

class MatchPath {
 public:
  // What to do with an array at the end of the path.
  enum class Leaf : uint8_t {
    each_and_whole,  // each element, then the array itself
    whole,           // the array itself
  };
  static constexpr size_t kNoIndex = SIZE_MAX;

  MatchPath() = default;  // of the value itself
  explicit MatchPath(std::string_view path);

  // Gives what the path leads to, one after the other, until the visitor answers true; then the
  // answer is true. Undefined stands for a document in which it leads nowhere. The index is that of
  // the first array that was entered without being named, else kNoIndex.
  template <class Visitor>
  bool visit(const Value& document, Leaf leaf, const Visitor& visitor) const {
    return walk(document, 0, leaf, kNoIndex,
                Visit{&visitor, [](const void* self, const Value& value, size_t index) {
                        return (*static_cast<const Visitor*>(self))(value, index);
                      }});
  }

  const std::string& text() const { return text_; }
  const std::vector<std::string>& components() const { return components_; }

 private:
  struct Visit {
    const void* self;
    bool (*call)(const void* self, const Value& value, size_t index);
    bool operator()(const Value& value, size_t index) const { return call(self, value, index); }
  };
  bool walk(const Value& value, size_t depth, Leaf leaf, size_t index, const Visit& visit) const;
  bool walk_array(const Value& array, size_t depth, Leaf leaf, size_t index,
                  const Visit& visit) const;
  bool end(const Value& value, Leaf leaf, size_t index, const Visit& visit) const;

  std::string text_;
  std::vector<std::string> components_;
  std::vector<std::optional<size_t>> numbers_;  // of the components
};

}  // namespace orrery::mongo

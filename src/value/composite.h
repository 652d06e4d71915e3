// Composite terms: the values of several paths in one term, so that the index has items in the
// order of all of them together. Every item has exactly one term for each composite index.
//
//   term       = 05 id component… 7F
//   id         = 8 bytes of hash of the paths and their directions
//   component  = the value (term_value.h); where there is none, the tag of undefined, or of null in
//                the typed order. All bytes inverted where the order is descending.
//
// So byte order is the order of the composite index. The tag of a component tells its direction.
// Long texts are cut as in other terms, so those with the same first bytes tie. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "value/path.h"
#include "value/value.h"

namespace orrery::value {

inline constexpr char kCompositeLead = 0x05;
inline constexpr char kCompositeEnd = 0x7F;
inline constexpr size_t kCompositeIdBytes = 8;

struct CompositeIndex {
  struct Part {
    Path path;
    bool descending = false;
    bool operator==(const Part&) const = default;
  };
  std::vector<Part> parts;
  bool operator==(const CompositeIndex&) const = default;
};

// Terms from `from` up to but not including `to`.
struct CompositeRange {
  std::string from;
  std::string to;
  // False: there may be other values in it too.
  bool is_exact = true;
};

// Builds index ranges for readers. First fix() the values of the leading parts, in their order;
// then ask for a range of the part after them.
class CompositeTerms {
 public:
  explicit CompositeTerms(const CompositeIndex& index, ValueOrder order = ValueOrder::json);

  // What all terms of the index start with.
  static std::string prefix(const CompositeIndex& index);
  // The term of an item: what is to be put after the prefix.
  static void append(std::string& out, const CompositeIndex& index, const Node& item,
                     ValueOrder order = ValueOrder::json);

  // One component of it.
  static void append_part(std::string& out, const CompositeIndex::Part& part, const Node& item,
                          ValueOrder order);

  // The next part must be this value (or undefined). There must be one left.
  void fix(const Value& value);
  size_t fixed() const { return fixed_; }

  // All items with the fixed values.
  CompositeRange all() const;
  // The next part is between two values of one type; without one of them, up to the end of the
  // other's type. At least one must be given, and be neither array nor object.
  struct Edge {
    Value value;
    bool inclusive = true;
  };
  CompositeRange between(const std::optional<Edge>& low, const std::optional<Edge>& high) const;
  // The next part is of this type; a string that starts so.
  CompositeRange of_type(Type type) const;
  CompositeRange starting_with(std::string_view text) const;

  // The parts of a term of this index.
  struct Component {
    Type type = Type::undefined;
    Value value;           // undefined when the term does not tell it
    bool is_exact = true;  // false for arrays, objects, texts that were cut, and in the typed order
  };
  Result<std::vector<Component>> decode(std::string_view term) const;

 private:
  CompositeRange range(std::string_view low, bool low_inclusive, std::string_view high,
                       bool high_inclusive) const;

  CompositeIndex index_;
  ValueOrder order_;
  std::string prefix_;  // with the fixed values
  size_t fixed_ = 0;
  bool is_exact_ = true;
};

// The prefix that a term shares with all terms that tie with it. That is the whole term, unless a
// component does not tell the order: an array or an object in the json order, or a text that was
// cut. Then it ends within the first such component.
std::string_view composite_run(std::string_view term);

// How many bytes at the front of `key` are one composite term; 0 when they are none.
size_t composite_term_size(std::string_view key);

}  // namespace orrery::value

// Which index terms of one path hold the values for which a comparison is true: sorted, disjoint
// ranges of terms, in the order that the index declares. Pure. The bytes of terms are in
// value/terms.h.
//
// Comparisons stay within a type, as in the language: `> 5` is about numbers only.
//
// IN, or a chain of ORs, can have some 100,000 ranges: merging n of them takes n log n.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "query/functions/operators.h"
#include "query/plan/item_view.h"
#include "value/path.h"
#include "value/value.h"

namespace orrery::query {

struct TermRanges {
  std::vector<TermRange> ranges;
  // False: the ranges hold entries of other values as well. (In the json order arrays have one term
  // in common, objects too; long strings with a common prefix can share a range.)
  bool is_exact = true;
  bool operator==(const TermRanges&) const = default;
};

class PathTerms {
 public:
  PathTerms(const value::Path& path, value::ValueOrder order);

  TermRanges all() const;
  TermRanges of_type(value::Type type) const;
  // All but arrays and objects.
  TermRanges primitives() const;
  // Arrays and objects, in one range.
  TermRanges collections() const;
  // Numbers that are none: nothing compares with them. JSON has none.
  TermRanges not_a_number() const;
  // equal, not_equal, less, less_or_equal, greater, greater_or_equal. Nothing for undefined.
  TermRanges compared(Binary comparison, const value::Value& constant) const;
  TermRanges starting_with(std::string_view prefix) const;

  // The one term of a value; of no undefined one.
  std::string term(const value::Value& constant) const;

 private:
  bool is_cut(std::string_view term) const;
  TermRange tagged(char first, char last) const;
  TermRanges less(const value::Value& constant, bool or_equal) const;
  TermRanges greater(const value::Value& constant, bool or_equal) const;

  std::string path_;
  value::ValueOrder order_;
};

// The set difference; exact only if both are. When `b` is not exact the result has all ranges of
// `a`.
TermRanges without(const TermRanges& a, const TermRanges& b);
TermRanges union_of(std::vector<TermRanges> sets);
TermRanges common_of(std::vector<TermRanges> sets);  // of at least one
TermRanges both(const TermRanges& a, const TermRanges& b);

// Whether the range is that of one term.
bool is_point(const TermRange& range);

// The value that a term holds; undefined where it does not (arrays, objects, long strings, numbers
// of the typed order that are not doubles, binary, regular expressions and code). A number may be
// of another kind than the item's. `path_size` is how many bytes of the term are its path.
value::Value value_of_term(std::string_view term, size_t path_size);

}  // namespace orrery::query

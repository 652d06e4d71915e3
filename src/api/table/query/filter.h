// $filter: parsed to a tree, asked of entities, and read for the keys that can match at all.
//
//   filter      = and-chain ("or" and-chain)*
//   and-chain   = term ("and" term)*
//   term        = "not" term | "(" filter ")" | true | false | comparison
//   comparison  = name op literal | literal op name | literal op literal
//   op          = eq ne gt ge lt le
//   literal     = 'it''s' | 12 | 12L | 1.5 | true | datetime'…' | guid'…' | X'0aff' | binary'0aff'
// "not" binds tighter than a comparison's neighbours: not a eq 1 and b eq 2 is (not (a eq 1)) and
// (b eq 2). Words and prefixes of literals have any case; no space is needed around parentheses.
//
// A comparison with a property that is missing, or of another type, is false, `ne` too. Numbers
// are one type here and compare by their exact values. Strings, GUIDs and binaries compare by
// their bytes.
//
// Pure; any thread may call. Input from outside: the nesting is bounded, chains are lists and not
// nested, so the work is linear in the size of the text.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/table/entities/entity.h"
#include "api/table/service/table_error.h"

namespace orrery::table {

enum class Comparison : uint8_t { eq, ne, gt, ge, lt, le };
// The same with its sides exchanged; and what is true when this is not.
Comparison mirrored(Comparison comparison);
Comparison negated(Comparison comparison);

// A value that owns its bytes.
struct Literal {
  EdmValue value;    // `bytes` is not set: see text
  std::string text;  // of strings, GUIDs, binaries
};

struct Filter {
  enum class Kind : uint8_t { constant, compare, all_of, any_of, negation };

  Kind kind = Kind::constant;
  bool constant = true;
  Comparison comparison = Comparison::eq;
  std::string name;  // of the property
  Literal literal;
  std::vector<Filter> parts;  // of all_of, any_of, negation (one)
};

inline constexpr int kFilterDepthMax = 100;

// An empty text matches everything.
TableResult<Filter> parse_filter(std::string_view text);

// The property of a name; null when it is missing. What it gives must stay in place for the call.
using FindProperty = std::function<const EdmValue*(std::string_view name)>;
bool matches(const Filter& filter, const FindProperty& find);

// Of a stored entity. False also when it cannot be read.
bool matches_entity(const Filter& filter, std::string_view stored);

bool compare(const EdmValue& left, Comparison comparison, const EdmValue& right);

}  // namespace orrery::table

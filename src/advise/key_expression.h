// A partition key as the advisor names it:
//   /a                          a property
//   day(/ts), month(/ts)        the period of a time, as text (hour(/ts) too)
//   join(/a,/b), join(/a,day(/ts))  one string that the client makes when it writes
//   suffix(/a,n)                /a and a number below n, made from a hash of the id
//   hier(/a,/b,/c)              a hierarchical key; each level a property, a period or a join
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "advise/time_value.h"
#include "advise/values.h"
#include "base/result.h"

namespace orrery::advise {

struct KeyPart {
  uint32_t path = 0;
  Period period = Period::none;
  bool operator==(const KeyPart&) const = default;
};

struct KeyLevel {
  std::vector<KeyPart> parts;  // one, or those of a join
  uint32_t suffix = 0;         // 0: none
  bool operator==(const KeyLevel&) const = default;
};

struct KeyExpression {
  std::vector<KeyLevel> levels;
  bool operator==(const KeyExpression&) const = default;

  bool is_hierarchy() const { return levels.size() > 1; }
  bool has_period() const;
  bool has_suffix() const;
  size_t parts() const;  // a suffix counts as one
  // Whether this key has all parts of `simpler` and more.
  bool extends(const KeyExpression& simpler) const;
};

KeyExpression single_key(uint32_t path);
std::string to_text(const KeyExpression& key, const PathTable& paths);
Result<KeyExpression> parse_key(std::string_view text, PathTable& paths);

}  // namespace orrery::advise

// A collation: how strings of a language compare, by ICU. What has none compares strings by their
// bytes, which is given as a null pointer.
//
// Immutable; any thread may call.
#pragma once

#include <compare>
#include <memory>
#include <string>
#include <string_view>

#include "api/mongo/bson/error.h"
#include "value/value.h"

namespace orrery::mongo {

class Collation {
 public:
  // Of {locale, strength, caseLevel, caseFirst, numericOrdering, alternate, maxVariable, backwards,
  // normalization}. Null for the locale "simple".
  static Answer<std::shared_ptr<const Collation>> parse(const value::Value& spec);

  ~Collation();
  std::strong_ordering compare(std::string_view a, std::string_view b) const;
  // Strings that compare equal have equal keys, and keys compare as the strings do.
  std::string key(std::string_view text) const;
  // The whole specification with the defaults filled in.
  const value::Value& spec() const { return spec_; }

 private:
  struct Impl;
  explicit Collation(std::unique_ptr<Impl> impl, value::Value spec);
  std::unique_ptr<Impl> impl_;
  value::Value spec_;
};

}  // namespace orrery::mongo

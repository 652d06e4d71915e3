// Regular expressions of MongoDB's language: PCRE2 over UTF-8, options i, m, s, x (and u, which is
// ignored). Matching is bounded by PCRE2's match limit.
//
// Immutable once compiled; any thread may call.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/mongo/bson/error.h"

namespace orrery::mongo {

class Regex {
 public:
  struct Group {
    bool is_set = false;
    size_t start = 0;  // bytes
    size_t end = 0;
  };
  // The whole match first, then the capture groups.
  using Groups = std::vector<Group>;

  // Fails with 51091 (invalid expression) or 51108 (invalid options).
  static Answer<Regex> compile(std::string_view pattern, std::string_view options);

  // Whether it is found anywhere. A subject that is not UTF-8 has no match; beyond the match limit
  // it is an error.
  Answer<bool> matches(std::string_view subject) const;
  Answer<std::optional<Groups>> find(std::string_view subject, size_t start) const;
  size_t groups() const;

 private:
  struct Impl;
  explicit Regex(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace orrery::mongo

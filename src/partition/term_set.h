// The distinct terms of one item, in order: what its entries in the index are. Used by the writer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "value/json.h"
#include "value/shape.h"
#include "value/terms.h"

namespace orrery::partition {

class TermSet {
 public:
  static TermSet of(const value::Node& item, const value::IndexPolicy& policy) {
    TermSet set;
    std::vector<std::pair<size_t, size_t>> places;
    policy.each_term(item, [&](std::string_view term) {
      places.emplace_back(set.bytes_.size(), term.size());
      set.bytes_ += term;
    });
    set.bytes_.append(value::kShapeTermBytes, '\0');  // where add_shape() puts it
    set.terms_.reserve(places.size() + 1);
    for (auto [at, size] : places) set.terms_.emplace_back(set.bytes_.data() + at, size);
    std::ranges::sort(set.terms_);
    auto repeated = std::ranges::unique(set.terms_);
    set.terms_.erase(repeated.begin(), repeated.end());
    return set;
  }
  TermSet() = default;
  TermSet(TermSet&& other) noexcept { *this = std::move(other); }
  TermSet& operator=(TermSet&& other) noexcept {
    // Short buffers move their bytes: the views have to follow.
    const char* before = other.bytes_.data();
    bytes_ = std::move(other.bytes_);
    terms_ = std::move(other.terms_);
    for (auto& term : terms_) term = {bytes_.data() + (term.data() - before), term.size()};
    return *this;
  }
  const std::vector<std::string_view>& terms() const { return terms_; }
  void add_shape(uint64_t hash) {
    char* at = bytes_.data() + bytes_.size() - value::kShapeTermBytes;
    value::shape_term(hash).copy(at, value::kShapeTermBytes);
    const std::string_view term(at, value::kShapeTermBytes);
    terms_.insert(std::ranges::lower_bound(terms_, term), term);
  }

 private:
  std::string bytes_;
  std::vector<std::string_view> terms_;
};

}  // namespace orrery::partition

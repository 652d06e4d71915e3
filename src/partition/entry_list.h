// Index entries in the order of their bytes, kept in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::partition {

class EntryList {
 public:
  // They are added in order.
  void add(std::string_view entry) {
    bytes_ += entry;
    ends_.push_back(bytes_.size());
  }
  size_t size() const { return ends_.size(); }
  std::string_view at(size_t i) const {
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(begin, ends_[i] - begin);
  }
  // The first that is not before this one.
  size_t find(std::string_view entry) const {
    const auto all = std::views::iota(size_t{0}, size());
    const auto found = std::ranges::lower_bound(all, entry, {}, [this](size_t i) { return at(i); });
    return static_cast<size_t>(found - all.begin());
  }
  size_t bytes() const { return bytes_.capacity() + ends_.capacity() * sizeof(size_t); }

 private:
  std::string bytes_;
  std::vector<size_t> ends_;
};

}  // namespace orrery::partition

// Many strings in one piece of memory, one after the other.
#pragma once

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

class StringList {
 public:
  void push_back(std::string_view text) {
    bytes_ += text;
    ends_.push_back(bytes_.size());
  }
  void reserve(size_t count, size_t bytes) {
    ends_.reserve(count);
    bytes_.reserve(bytes);
  }
  size_t size() const { return ends_.size(); }
  bool empty() const { return ends_.empty(); }
  // Valid until one is added.
  std::string_view operator[](size_t i) const {
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(begin, ends_[i] - begin);
  }
  std::string_view front() const { return (*this)[0]; }
  std::string_view back() const { return (*this)[size() - 1]; }
  std::vector<std::string> strings() const { return {begin(), end()}; }

  // Of all strings together.
  size_t bytes() const { return bytes_.size(); }
  // What it takes, beside itself.
  size_t memory() const { return bytes_.capacity() + ends_.capacity() * sizeof(size_t); }

  class Iterator {
   public:
    using value_type = std::string_view;
    using reference = std::string_view;
    using pointer = void;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::forward_iterator_tag;

    Iterator() = default;
    Iterator(const StringList& list, size_t at) : list_(&list), at_(at) {}
    std::string_view operator*() const { return (*list_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return {*list_, at_++}; }
    bool operator==(const Iterator&) const = default;

   private:
    const StringList* list_ = nullptr;
    size_t at_ = 0;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

 private:
  std::string bytes_;
  std::vector<size_t> ends_;
};

}  // namespace orrery

// What the standard library of this compiler lacks, or gives only with a deprecated allocation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace orrery::advise {

template <class Range, class Value, class Projection = std::identity>
bool contains(const Range& range, const Value& value, Projection projection = {}) {
  return std::ranges::find(range, value, projection) != std::ranges::end(range);
}

// Elements that are equal keep their order, so that results are the same each time.
template <class Element, class Less, class Projection = std::identity>
void sort_stable(std::vector<Element>& elements, Less less, Projection projection = {}) {
  std::vector<size_t> order(elements.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const auto& left = std::invoke(projection, elements[a]);
    const auto& right = std::invoke(projection, elements[b]);
    if (less(left, right)) return true;
    if (less(right, left)) return false;
    return a < b;
  });
  std::vector<Element> sorted;
  sorted.reserve(elements.size());
  for (const size_t at : order) sorted.push_back(std::move(elements[at]));
  elements = std::move(sorted);
}

}  // namespace orrery::advise

// A sort that keeps the order of what is equal. (The standard's allocates in a way that is
// deprecated, which is an error here.)
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace orrery::mongo {

template <class T, class Less>
void sort_stably(std::vector<T>& values, Less less) {
  std::vector<uint32_t> places(values.size());
  std::iota(places.begin(), places.end(), 0U);
  std::ranges::sort(places, [&](uint32_t a, uint32_t b) {
    if (less(values[a], values[b])) return true;
    if (less(values[b], values[a])) return false;
    return a < b;
  });
  std::vector<T> sorted;
  sorted.reserve(values.size());
  for (const uint32_t place : places) sorted.push_back(std::move(values[place]));
  values = std::move(sorted);
}

}  // namespace orrery::mongo

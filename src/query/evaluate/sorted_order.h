// A stable sort that stops when its budget runs out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "base/budget.h"

namespace orrery::query {

// The numbers 0 to count - 1, sorted by `before`; ties keep their order. When the budget runs out
// the order is arbitrary.
template <class Before>
std::vector<uint32_t> sorted_order(size_t count, Budget& budget, const Before& before) {
  constexpr size_t kBlock = 1024;
  constexpr uint64_t kStepsOfComparison = 4;
  const auto first = [&](uint32_t a, uint32_t b) {
    return before(a, b) || (a < b && !before(b, a));
  };
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), uint32_t{0});
  for (size_t from = 0; from < count; from += kBlock) {
    const size_t to = std::min(from + kBlock, count);
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(from),
              order.begin() + static_cast<std::ptrdiff_t>(to), first);
    if (budget.spend(kStepsOfComparison * 10 * (to - from))) return order;
  }
  std::vector<uint32_t> merged(count > kBlock ? count : 0);
  for (size_t width = kBlock; width < count; width *= 2) {
    for (size_t from = 0; from < count; from += 2 * width) {
      const size_t middle = std::min(from + width, count);
      const size_t to = std::min(middle + width, count);
      size_t left = from;
      size_t right = middle;
      for (size_t at = from; at < to; ++at) {
        const bool takes_right =
            left == middle || (right < to && before(order[right], order[left]));
        merged[at] = takes_right ? order[right++] : order[left++];
        if (budget.spend(kStepsOfComparison)) return order;
      }
    }
    std::swap(order, merged);
  }
  return order;
}

}  // namespace orrery::query

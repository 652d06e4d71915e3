// A number for each thread, from 0 in the order in which they first ask: what is kept once for
// every so many threads is found by it, and threads that work at the same time mostly have
// different ones.
//
// Any thread may call.
#pragma once

#include <atomic>
#include <cstddef>

namespace orrery {

inline size_t thread_number() {
  static std::atomic<size_t> threads{0};
  thread_local const size_t number = threads.fetch_add(1, std::memory_order_relaxed);
  return number;
}

}  // namespace orrery

// See heap.h: when free memory goes back to the machine.
#include "base/heap.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <thread>
#include <vector>

namespace orrery {
namespace {

int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t all = 0;
  int64_t resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

// A thread leaves something small behind much that it has freed: only a trim gives that back.
TEST(UnusedMemory, IsGivenBackWhenItIsMuch) {
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer) || \
    __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the sanitizer has a heap of its own";
#endif
  UnusedMemory unused;
  while (unused.give_back()) {
  }
  EXPECT_FALSE(unused.give_back());
  constexpr size_t kBlocks = 300'000;
  constexpr int64_t kBytes = 1000;
  std::unique_ptr<char[]> last;
  int64_t used = 0;
  std::thread([&] {
    std::vector<std::unique_ptr<char[]>> blocks;
    for (size_t i = 0; i < kBlocks; ++i) {
      blocks.push_back(std::make_unique<char[]>(kBytes));  // zeroed: it is in memory
    }
    last = std::make_unique<char[]>(kBytes);
    used = resident_bytes();
  }).join();
  const int64_t freed = static_cast<int64_t>(kBlocks) * kBytes;
  ASSERT_GT(resident_bytes(), used - freed / 2);
  EXPECT_TRUE(unused.give_back());
  EXPECT_LT(resident_bytes(), used - freed / 2);
  EXPECT_FALSE(unused.give_back());
}

}  // namespace
}  // namespace orrery

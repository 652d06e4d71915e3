// See heap.h.
#include "base/heap.h"

#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <optional>

namespace orrery {
namespace {

constexpr int kOwnBlockBytes = 4 << 20;   // from here on a block is the kernel's
constexpr int kFreeTopBytes = 32 << 20;   // that a heap keeps at its end
constexpr int64_t kUnusedMax = 64 << 20;  // beyond what was left the last time

// Bytes of the process that are in memory.
std::optional<int64_t> resident_bytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return std::nullopt;
  long long pages = 0;
  const int read = std::fscanf(file, "%*lld %lld", &pages);
  std::fclose(file);
  if (read != 1) return std::nullopt;
  return pages * sysconf(_SC_PAGESIZE);
}

// What of them is not in blocks that are in use.
std::optional<int64_t> unused_bytes() {
  const auto resident = resident_bytes();
  if (!resident) return std::nullopt;
  const struct mallinfo2 heap = mallinfo2();
  return *resident - static_cast<int64_t>(heap.uordblks + heap.hblkhd);
}

}  // namespace

void set_up_heap() {
  mallopt(M_MMAP_THRESHOLD, kOwnBlockBytes);
  mallopt(M_TRIM_THRESHOLD, kFreeTopBytes);
}

bool UnusedMemory::give_back() {
  const auto before = unused_bytes();
  if (!before || *before < rest_ + kUnusedMax) return false;
  malloc_trim(0);
  rest_ = unused_bytes().value_or(*before);
  return true;
}

}  // namespace orrery

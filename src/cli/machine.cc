// See machine.h.
#include "cli/machine.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

namespace orrery::cli {
namespace {

constexpr uint64_t kCacheLeast = 32ULL << 20;
constexpr uint64_t kCacheMost = 1ULL << 30;
constexpr uint64_t kBufferLeast = 64ULL << 20;
constexpr uint64_t kWriteBufferLeast = 1ULL << 20;

// The number in a file of the control group, or no limit: the file is not there, or says "max".
uint64_t limit_in(const char* path) {
  std::ifstream file(path);
  uint64_t bytes = 0;
  return file >> bytes ? bytes : std::numeric_limits<uint64_t>::max();
}

}  // namespace

uint64_t usable_memory_bytes() {
  const auto machine = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                       static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return std::min({machine, limit_in("/sys/fs/cgroup/memory.max"),
                   limit_in("/sys/fs/cgroup/memory/memory.limit_in_bytes")});
}

uint64_t default_cache_bytes(uint64_t memory_bytes) {
  return std::clamp(memory_bytes / 4, kCacheLeast, kCacheMost);
}

uint64_t default_buffer_bytes(uint64_t memory_bytes) {
  return std::max(memory_bytes / 16, kBufferLeast);
}

uint64_t disk_bytes(const std::string& folder) {
  struct statvfs disk = {};
  if (::statvfs(folder.c_str(), &disk) != 0) return std::numeric_limits<uint64_t>::max();
  return disk.f_blocks * disk.f_frsize;
}

void fit_to_disk(uint64_t disk_bytes, Limits& limits) {
  limits.disk_reserve_bytes = std::min(limits.disk_reserve_bytes, disk_bytes / 8);
  if (limits.disk_reserve_bytes == 0) return;
  limits.write_buffer_bytes =
      std::min(limits.write_buffer_bytes, std::max(limits.disk_reserve_bytes, kWriteBufferLeast));
}

}  // namespace orrery::cli

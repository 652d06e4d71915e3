// See test_clock.h.
#include "cli/test_clock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace orrery::cli {

Result<std::unique_ptr<TestClock>> TestClock::from_environment() {
  // Read once at start, before any thread that could change the environment.
  const char* path = std::getenv("ORRERY_TEST_CLOCK");  // NOLINT(concurrency-mt-unsafe)
  return path == nullptr ? Result<std::unique_ptr<TestClock>>(nullptr) : open(path);
}

Result<std::unique_ptr<TestClock>> TestClock::open(const char* path) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  struct stat status{};
  const bool fits = file >= 0 && ::fstat(file, &status) == 0 &&
                    status.st_size >= static_cast<off_t>(sizeof(Settings));
  void* mapped =
      fits ? ::mmap(nullptr, sizeof(Settings), PROT_READ, MAP_SHARED, file, 0) : MAP_FAILED;
  if (file >= 0) ::close(file);
  if (mapped == MAP_FAILED) {
    return fail(Code::invalid,
                fmt::format("ORRERY_TEST_CLOCK: '{}' is not a file of {} bytes that can be mapped. "
                            "Only tests set this variable: remove it",
                            path, sizeof(Settings)));
  }
  return std::make_unique<TestClock>(static_cast<Settings*>(mapped));
}

TestClock::~TestClock() {
  ::munmap(settings_, sizeof(Settings));
}

int64_t TestClock::now_ms() const {
  return real_.now_ms() +
         std::atomic_ref(settings_->offset_s).load(std::memory_order_relaxed) * 1000;
}

int64_t TestClock::steady_us() const {
  const int64_t stopped = std::atomic_ref(settings_->stopped_us).load(std::memory_order_relaxed);
  return stopped != 0 ? stopped : real_.steady_us();
}

}  // namespace orrery::cli

// See fence.h.
#include "volume/local/fence.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <system_error>

namespace orrery::volume {
namespace {

std::string error_text(int error) {
  return std::generic_category().message(error);
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

int lock_retrying(int fd, int how) {
  int result = 0;
  do {
    result = ::flock(fd, how);
  } while (result != 0 && errno == EINTR);
  return result;
}

// Nothing when the file is too short (just made) or cannot be read.
std::optional<uint64_t> read_epoch(int fd) {
  std::array<unsigned char, 8> bytes{};
  if (::pread(fd, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return std::nullopt;
  }
  uint64_t epoch = 0;
  for (size_t i = bytes.size(); i-- > 0;) epoch = epoch << 8 | bytes[i];
  return epoch;
}

bool write_epoch(int fd, uint64_t epoch) {
  std::array<unsigned char, 8> bytes{};
  for (unsigned char& byte : bytes) {
    byte = static_cast<unsigned char>(epoch & 0xFF);
    epoch >>= 8;
  }
  return ::pwrite(fd, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()) &&
         ::fdatasync(fd) == 0;
}

}  // namespace

Result<std::shared_ptr<Fence>> Fence::take_over(const std::string& place) {
  const std::string epoch_path = place + "/EPOCH";
  Descriptor taker(::open((place + "/CLAIM").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  Descriptor epoch_file(::open(epoch_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (taker.get() < 0 || epoch_file.get() < 0) {
    return fail(Code::internal, fmt::format("cannot open {}: {}", epoch_path, error_text(errno)));
  }
  if (lock_retrying(taker.get(), LOCK_EX) != 0) {
    return fail(Code::internal, fmt::format("cannot lock {}: {}", place, error_text(errno)));
  }
  const uint64_t epoch = read_epoch(epoch_file.get()).value_or(0) + 1;
  if (!write_epoch(epoch_file.get(), epoch)) {
    return fail(Code::read_only, fmt::format("cannot write {}: {}", epoch_path, error_text(errno)));
  }
  if (lock_retrying(epoch_file.get(), LOCK_EX) != 0 ||
      lock_retrying(epoch_file.get(), LOCK_UN) != 0) {
    return fail(Code::internal, fmt::format("cannot lock {}: {}", epoch_path, error_text(errno)));
  }
  return std::shared_ptr<Fence>(new Fence(epoch_file.release(), epoch));
}

Fence::~Fence() {
  ::close(fd_);
}

bool Fence::enter() {
  MutexLock lock(mutex_);
  if (inside_ == 0 && lock_retrying(fd_, LOCK_SH) != 0) return false;
  if (read_epoch(fd_) != epoch_) {
    if (inside_ == 0) lock_retrying(fd_, LOCK_UN);
    return false;
  }
  ++inside_;
  return true;
}

void Fence::leave() {
  MutexLock lock(mutex_);
  if (--inside_ == 0) lock_retrying(fd_, LOCK_UN);
}

}  // namespace orrery::volume

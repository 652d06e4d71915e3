// See fence.h.
#include "volume/local/fence.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "base/bytes.h"
#include "base/fault.h"

namespace orrery::volume {
namespace {

constexpr off_t kNotesAt = 1024;

std::string error_text(int error) {
  return std::generic_category().message(error);
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
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

// The lock that shows an owner to be alive: on the byte of EPOCH, there or not, whose offset is its
// epoch. It belongs to the open file, so that it goes with the process, and needs no file of its
// own. Bytes of earlier epochs may be locked by owners that were deposed: nobody asks.
struct flock byte_of(uint64_t epoch) {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(epoch);
  lock.l_len = 1;
  return lock;
}

bool lock_byte(int fd, uint64_t epoch) {
  struct flock lock = byte_of(epoch);
  return ::fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

// Nothing when that cannot be told.
std::optional<bool> is_byte_locked(int fd, uint64_t epoch) {
  struct flock lock = byte_of(epoch);
  if (::fcntl(fd, F_OFD_GETLK, &lock) != 0) return std::nullopt;
  return lock.l_type != F_UNLCK;
}

// Nothing when it cannot be read. A file that was just made says 0.
std::optional<uint64_t> read_epoch(int fd) {
  std::array<unsigned char, 8> bytes{};
  const ssize_t got = ::pread(fd, bytes.data(), bytes.size(), 0);
  if (got == 0) return 0;
  if (got != static_cast<ssize_t>(bytes.size())) return std::nullopt;
  const uint64_t epoch = load_u64_le(bytes.data());
  // It is the offset of a byte too; by counting nobody gets there.
  return epoch < INT64_MAX ? std::optional(epoch) : std::nullopt;
}

bool write_epoch(int fd, uint64_t epoch) {
  std::array<unsigned char, 8> bytes{};
  store_u64_le(bytes.data(), epoch);
  return ::pwrite(fd, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()) &&
         ::fdatasync(fd) == 0;
}

std::unexpected<Error> cannot(std::string_view what, const std::string& path, int error) {
  const Code code = error == ENOENT                      ? Code::not_found
                    : error == EMFILE || error == ENFILE ? Code::overloaded
                    : error == ENOSPC || error == EDQUOT || error == EIO || error == EROFS
                        ? Code::read_only
                        : Code::internal;
  return fail(code, fmt::format("cannot {} {}: {}", what, path, error_text(error)));
}

// What was never written is not there, or zero.
Result<std::string> read_notes(int fd, const std::string& place) {
  std::string notes(Fence::kNotesBytes, '\0');
  const ssize_t got = ::pread(fd, notes.data(), notes.size(), kNotesAt);
  if (got < 0) return cannot("read", place + "/EPOCH", errno);
  notes.resize(static_cast<size_t>(got));
  return notes;
}

// The files of a place, with CLAIM locked: nobody else takes it or removes it until it is closed.
struct Taking {
  Descriptor claim;
  Descriptor epoch_file;
  uint64_t epoch = 0;  // as found
};

Result<Taking> start_taking(const std::string& place) {
  const std::string claim_path = place + "/CLAIM";
  const std::string epoch_path = place + "/EPOCH";
  if (!fault::point("volume.claim")) return cannot("open", claim_path, EMFILE);
  Descriptor claim(::open(claim_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (claim.get() < 0) return cannot("open", claim_path, errno);
  if (lock_retrying(claim.get(), LOCK_EX) != 0) return cannot("lock", claim_path, errno);
  // Whoever held the lock before may have removed the place: then this file is no longer at it.
  struct stat held = {};
  struct stat there = {};
  if (::fstat(claim.get(), &held) != 0) return cannot("examine", claim_path, errno);
  if (::stat(claim_path.c_str(), &there) != 0) return cannot("examine", claim_path, errno);
  if (held.st_ino != there.st_ino || held.st_dev != there.st_dev) {
    return cannot("use", claim_path, ENOENT);
  }
  Descriptor epoch_file(::open(epoch_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (epoch_file.get() < 0) return cannot("open", epoch_path, errno);
  const auto epoch = read_epoch(epoch_file.get());
  if (!epoch) return fail(Code::corrupt, fmt::format("{} does not hold an epoch", epoch_path));
  return Taking{std::move(claim), std::move(epoch_file), *epoch};
}

Status check_no_living_owner(const Taking& taking, const std::string& place) {
  const auto alive = is_byte_locked(taking.epoch_file.get(), taking.epoch);
  if (!alive) return cannot("examine the locks of", place + "/EPOCH", errno);
  if (!*alive) return {};
  return fail(Code::moved, fmt::format("the partition in {} is in use by another owner, which is "
                                       "alive: a process serves it, or a part of this one",
                                       place));
}

// From here on whoever owned the place is deposed.
Status raise_epoch(const Taking& taking, const std::string& place) {
  if (!write_epoch(taking.epoch_file.get(), taking.epoch + 1)) {
    return cannot("write", place + "/EPOCH", errno);
  }
  if (lock_retrying(taking.epoch_file.get(), LOCK_EX) != 0 ||
      lock_retrying(taking.epoch_file.get(), LOCK_UN) != 0) {
    return cannot("lock", place + "/EPOCH", errno);
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<Fence>> Fence::take(const std::string& place, LivingOwner owner,
                                           const std::function<Status(std::string_view)>& check) {
  auto taking = start_taking(place);
  if (!taking) return pass(taking.error());
  auto check_notes = [&]() -> Status {
    auto notes = read_notes(taking->epoch_file.get(), place);
    if (!notes) return pass(notes.error());
    return check(*notes);
  };
  if (owner == LivingOwner::is_left_alone) {
    if (auto free = check_no_living_owner(*taking, place); !free) return pass(free.error());
    if (auto checked = check_notes(); !checked) return pass(checked.error());
  }
  const uint64_t epoch = taking->epoch + 1;
  // Before the epoch says so: there is no moment at which the newest epoch looks abandoned.
  if (!lock_byte(taking->epoch_file.get(), epoch)) return cannot("lock", place + "/EPOCH", errno);
  if (auto raised = raise_epoch(*taking, place); !raised) return pass(raised.error());
  if (owner == LivingOwner::is_deposed) {
    if (auto checked = check_notes(); !checked) return pass(checked.error());
  }
  // The directory's entries (EPOCH when it is new, and a clone that was just renamed to its place)
  // must outlive a power cut, or epochs would start again from the beginning.
  Descriptor directory(::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0 || ::fsync(directory.get()) != 0) return cannot("sync", place, errno);
  return std::shared_ptr<Fence>(new Fence(taking->epoch_file.release(), epoch));
}

Status Fence::depose(const std::string& place, const std::function<Status()>& remove) {
  auto taking = start_taking(place);
  if (!taking) return pass(taking.error());
  if (auto raised = raise_epoch(*taking, place); !raised) return raised;
  return remove();
}

Fence::~Fence() {
  ::close(fd_);
}

Status Fence::write_notes(size_t at, std::string_view bytes, bool and_sync) {
  const Pass entered(*this);
  if (!entered.ok()) return fail(Code::read_only, "another owner has taken this partition over");
  const auto written = ::pwrite(fd_, bytes.data(), bytes.size(), kNotesAt + static_cast<off_t>(at));
  if (written != static_cast<ssize_t>(bytes.size())) {
    return cannot("write notes to", "EPOCH", written < 0 ? errno : ENOSPC);
  }
  if (and_sync && ::fdatasync(fd_) != 0) return cannot("sync", "EPOCH", errno);
  return {};
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

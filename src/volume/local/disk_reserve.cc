// See disk_reserve.h.
#include "volume/local/disk_reserve.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.h"

namespace orrery::volume {
namespace {

constexpr uint64_t kBallastMaxBytes = 8ULL << 20;
constexpr uint64_t kPieces = 4;
constexpr uint64_t kLeftByCompactions = 8;  // a part of the reserve; a piece of a small ballast

int64_t steady_us() {
  using std::chrono::steady_clock;
  return std::chrono::duration_cast<std::chrono::microseconds>(
             steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

DiskReserve::Measure DiskReserve::free_bytes_of(const std::string& folder) {
  return [folder]() -> std::optional<uint64_t> {
    struct statvfs disk = {};
    if (::statvfs(folder.c_str(), &disk) != 0) return std::nullopt;
    return disk.f_bavail * disk.f_frsize;
  };
}

DiskReserve::DiskReserve(std::string ballast_path, uint64_t reserve_bytes, Measure measure,
                         int64_t look_every_us)
    : path_(std::move(ballast_path)),
      reserve_bytes_(reserve_bytes),
      ballast_max_bytes_(std::min(reserve_bytes / 2, kBallastMaxBytes)),
      measure_(std::move(measure)),
      look_every_us_(look_every_us) {
  struct stat found = {};
  MutexLock lock(mutex_);
  if (::stat(path_.c_str(), &found) == 0) ballast_bytes_ = static_cast<uint64_t>(found.st_size);
  if (ballast_bytes_ > ballast_max_bytes_) {  // of a larger reserve
    ::unlink(path_.c_str());
    ballast_bytes_ = 0;
  }
  if (reserve_bytes_ > 0) look();
}

Status DiskReserve::room(Need need) {
  if (reserve_bytes_ == 0) return {};
  if (steady_us() >= look_again_us_.load(std::memory_order_relaxed) && mutex_.try_lock()) {
    look();
    mutex_.unlock();
  }
  if (!low_.load(std::memory_order_relaxed)) return {};
  if (need == Need::compaction && free_bytes_ >= reserve_bytes_ / kLeftByCompactions) return {};
  return fail(
      Code::read_only,
      fmt::format("the disk is nearly full: {} bytes are free, and {} are kept for removals "
                  "(limit disk-reserve-bytes). Reads and deletes go on; free space on the "
                  "disk, or delete containers, and everything does by itself",
                  free_bytes_.load(std::memory_order_relaxed), reserve_bytes_));
}

void DiskReserve::look() {
  look_again_us_ = steady_us() + look_every_us_;
  const std::optional<uint64_t> free = measure_();
  if (!free) return;  // what was known before stays
  const uint64_t missing = ballast_max_bytes_ - ballast_bytes_;
  if (missing > 0 && *free >= reserve_bytes_ + missing) {
    ballast_bytes_ = make_ballast();
  } else if (ballast_bytes_ > 0 && *free < ballast_max_bytes_ / kPieces) {
    ballast_bytes_ = give_piece();
    log::warn("the disk is full to the last: gave some space back that was kept for this",
              {{"free_bytes", *free}, {"left_bytes", ballast_bytes_}});
  }
  const bool low = *free < reserve_bytes_ + missing;
  free_bytes_ = *free;
  if (low == low_.exchange(low)) return;
  if (low) {
    log::warn("the disk is nearly full: only reads and removals are served",
              {{"free_bytes", *free}, {"reserve_bytes", reserve_bytes_}});
  } else {
    log::info("there is room on the disk again", {{"free_bytes", *free}});
  }
}

uint64_t DiskReserve::make_ballast() const {
  const int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return 0;
  const bool made = ::posix_fallocate(fd, 0, static_cast<off_t>(ballast_max_bytes_)) == 0;
  ::close(fd);
  if (!made) ::unlink(path_.c_str());
  return made ? ballast_max_bytes_ : 0;
}

uint64_t DiskReserve::give_piece() const {
  const uint64_t piece = ballast_max_bytes_ / kPieces;
  const uint64_t left = ballast_bytes_ > piece ? ballast_bytes_ - piece : 0;
  if (left > 0 && ::truncate(path_.c_str(), static_cast<off_t>(left)) == 0) return left;
  ::unlink(path_.c_str());
  return 0;
}

}  // namespace orrery::volume

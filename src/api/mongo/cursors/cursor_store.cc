// See cursor_store.h.
#include "api/mongo/cursors/cursor_store.h"

#include <fmt/format.h>
#include <openssl/rand.h>

#include <utility>
#include <vector>

namespace orrery::mongo {
namespace {

constexpr int64_t kSweepEveryUs = 1'000'000;
constexpr int64_t kEvictedAfterUs = 60'000'000;

int64_t random_id() {
  uint64_t id = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&id), sizeof(id));
  return static_cast<int64_t>(id >> 1 | 1U);
}

std::unexpected<Error> not_found(int64_t id) {
  return refuse(kCursorNotFound, fmt::format("cursor id {} not found", id));
}

}  // namespace

void CursorStore::sweep(int64_t now_us) {
  if (now_us - swept_us_ < kSweepEveryUs) return;
  swept_us_ = now_us;
  for (auto at = cursors_.begin(); at != cursors_.end();) {
    const Kept& kept = at->second;
    const bool is_idle =
        kept.cursor && !kept.cursor->never_expires && now_us - kept.used_us > idle_us_.load();
    if (is_idle) bytes_ -= kept.bytes;
    at = is_idle ? cursors_.erase(at) : std::next(at);
  }
}

Answer<int64_t> CursorStore::add(std::unique_ptr<Cursor> cursor) {
  const size_t bytes = cursor->rows->memory();
  const int64_t now_us = clock_.steady_us();
  MutexLock lock(mutex_);
  sweep(now_us);
  while (cursors_.size() >= kCursorsMax || bytes_ + bytes > kBytesMax) {
    auto oldest = cursors_.end();
    for (auto at = cursors_.begin(); at != cursors_.end(); ++at) {
      if (!at->second.cursor) continue;
      if (oldest == cursors_.end() || at->second.used_us < oldest->second.used_us) oldest = at;
    }
    if (oldest == cursors_.end() || now_us - oldest->second.used_us < kEvictedAfterUs) {
      return refuse(kExceededTimeLimit,
                    fmt::format("{} cursors are open, with {} bytes: close some, or ask for less",
                                cursors_.size(), bytes_));
    }
    bytes_ -= oldest->second.bytes;
    cursors_.erase(oldest);
  }
  int64_t id = random_id();
  while (cursors_.contains(id)) id = random_id();
  bytes_ += bytes;
  std::string user = cursor->user;
  cursors_.emplace(id, Kept{std::move(cursor), std::move(user), now_us, bytes});
  return id;
}

Answer<std::unique_ptr<Cursor>> CursorStore::take(int64_t id) {
  MutexLock lock(mutex_);
  sweep(clock_.steady_us());
  const auto found = cursors_.find(id);
  if (found == cursors_.end()) return not_found(id);
  if (!found->second.cursor) {
    return refuse(12051, fmt::format("cursor id {} is already in use", id));
  }
  return std::move(found->second.cursor);
}

void CursorStore::put_back(int64_t id, std::unique_ptr<Cursor> cursor) {
  MutexLock lock(mutex_);
  const auto found = cursors_.find(id);
  if (found == cursors_.end()) return;  // killed meanwhile
  Kept& kept = found->second;
  bytes_ -= kept.bytes;
  kept.bytes = cursor->rows->memory();
  bytes_ += kept.bytes;
  kept.cursor = std::move(cursor);
  kept.used_us = clock_.steady_us();
}

bool CursorStore::remove(int64_t id) {
  std::unique_ptr<Cursor> gone;  // destroyed without the lock
  MutexLock lock(mutex_);
  const auto found = cursors_.find(id);
  if (found == cursors_.end()) return false;
  bytes_ -= found->second.bytes;
  gone = std::move(found->second.cursor);
  cursors_.erase(found);
  return true;
}

bool CursorStore::remove_of(std::string_view user, int64_t id) {
  {
    MutexLock lock(mutex_);
    const auto found = cursors_.find(id);
    if (found == cursors_.end() || found->second.user != user) return false;
  }
  return remove(id);
}

void CursorStore::clear() {
  MutexLock lock(mutex_);
  cursors_.clear();
  bytes_ = 0;
}

size_t CursorStore::size() const {
  MutexLock lock(mutex_);
  return cursors_.size();
}

}  // namespace orrery::mongo

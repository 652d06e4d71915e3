// See buffer_budget.h.
#include "net/buffer_budget.h"

#include <utility>
#include <vector>

namespace orrery::net {

bool BufferBudget::reserve(Reservation& reservation, uint64_t bytes) {
  reservation.budget_ = this;
  if (bytes <= reservation.held_) return true;
  // Whoever waits was first.
  if (!queue_.empty() || !fits(reservation, bytes)) return false;
  held_ += bytes - reservation.held_;
  reservation.held_ = bytes;
  return true;
}

bool BufferBudget::try_reserve(Reservation& reservation, uint64_t bytes) {
  if (reservation.budget_ != this) reservation.release();
  const MutexLock lock(mutex_);
  return reserve(reservation, bytes);
}

bool BufferBudget::reserve_or_queue(Reservation& reservation, uint64_t bytes,
                                    std::function<void()> granted) {
  if (reservation.budget_ != this) reservation.release();
  const MutexLock lock(mutex_);
  if (reserve(reservation, bytes)) return true;
  reservation.wanted_ = bytes;
  reservation.place_ = queue_.insert(queue_.end(), {&reservation, std::move(granted)});
  return false;
}

uint64_t BufferBudget::held_by(const Reservation& reservation) const {
  const MutexLock lock(mutex_);
  return reservation.held_;
}

void BufferBudget::give_back(Reservation& reservation) {
  std::vector<std::function<void()>> granted;
  {
    const MutexLock lock(mutex_);
    if (reservation.wanted_ > 0) queue_.erase(reservation.place_);
    held_ -= reservation.held_;
    reservation.held_ = reservation.wanted_ = 0;
    reservation.budget_ = nullptr;
    while (!queue_.empty()) {
      Reservation& next = *queue_.front().reservation;
      if (!fits(next, next.wanted_)) break;
      held_ += next.wanted_ - next.held_;
      next.held_ = std::exchange(next.wanted_, 0);
      granted.push_back(std::move(queue_.front().granted));
      queue_.pop_front();
    }
  }
  for (const std::function<void()>& tell : granted) tell();
}

uint64_t BufferBudget::bytes_held() const {
  const MutexLock lock(mutex_);
  return held_;
}

}  // namespace orrery::net

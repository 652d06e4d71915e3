// A memory budget for received but unanswered requests, shared by all connections of a server.
//
// Each connection has a small allowance of its own, which is not counted here. Anything beyond is
// reserved in advance, for the whole request. A request with its reservation can always complete,
// so requests cannot deadlock on memory. Reservations are granted first come, first served, so a
// large one is not starved. One that is larger than the whole budget is granted when no other is
// held.
//
// Threading: any thread; a Reservation is used by one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <list>

#include "base/thread_annotations.h"

namespace orrery::net {

class BufferBudget {
 public:
  explicit BufferBudget(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // What one connection holds or waits for; gives it back when destroyed.
  class Reservation {
   public:
    Reservation() = default;
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;
    ~Reservation() { release(); }

    // Gives back what it holds, and leaves the queue.
    void release() {
      if (budget_ != nullptr) budget_->give_back(*this);
    }
    // Of what is held.
    uint64_t bytes() const { return budget_ != nullptr ? budget_->held_by(*this) : 0; }

   private:
    friend class BufferBudget;
    struct Waiter {
      Reservation* reservation;
      std::function<void()> granted;
    };

    BufferBudget* budget_ = nullptr;  // null: nothing was asked for since the last release
    // The rest is under the budget's lock.
    uint64_t held_ = 0;
    uint64_t wanted_ = 0;  // in all, while it is in the queue; otherwise 0
    std::list<Waiter>::iterator place_;
  };

  // Both grow a reservation of this budget. A reservation of another budget is released first.
  // Reserves `bytes` in all at once, or changes nothing.
  bool try_reserve(Reservation& reservation, uint64_t bytes);
  // False: it is in the queue. When its turn has come, `granted` is called by the thread that gave
  // memory back; it may do no more than post.
  bool reserve_or_queue(Reservation& reservation, uint64_t bytes, std::function<void()> granted);

  uint64_t bytes_held() const;

 private:
  bool fits(const Reservation& reservation, uint64_t bytes) const ORRERY_REQUIRES(mutex_) {
    const uint64_t others = held_ - reservation.held_;
    return others == 0 || (others <= bytes_max_ && bytes <= bytes_max_ - others);
  }
  bool reserve(Reservation& reservation, uint64_t bytes) ORRERY_REQUIRES(mutex_);
  uint64_t held_by(const Reservation& reservation) const;
  void give_back(Reservation& reservation);

  const uint64_t bytes_max_;
  mutable Mutex mutex_;
  uint64_t held_ ORRERY_GUARDED_BY(mutex_) = 0;
  std::list<Reservation::Waiter> queue_ ORRERY_GUARDED_BY(mutex_);
};

}  // namespace orrery::net

// Leases: how the processes that share a volume know which of them live.
//
// Each process life has an incarnation and a row, the object lease.INCARNATION, whose state only
// goes from live to revoked to over. Every change of a row compares the whole row that was read.
//  - The holder raises the row's counter again and again. Each success lets it believe in its lease
//    for lease_us from when it *sent* that change. In this time, and no longer, it may answer reads
//    that must be the newest.
//  - Whoever wants to end another's lease reads the row and waits revoke_wait_us, from the answer
//    on. If the row is still the same it sets it to revoked, so that no renewal succeeds any more,
//    and then to over. The newest renewal was sent before that reading. So the holder has stopped
//    believing, as long as no two clocks differ in speed by more than 1 %.
//  - A partition may be claimed when its owner's row is over, or gone. That is a durable fact which
//    the claimer reads for itself: it needs no clock and trusts nobody.
//
// Clocks are CLOCK_BOOTTIME, which goes on while a machine sleeps. They need not be set alike.
// Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/result.h"
#include "base/thread_annotations.h"
#include "volume/objects/object_store.h"

namespace orrery::volume {

struct LeaseTimes {
  int64_t lease_us = 2'400'000;
  int64_t revoke_wait_us = 2'500'000;
  int64_t renew_every_us = 400'000;
};

// A microsecond count that never goes back, and never stops.
using BootClock = std::function<int64_t()>;
int64_t boot_time_us();

struct LeaseRow {
  enum class State : uint8_t { live, revoked, over };
  State state = State::live;
  uint64_t counter = 0;
  std::string name;  // of the node, for people
};
std::string encode(const LeaseRow& row);
std::optional<LeaseRow> decode_lease_row(std::string_view text);

// Nothing when there is no such row. Code::corrupt when it is none.
Result<std::optional<LeaseRow>> read_lease(ObjectStore& store, const std::string& incarnation);
// Whether its process may own nothing any more. The empty incarnation is nobody's.
Result<bool> is_over(ObjectStore& store, const std::string& incarnation);

class Lease {
 public:
  // Makes a row with a new incarnation and keeps it up on a thread of its own, which calls
  // `on_lost` once if the lease is lost.
  static Result<std::unique_ptr<Lease>> take(ObjectStore& store, std::string node_name,
                                             LeaseTimes times = {}, BootClock clock = boot_time_us,
                                             std::function<void()> on_lost = {});
  // Ends it: everything that this incarnation owns has been released.
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  const std::string& incarnation() const { return incarnation_; }
  // Whether reads that must be the newest may be answered. Asked after the snapshot was read.
  bool is_good() const { return clock_() < good_until_us_.load(std::memory_order_acquire); }
  // Whether somebody has revoked it. This process must then stop and come back as another.
  bool is_lost() const { return lost_.load(std::memory_order_acquire); }
  // One renewal, as the thread makes them.
  void renew();

 private:
  Lease(ObjectStore& store, std::string incarnation, std::string node_name, LeaseTimes times,
        BootClock clock, std::function<void()> on_lost);
  void keep_up();

  ObjectStore& store_;
  const std::string incarnation_;
  const LeaseTimes times_;
  const BootClock clock_;
  const std::function<void()> on_lost_;
  Mutex row_mutex_;
  LeaseRow row_ ORRERY_GUARDED_BY(row_mutex_);
  std::atomic<int64_t> good_until_us_{0};
  std::atomic<bool> lost_{false};
  Mutex stop_mutex_;
  CondVar stop_wake_;
  bool stopping_ ORRERY_GUARDED_BY(stop_mutex_) = false;
  std::thread keeper_;
};

// Removes the row of a lease that is over. Whether it was there.
bool remove_lease(ObjectStore& store, const std::string& incarnation);

// Ends the lease of a process that is known to be dead, at once.
Status bury(ObjectStore& store, const std::string& incarnation);

// Ends the lease of another process that does not renew it any more, after waiting for as long as
// its holder might believe in it. False when it was renewed, so its holder lives.
Result<bool> end_lease(ObjectStore& store, const std::string& incarnation, LeaseTimes times = {},
                       const BootClock& clock = boot_time_us);

}  // namespace orrery::volume

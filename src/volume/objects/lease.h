// Leases: how the processes that share a volume know which of them live.
//
// Each process life has an incarnation and a row, the object lease.INCARNATION, whose state only
// goes from live to revoked to over. Every change of a row compares the whole row that was read.
//  - The holder raises the row's counter again and again. Each success lets it believe in its lease
//    for lease_us from when it *sent* that change. In this time, and no longer, it may answer reads
//    that must be the newest.
//  - Whoever wants to end another's lease reads the row again and again. When its counter has not
//    changed for revoke_wait_us, from the answer to the first such reading on, it sets the row to
//    revoked, so that no renewal succeeds any more, and then to over. The newest renewal was sent
//    before that reading. So the holder has stopped believing, as long as no clock is more than 1 %
//    too fast or too slow.
//  - A holder whose renewal is refused believes in nothing any more, and sets its row to over
//    itself: nobody has to wait.
//  - A partition may be claimed when its owner's row is over, or gone. That is a durable fact which
//    the claimer reads for itself: it needs no clock and trusts nobody.
//
// The object `leases` has an entry for each row that is not known to be over: listing all objects
// of a store may take long. It is made after the row, and a process claims nothing before it is
// there.
//
// Clocks are CLOCK_BOOTTIME, which goes on while a machine sleeps. They need not be set alike.
// Thread-safe, but for LeaseWatch.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

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

// Fills it with bytes that nobody can guess. False: there are none.
using RandomBytes = std::function<bool(std::span<char>)>;
bool system_random(std::span<char> into);

// Which versions of what nodes say to one another and write, this program can read.
struct SpokenVersions {
  uint32_t oldest = 1;
  uint32_t newest = 1;

  bool operator==(const SpokenVersions&) const = default;
};

struct LeaseRow {
  enum class State : uint8_t { live, revoked, over };
  State state = State::live;
  uint64_t counter = 0;
  std::string name = {};     // of the node
  std::string address = {};  // where other nodes reach it; empty: it serves alone
  SpokenVersions versions = {};
  bool draining = false;          // it is to serve nothing any more
  std::string cannot_reach = {};  // the incarnation of a coordinator that does not answer it
  std::string rest = {};          // what a newer program says in it besides, kept as it is

  bool operator==(const LeaseRow&) const = default;
};
std::string encode(const LeaseRow& row);
std::optional<LeaseRow> decode_lease_row(std::string_view text);

// Nothing when there is no such row. Code::corrupt when it is none.
Result<std::optional<LeaseRow>> read_lease(ObjectStore& store, const std::string& incarnation);
// Whether its process may own nothing any more. The empty incarnation is nobody's.
Result<bool> is_over(ObjectStore& store, const std::string& incarnation);

// Of the rows that `leases` names. Some may be over or gone.
Result<std::vector<std::string>> list_leases(ObjectStore& store);
// Takes one that is over, or gone, out of them.
void forget_lease(ObjectStore& store, const std::string& incarnation);

struct LeaseOptions {
  std::string node_name = "node";
  std::string address = {};
  SpokenVersions versions = {};
  LeaseTimes times = {};
  BootClock clock = boot_time_us;
  RandomBytes random = system_random;
  // Called once, by the thread that renews, if the lease is lost.
  std::function<void()> on_lost = {};
  // By a thread of the lease's own. Otherwise somebody calls renew() again and again.
  bool renews_itself = true;
};

class Lease {
 public:
  // Makes a row with a new incarnation.
  static Result<std::unique_ptr<Lease>> take(ObjectStore& store, LeaseOptions options);
  // Ends it: everything that this incarnation owns has been released.
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  const std::string& incarnation() const { return incarnation_; }
  const LeaseOptions& options() const { return options_; }
  // Whether reads that must be the newest may be answered. Asked after the snapshot was read.
  bool is_good() const { return options_.clock() < good_until_us_.load(std::memory_order_acquire); }
  // Since the newest renewal that was answered was sent. Below 0: it is lost.
  int64_t age_us() const {
    const int64_t until_us = good_until_us_.load(std::memory_order_acquire);
    return until_us == 0 ? -1 : options_.clock() - (until_us - options_.times.lease_us);
  }
  uint64_t renewals() const { return renewals_.load(std::memory_order_relaxed); }
  // Whether somebody has revoked it. This process must then stop and come back as another.
  bool is_lost() const { return lost_.load(std::memory_order_acquire); }
  // One renewal, as the thread makes them. One at a time.
  void renew();

  // What the row says from the next renewal on.
  void set_draining(bool draining) { draining_ = draining; }
  void set_cannot_reach(std::string incarnation);
  // What the row says of it now, for all to see.
  bool is_draining() const { return row_is_draining_.load(std::memory_order_acquire); }

 private:
  Lease(ObjectStore& store, std::string incarnation, LeaseOptions options);
  void keep_up();
  void lose();
  LeaseRow next_row() const;

  ObjectStore& store_;
  const std::string incarnation_;
  const LeaseOptions options_;
  std::atomic<bool> draining_{false};
  std::atomic<bool> row_is_draining_{false};
  mutable Mutex wish_mutex_;
  std::string cannot_reach_ ORRERY_GUARDED_BY(wish_mutex_);
  LeaseRow row_;  // used by who renews alone
  std::atomic<int64_t> good_until_us_{0};
  std::atomic<uint64_t> renewals_{0};
  std::atomic<bool> lost_{false};
  Mutex stop_mutex_;
  CondVar stop_wake_;
  bool stopping_ ORRERY_GUARDED_BY(stop_mutex_) = false;
  bool is_made_ = false;  // the row
  std::thread keeper_;
};

// Removes the row of a lease that is over. Whether it was there.
bool remove_lease(ObjectStore& store, const std::string& incarnation);

// Ends the lease of a process that is known to be dead, at once.
Status bury(ObjectStore& store, const std::string& incarnation);

// Watches the row of another process, and ends its lease once it was not renewed for long enough.
// It is polled: a poll makes three operations of the store at most, and waits for nothing else.
class LeaseWatch {
 public:
  enum class Finding : uint8_t { renewed, silent, over };
  enum class Haste : uint8_t {
    when_silent,  // its holder has as long to renew it as others must wait anyway
    at_once       // it is revoked at once. The wait until it is over is the same
  };

  LeaseWatch(std::string incarnation, LeaseTimes times, BootClock clock)
      : incarnation_(std::move(incarnation)), times_(times), clock_(std::move(clock)) {}

  // An error: the store did not answer. The wait begins anew, since renewals may have been in the
  // same trouble.
  Result<Finding> poll(ObjectStore& store, Haste haste = Haste::when_silent);
  const std::string& incarnation() const { return incarnation_; }
  // As it was read last. Nothing: it is gone, or was not read yet.
  const std::optional<LeaseRow>& row() const { return row_; }
  // From when on, by the clock, a poll ends it if it is not renewed before. Nothing: the wait has
  // not begun.
  std::optional<int64_t> due_us() const;

 private:
  Result<Finding> end(ObjectStore& store);

  const std::string incarnation_;
  const LeaseTimes times_;
  const BootClock clock_;
  std::optional<LeaseRow> row_;
  std::optional<int64_t> unchanged_since_us_;
};

// Ends the lease of another process that does not renew it any more, after waiting for as long as
// its holder might believe in it. False when it was renewed, so its holder lives. It blocks.
Result<bool> end_lease(ObjectStore& store, const std::string& incarnation, LeaseTimes times = {},
                       const BootClock& clock = boot_time_us);

}  // namespace orrery::volume

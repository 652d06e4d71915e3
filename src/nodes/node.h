// A node among others: it knows who lives, ends the leases of those that do not, becomes the
// coordinator when there is none, and follows the coordinator otherwise.
//
// Nothing here is needed for safety but the catalog's claim and the leases, which are the volume's.
// A node that does everything late, twice or in another order than its neighbours loses no write
// and answers no read wrongly.
//
//  - Each poll_us, and when a lease is due to be ended, it reads the rows and the catalog's root.
//  If
//    the owner of that is over, or has released it, the first node by name claims it; the others do
//    if it is still nobody's a little later. Who does not reach more than half of the others leaves
//    it to them for longer: it would coordinate nobody. Who has it is the coordinator
//    (coordinator.h); its term is the claim's epoch.
//  - A follower asks the coordinator for news, one question at a time. Its copy of the catalog is
//    as of when it sent the newest question that was answered.
//  - That a node is drained is said in its row, by itself, before whoever asked for it is answered.
//
// Threading: tick() is called by one thread, again and again, and may block as long as the store
// does. Everything else is for any thread and does not block, but for answer(), which reads news of
// the catalog from the seat.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/thread_annotations.h"
#include "nodes/coordinator.h"
#include "nodes/members.h"
#include "nodes/messages.h"
#include "nodes/probes.h"
#include "nodes/seat.h"
#include "nodes/status.h"
#include "nodes/times.h"
#include "peer/link.h"
#include "volume/objects/lease.h"
#include "volume/objects/object_store.h"

namespace orrery::nodes {

class Node final : public peer::Answerer {
 public:
  // All outlive it. `wake` asks for a tick soon; it is called by any thread and does not block.
  Node(volume::ObjectStore& store, volume::Lease& lease, peer::Link& link, Seat& seat,
       NodeTimes times = {}, std::function<void()> wake = {});
  ~Node() override;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  void tick();
  // Calls of kinds that begin with kKindPrefix.
  void answer(std::string kind, std::string bytes, peer::Done done) override;
  // At the coordinator, after a commit of the catalog: those who wait for news are told.
  void catalog_changed() { wake_(); }

  // --- what operators ask for, at any node ------------------------------------------------------
  // `done` is told once the node's row says so, which a coordinator's end does not undo. The
  // partitions go one after another: status() tells.
  void drain(const std::string& name, bool draining, peer::Done done);
  void move(RangeRef range, const std::string& to, peer::Done done);
  void rebalance(peer::Done done);

  // --- what the engine and operators want to know -----------------------------------------------
  // It has joined, and its copy of the catalog is newer than that.
  bool is_ready() const;
  bool is_coordinator() const;
  // Whether a node that is being drained may stop: it has nothing left, or nobody can take it.
  bool is_drained() const;
  // Null until there is one.
  std::shared_ptr<const Plan> plan() const;
  // The catalog's owner as far as is known. Nothing: it is not known now.
  std::optional<Member> coordinator() const;
  // As of when, by this node's clock, its copy of the catalog is. Nothing: it has none.
  std::optional<int64_t> catalog_as_of_us() const;
  // At the coordinator, for what must be known everywhere before it is acknowledged: whether all
  // nodes that had a row after `committed_us`, by this node's clock, have the catalog as of `lsn`.
  bool everyone_has(uint64_t lsn, int64_t committed_us) const;
  // What this node and the others may write (written_version.h). 0: not known yet.
  uint32_t written_version() const { return written_version_.load(std::memory_order_acquire); }
  NodeStatus status() const;

 private:
  // An answer to this node's question, on its way to its thread.
  struct Told {
    uint64_t question = 0;
    Result<std::string> answer;
  };
  // Outlives the node, for answers that come late.
  struct Mailbox {
    Mutex mutex;
    std::function<void()> wake ORRERY_GUARDED_BY(mutex);
    std::optional<Told> told ORRERY_GUARDED_BY(mutex);
  };
  struct DrainAsked {
    bool draining = false;
    peer::Done done;
  };

  void read_told();
  void follow_answered(FollowAnswer answer);
  void follow_failed(const Error& error);
  void poll(int64_t now_us);
  void look_at_version();
  std::set<std::string> doubted(int64_t now_us) const;
  void probe_unheard(const Coordinator& coordinator, int64_t now_us);
  void find_coordinator(int64_t now_us);
  void forget_question();
  void claim_catalog(int64_t now_us);
  bool may_claim(int64_t now_us);
  bool reaches_most();
  void step_down(bool releases);
  void coordinate(int64_t now_us);
  void ask_coordinator(int64_t now_us);
  void install(std::shared_ptr<const Plan> plan);
  void answer_drains();

  void answer_follow(std::string_view bytes, peer::Done done);
  void answer_drain(std::string_view bytes, peer::Done done);
  void drain_this(bool draining, peer::Done done);
  std::shared_ptr<Coordinator> coordinating() const;
  // Of the coordinator, elsewhere. Nothing, and `done` is told why, when it is not known.
  void pass_on(const char* kind, std::string bytes, peer::Done done);

  static constexpr size_t kDrainsAskedMax = 64;
  static constexpr std::chrono::milliseconds kOperatorDeadline{5'000};

  volume::ObjectStore& store_;
  volume::Lease& lease_;
  peer::Link& link_;
  Seat& seat_;
  const NodeTimes times_;
  const volume::BootClock clock_;
  const std::function<void()> wake_;
  const std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();

  // Of the ticking thread alone.
  Members members_;
  Probes probes_;
  std::string owner_;  // of the catalog, as its root said last; empty: nobody
  bool owner_known_ = false;
  std::optional<int64_t> vacant_since_us_;
  int64_t next_poll_us_ = INT64_MIN;
  int64_t next_claim_us_ = INT64_MIN;
  uint64_t question_ = 0;
  bool is_asking_ = false;
  int64_t asked_us_ = 0;
  int64_t next_question_us_ = INT64_MIN;
  bool is_reached_ = true;  // the newest question to the coordinator was answered
  int64_t told_loads_us_ = INT64_MIN;
  uint64_t newest_term_ = 0;

  std::atomic<uint32_t> written_version_{0};

  mutable Mutex mutex_;
  std::shared_ptr<Coordinator> coordinator_ ORRERY_GUARDED_BY(mutex_);  // null: a follower
  std::shared_ptr<const Plan> plan_ ORRERY_GUARDED_BY(mutex_);
  std::optional<Member> known_coordinator_ ORRERY_GUARDED_BY(mutex_);
  std::optional<int64_t> as_of_us_ ORRERY_GUARDED_BY(mutex_);
  std::vector<DrainAsked> drains_ ORRERY_GUARDED_BY(mutex_);
  NodeCounters counters_ ORRERY_GUARDED_BY(mutex_);
  std::map<std::string, SeenRow> rows_ ORRERY_GUARDED_BY(mutex_);
  int64_t rows_read_us_ ORRERY_GUARDED_BY(mutex_) = INT64_MIN;
};

}  // namespace orrery::nodes

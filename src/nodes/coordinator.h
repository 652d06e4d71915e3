// One term of a coordinator: the node that owns the catalog. It answers followers, and makes the
// plan of who is to serve which range.
//
// All of it is in memory. Its successor makes a plan anew: from the catalog, the rows, the newest
// plan that it was told as a follower, and what roots say of their owners. What must outlive a
// coordinator is in rows (whether a node is being drained) and roots (who owns what).
//
// Threading: update() and answer_waiting() are called by the node's thread; the rest by any. What
// may block of the seat is never called with a lock held.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/thread_annotations.h"
#include "nodes/members.h"
#include "nodes/messages.h"
#include "nodes/plan.h"
#include "nodes/seat.h"
#include "nodes/times.h"
#include "peer/link.h"

namespace orrery::nodes {

// What a follower said last.
struct FollowerFacts {
  int64_t heard_us = 0;
  uint64_t catalog_lsn = 0;  // its copy has it
  uint64_t plan_term = 0;
  uint64_t plan_version = 0;
  bool quiet = false;
  bool has_followed = false;  // it was heard of in this term
};

class Coordinator {
 public:
  // `before`: the newest plan that this node has, perhaps of another term; may be null.
  Coordinator(Seat& seat, std::string incarnation, uint64_t term, NodeTimes times,
              std::shared_ptr<const Plan> before)
      : seat_(seat),
        incarnation_(std::move(incarnation)),
        term_(term),
        times_(times),
        before_(std::move(before)) {}

  uint64_t term() const { return term_; }

  // Makes a new plan if there is reason to. The plan that counts, or null when there is none yet.
  std::shared_ptr<const Plan> update(const Members& members, int64_t now_us);
  // Those who wait for news and have some now, or have waited for long enough.
  void answer_waiting(int64_t now_us);
  // Every one who waits, with an error: this node is not the coordinator any more.
  void dismiss();

  // Answers now if there is news, otherwise later.
  void follow(FollowRequest request, int64_t now_us, peer::Done done);
  // The range goes there and stays, until rebalance().
  Status move(RangeRef range, const std::string& to);
  // Forgets what was moved by hand, and makes nodes as alike as possible.
  void rebalance();

  std::map<std::string, FollowerFacts> followers() const;
  // Members that have not followed for so long, if more than half of all have.
  std::vector<Member> unheard(const Members& members, int64_t now_us, int64_t for_us) const;
  uint64_t plans_made() const;

 private:
  static constexpr size_t kWaitingMax = 1024;
  struct Follower {
    FollowerFacts facts;
    std::map<RangeRef, RangeLoad> loads;
  };
  struct Waiting {
    FollowRequest request;
    peer::Done done;
    int64_t until_us = 0;
  };

  bool has_news(const FollowRequest& request) const ORRERY_REQUIRES(mutex_);
  bool has_moves_to_make() const ORRERY_REQUIRES(mutex_);
  void answer(const FollowRequest& request, peer::Done done);
  Result<std::map<RangeRef, Placing::Holder>> first_holders(const std::vector<RangeFacts>& ranges,
                                                            const Members& members);
  // Members that are new since the plan before this term, and have not followed yet. A node that
  // others cannot reach, and that comes back again and again, would be given ranges.
  struct Strangers {
    std::set<std::string> all;
    std::set<std::string> expected;  // they may still be about to

    bool operator==(const Strangers&) const = default;
  };
  Strangers strangers(const Members& members, int64_t now_us) const ORRERY_REQUIRES(mutex_);
  Placing placing(const Members& members, std::vector<RangeFacts> ranges) ORRERY_REQUIRES(mutex_);

  Seat& seat_;
  const std::string incarnation_;
  const uint64_t term_;
  const NodeTimes times_;

  // Of the node's thread alone.
  std::shared_ptr<const Plan> before_;
  std::set<std::string> known_;  // members of the plan before this term, or of the first one
  std::vector<Member> planned_members_;
  Strangers planned_strangers_;
  uint64_t planned_lsn_ = 0;
  int64_t planned_us_ = 0;
  int64_t balanced_us_ = INT64_MIN;

  mutable Mutex mutex_;
  std::shared_ptr<const Plan> plan_ ORRERY_GUARDED_BY(mutex_);
  std::map<std::string, Follower> followers_ ORRERY_GUARDED_BY(mutex_);
  std::vector<Waiting> waiting_ ORRERY_GUARDED_BY(mutex_);
  std::map<RangeRef, std::string> pinned_ ORRERY_GUARDED_BY(mutex_);
  bool is_asked_ ORRERY_GUARDED_BY(mutex_) = false;  // by an operator, for a new plan
  Placing::Balance balance_ ORRERY_GUARDED_BY(mutex_) = Placing::Balance::no;
  uint64_t plans_made_ ORRERY_GUARDED_BY(mutex_) = 0;
};

}  // namespace orrery::nodes

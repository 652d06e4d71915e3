// See node.h: what any thread may ask of a node.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "nodes/node.h"
#include "volume/objects/mutation.h"

namespace orrery::nodes {
namespace {

Member member_of(const SeenRow& seen) {
  return {.name = seen.row.name,
          .address = seen.row.address,
          .incarnation = seen.incarnation,
          .draining = seen.row.draining};
}

std::unexpected<Error> no_coordinator() {
  return fail(Code::moved, "this node is not the coordinator");
}

}  // namespace

std::shared_ptr<Coordinator> Node::coordinating() const {
  MutexLock lock(mutex_);
  return coordinator_;
}

void Node::answer(std::string kind, std::string bytes, peer::Done done) {
  if (kind == kFollowKind) return answer_follow(bytes, std::move(done));
  if (kind == kPingKind) {
    if (bytes == lease_.incarnation()) return done(std::string());
    return done(fail(Code::not_found, "the node was restarted"));
  }
  if (kind == kDrainKind) return answer_drain(bytes, std::move(done));
  if (kind != kMoveKind && kind != kRebalanceKind) {
    return done(fail(Code::unsupported, fmt::format("nodes know no call '{}'", kind)));
  }
  const auto coordinator = coordinating();
  if (!coordinator) return done(no_coordinator());
  if (kind == kRebalanceKind) {
    coordinator->rebalance();
  } else {
    auto request = decode_move_request(bytes);
    if (!request) return done(pass(request.error()));
    if (auto moved = coordinator->move(request->range, request->to); !moved) {
      return done(pass(moved.error()));
    }
  }
  wake_();
  done(std::string());
}

void Node::answer_follow(std::string_view bytes, peer::Done done) {
  auto request = decode_follow_request(bytes);
  if (!request) return done(pass(request.error()));
  const auto coordinator = coordinating();
  if (!coordinator) return done(no_coordinator());
  coordinator->follow(std::move(*request), clock_(), std::move(done));
}

void Node::answer_drain(std::string_view bytes, peer::Done done) {
  auto request = decode_drain_request(bytes);
  if (!request) return done(pass(request.error()));
  if (request->incarnation != lease_.incarnation()) {
    return done(fail(Code::not_found, "the node that was to be drained was restarted: ask again"));
  }
  drain_this(request->draining, std::move(done));
}

void Node::drain_this(bool draining, peer::Done done) {
  lease_.set_draining(draining);
  bool is_kept = false;
  {
    MutexLock lock(mutex_);
    if (drains_.size() < kDrainsAskedMax) {
      drains_.push_back({.draining = draining, .done = std::move(done)});
      is_kept = true;
    }
  }
  if (!is_kept) done(fail(Code::overloaded, "too many have asked for this at once"));
}

void Node::drain(const std::string& name, bool draining, peer::Done done) {
  if (name == lease_.options().node_name) return drain_this(draining, std::move(done));
  std::optional<Member> member;
  {
    MutexLock lock(mutex_);
    for (const auto& [incarnation, seen] : rows_) {
      if (seen.row.name == name && seen.row.state == volume::LeaseRow::State::live) {
        member = member_of(seen);
      }
    }
  }
  if (!member) {
    return done(fail(Code::not_found, fmt::format("there is no node '{}' that lives", name)));
  }
  link_.call(member->address, kDrainKind,
             encode(DrainRequest{.incarnation = member->incarnation, .draining = draining}),
             kOperatorDeadline, std::move(done));
}

void Node::move(RangeRef range, const std::string& to, peer::Done done) {
  pass_on(kMoveKind, encode(MoveRequest{.range = range, .to = to}), std::move(done));
}

void Node::rebalance(peer::Done done) {
  pass_on(kRebalanceKind, "", std::move(done));
}

void Node::pass_on(const char* kind, std::string bytes, peer::Done done) {
  if (coordinating()) return answer(kind, std::move(bytes), std::move(done));
  const auto to = coordinator();
  if (!to) {
    return done(fail(Code::overloaded, "no node is the coordinator now: ask again in a moment"));
  }
  link_.call(to->address, kind, std::move(bytes), kOperatorDeadline, std::move(done));
}

bool Node::is_ready() const {
  MutexLock lock(mutex_);
  return plan_ && (coordinator_ || as_of_us_);
}

bool Node::is_coordinator() const {
  return coordinating() != nullptr;
}

bool Node::is_drained() const {
  if (!lease_.is_draining()) return false;
  bool has_heir = false;
  {
    MutexLock lock(mutex_);
    for (const auto& [incarnation, seen] : rows_) {
      has_heir |= seen.row.state == volume::LeaseRow::State::live && !seen.row.draining &&
                  !seen.row.address.empty();
    }
    if (!has_heir) return true;
    if (!plan_) return false;
    for (const auto& [ref, owner] : plan_->owners) {
      if (plan_->members[owner].incarnation == lease_.incarnation()) return false;
    }
  }
  return seat_.is_quiet();
}

std::shared_ptr<const Plan> Node::plan() const {
  MutexLock lock(mutex_);
  return plan_;
}

std::optional<Member> Node::coordinator() const {
  MutexLock lock(mutex_);
  return known_coordinator_;
}

std::optional<int64_t> Node::catalog_as_of_us() const {
  const int64_t now_us = clock_();
  MutexLock lock(mutex_);
  if (!coordinator_) return as_of_us_;
  return lease_.is_good() ? std::optional(now_us) : std::nullopt;
}

bool Node::everyone_has(uint64_t lsn, int64_t committed_us) const {
  const auto coordinator = coordinating();
  if (!coordinator) return false;
  const auto followers = coordinator->followers();
  MutexLock lock(mutex_);
  if (is_mutated(Mutation::no_barrier)) return true;
  if (rows_read_us_ < committed_us) return false;
  return std::ranges::all_of(rows_, [&](const auto& row) {
    if (row.first == lease_.incarnation()) return true;
    if (is_mutated(Mutation::barrier_of_the_live) &&
        row.second.row.state != volume::LeaseRow::State::live) {
      return true;
    }
    const auto follower = followers.find(row.first);
    return follower != followers.end() && follower->second.catalog_lsn >= lsn;
  });
}

NodeStatus Node::status() const {
  const int64_t now_us = clock_();
  const auto coordinator = coordinating();
  const auto followers =
      coordinator ? coordinator->followers() : std::map<std::string, FollowerFacts>();
  NodeStatus status;
  std::map<std::string, SeenRow> rows;
  std::shared_ptr<const Plan> plan;
  {
    MutexLock lock(mutex_);
    status.counters = counters_;
    status.coordinator = known_coordinator_ ? known_coordinator_->name : "";
    rows = rows_;
    plan = plan_;
  }
  if (coordinator) status.counters.plans_made += coordinator->plans_made();
  status.self = {.name = lease_.options().node_name,
                 .address = lease_.options().address,
                 .incarnation = lease_.incarnation(),
                 .draining = lease_.is_draining()};
  status.lease_good = lease_.is_good();
  status.lease_lost = lease_.is_lost();
  status.lease_age_us = lease_.age_us();
  status.lease_renewals = lease_.renewals();
  status.is_coordinator = coordinator != nullptr;
  status.term = plan ? plan->term : 0;
  status.plan_version = plan ? plan->version : 0;
  status.ranges = plan ? plan->owners.size() : 0;
  status.written_version = written_version();
  status.catalog_lsn = seat_.catalog_lsn();
  if (coordinator) {
    status.catalog_age_us = 0;  // it has the catalog itself
  } else if (const auto as_of_us = catalog_as_of_us()) {
    status.catalog_age_us = now_us - *as_of_us;
  }
  std::map<std::string, uint64_t> ranges;
  if (plan) {
    for (const auto& [ref, owner] : plan->owners) ++ranges[plan->members[owner].incarnation];
  }
  for (const auto& [incarnation, seen] : rows) {
    MemberStatus member{.member = member_of(seen),
                        .state = seen.row.state,
                        .versions = seen.row.versions,
                        .silent_us = now_us - seen.changed_us,
                        .cannot_reach = seen.row.cannot_reach,
                        .ranges = ranges[incarnation]};
    if (const auto follower = followers.find(incarnation); follower != followers.end()) {
      member.unheard_us = now_us - follower->second.heard_us;
      member.catalog_lsn = follower->second.catalog_lsn;
      member.has_plan = plan && follower->second.plan_term == plan->term &&
                        follower->second.plan_version == plan->version;
      member.quiet = follower->second.quiet;
    }
    status.members.push_back(std::move(member));
  }
  return status;
}

}  // namespace orrery::nodes

// See node.h.
#include "nodes/node.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
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

Node::Node(volume::ObjectStore& store, volume::Lease& lease, peer::Link& link, Seat& seat,
           NodeTimes times, std::function<void()> wake)
    : store_(store),
      lease_(lease),
      link_(link),
      seat_(seat),
      times_(times),
      clock_(lease.options().clock),
      wake_(wake ? std::move(wake) : [] {}),
      members_(store, lease) {
  MutexLock lock(mailbox_->mutex);
  mailbox_->wake = wake_;
}

Node::~Node() {
  {
    MutexLock lock(mailbox_->mutex);
    mailbox_->wake = [] {};
  }
  if (auto coordinator = coordinating()) coordinator->dismiss();
}

// --- the ticking thread
// ---------------------------------------------------------------------------

void Node::tick() {
  if (lease_.is_lost()) {
    // Others have, or will have, what this process had. Whoever runs it ends it.
    if (coordinating()) step_down(false);
    return;
  }
  read_told();
  if (const int64_t now_us = clock_(); now_us >= next_poll_us_) {
    next_poll_us_ = now_us + times_.poll_us;
    poll(now_us);
  }
  const int64_t now_us = clock_();
  if (coordinating()) {
    coordinate(now_us);
  } else if (!owner_.empty() && owner_ != lease_.incarnation()) {
    ask_coordinator(now_us);
  }
  answer_drains();
}

void Node::poll(int64_t now_us) {
  if (auto polled = members_.poll(owner_, doubted(now_us)); !polled) {
    log::warn("cannot read the leases of all nodes", {{"error", polled.error().message}});
    MutexLock lock(mutex_);
    ++counters_.polls_failed;
  }
  {
    MutexLock lock(mutex_);
    rows_ = members_.rows();
    rows_read_us_ = members_.read_us();
    counters_.leases_ended = members_.leases_ended();
  }
  find_coordinator(now_us);
  if (const auto coordinator = coordinating()) {
    // Somebody took it over, and this process has not noticed anything yet.
    if (owner_known_ && owner_ != lease_.incarnation()) step_down(false);
  } else if (vacant_since_us_) {
    claim_catalog(clock_());
  }
}

// Those whose leases are ended though they renew them.
std::set<std::string> Node::doubted(int64_t now_us) const {
  if (const auto coordinator = coordinating()) return coordinator->unheard(members_, now_us);
  // The coordinator, once more than half of all nodes cannot reach it.
  size_t doubters = 0;
  for (const auto& [incarnation, seen] : members_.rows()) {
    if (seen.row.state == volume::LeaseRow::State::live && !owner_.empty() &&
        seen.row.cannot_reach == owner_) {
      ++doubters;
    }
  }
  if (doubters * 2 <= members_.live().size()) return {};
  return {owner_};
}

void Node::find_coordinator(int64_t now_us) {
  auto owner = seat_.owner_incarnation(kCatalogName);
  if (!owner) {
    owner_known_ = false;
    log::warn("cannot read who has the catalog", {{"error", owner.error().message}});
    return;
  }
  owner_known_ = true;
  owner_ = std::move(*owner);
  bool is_vacant = owner_.empty() || (owner_ == lease_.incarnation() && !coordinating());
  if (!is_vacant && owner_ != lease_.incarnation() && !members_.rows().contains(owner_)) {
    auto over = volume::is_over(store_, owner_);
    is_vacant = over && *over;
  }
  if (!is_vacant) {
    vacant_since_us_.reset();
  } else if (!vacant_since_us_) {
    vacant_since_us_ = now_us;
  }
  const Member* member = members_.find(owner_);
  MutexLock lock(mutex_);
  known_coordinator_ = member && !is_vacant ? std::optional(*member) : std::nullopt;
}

bool Node::may_claim(int64_t now_us) const {
  if (now_us < next_claim_us_ || !lease_.is_good()) return false;
  const Member* self = members_.find(lease_.incarnation());
  if (!self) return false;
  // Who is being drained does so only if everybody is.
  const auto takes = [](const Member& member) { return !member.draining; };
  const auto first = std::ranges::find_if(members_.live(), takes);
  if (self->draining && first != members_.live().end()) return false;
  if (first == members_.live().end() || first->incarnation == self->incarnation) return true;
  return now_us - *vacant_since_us_ >= times_.claim_after_us;
}

void Node::claim_catalog(int64_t now_us) {
  if (!may_claim(now_us)) return;
  auto term = seat_.own_catalog();
  if (!term) {
    next_claim_us_ = clock_() + times_.claim_after_us;
    // Another was quicker: the next poll tells who.
    if (term.error().code == Code::moved) return;
    log::error("cannot claim the catalog", {{"error", term.error().message}});
    return;
  }
  log::info("this node is the coordinator", {{"term", std::to_string(*term)}});
  newest_term_ = std::max(newest_term_, *term);
  vacant_since_us_.reset();
  unreached_since_us_.reset();
  lease_.set_cannot_reach("");
  owner_ = lease_.incarnation();
  const Member* self = members_.find(owner_);
  MutexLock lock(mutex_);
  coordinator_ = std::make_shared<Coordinator>(seat_, lease_.incarnation(), *term, times_, plan_);
  known_coordinator_ = self ? std::optional(*self) : std::nullopt;
  ++counters_.catalogs_claimed;
}

void Node::step_down(bool releases) {
  std::shared_ptr<Coordinator> coordinator;
  {
    MutexLock lock(mutex_);
    coordinator = std::move(coordinator_);
    coordinator_.reset();
    counters_.plans_made += coordinator ? coordinator->plans_made() : 0;
    known_coordinator_.reset();
    // The copy was the catalog itself until now, unless another has it already.
    const int64_t now_us = clock_();
    as_of_us_ = releases && lease_.is_good() ? std::optional(now_us) : std::nullopt;
  }
  if (coordinator) coordinator->dismiss();
  if (releases) owner_.clear();
  seat_.disown_catalog();
  log::info("this node is not the coordinator any more");
}

void Node::coordinate(int64_t now_us) {
  const auto coordinator = coordinating();
  if (auto plan = coordinator->update(members_, now_us)) install(std::move(plan));
  coordinator->answer_waiting(clock_());
  // The catalog is the last that a node which is drained gives away.
  const Member* self = members_.find(lease_.incarnation());
  if (!self || !self->draining || !is_drained()) return;
  const bool has_heir =
      std::ranges::any_of(members_.live(), [](const Member& member) { return !member.draining; });
  if (has_heir) step_down(true);
}

void Node::ask_coordinator(int64_t now_us) {
  if (is_asking_ && now_us - asked_us_ > 2 * times_.follow_deadline_us) {
    // The network owes an answer or an error, and gives neither.
    is_asking_ = false;
    follow_failed({});
  }
  if (is_asking_ || now_us < next_question_us_) return;
  const Member* owner = members_.find(owner_);
  if (!owner) return;
  FollowRequest request{.incarnation = lease_.incarnation(),
                        .catalog_lsn = seat_.catalog_lsn(),
                        .plan_term = 0,
                        .plan_version = 0,
                        .quiet = seat_.is_quiet(),
                        .loads = std::nullopt};
  if (const auto plan = this->plan()) {
    request.plan_term = plan->term;
    request.plan_version = plan->version;
    if (told_loads_us_ == INT64_MIN || now_us - told_loads_us_ >= times_.loads_us) {
      told_loads_us_ = now_us;
      request.loads.emplace();
      for (const RangeFacts& range : seat_.ranges()) {
        const Member* server = plan->owner_of(range.ref);
        if (!server || server->incarnation != lease_.incarnation()) continue;
        request.loads->push_back({.ref = range.ref, .bytes = range.bytes, .load = range.load});
      }
    }
  }
  is_asking_ = true;
  asked_owner_ = owner_;
  asked_us_ = clock_();
  ++question_;
  {
    MutexLock lock(mutex_);
    ++counters_.questions;
  }
  link_.call(owner->address, kFollowKind, encode(request),
             std::chrono::milliseconds(times_.follow_deadline_us / 1000),
             [mailbox = mailbox_, question = question_](Result<std::string> answer) {
               std::function<void()> wake;
               {
                 MutexLock lock(mailbox->mutex);
                 mailbox->told = Told{.question = question, .answer = std::move(answer)};
                 wake = mailbox->wake;
               }
               wake();
             });
}

void Node::read_told() {
  std::optional<Told> told;
  {
    MutexLock lock(mailbox_->mutex);
    told.swap(mailbox_->told);
  }
  if (!told || told->question != question_ || !is_asking_) return;
  is_asking_ = false;
  if (!told->answer) return follow_failed(told->answer.error());
  auto answer = decode_follow_answer(*told->answer);
  if (!answer) return follow_failed(answer.error());
  follow_answered(std::move(*answer));
}

void Node::follow_failed(const Error& /*error*/) {
  const int64_t now_us = clock_();
  next_question_us_ = now_us + times_.tick_us;
  {
    MutexLock lock(mutex_);
    ++counters_.questions_failed;
  }
  if (!unreached_since_us_) unreached_since_us_ = asked_us_;
  if (now_us - *unreached_since_us_ >= times_.unreachable_us) {
    lease_.set_cannot_reach(asked_owner_);
  }
}

void Node::follow_answered(FollowAnswer answer) {
  unreached_since_us_.reset();
  lease_.set_cannot_reach("");
  // It was the coordinator once, and has not noticed its end.
  if (answer.term < newest_term_) return;
  newest_term_ = answer.term;
  if (coordinating()) return;
  if (answer.news.lsn > seat_.catalog_lsn()) {
    if (auto applied = seat_.apply(answer.news); !applied) {
      log::warn("cannot apply what is new in the catalog", {{"error", applied.error().message}});
      next_question_us_ = clock_() + times_.tick_us;
      return;
    }
  }
  {
    MutexLock lock(mutex_);
    as_of_us_ = is_mutated(Mutation::fresh_as_of_answer) ? clock_() : asked_us_;
  }
  if (answer.plan) install(std::make_shared<const Plan>(std::move(*answer.plan)));
}

void Node::install(std::shared_ptr<const Plan> plan) {
  {
    MutexLock lock(mutex_);
    if (plan_ && !plan->is_newer_than(*plan_)) return;
    plan_ = plan;
  }
  seat_.follow(std::move(plan));
}

void Node::answer_drains() {
  std::vector<DrainAsked> done;
  {
    MutexLock lock(mutex_);
    for (auto it = drains_.begin(); it != drains_.end();) {
      if (it->draining != lease_.is_draining()) {
        ++it;
        continue;
      }
      done.push_back(std::move(*it));
      it = drains_.erase(it);
    }
  }
  for (DrainAsked& asked : done) asked.done(std::string());
}

// --- any thread
// -----------------------------------------------------------------------------------

std::shared_ptr<Coordinator> Node::coordinating() const {
  MutexLock lock(mutex_);
  return coordinator_;
}

void Node::answer(std::string kind, std::string bytes, peer::Done done) {
  if (kind == kFollowKind) return answer_follow(bytes, std::move(done));
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
  status.is_coordinator = coordinator != nullptr;
  status.term = plan ? plan->term : 0;
  status.plan_version = plan ? plan->version : 0;
  status.ranges = plan ? plan->owners.size() : 0;
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

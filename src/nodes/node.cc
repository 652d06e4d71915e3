// See node.h: what the ticking thread does.
#include "nodes/node.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "volume/objects/mutation.h"
#include "volume/objects/written_version.h"

namespace orrery::nodes {

Node::Node(volume::ObjectStore& store, volume::Lease& lease, peer::Link& link, Seat& seat,
           NodeTimes times, std::function<void()> wake)
    : store_(store),
      lease_(lease),
      link_(link),
      seat_(seat),
      times_(times),
      clock_(lease.options().clock),
      wake_(wake ? std::move(wake) : [] {}),
      members_(store, lease),
      probes_(link, clock_, times) {
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

void Node::tick() {
  if (lease_.is_lost()) {
    // Others have, or will have, what this process had. Whoever runs it ends it.
    if (coordinating()) step_down(false);
    return;
  }
  read_told();
  if (const int64_t now_us = clock_(); now_us >= next_poll_us_) {
    poll(now_us);
    next_poll_us_ = std::clamp(members_.due_us(), now_us + times_.tick_us, now_us + times_.poll_us);
  } else if (vacant_since_us_) {
    find_coordinator(now_us);
    if (vacant_since_us_) claim_catalog(clock_());
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
  look_at_version();
  find_coordinator(now_us);
  if (const auto coordinator = coordinating()) {
    // Somebody took it over, and this process has not noticed anything yet.
    if (owner_known_ && owner_ != lease_.incarnation()) step_down(false);
  } else if (vacant_since_us_) {
    claim_catalog(clock_());
  }
}

// Only while there is something to raise: a coordinator raises it, the others wait for that.
void Node::look_at_version() {
  const uint32_t readable = members_.readable_by_all();
  if (written_version() >= readable) return;
  if (coordinating()) {
    auto raised = volume::raise_written_version(store_, readable);
    if (!raised && raised.error().code != Code::retry) {
      log::warn("cannot raise the version that is written", {{"error", raised.error().message}});
    }
  }
  if (auto version = volume::read_written_version(store_)) {
    written_version_.store(version->written, std::memory_order_release);
  }
}

void Node::probe_unheard(const Coordinator& coordinator, int64_t now_us) {
  const auto unheard = coordinator.unheard(members_, now_us, times_.unheard_us);
  probes_.keep_only(unheard);
  for (const Member& member : unheard) probes_.send(member);
}

// Those whose leases are ended though they renew them.
std::set<std::string> Node::doubted(int64_t now_us) const {
  std::set<std::string> doubted;
  if (const auto coordinator = coordinating()) {
    for (const Member& member : coordinator->unheard(members_, now_us, times_.unheard_us)) {
      if (probes_.is_unreachable(member.incarnation)) doubted.insert(member.incarnation);
    }
    for (const Member& member : coordinator->unheard(members_, now_us, times_.deaf_us)) {
      doubted.insert(member.incarnation);
    }
    return doubted;
  }
  // The coordinator, once more than half of all nodes cannot reach it.
  size_t doubters = 0;
  for (const auto& [incarnation, seen] : members_.rows()) {
    if (seen.row.state == volume::LeaseRow::State::live && !owner_.empty() &&
        seen.row.cannot_reach == owner_) {
      ++doubters;
    }
  }
  if (doubters * 2 > members_.live().size()) doubted.insert(owner_);
  return doubted;
}

void Node::find_coordinator(int64_t now_us) {
  auto owner = seat_.owner_incarnation(kCatalogName);
  if (!owner) {
    owner_known_ = false;
    log::warn("cannot read who has the catalog", {{"error", owner.error().message}});
    return;
  }
  owner_known_ = true;
  if (owner_ != *owner) forget_question();
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

// The next is for another coordinator. The one before may be dead, and would not answer it.
void Node::forget_question() {
  is_asking_ = false;
  is_reached_ = true;
  next_question_us_ = INT64_MIN;
  lease_.set_cannot_reach("");
}

// Asked while the catalog is nobody's: whether most of those that live have answered since.
bool Node::reaches_most() {
  size_t probed = 0;
  size_t reached = 0;
  for (const Member& member : members_.live()) {
    if (member.incarnation == lease_.incarnation()) continue;
    if (probed++ == kWatchersMax) break;
    if (!probes_.has_answered_since(member.incarnation, *vacant_since_us_)) probes_.send(member);
    if (probes_.has_answered_since(member.incarnation, *vacant_since_us_)) ++reached;
  }
  probed = std::min(probed, kWatchersMax);
  return (reached + 1) * 2 > probed + 1;
}

bool Node::may_claim(int64_t now_us) {
  if (now_us < next_claim_us_ || !lease_.is_good()) return false;
  const Member* self = members_.find(lease_.incarnation());
  if (!self) return false;
  // Who is being drained does so only if everybody is.
  const auto takes = [](const Member& member) { return !member.draining; };
  const auto first = std::ranges::find_if(members_.live(), takes);
  if (self->draining && first != members_.live().end()) return false;
  const int64_t vacant_us = now_us - *vacant_since_us_;
  if (!reaches_most() && vacant_us < times_.claim_unreached_us) return false;
  if (first == members_.live().end() || first->incarnation == self->incarnation) return true;
  return vacant_us >= times_.claim_after_us;
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
  is_reached_ = true;
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
  probe_unheard(*coordinator, now_us);
  // The catalog is the last that a node which is drained gives away.
  const Member* self = members_.find(lease_.incarnation());
  if (!self || !self->draining || !is_drained()) return;
  const bool has_heir =
      std::ranges::any_of(members_.live(), [](const Member& member) { return !member.draining; });
  if (has_heir) step_down(true);
}

void Node::ask_coordinator(int64_t now_us) {
  // It may be reached, and be waiting for the store.
  const Member* owner = members_.find(owner_);
  const bool is_late = is_asking_ && now_us - asked_us_ > times_.news_wait_us + times_.late_us;
  if ((!is_reached_ || is_late) && owner) {
    probes_.send(*owner);
    lease_.set_cannot_reach(probes_.is_unreachable(owner_) ? owner_ : "");
  }
  if (is_asking_ && now_us - asked_us_ > 2 * times_.follow_deadline_us) {
    // The network owes an answer or an error, and gives neither.
    is_asking_ = false;
    follow_failed({});
  }
  if (is_asking_ || now_us < next_question_us_) return;
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
  asked_us_ = clock_();
  ++question_;
  {
    MutexLock lock(mutex_);
    ++counters_.questions;
  }
  link_.call(owner->address, kFollowKind, encode(request),
             std::chrono::milliseconds(times_.follow_deadline_us / 1000),
             [mailbox = mailbox_, question = question_](Result<std::string> answer) {
               MutexLock lock(mailbox->mutex);
               if (mailbox->told && mailbox->told->question > question) return;
               mailbox->told = Told{.question = question, .answer = std::move(answer)};
               mailbox->wake();
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
  is_reached_ = false;
}

void Node::follow_answered(FollowAnswer answer) {
  is_reached_ = true;
  probes_.keep_only({});
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

}  // namespace orrery::nodes

// See coordinator.h.
#include "nodes/coordinator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/fault.h"
#include "base/log.h"

namespace orrery::nodes {
namespace {

// Reading a root takes two round trips. A plan that is not told who has a range moves it, which is
// a waste and does no harm.
constexpr size_t kRootsReadMax = 256;

}  // namespace

std::shared_ptr<const Plan> Coordinator::update(const Members& members, int64_t now_us) {
  // Nothing moves for balance at first: who is to be balanced has not told its loads yet.
  if (balanced_us_ == INT64_MIN) balanced_us_ = now_us;
  const bool is_due = now_us - balanced_us_ >= times_.balance_us;
  const uint64_t lsn = seat_.catalog_lsn();
  bool is_first = false;
  Strangers unheard;
  {
    MutexLock lock(mutex_);
    is_first = !plan_;
    if (is_first) {
      for (const Member& member : before_ ? before_->members : members.live()) {
        known_.insert(member.incarnation);
      }
    }
    std::erase_if(followers_, [&](const auto& follower) { return !members.find(follower.first); });
    for (const Member& member : members.live()) {
      const auto [follower, is_new] = followers_.try_emplace(member.incarnation);
      if (is_new) follower->second.facts.heard_us = now_us;
    }
    unheard = strangers(members, now_us);
    const bool changed =
        planned_members_ != members.live() || planned_lsn_ != lsn || planned_strangers_ != unheard;
    const bool goes_on = plan_ && now_us - planned_us_ >= times_.poll_us && has_moves_to_make();
    if (!is_first && !changed && !is_due && !goes_on && !is_asked_) return plan_;
  }
  // Without this node's own row nothing was read yet.
  if (!members.find(incarnation_)) return nullptr;
  std::vector<RangeFacts> ranges = seat_.ranges();
  std::map<RangeRef, Placing::Holder> holders;
  if (is_first) {
    auto found = first_holders(ranges, members);
    if (!found) {
      log::warn("cannot read who has which partition", {{"error", found.error().message}});
      return nullptr;
    }
    holders = std::move(*found);
  }
  planned_us_ = now_us;
  planned_members_ = members.live();
  planned_strangers_ = unheard;
  planned_lsn_ = lsn;
  if (is_due) balanced_us_ = now_us;
  before_.reset();

  MutexLock lock(mutex_);
  const bool is_asked = std::exchange(is_asked_, false);
  Placing wanted = placing(members, std::move(ranges));
  wanted.strangers = std::move(unheard.all);
  wanted.expected = std::move(unheard.expected);
  if (is_first) wanted.holders = std::move(holders);
  if (is_due && wanted.balance == Placing::Balance::no) {
    wanted.balance = Placing::Balance::worthwhile;
  }
  auto plan = std::make_shared<Plan>();
  plan->term = term_;
  plan->version = plan_ ? plan_->version + 1 : 1;
  plan->owners = place(wanted);
  plan->members = std::move(wanted.members);
  if (plan_ && plan_->members == plan->members && plan_->owners == plan->owners) {
    if (wanted.busy.empty()) balance_ = Placing::Balance::no;  // as good as it gets
    return plan_;
  }
  plan_ = std::move(plan);
  ++plans_made_;
  if (is_asked) static_cast<void>(fault::point("move.placed"));  // and nobody was told
  return plan_;
}

bool Coordinator::has_moves_to_make() const {
  if (balance_ != Placing::Balance::no) return true;
  for (const auto& [ref, index] : plan_->owners) {
    if (plan_->members[index].draining) return true;
  }
  for (const auto& [ref, name] : pinned_) {
    const Member* owner = plan_->owner_of(ref);
    if (owner && owner->name != name) return true;
  }
  return false;
}

Coordinator::Strangers Coordinator::strangers(const Members& members, int64_t now_us) const {
  Strangers strangers;
  for (const Member& member : members.live()) {
    if (member.incarnation == incarnation_ || known_.contains(member.incarnation)) continue;
    const auto follower = followers_.find(member.incarnation);
    if (follower == followers_.end() || follower->second.facts.has_followed) continue;
    strangers.all.insert(member.incarnation);
    if (now_us - follower->second.facts.heard_us < times_.newcomer_us) {
      strangers.expected.insert(member.incarnation);
    }
  }
  return strangers;
}

Placing Coordinator::placing(const Members& members, std::vector<RangeFacts> ranges) {
  Placing placing{.members = members.live(),
                  .ranges = std::move(ranges),
                  .holders = {},
                  .pinned = pinned_,
                  .busy = {},
                  .strangers = {},
                  .expected = {},
                  .balance = balance_};
  // Each range's figures are those of who is to serve it; what another says may be old.
  for (RangeFacts& range : placing.ranges) {
    const Member* owner = plan_ ? plan_->owner_of(range.ref) : nullptr;
    if (!owner) continue;
    placing.holders[range.ref] = {.incarnation = owner->incarnation, .name = owner->name};
    const auto follower = followers_.find(owner->incarnation);
    if (owner->incarnation == incarnation_ || follower == followers_.end()) continue;
    const auto load = follower->second.loads.find(range.ref);
    if (load == follower->second.loads.end()) continue;
    range.bytes = load->second.bytes;
    range.load = load->second.load;
  }
  for (const auto& [incarnation, follower] : followers_) {
    const bool is_done = follower.facts.quiet && follower.facts.plan_term == term_ && plan_ &&
                         follower.facts.plan_version == plan_->version;
    if (incarnation == incarnation_ ? !seat_.is_quiet() : !is_done) {
      placing.busy.insert(incarnation);
    }
  }
  return placing;
}

Result<std::map<RangeRef, Placing::Holder>> Coordinator::first_holders(
    const std::vector<RangeFacts>& ranges, const Members& members) {
  std::map<RangeRef, Placing::Holder> holders;
  size_t roots_read = 0;
  for (const RangeFacts& range : ranges) {
    if (const Member* owner = before_ ? before_->owner_of(range.ref) : nullptr) {
      holders[range.ref] = {.incarnation = owner->incarnation, .name = owner->name};
      continue;
    }
    // Alone there is nobody else who might have it.
    if (members.live().size() < 2 || roots_read == kRootsReadMax) continue;
    ++roots_read;
    auto owner = seat_.owner_incarnation(range.volume_name);
    if (!owner) return pass(owner.error());
    if (!owner->empty()) holders[range.ref] = {.incarnation = std::move(*owner), .name = {}};
  }
  return holders;
}

bool Coordinator::has_news(const FollowRequest& request) const {
  if (seat_.catalog_lsn() > request.catalog_lsn) return true;
  const Plan told{
      .term = request.plan_term, .version = request.plan_version, .members = {}, .owners = {}};
  return plan_ && plan_->is_newer_than(told);
}

void Coordinator::follow(FollowRequest request, int64_t now_us, peer::Done done) {
  std::vector<Waiting> replaced;
  {
    MutexLock lock(mutex_);
    // Before the first plan there are no members: what it says is said again.
    if (const auto known = followers_.find(request.incarnation); known != followers_.end()) {
      Follower& follower = known->second;
      follower.facts = {.heard_us = now_us,
                        .catalog_lsn = request.catalog_lsn,
                        .plan_term = request.plan_term,
                        .plan_version = request.plan_version,
                        .quiet = request.quiet,
                        .has_followed = true};
      if (request.loads) {
        follower.loads.clear();
        for (const RangeLoad& load : *request.loads) follower.loads[load.ref] = load;
        request.loads.reset();
      }
    }
    if (!has_news(request)) {
      // Who asks again does not wait for its first answer any more.
      for (auto it = waiting_.begin(); it != waiting_.end();) {
        if (it->request.incarnation != request.incarnation) {
          ++it;
          continue;
        }
        replaced.push_back(std::move(*it));
        it = waiting_.erase(it);
      }
      if (waiting_.size() < kWaitingMax) {
        waiting_.push_back({.request = std::move(request),
                            .done = std::move(done),
                            .until_us = now_us + times_.news_wait_us});
        done = nullptr;
      }
    }
  }
  for (Waiting& earlier : replaced) {
    earlier.done(fail(Code::overloaded, "this node has asked again since"));
  }
  if (done) answer(request, std::move(done));
}

void Coordinator::answer_waiting(int64_t now_us) {
  std::vector<Waiting> ready;
  {
    MutexLock lock(mutex_);
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      if (now_us < it->until_us && !has_news(it->request)) {
        ++it;
        continue;
      }
      ready.push_back(std::move(*it));
      it = waiting_.erase(it);
    }
  }
  for (Waiting& waiting : ready) answer(waiting.request, std::move(waiting.done));
}

void Coordinator::dismiss() {
  std::vector<Waiting> all;
  {
    MutexLock lock(mutex_);
    all.swap(waiting_);
  }
  for (Waiting& waiting : all) {
    waiting.done(fail(Code::moved, "this node is not the coordinator any more"));
  }
}

void Coordinator::answer(const FollowRequest& request, peer::Done done) {
  auto news = seat_.news(request.catalog_lsn);
  if (!news) return done(pass(news.error()));
  FollowAnswer answer{.term = term_, .news = std::move(*news), .plan = std::nullopt};
  {
    MutexLock lock(mutex_);
    const Plan told{
        .term = request.plan_term, .version = request.plan_version, .members = {}, .owners = {}};
    if (plan_ && plan_->is_newer_than(told)) answer.plan = *plan_;
  }
  done(encode(answer));
}

Status Coordinator::move(RangeRef range, const std::string& to) {
  MutexLock lock(mutex_);
  if (!plan_) return fail(Code::overloaded, "there is no plan yet: ask again in a moment");
  if (!plan_->owners.contains(range)) {
    return fail(Code::not_found,
                fmt::format("container {} has no range {}", range.container, range.range));
  }
  const auto member = std::ranges::find(plan_->members, to, &Member::name);
  if (member == plan_->members.end()) {
    return fail(Code::not_found, fmt::format("there is no node '{}' that lives", to));
  }
  if (member->draining) {
    return fail(Code::conflict, fmt::format("the node '{}' is being drained", to));
  }
  pinned_[range] = to;
  is_asked_ = true;
  static_cast<void>(fault::point("move.asked"));  // only a crash means something here
  return {};
}

void Coordinator::rebalance() {
  MutexLock lock(mutex_);
  pinned_.clear();
  balance_ = Placing::Balance::as_good_as_possible;
  is_asked_ = true;
}

std::map<std::string, FollowerFacts> Coordinator::followers() const {
  std::map<std::string, FollowerFacts> all;
  MutexLock lock(mutex_);
  for (const auto& [incarnation, follower] : followers_) all.emplace(incarnation, follower.facts);
  return all;
}

std::vector<Member> Coordinator::unheard(const Members& members, int64_t now_us,
                                         int64_t for_us) const {
  std::vector<Member> unheard;
  MutexLock lock(mutex_);
  for (const Member& member : members.live()) {
    if (member.incarnation == incarnation_) continue;
    const auto follower = followers_.find(member.incarnation);
    if (follower == followers_.end()) continue;
    if (now_us - follower->second.facts.heard_us >= for_us) unheard.push_back(member);
  }
  const size_t heard = members.live().size() - unheard.size();
  if (heard * 2 <= members.live().size()) unheard.clear();
  return unheard;
}

uint64_t Coordinator::plans_made() const {
  MutexLock lock(mutex_);
  return plans_made_;
}

}  // namespace orrery::nodes

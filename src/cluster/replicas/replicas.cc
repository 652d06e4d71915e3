// See replicas.h.
#include "cluster/replicas/replicas.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/await.h"
#include "base/log.h"
#include "base/pack.h"
#include "nodes/replica_choice.h"
#include "partition/follower.h"

namespace orrery::cluster {
namespace {

constexpr std::chrono::milliseconds kAskEvery{100};
constexpr std::chrono::milliseconds kAskDeadline{1'000};
constexpr int64_t kUnusedUs = 60'000'000;
// More owners than that are asked one after the other.
constexpr size_t kThreads = 4;

}  // namespace

bool may_answer(const Replica& replica, const LsnDemand& demand, int64_t now_us,
                int64_t staleness_max_us) {
  const Freshness freshness = demand.freshness();
  if (freshness == Freshness::newest || !partition::is_whole(*replica.partition)) return false;
  const int64_t age_us = now_us - replica.fresh_as_of_us.load(std::memory_order_relaxed);
  const uint64_t owner_lsn = replica.owner_lsn.load(std::memory_order_relaxed);
  const uint64_t lsn = replica.partition->lsn();
  if (age_us > staleness_max_us) return false;
  if (freshness == Freshness::bounded && (age_us > kBoundedUs || owner_lsn > lsn + kBoundedLsns)) {
    return false;
  }
  return check_demand(demand, replica.range, lsn).has_value();
}

Replicas::Replicas(const RoutingTable& table, const catalog::Catalog& catalog,
                   const ServingPlan& plan, volume::Volume& volume, partition::Shared& shared,
                   peer::Link* link)
    : table_(table),
      catalog_(catalog),
      plan_(plan),
      volume_(volume),
      shared_(shared),
      link_(link),
      pool_("replicas", link == nullptr ? 1 : kThreads) {}

Replicas::~Replicas() {
  stop();
}

void Replicas::set(ReplicaSettings settings) {
  const MutexLock lock(mutex_);
  settings_ = std::move(settings);
  if (link_ != nullptr && !thread_.joinable()) {
    thread_ = std::thread([this] { run(); });
  }
}

void Replicas::stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  pool_.stop();
  std::map<nodes::RangeRef, Wanted> closing;  // after the lock is
  const MutexLock lock(mutex_);
  closing.swap(wanted_);
}

std::shared_ptr<Replica> Replicas::for_reader(const Slot& slot, const LsnDemand& demand) const {
  if (demand.freshness() == Freshness::newest) return nullptr;
  const uint32_t count = catalog_.read_replicas();
  if (count == 0) return nullptr;
  const nodes::RangeRef ref{.container = slot.container, .range = slot.range.id};
  const int64_t now_us = shared_.clock.steady_us();
  std::shared_ptr<Replica> replica;
  int64_t staleness_max_us = 0;
  {
    const MutexLock lock(mutex_);
    if (stopping_) return nullptr;
    auto found = wanted_.find(ref);
    if (found == wanted_.end()) {
      const auto plan = plan_.current();
      // Those that this node owns come first.
      if (!plan || !nodes::has_replica(*plan, count, ref, plan_.node()) ||
          wanted_.size() * 2 >= shared_.limits.open_partitions) {
        return nullptr;
      }
      if (wanted_.empty()) wake_.notify_all();
      found = wanted_.emplace(ref, Wanted{.range = slot.range}).first;
    }
    found->second.used_us = now_us;
    replica = found->second.replica;
    staleness_max_us = settings_.staleness_max_us;
  }
  if (!replica || !may_answer(*replica, demand, now_us, staleness_max_us)) return nullptr;
  return replica;
}

void Replicas::each(const std::function<void(const ReplicaStatus&)>& visit) const {
  std::vector<std::pair<nodes::RangeRef, std::shared_ptr<Replica>>> all;
  {
    const MutexLock lock(mutex_);
    for (const auto& [ref, wanted] : wanted_) {
      if (wanted.replica) all.emplace_back(ref, wanted.replica);
    }
  }
  const int64_t now_us = shared_.clock.steady_us();
  for (const auto& [ref, replica] : all) {
    const uint64_t lsn = replica->partition->lsn();
    const int64_t fresh_us = replica->fresh_as_of_us;
    visit({.container = ref.container,
           .range = ref.range,
           .lsn = lsn,
           .lsns_behind = std::max(replica->owner_lsn.load(), lsn) - lsn,
           .staleness_us = fresh_us < 0 ? -1 : now_us - fresh_us,
           .reads = replica->reads});
  }
}

void Replicas::run() {
  for (;;) {
    {
      const MutexLock lock(mutex_);
      while (!stopping_ && wanted_.empty()) wake_.wait(mutex_);
      if (!stopping_) wake_.wait_for(mutex_, kAskEvery);
      if (stopping_) return;
    }
    for (auto& [address, ranges] : sort_out()) {
      {
        const MutexLock lock(mutex_);
        if (!asking_.insert(address).second) continue;
      }
      pool_.post([this, owner = address, asked = std::move(ranges)] {
        keep_up(owner, asked);
        const MutexLock lock(mutex_);
        asking_.erase(owner);
      });
    }
  }
}

std::map<std::string, Replicas::Ranges> Replicas::sort_out() {
  const auto plan = plan_.current();
  const uint32_t count = catalog_.read_replicas();
  const int64_t now_us = shared_.clock.steady_us();
  std::map<std::string, Ranges> by_owner;
  std::vector<std::shared_ptr<Replica>> closing;  // after the lock is
  const MutexLock lock(mutex_);
  for (auto one = wanted_.begin(); one != wanted_.end();) {
    const auto& [ref, wanted] = *one;
    const RoutingPtr routing = table_.find(ref.container);
    const bool is_there = routing && std::ranges::any_of(routing->slots, [&](const auto& slot) {
                            return slot->range.id == ref.range && !slot->here && !slot->gone;
                          });
    if (!is_there || now_us - wanted.used_us > kUnusedUs || !plan ||
        !nodes::has_replica(*plan, count, ref, plan_.node())) {
      closing.push_back(wanted.replica);
      one = wanted_.erase(one);
      continue;
    }
    by_owner[plan->owner_of(ref)->address].emplace_back(ref, wanted.range);
    ++one;
  }
  return by_owner;
}

void Replicas::keep_up(const std::string& address, const Ranges& ranges) {
  const int64_t asked_us = shared_.clock.steady_us();
  auto lsns = ask(address, ranges);
  if (!lsns) {
    log::debug("cannot ask the owner of replicas how far it is",
               {{"node", address}, {"error", lsns.error().message}});
    return;
  }
  for (size_t i = 0; i < ranges.size(); ++i) {
    if ((*lsns)[i]) keep_up_one(ranges[i].first, ranges[i].second, *(*lsns)[i], asked_us);
  }
}

Result<std::vector<std::optional<uint64_t>>> Replicas::ask(const std::string& address,
                                                           const Ranges& ranges) const {
  Packer question;
  question.number(ranges.size());
  for (const auto& [ref, range] : ranges) question.number(ref.container).number(ref.range);
  auto answer = await<Result<std::string>>([&](auto done) {
    link_->call(address, kLsnsCall, question.take(), kAskDeadline, std::move(done));
  });
  if (!answer) return pass(answer.error());
  if (!*answer) return pass(answer->error());
  Unpacker from(**answer);
  std::vector<std::optional<uint64_t>> lsns;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const uint64_t is_known = from.number();
    const uint64_t lsn = from.number();
    lsns.push_back(is_known == 1 ? std::optional(lsn) : std::nullopt);
  }
  if (!from.is_good()) return fail(Code::invalid, "cannot read how far an owner is");
  return lsns;
}

void Replicas::answer_lsns(std::string_view bytes, peer::Done done) const {
  Unpacker from(bytes);
  Packer answer;
  const uint64_t count = from.count(16);
  for (uint64_t i = 0; i < count; ++i) {
    const auto container = static_cast<uint32_t>(from.number());
    const auto range = static_cast<uint32_t>(from.number());
    std::shared_ptr<partition::Partition> partition;
    if (const RoutingPtr routing = table_.find(container)) {
      const auto slot =
          std::ranges::find(routing->slots, range, [](const auto& one) { return one->range.id; });
      if (slot != routing->slots.end() && (*slot)->here) partition = (*slot)->opened();
    }
    // One that is not open has been used by nobody lately. A reader that no replica answers opens
    // it.
    answer.number(partition ? 1 : 0).number(partition ? partition->lsn() : 0);
  }
  if (!from.is_good()) return done(fail(Code::invalid, "cannot read which LSNs are asked for"));
  // Asked last: until here nobody else can have made a commit.
  if (!volume_.reads_are_current()) {
    return done(fail(Code::elsewhere, "this node may own the partitions no more"));
  }
  done(answer.take());
}

void Replicas::keep_up_one(nodes::RangeRef ref, const catalog::PartitionRange& range,
                           uint64_t owner_lsn, int64_t asked_us) {
  std::function<bool()> is_held;
  {
    const MutexLock lock(mutex_);
    is_held = settings_.is_held;
  }
  const bool may_catch_up = !is_held || !is_held();
  const std::shared_ptr<Replica> replica = find(ref);
  if (replica) replica->owner_lsn = owner_lsn;
  if (!may_catch_up) return;
  if (!replica) return open(ref, range);
  partition::Partition& partition = *replica->partition;
  if (partition.lsn() < owner_lsn || !partition::is_whole(partition)) {
    if (auto caught_up = partition::catch_up(partition); !caught_up) {
      log::debug("a replica cannot catch up",
                 {{"name", range.volume_name}, {"error", caught_up.error().message}});
      if (caught_up.error().code == Code::not_found) close(ref);
      return;
    }
  }
  if (partition.lsn() >= owner_lsn) replica->fresh_as_of_us = asked_us;
}

std::shared_ptr<Replica> Replicas::find(nodes::RangeRef ref) const {
  const MutexLock lock(mutex_);
  const auto found = wanted_.find(ref);
  return found == wanted_.end() ? nullptr : found->second.replica;
}

// It is fresh once its owner has been asked again.
void Replicas::open(nodes::RangeRef ref, const catalog::PartitionRange& range) {
  auto partition =
      partition::follow(shared_, volume_, range.volume_name, {range.id, range.min, range.max});
  if (!partition) {
    log::debug("cannot open a replica",
               {{"name", range.volume_name}, {"error", partition.error().message}});
    return;
  }
  auto replica = std::make_shared<Replica>(range, std::move(*partition));
  const MutexLock lock(mutex_);
  const auto found = wanted_.find(ref);
  if (found != wanted_.end()) found->second.replica = std::move(replica);
}

void Replicas::close(nodes::RangeRef ref) {
  std::shared_ptr<Replica> closing;  // after the lock is
  const MutexLock lock(mutex_);
  const auto found = wanted_.find(ref);
  if (found != wanted_.end()) closing = std::exchange(found->second.replica, nullptr);
}

}  // namespace orrery::cluster

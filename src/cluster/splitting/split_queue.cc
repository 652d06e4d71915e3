// See split_queue.h.
#include "cluster/splitting/split_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/survive.h"
#include "cluster/throughput.h"

namespace orrery::cluster {
namespace {

using catalog::MergeCause;
using catalog::SplitCause;

constexpr int64_t kSplitAgainUs = 1'000'000;
constexpr int64_t kScaleAgainUs = 10'000'000;
// Over how long a partition is to be idle, at least.
constexpr int64_t kRateEveryUs = 1'000'000;
// What two may have together to be merged, as a share of a full partition: one over this. With less
// than that the merged one is not soon full again.
constexpr uint64_t kAskedShare = 2;
constexpr uint64_t kIdleShare = 4;

// How much of all hashes the ranges from `first` to `last` have, about: by the first bytes of their
// bounds, rounded to a power of two, so that halves of ranges that were halved are alike. Where
// bounds do not tell it, as many as there are splits behind the first.
double width(value::Placement placement, const catalog::PartitionRange& first,
             const catalog::PartitionRange& last) {
  if (placement != value::Placement::hash_v2 && placement != value::Placement::multi_hash) {
    return -static_cast<double>(first.parents.size());
  }
  const auto start = [](std::string_view bound) {
    double at = 0;
    double unit = 1;
    for (size_t i = 0; i < sizeof(uint64_t); ++i) {
      unit /= 256;
      if (i < bound.size()) at += unit * static_cast<uint8_t>(bound[i]);
    }
    return std::min(at, 0.25);  // the two highest bits of a hash are zero
  };
  return std::round(std::log2(std::max(start(last.max) - start(first.min), 1e-15)));
}

// The range that holds most.
std::optional<uint32_t> largest_range(const Routing& routing, Opener& opener) {
  std::optional<uint32_t> largest;
  uint64_t most = 0;
  for (const auto& slot : routing.slots) {
    auto opened = opener.open_if_there(slot);
    const uint64_t bytes = opened && *opened ? (*opened)->usage().bytes : slot->bytes.load();
    if (largest && bytes <= most) continue;
    largest = slot->range.id;
    most = bytes;
  }
  return largest;
}

}  // namespace

template <class Report, class Job>
void SplitQueue::post_asked(std::move_only_function<void(Result<Report>)> done, Job job) {
  if (waiting_.fetch_add(1) >= kSplitsWaitingMax) {
    waiting_.fetch_sub(1);
    return done(std::unexpected(
        Error{.code = Code::overloaded,
              .message = fmt::format("{} splits and merges are waiting already, and they are done "
                                     "one after the other: try again",
                                     kSplitsWaitingMax),
              .retry_after_ms = 1000}));
  }
  OnEnd waited([this] { waiting_.fetch_sub(1); });
  pool_.post([this, job = std::move(job), waited = std::move(waited),
              done = std::move(done)]() mutable {
    done(stop_.is_set() ? Result<Report>(fail(Code::overloaded, "the server is stopping")) : job());
  });
}

void SplitQueue::split_later(SplitRequest request,
                             std::move_only_function<void(Result<SplitReport>)> done) {
  post_asked(std::move(done),
             [this, request = std::move(request)] { return split_as_asked(request); });
}

void SplitQueue::merge_later(MergeRequest request,
                             std::move_only_function<void(Result<MergeReport>)> done) {
  post_asked(std::move(done),
             [this, request = std::move(request)] { return merge_as_asked(request); });
}

void SplitQueue::merge_here(MergeRequest request,
                            std::move_only_function<void(Result<MergeReport>)> done) {
  post_asked(std::move(done), [this, request = std::move(request)]() -> Result<MergeReport> {
    for (const uint32_t range : {request.first, request.second}) {
      if (slot_elsewhere(request.container, range)) return pass(is_elsewhere());
    }
    return merge(request);
  });
}

Result<MergeReport> SplitQueue::merge_as_asked(const MergeRequest& request) {
  if (request.is_wanted && !request.is_wanted()) {
    return fail(Code::overloaded, "nobody waits for this merge any more");
  }
  return merge(request);
}

Result<MergeReport> SplitQueue::merge(const MergeRequest& request) {
  const RoutingPtr routing = table_.find(request.container);
  if (!routing) return fail(Code::not_found, "the container is not there");
  auto pair = Merger::find_pair(*routing, request.first, request.second);
  if (!pair) return pass(pair.error());
  const uint64_t bytes_max = limits_.physical_partition_bytes / kAskedShare;
  if (remote_ == nullptr || (pair->left->here && pair->right->here)) {
    return merger_.merge(*routing, *pair, MergeCause::asked, bytes_max);
  }
  // Those without files are merged here, if this is the catalog's owner: only the map changes.
  auto empty = merger_.merge_if_empty(*routing, *pair, MergeCause::asked);
  if (!empty || *empty) return empty ? Result<MergeReport>(**empty) : pass(empty.error());
  return remote_->merge_elsewhere(*pair->left, *pair->right);
}

std::optional<std::vector<double>> SplitQueue::charge_rates(const Routing& routing) {
  const int64_t now_us = clock_.steady_us();
  const MutexLock lock(shrinking_mutex_);
  Shrinking& state = shrinking_[routing.container->number];
  const int64_t passed_us = now_us - state.looked_us;
  const bool is_first = state.looked_us == 0;
  if (!is_first && (passed_us < kRateEveryUs || now_us < state.not_before_us)) return std::nullopt;
  std::vector<double> rates;
  std::vector<std::pair<uint32_t, double>> charged;
  for (const auto& slot : routing.slots) {
    const double charge = slot->counters.charge.load(std::memory_order_relaxed);
    charged.emplace_back(slot->range.id, charge);
    const auto before =
        std::ranges::find(state.charged, slot->range.id, &std::pair<uint32_t, double>::first);
    const double since = before == state.charged.end() ? 0 : before->second;
    rates.push_back((charge - since) * 1e6 / static_cast<double>(std::max<int64_t>(passed_us, 1)));
  }
  state.looked_us = now_us;
  state.charged = std::move(charged);
  if (is_first) return std::nullopt;
  return rates;
}

void SplitQueue::shrink_where_idle() {
  if (stop_.is_set()) return;
  std::vector<uint32_t> numbers;
  for (const RoutingPtr& routing : table_.all()) {
    if (has_too_many(*routing)) numbers.push_back(routing->container->number);
  }
  if (numbers.empty()) {
    const MutexLock lock(shrinking_mutex_);
    shrinking_.clear();
    return;
  }
  if (shrink_posted_.exchange(true)) return;
  OnEnd posted([this] { shrink_posted_ = false; });
  pool_.post([this, numbers = std::move(numbers), posted = std::move(posted)] {
    for (const uint32_t number : numbers) {
      if (!stop_.is_set()) shrink(number);
    }
  });
}

// The two that make the narrowest range, of those the first, so that ranges stay even. Both are
// here: what other nodes have they merge themselves, and what lies at two nodes stays.
void SplitQueue::shrink(uint32_t number) {
  const RoutingPtr routing = table_.find(number);
  if (!routing || !has_too_many(*routing)) return;
  const auto rates = charge_rates(*routing);
  if (!rates) return;
  const uint64_t bytes_max = limits_.physical_partition_bytes / kIdleShare;
  const double share = static_cast<double>(routing->container->throughput->units) /
                       static_cast<double>(routing->slots.size() - 1);
  std::optional<Merger::Pair> best;
  double narrowest = 0;
  for (size_t i = 0; i + 1 < routing->slots.size(); ++i) {
    const Merger::Pair pair{routing->slots[i], routing->slots[i + 1]};
    const uint64_t bytes = pair.left->bytes.load() + pair.right->bytes.load();
    const bool is_idle = ((*rates)[i] + (*rates)[i + 1]) * 2 <= share;
    if (!pair.left->here || !pair.right->here || !is_idle || bytes > bytes_max) continue;
    const double wide =
        width(routing->container->spec.key.placement, pair.left->range, pair.right->range);
    if (best && wide >= narrowest) continue;
    best = pair;
    narrowest = wide;
  }
  if (!best) return;
  auto report = merger_.merge(*routing, *best, MergeCause::throughput, bytes_max);
  if (report) return;
  log::warn("cannot merge towards the throughput asked for", {{"container", number},
                                                              {"left", best->left->range.id},
                                                              {"right", best->right->range.id},
                                                              {"error", report.error().message}});
  const MutexLock lock(shrinking_mutex_);
  shrinking_[number].not_before_us = clock_.steady_us() + kScaleAgainUs;
}

void SplitQueue::split_here(uint32_t container, uint32_t range, SplitCause cause,
                            std::move_only_function<void(Result<SplitReport>)> done) {
  post_asked(std::move(done), [this, container, range, cause]() -> Result<SplitReport> {
    if (slot_elsewhere(container, range)) return pass(is_elsewhere());
    return split(container, range, cause);
  });
}

Result<SplitReport> SplitQueue::split_as_asked(const SplitRequest& request) {
  if (request.is_wanted && !request.is_wanted()) {
    return fail(Code::overloaded, "nobody waits for this split any more");
  }
  std::optional<uint32_t> range = request.range;
  const RoutingPtr routing = table_.find(request.container);
  if (!range && routing) range = largest_range(*routing, opener_);
  return split(request.container, range.value_or(0), SplitCause::asked);
}

std::shared_ptr<Slot> SplitQueue::slot_elsewhere(uint32_t container, uint32_t range) const {
  const RoutingPtr routing = table_.find(container);
  if (remote_ == nullptr || !routing) return nullptr;
  for (const auto& slot : routing->slots) {
    if (slot->range.id == range && !slot->here) return slot;
  }
  return nullptr;
}

Result<SplitReport> SplitQueue::split(uint32_t container, uint32_t range, SplitCause cause) {
  if (const auto slot = slot_elsewhere(container, range)) {
    // One without files is split here, if this is the catalog's owner: only the map changes.
    auto empty = splitter_.split_if_empty(container, range, cause);
    if (!empty || *empty) return empty ? Result<SplitReport>(**empty) : pass(empty.error());
    return remote_->split_elsewhere(*slot, cause);
  }
  auto done = splitter_.split(container, range, cause);
  if (!done) return pass(done.error());
  // The parent may have been far over the limit.
  if (const RoutingPtr routing = table_.find(container)) {
    for (const auto& child : done->children) split_if_full(*routing, child);
  }
  return done->report;
}

void SplitQueue::split_if_full(const Routing& routing, const std::shared_ptr<Slot>& slot) {
  if (slot->bytes.load(std::memory_order_relaxed) < limits_.physical_partition_bytes) return;
  // While stopping a pool runs jobs in the caller: that may be the writer, which a split waits for.
  if (stop_.is_set() || !may_split_by_itself(*routing.container, limits_)) return;
  if (clock_.steady_us() < slot->split_not_before_us.load(std::memory_order_relaxed)) return;
  if (slot->split_wanted.exchange(true)) return;
  OnEnd failed([this, slot] {
    slot->split_not_before_us = clock_.steady_us() + kSplitAgainUs;
    slot->split_wanted = false;
  });
  pool_.post(
      [this, number = routing.container->number, slot, failed = std::move(failed)]() mutable {
        if (stop_.is_set() || split(number, slot->range.id, SplitCause::storage)) failed.release();
      });
}

void SplitQueue::scale_if_loaded(const Routing& routing, Slot& slot) {
  // A sample that is full, so that both halves have enough of it to be cut in their turn.
  if (stop_.is_set() || slot.load->size() < LoadSample::kMax) return;
  const int64_t now_us = clock_.steady_us();
  int64_t not_before_us = slot.scale_not_before_us.load(std::memory_order_relaxed);
  if (now_us < not_before_us) return;
  // Once for each attempt, whichever writer comes first.
  if (!slot.scale_not_before_us.compare_exchange_strong(not_before_us, now_us + kScaleAgainUs)) {
    return;
  }
  scale(routing.container->number);
}

bool SplitQueue::has_too_many(const Routing& routing) const {
  const catalog::Container& container = *routing.container;
  return container.shrinks && container.throughput && routing.slots.size() > 1 &&
         routing.slots.size() > initial_partitions_for(*container.throughput, limits_);
}

bool SplitQueue::has_too_few(const Routing& routing) const {
  const std::optional<catalog::Throughput>& throughput = routing.container->throughput;
  return throughput && routing.slots.size() < partitions_for(*throughput, limits_);
}

void SplitQueue::scale(uint32_t number) {
  const RoutingPtr routing = table_.find(number);
  if (!routing || !has_too_few(*routing)) return;
  if (!may_split_by_itself(*routing->container, limits_)) return;
  {
    MutexLock lock(scaling_mutex_);
    ++scaling_[number];
  }
  OnEnd done([this, number] { scaling_done(number); });
  pool_.post([this, number, done = std::move(done)] {
    for (;;) {
      const RoutingPtr now = table_.find(number);
      if (stop_.is_set() || !now || !has_too_few(*now) || !split_one_more(*now)) break;
    }
  });
}

bool SplitQueue::is_scaling(uint32_t container) const {
  MutexLock lock(scaling_mutex_);
  return scaling_.contains(container);
}

// Where hashes spread the load: the widest first, of those the oldest, in
// the middle, which keeps ranges even, as throughput is given to ranges. Where keys are in order:
// those that were charged most, where their load is halved. One that cannot be split gives way to
// the next.
bool SplitQueue::split_one_more(const Routing& routing) {
  const bool in_order = routing.container->spec.key.placement == value::Placement::range;
  std::vector<std::pair<double, uint32_t>> candidates;
  for (const auto& slot : routing.slots) {
    if (in_order && !slot->opened()) continue;  // not in use
    candidates.emplace_back(
        in_order ? -slot->counters.charge.load(std::memory_order_relaxed)
                 : -width(routing.container->spec.key.placement, slot->range, slot->range),
        slot->range.id);
  }
  std::ranges::sort(candidates);
  const uint32_t number = routing.container->number;
  for (const auto& [rank, range] : candidates) {
    auto report = split(number, range, in_order ? SplitCause::load : SplitCause::throughput);
    if (report) return true;
    log::warn("cannot split towards the throughput asked for",
              {{"container", number}, {"range", range}, {"error", report.error().message}});
  }
  return false;
}

void SplitQueue::scaling_done(uint32_t number) {
  MutexLock lock(scaling_mutex_);
  const auto found = scaling_.find(number);
  if (found != scaling_.end() && --found->second == 0) scaling_.erase(found);
}

}  // namespace orrery::cluster

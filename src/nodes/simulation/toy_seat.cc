// See toy_seat.h.
#include "nodes/simulation/toy_seat.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "volume/objects/mutation.h"
#include "volume/objects/object_volume.h"

namespace orrery::nodes::simulation {
namespace {

// A record: the range, whether it is dropped, and a number that makes no two alike.
constexpr uint64_t kDropped = 1ULL << 32;

std::string volume_name(RangeRef ref) {
  return fmt::format("r{}", ref.range);
}

}  // namespace

Result<uint64_t> ToySeat::own_catalog() {
  if (!catalog_.open()) return fail(Code::moved, "the catalog cannot be claimed");
  owns_catalog_ = true;
  ++room_.world.counts.catalogs_claimed;
  return catalog_.epoch();
}

void ToySeat::disown_catalog() {
  if (owns_catalog_) copy_ = catalog_.writes();
  owns_catalog_ = false;
  catalog_.close();
}

uint64_t ToySeat::catalog_lsn() const {
  return records().size();
}

Result<News> ToySeat::news(uint64_t since) {
  if (!owns_catalog_ || !catalog_.is_open()) return fail(Code::moved, "not the owner");
  std::optional<std::vector<uint64_t>> records;
  if (is_mutated(Mutation::news_without_lease)) {
    records = catalog_.writes();
  } else {
    records = catalog_.read();
  }
  if (!records || !owns_catalog_) return fail(Code::moved, "perhaps not the owner");
  News news{.lsn = records->size(), .bytes = {}};
  const uint64_t from = std::min<uint64_t>(since, records->size());
  news.bytes.resize((records->size() - from + 1) * 8);
  std::memcpy(news.bytes.data(), &from, 8);
  std::memcpy(news.bytes.data() + 8, records->data() + from, (records->size() - from) * 8);
  return news;
}

Status ToySeat::apply(const News& news) {
  uint64_t from = 0;
  std::memcpy(&from, news.bytes.data(), 8);
  if (owns_catalog_ || from > copy_.size()) return fail(Code::invalid, "there is a gap");
  for (uint64_t i = copy_.size(); i < news.lsn; ++i) {
    uint64_t record = 0;
    std::memcpy(&record, news.bytes.data() + 8 + (i - from) * 8, 8);
    copy_.push_back(record);
  }
  room_.history.seen(kCatalogRef, copy_);
  return {};
}

std::vector<RangeFacts> ToySeat::ranges() const {
  std::set<uint32_t> there;
  for (const uint64_t record : records()) {
    const auto range = static_cast<uint32_t>(record);
    if (record & kDropped) {
      there.erase(range);
    } else {
      there.insert(range);
    }
  }
  std::vector<RangeFacts> facts;
  for (const uint32_t range : there) {
    const RangeRef ref{.container = 1, .range = range};
    const auto found = partitions_.find(ref);
    const size_t writes = found == partitions_.end() ? 0 : found->second->writes().size();
    facts.push_back({.ref = ref,
                     .volume_name = volume_name(ref),
                     .bytes = writes * 8,
                     .load = static_cast<double>(writes)});
  }
  return facts;
}

bool ToySeat::has(RangeRef ref) const {
  bool there = false;
  for (const uint64_t record : records()) {
    if (static_cast<uint32_t>(record) == ref.range) there = (record & kDropped) == 0;
  }
  return there;
}

uint32_t ToySeat::ranges_made() const {
  uint32_t made = 0;
  for (const uint64_t record : records()) made = std::max(made, static_cast<uint32_t>(record));
  return made;
}

bool ToySeat::is_planned_here(RangeRef ref) const {
  const Member* owner = plan_ ? plan_->owner_of(ref) : nullptr;
  return owner && owner->incarnation == room_.lease.incarnation();
}

void ToySeat::follow(std::shared_ptr<const Plan> plan) {
  if (plan_ && !plan->is_newer_than(*plan_)) {
    room_.world.fail(fmt::format("I6: plan {}.{} came after {}.{}", plan->term, plan->version,
                                 plan_->term, plan_->version));
  }
  room_.history.planned(*plan);
  if (owns_catalog_) ++room_.world.counts.plans;
  plan_ = std::move(plan);
  for (const auto& [ref, partition] : partitions_) partition->unwanted = !is_planned_here(ref);
}

void ToySeat::check_plan() const {
  if (!owns_catalog_ || !plan_ || plan_->term != catalog_.epoch()) return;
  for (const RangeFacts& range : ranges()) {
    if (!plan_->owners.contains(range.ref)) {
      room_.world.fail(fmt::format("I6: plan {}.{} names nobody for partition {}", plan_->term,
                                   plan_->version, range.ref.range));
    }
  }
}

bool ToySeat::is_quiet() const {
  return std::ranges::none_of(partitions_, [](const auto& entry) {
    return entry.second->unwanted && entry.second->state() != ToyPartition::State::closed;
  });
}

Result<std::string> ToySeat::owner_incarnation(const std::string& name) {
  return volume::owner_incarnation(room_.store, name);
}

ToyPartition& ToySeat::partition(RangeRef ref) {
  auto& slot = partitions_[ref];
  if (!slot) slot = std::make_unique<ToyPartition>(room_, volume_name(ref), ref);
  return *slot;
}

std::optional<uint64_t> ToySeat::change_catalog(Change change, uint32_t range) {
  if (!owns_catalog_ || !catalog_.open()) return std::nullopt;
  const bool is_drop = change == Change::drop;
  if (has({.container = 1, .range = range}) != is_drop) return std::nullopt;
  const uint64_t record = range | (is_drop ? kDropped : 0) | room_.world.new_number() << 33;
  if (catalog_.write(record) != ToyPartition::Told::done) return std::nullopt;
  const auto at = std::ranges::find(catalog_.writes(), record);
  return static_cast<uint64_t>(at - catalog_.writes().begin()) + 1;
}

void ToySeat::use(RangeRef ref, uint64_t value, bool writes, bool misrouted) {
  if (!has(ref) || (!misrouted && !is_planned_here(ref))) return;
  ToyPartition& used = partition(ref);
  const bool reads_anyway =
      is_mutated(Mutation::serve_while_releasing) && used.state() == ToyPartition::State::closing;
  if (misrouted && used.state() == ToyPartition::State::closed) used.unwanted = true;
  if (!reads_anyway && !used.open()) return;
  Counts& counts = room_.world.counts;
  if (writes && !reads_anyway) {
    switch (used.write(value)) {
      case ToyPartition::Told::done:
        ++counts.writes;
        break;
      case ToyPartition::Told::failed:
        ++counts.writes_failed;
        break;
      case ToyPartition::Told::unknown:
        ++counts.writes_unknown;
        break;
    }
    return;
  }
  // A node serves only what its copy of the catalog names, when it answers.
  if (used.read([&] { return has(ref); })) {
    ++counts.reads;
  } else {
    ++counts.reads_refused;
  }
}

void ToySeat::keep_to_plan() {
  for (int turn = 0; !room_.process.dead; ++turn) {
    room_.world.sleep(20'000);
    for (const auto& [ref, partition] : partitions_) {
      if (partition->unwanted && partition->is_open()) partition->close();
    }
    if (turn % 50 == 49 && !room_.process.dead) volume::settle(room_.volume);
  }
}

}  // namespace orrery::nodes::simulation

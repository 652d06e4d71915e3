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

constexpr std::chrono::milliseconds kChangeDeadline{800};

std::string volume_name(RangeRef ref) {
  return fmt::format("r{}", ref.range);
}

}  // namespace

ToySeat::ToySeat(Room& room, peer::Link& link,
                 std::function<std::optional<std::string>()> coordinator)
    : room_(room),
      link_(link),
      coordinator_(std::move(coordinator)),
      catalog_(room, kCatalogName, kCatalogRef) {
  room_.note_opened = [this](RangeRef ref, uint64_t epoch) {
    return change_anywhere(
               {.kind = CatalogChange::Kind::opened, .range = ref.range, .epoch = epoch})
        .has_value();
  };
}

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
  for (uint64_t i = from; i < records->size(); ++i) {
    std::memcpy(news.bytes.data() + (i - from + 1) * 8, &(*records)[i], 8);
  }
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

const ToyCatalog& ToySeat::catalog() const {
  if (tables_lsn_ != records().size()) {
    tables_ = ToyCatalog(records());
    tables_lsn_ = records().size();
  }
  return tables_;
}

std::vector<RangeFacts> ToySeat::ranges() const {
  std::vector<RangeFacts> facts;
  for (const uint32_t range : catalog().ranges()) {
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
  if (room_.world.tells) {
    std::string owners;
    for (const auto& [ref, owner] : plan->owners) {
      owners += fmt::format(" r{}={}", ref.range, plan->members[owner].name);
    }
    room_.world.tell(fmt::format("{} follows plan {}.{}:{}", room_.process.number, plan->term,
                                 plan->version, owners));
  }
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

Result<ToySeat::Changed> ToySeat::change_here(CatalogChange change) {
  while (is_changing_ && !room_.process.dead) room_.world.sleep(2'000);
  if (room_.process.dead || !owns_catalog_) return fail(Code::moved, "not the owner");
  is_changing_ = true;
  Result<Changed> changed = fail(Code::internal, "nobody knows");
  if (catalog_.open() && owns_catalog_) {
    const ToyCatalog::Verdict verdict = catalog().judge(change);
    if (verdict == ToyCatalog::Verdict::commit) {
      const uint64_t record = encode(change, room_.world.new_number());
      if (catalog_.write(record) == ToyPartition::Told::done) {
        const auto at = std::ranges::find(catalog_.writes(), record);
        changed = Changed{
            .lsn = static_cast<uint64_t>(at - catalog_.writes().begin()) + 1,
            .range = change.kind == CatalogChange::Kind::create ? change.range : change.child};
      }
    } else if (is_mutated(Mutation::change_without_lease) || catalog_.read()) {
      // What is answered without a commit is a strong read.
      if (verdict == ToyCatalog::Verdict::refused) {
        changed = fail(Code::conflict, "refused");
      } else {
        changed = Changed{.lsn = catalog_lsn(), .range = change.child};
      }
    }
  }
  is_changing_ = false;
  return changed;
}

void ToySeat::answer(const std::string& bytes, peer::Done done) {
  uint64_t record = 0;
  std::memcpy(&record, bytes.data(), 8);
  auto changed = change_here(decode_change(record));
  if (!changed) return done(pass(changed.error()));
  done(fmt::format("{} {}", changed->lsn, changed->range));
}

Result<ToySeat::Changed> ToySeat::change_anywhere(CatalogChange change) {
  if (owns_catalog_) return change_here(change);
  const auto address = coordinator_();
  if (!address || room_.process.dead) return fail(Code::internal, "no coordinator");
  struct Answer {
    std::optional<Result<std::string>> told;
  };
  const auto answer = std::make_shared<Answer>();
  const uint64_t record = encode(change, 0);
  const World::Waiting waiting = room_.world.begin_wait();
  link_.call(*address, "toy.change", std::string(reinterpret_cast<const char*>(&record), 8),
             kChangeDeadline, [this, answer, waiting](Result<std::string> told) {
               answer->told = std::move(told);
               room_.world.wake(waiting, room_.world.now_us());
             });
  room_.world.wait(waiting);
  if (room_.process.dead || !answer->told) return fail(Code::internal, "no answer");
  if (!*answer->told) return pass(answer->told->error());
  Changed changed;
  const std::string& text = **answer->told;
  changed.lsn = std::stoull(text);
  changed.range = static_cast<uint32_t>(std::stoul(text.substr(text.find(' '))));
  return changed;
}

void ToySeat::use(uint64_t choice, Use use, bool misrouted) {
  const std::set<uint32_t>& ranges = catalog().ranges();
  if (ranges.empty()) return;
  const RangeRef ref{
      .container = 1,
      .range = *std::next(ranges.begin(), static_cast<std::ptrdiff_t>(choice % ranges.size()))};
  if (!misrouted && !is_planned_here(ref)) return;
  ToyPartition& used = partition(ref);
  const bool reads_anyway =
      is_mutated(Mutation::serve_while_releasing) && used.state() == ToyPartition::State::closing;
  if (misrouted && used.state() == ToyPartition::State::closed) used.unwanted = true;
  if (!reads_anyway && !used.open()) return;
  Counts& counts = room_.world.counts;
  if (use == Use::split && !reads_anyway) return split(ref, used);
  if (use == Use::write && !reads_anyway) {
    write_to(used);
    return;
  }
  // A node serves only what its copy of the catalog names, when it answers.
  if (used.read([&] { return catalog().has(ref.range); })) {
    ++counts.reads;
  } else {
    ++counts.reads_refused;
  }
}

ToyPartition::Told ToySeat::write_to(ToyPartition& partition) {
  Counts& counts = room_.world.counts;
  const ToyPartition::Told told = partition.write(room_.world.new_number());
  switch (told) {
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
  return told;
}

bool ToySeat::write(RangeRef ref) {
  if (!catalog().has(ref.range) || !is_planned_here(ref)) return false;
  ToyPartition& used = partition(ref);
  return used.open() && !room_.process.dead && write_to(used) == ToyPartition::Told::done;
}

void ToySeat::split(RangeRef ref, ToyPartition& parent) {
  const auto intend = [&](uint64_t epoch) -> std::optional<uint32_t> {
    auto intended =
        change_anywhere({.kind = CatalogChange::Kind::intend, .range = ref.range, .epoch = epoch});
    if (!intended) return std::nullopt;
    for (const uint32_t child : {intended->range, intended->range + 1}) {
      room_.history.made_from({.container = 1, .range = child}, ref);
    }
    return intended->range;
  };
  const auto publish = [&](uint32_t child) -> std::optional<bool> {
    auto published =
        change_anywhere({.kind = CatalogChange::Kind::publish, .range = ref.range, .child = child});
    if (published) return true;
    if (published.error().code == Code::conflict) return false;
    return std::nullopt;
  };
  const auto child = parent.split({.intend = intend, .publish = publish});
  if (!child) return;
  ++room_.world.counts.splits;
  room_.world.tell(fmt::format("{} has split {} into {} and {}", room_.process.number, ref.range,
                               *child, *child + 1));
  children_.insert({*child, *child + 1});
}

void ToySeat::keep_to_plan() {
  for (int turn = 0; !room_.process.dead; ++turn) {
    room_.world.sleep(20'000);
    for (const auto& [ref, partition] : partitions_) {
      if (partition->unwanted && partition->is_open()) partition->close();
    }
    // Their roots name this process, so it opens them, and releases what is planned elsewhere.
    for (auto it = children_.begin(); it != children_.end() && !room_.process.dead;) {
      const RangeRef ref{.container = 1, .range = *it};
      if (catalog().has(ref.range) && partition(ref).open()) {
        partition(ref).unwanted = !is_planned_here(ref);
        it = children_.erase(it);
      } else {
        ++it;
      }
    }
    if (turn % 50 == 49 && !room_.process.dead) volume::settle(room_.volume);
  }
}

}  // namespace orrery::nodes::simulation

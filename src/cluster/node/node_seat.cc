// See node_seat.h.
#include "cluster/node/node_seat.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/await.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/pack.h"
#include "base/survive.h"
#include "cluster/budgets/budgets.h"

namespace orrery::cluster {
namespace {

// A split waits for those before it, and its writes for the catalog.
constexpr std::chrono::milliseconds kSplitDeadline{30'000};

}  // namespace

void NodeSeat::stop() {
  releaser_.stop();
}

// --- the catalog --------------------------------------------------------------------------------

Result<uint64_t> NodeSeat::own_catalog() {
  // A catalog that is lost must not come back as an empty one.
  if (auto checked = check_catalog_is_there(volume_); !checked) return pass(checked.error());
  auto epoch = catalog_.own(shared_, volume_);
  if (!epoch) return epoch;
  static_cast<void>(fault::point("catalog.claimed"));  // only crashes mean something here
  refresh();
  if (auto settled = remover_.settle_among_nodes(); !settled) {
    catalog_.disown();
    return pass(settled.error());
  }
  static_cast<void>(fault::point("catalog.settled"));
  log::info("this node owns the catalog", {{"epoch", *epoch}});
  // Scaling that the owner before did not finish.
  for (const catalog::ContainerPtr& container : catalog_.all_containers()) {
    splits_->scale(container->number);
  }
  return epoch;
}

Result<nodes::News> NodeSeat::news(uint64_t since) {
  const uint64_t lsn = catalog_.lsn();
  nodes::News news{.lsn = lsn, .bytes = {}};
  if (since != lsn || !catalog_.is_owner()) {
    auto bytes = catalog_.news(since);
    if (!bytes && bytes.error().code == Code::elsewhere) {
      return fail(Code::moved, bytes.error().message);
    }
    if (!bytes) return pass(bytes.error());
    news.lsn = catalog_.lsn();
    news.bytes = std::move(*bytes);
  }
  // Asked last: until here nobody else can have made a commit.
  if (!volume_.reads_are_current()) {
    return fail(Code::moved, "this node may own the catalog no more");
  }
  return news;
}

Status NodeSeat::apply(const nodes::News& news) {
  if (!news.bytes.empty()) {
    if (auto applied = catalog_.apply(news.bytes); !applied) return applied;
    refresh();
  }
  return {};
}

// Also when a change was committed or told of while this waited: all that was touched is new in it.
void NodeSeat::refresh() {
  const MutexLock change(table_.change_mutex);
  const uint64_t lsn = catalog_.lsn();  // before: all up to here was touched
  const catalog::Catalog::Touched touched = catalog_.take_touched();
  for (const uint32_t number : touched.databases) {
    const catalog::DatabasePtr database = catalog_.database(number);
    if (!database) {
      table_.remove_database(number);
    } else if (database->throughput) {
      table_.set_database_rate(number, database->throughput->units);
    }
  }
  for (const uint32_t number : touched.containers) refresh_container(number);
  const MutexLock lock(news_mutex_);
  routed_lsn_ = lsn;
  news_came_.notify_all();
}

void NodeSeat::refresh_container(uint32_t number) {
  const catalog::ContainerPtr record = catalog_.container(number);
  const RoutingPtr before = table_.find(number);
  if (record && !before) {
    table_.add(record);
    return;
  }
  if (!before) return;
  if (record) {
    table_.rebuild(number);
  } else {
    table_.remove(*before);
  }
  const RoutingPtr after = record ? table_.find(number) : nullptr;
  for (const auto& slot : before->slots) {
    if (after && std::ranges::find(after->slots, slot) != after->slots.end()) continue;
    slot->close_for_good();
  }
}

std::vector<nodes::RangeFacts> NodeSeat::ranges() const {
  std::vector<nodes::RangeFacts> all;
  // A change raises the catalog's LSN before the table has it. Who has read the LSN before and did
  // not wait here would miss the ranges of a container that is just made.
  const MutexLock change(table_.change_mutex);
  for (const RoutingPtr& routing : table_.all()) {
    for (const auto& slot : routing->slots) {
      nodes::RangeFacts& facts = all.emplace_back();
      facts.ref = {routing->container->number, slot->range.id};
      facts.volume_name = slot->range.volume_name;
      facts.bytes = slot->bytes.load(std::memory_order_relaxed);
      facts.load = slot->here ? slot->charge_rate(shared_.clock.steady_us()) : 0;
    }
  }
  return all;
}

// --- partitions ---------------------------------------------------------------------------------

void NodeSeat::follow(std::shared_ptr<const nodes::Plan> plan) {
  const MutexLock change(table_.change_mutex);
  plan_.set(std::move(plan));
  for (const RoutingPtr& routing : table_.all()) {
    for (const auto& slot : routing->slots) {
      const bool here = plan_.is_here(*slot);
      if (slot->here.exchange(here) == here || here) continue;
      releasing_.fetch_add(1);
      OnEnd released([this] { releasing_.fetch_sub(1); });
      releaser_.post([this, slot, released = std::move(released)] { opener_.release(slot); });
    }
  }
}

std::optional<std::string> NodeSeat::address_of(const Slot& slot) const {
  if (slot.here) return std::nullopt;
  const auto plan = plan_.current();
  const nodes::Member* owner = plan ? ServingPlan::owner_of(*plan, slot) : nullptr;
  if (owner == nullptr) return "";
  if (owner->name == plan_.node()) return std::nullopt;
  return owner->address;
}

bool NodeSeat::has_node(const std::string& address) const {
  const auto plan = plan_.current();
  if (!plan || coordinator_address() == address) return true;
  return std::ranges::find(plan->members, address, &nodes::Member::address) != plan->members.end();
}

Status NodeSeat::wait_for_catalog(uint64_t lsn, std::chrono::steady_clock::time_point deadline) {
  // The answer to a change of this node's own has brought it already.
  if (catalog_lsn() < lsn && catalog_.lsn() >= lsn) refresh();
  const MutexLock lock(news_mutex_);
  while (catalog_lsn() < lsn) {
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left <= left.zero() || stop_.is_set()) {
      return fail(Code::overloaded,
                  fmt::format("this node's copy of the catalog is not as new as {} yet", lsn));
    }
    news_came_.wait_for(news_mutex_, left);
  }
  return {};
}

// --- calls between engines ----------------------------------------------------------------------

Result<SplitReport> NodeSeat::split_elsewhere(const Slot& slot, catalog::SplitCause cause) {
  // Otherwise two nodes could wait for one another, each with its one thread for splits.
  if (!catalog_.is_owner()) return pass(is_elsewhere());
  const std::optional<std::string> address = address_of(slot);
  if (!address || address->empty()) return pass(keeps_moving());
  auto answer = await<Result<std::string>>([&](auto done) {
    link_.call(*address, kSplitCall,
               Packer()
                   .number(slot.container)
                   .number(slot.range.id)
                   .number(static_cast<uint64_t>(cause))
                   .take(),
               kSplitDeadline, std::move(done));
  });
  if (!answer) return pass(answer.error());
  if (!*answer) return pass(answer->error());
  Unpacker from(**answer);
  SplitReport report;
  report.parent = static_cast<uint32_t>(from.number());
  report.left = static_cast<uint32_t>(from.number());
  report.right = static_cast<uint32_t>(from.number());
  report.pause_us = static_cast<int64_t>(from.number());
  report.total_us = static_cast<int64_t>(from.number());
  const uint64_t lsn = from.number();
  if (!from.is_good()) return fail(Code::invalid, "cannot read what came of a split");
  // Whoever asked for the split finds it in the map here.
  if (auto seen = wait_for_catalog(lsn, std::chrono::steady_clock::now() + kChangeDeadline);
      !seen) {
    return pass(seen.error());
  }
  return report;
}

Result<MergeReport> NodeSeat::merge_elsewhere(const Slot& left, const Slot& right) {
  const std::optional<std::string> left_address = address_of(left);
  const std::optional<std::string> right_address = address_of(right);
  if (left_address != right_address) {
    return fail(Code::conflict,
                fmt::format("ranges {} and {} are at different nodes: move one of them first "
                            "(orrery cluster move)",
                            left.range.id, right.range.id));
  }
  // Otherwise two nodes could wait for one another, each with its one thread for splits.
  if (!catalog_.is_owner()) return pass(is_elsewhere());
  if (!left_address || left_address->empty()) return pass(keeps_moving());
  auto answer = await<Result<std::string>>([&](auto done) {
    link_.call(*left_address, kMergeCall,
               Packer().number(left.container).number(left.range.id).number(right.range.id).take(),
               kSplitDeadline, std::move(done));
  });
  if (!answer) return pass(answer.error());
  if (!*answer) return pass(answer->error());
  Unpacker from(**answer);
  MergeReport report;
  report.left = static_cast<uint32_t>(from.number());
  report.right = static_cast<uint32_t>(from.number());
  report.child = static_cast<uint32_t>(from.number());
  report.pause_us = static_cast<int64_t>(from.number());
  report.total_us = static_cast<int64_t>(from.number());
  const uint64_t lsn = from.number();
  if (!from.is_good()) return fail(Code::invalid, "cannot read what came of a merge");
  if (auto seen = wait_for_catalog(lsn, std::chrono::steady_clock::now() + kChangeDeadline);
      !seen) {
    return pass(seen.error());
  }
  return report;
}

void NodeSeat::answer_merge(std::string_view bytes, peer::Done done) {
  Unpacker from(bytes);
  MergeRequest request;
  request.container = static_cast<uint32_t>(from.number());
  request.first = static_cast<uint32_t>(from.number());
  request.second = static_cast<uint32_t>(from.number());
  if (!from.is_good()) return done(fail(Code::invalid, "cannot read what is to be merged"));
  splits_->merge_here(std::move(request),
                      [this, done = std::move(done)](Result<MergeReport> report) mutable {
                        if (!report) return done(pass(report.error()));
                        done(Packer()
                                 .number(report->left)
                                 .number(report->right)
                                 .number(report->child)
                                 .number(static_cast<uint64_t>(report->pause_us))
                                 .number(static_cast<uint64_t>(report->total_us))
                                 .number(catalog_.lsn())
                                 .take());
                      });
}

void NodeSeat::answer(std::string_view kind, std::string_view bytes, peer::Done done) {
  if (kind == kChangeCall) {
    auto answer = catalog_.perform(bytes);
    refresh();
    // A refusal too is told by what this node has: who is to publish a split gives it up for that.
    if (!volume_.reads_are_current()) {
      return done(fail(Code::elsewhere, "this node may own the catalog no more"));
    }
    return done(std::move(answer));
  }
  if (kind == kLsnsCall) return replicas_.answer_lsns(bytes, std::move(done));
  if (kind == kSplitCall) return answer_split(bytes, std::move(done));
  if (kind == kMergeCall) return answer_merge(bytes, std::move(done));
  if (kind == kPayCall) return answer_pay(bytes, std::move(done));
  done(fail(Code::unsupported, fmt::format("this node does not know calls of kind {}", kind)));
}

void NodeSeat::answer_split(std::string_view bytes, peer::Done done) {
  Unpacker from(bytes);
  const auto container = static_cast<uint32_t>(from.number());
  const auto range = static_cast<uint32_t>(from.number());
  const uint64_t cause = from.number();
  if (!from.is_good() || cause > static_cast<uint64_t>(catalog::SplitCause::load)) {
    return done(fail(Code::invalid, "cannot read which partition is to be split"));
  }
  splits_->split_here(container, range, static_cast<catalog::SplitCause>(cause),
                      [this, done = std::move(done)](Result<SplitReport> report) mutable {
                        if (!report) return done(pass(report.error()));
                        done(Packer()
                                 .number(report->parent)
                                 .number(report->left)
                                 .number(report->right)
                                 .number(static_cast<uint64_t>(report->pause_us))
                                 .number(static_cast<uint64_t>(report->total_us))
                                 .number(catalog_.lsn())
                                 .take());
                      });
}

void NodeSeat::answer_pay(std::string_view bytes, peer::Done done) {
  const auto paid = decode_charge(bytes);
  if (!paid) return done(fail(Code::invalid, "cannot read what a query has cost"));
  const RoutingPtr routing = table_.find(paid->container);
  if (routing) {
    for (const auto& slot : routing->slots) {
      if (slot->range.id != paid->range || !slot->here) continue;
      Budgets::count_late(*slot, paid->was_late ? 1 : 0);
      Budgets::pay(*routing, *slot, paid->charge);
      const uint32_t wait_ms = routing->budget(*slot).wait_ms(shared_.clock.steady_us());
      return done(Packer().number(wait_ms).take());
    }
  }
  done(pass(is_elsewhere()));
}

}  // namespace orrery::cluster

// The operations on items. Each goes on with a newer routing when its partition moved.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cluster/engine.h"

namespace orrery::cluster {
namespace {

using partition::Partition;
using partition::Write;

double charge_of(partition::Verb verb, const partition::Written& written,
                 const partition::Prices& prices, double read_factor) {
  using partition::Verb;
  using partition::WorkKind;
  if (verb == Verb::read) {
    return read_factor * prices.charge({.kind = WorkKind::read,
                                        .items = 1,
                                        .bytes = prices.counted(written.item.body.size())});
  }
  // What a purge removes is paid as it goes.
  if (verb == Verb::purge) return prices.charge({.kind = WorkKind::remove});
  const bool removed = verb == Verb::remove;
  return prices.charge({.kind = removed ? WorkKind::remove
                                        : (written.replaced ? WorkKind::replace : WorkKind::create),
                        .bytes = prices.counted(removed ? written.old_bytes : written.new_bytes),
                        .terms_added = written.terms_added,
                        .terms_removed = written.terms_removed});
}

}  // namespace

template <class Job>
void Engine::with_partition(const std::shared_ptr<Slot>& slot, bool make, Job job) {
  if (auto open = slot->opened()) {
    job(std::move(open));
    return;
  }
  openers_.post([this, slot, make, job = std::move(job)]() mutable {
    job(make ? open_slot(slot) : open_if_there(slot));
  });
}

void Engine::write(RoutingPtr routing, std::vector<Write> transaction,
                   std::move_only_function<void(WriteReply)> done, ReadTerms reads) {
  write_again(std::move(routing), std::move(transaction), std::move(done), std::move(reads), 0);
}

void Engine::write_again(RoutingPtr routing, std::vector<Write> transaction,
                         std::move_only_function<void(WriteReply)> done, ReadTerms reads,
                         int attempt) {
  const std::shared_ptr<Slot> slot = routing->slot_of(transaction.front().placement);
  WriteReply refused;
  refused.receipt.range = slot->range.id;
  auto admitted = budgets_.admit(*routing, *slot);
  if (admitted && std::ranges::any_of(transaction, [](const Write& write) {
        return write.verb != partition::Verb::remove && write.verb != partition::Verb::read &&
               write.verb != partition::Verb::purge;
      })) {
    if (auto within = check_quota(*routing); !within) admitted = pass(within.error());
  }
  if (!admitted) {
    refused.error = std::move(admitted.error());
    return done(std::move(refused));
  }
  if (slot->load) slot->load->note(transaction.front().placement, LoadSample::Access::write);
  PendingWrite pending{.routing = std::move(routing),
                       .slot = slot,
                       .done = std::move(done),
                       .reads = std::move(reads),
                       .attempt = attempt,
                       .would_throttle_ms = *admitted};
  with_partition(slot, true,
                 [this, pending = std::move(pending), transaction = std::move(transaction)](
                     Result<std::shared_ptr<Partition>> opened) mutable {
                   write_here(std::move(pending), std::move(transaction), std::move(opened));
                 });
}

void Engine::write_here(PendingWrite pending, std::vector<Write> transaction,
                        Result<std::shared_ptr<Partition>> opened) {
  WriteReply refused;
  if (!opened) {
    if (opened.error().code == Code::moved) {
      return send_on(std::move(pending), std::move(transaction));
    }
    refused.error = std::move(opened.error());
    return pending.done(std::move(refused));
  }
  const std::shared_ptr<Partition> partition = std::move(*opened);
  const catalog::PartitionRange& range = pending.slot->range;
  if (auto checked = check_demand(pending.reads.demand, range, partition->lsn()); !checked) {
    refused.receipt = {range.id, partition->lsn(), 0, pending.would_throttle_ms};
    refused.error = std::move(checked.error());
    return pending.done(std::move(refused));
  }
  std::vector<partition::Verb> verbs;
  for (const Write& write : transaction) verbs.push_back(write.verb);
  partition->submit(std::move(transaction),
                    [this, partition, verbs = std::move(verbs),
                     pending = std::move(pending)](partition::Outcome outcome) mutable {
                      if (outcome.error && outcome.error->code == Code::moved) {
                        return send_on(std::move(pending), std::move(outcome.returned));
                      }
                      finish_write(std::move(pending), *partition, verbs, std::move(outcome));
                    });
}

// With the routing that there is by now.
void Engine::send_on(PendingWrite pending, std::vector<Write> transaction) {
  RoutingPtr fresh = find(pending.routing->container->number);
  if (fresh && pending.attempt < kRouteAttempts) {
    // It may have come back because there are newer rules than those it came with.
    for (Write& write : transaction) write.schema = fresh->schema;
    return write_again(std::move(fresh), std::move(transaction), std::move(pending.done),
                       std::move(pending.reads), pending.attempt + 1);
  }
  WriteReply reply;
  reply.error = fresh ? keeps_moving() : container_is_gone();
  pending.done(std::move(reply));
}

void Engine::finish_write(PendingWrite pending, const Partition& partition,
                          const std::vector<partition::Verb>& verbs, partition::Outcome outcome) {
  const partition::Prices& prices = *pending.routing->prices;
  WriteReply reply;
  reply.receipt = {pending.slot->range.id, outcome.lsn, 0, pending.would_throttle_ms};
  if (outcome.error) {
    reply.error = std::move(outcome.error);
    reply.failed_write = outcome.failed_write;
    reply.receipt.charge = prices.charge({.kind = partition::WorkKind::miss});
  } else {
    for (size_t i = 0; i < outcome.written.size(); ++i) {
      reply.charges.push_back(
          charge_of(verbs[i], outcome.written[i], prices, pending.reads.charge_factor));
      reply.receipt.charge += reply.charges.back();
    }
    // A sum of multiples of one fraction is one, too.
    reply.receipt.charge = std::round(reply.receipt.charge * prices.per_unit) / prices.per_unit;
    reply.written = std::move(outcome.written);
  }
  pending.slot->counters.writes.fetch_add(1, std::memory_order_relaxed);
  Budgets::pay(*pending.routing, *pending.slot, reply.receipt.charge);
  after_write(pending.routing, pending.slot, partition);
  pending.done(std::move(reply));
}

// Partitions that were not opened since the start are not counted yet.
Status Engine::check_quota(const Routing& routing) const {
  uint64_t bytes = 0;
  for (const auto& slot : routing.slots) bytes += slot->bytes.load(std::memory_order_relaxed);
  if (bytes < options_.limits.container_bytes) return {};
  return fail(Code::quota_exceeded,
              fmt::format("container '{}' holds {} bytes and its quota is {}: delete items, or "
                          "raise the server's limit container-bytes",
                          routing.container->spec.name, bytes, options_.limits.container_bytes));
}

void Engine::after_write(const RoutingPtr& routing, const std::shared_ptr<Slot>& slot,
                         const Partition& partition) {
  slot->bytes.store(partition.usage().bytes, std::memory_order_relaxed);
  split_if_full(*routing, slot);
  if (routing->wants_ranges) scale_if_loaded(*routing, *slot);
}

std::optional<Result<ReadReply>> Engine::read_in_memory(const Routing& routing,
                                                        std::string_view placement,
                                                        std::string_view row,
                                                        const LsnDemand& demand,
                                                        double charge_factor) {
  Slot& slot = *routing.slot_of(placement);
  const std::shared_ptr<Partition> partition = slot.opened();
  if (!partition) return std::nullopt;
  auto admitted = budgets_.ask(routing, slot);
  if (!admitted) return pass(admitted.error());
  auto reply = read_here(routing, slot, partition.get(), placement, row, demand, charge_factor,
                         partition::Reach::memory);
  if (!reply && (reply.error().code == Code::moved || reply.error().code == Code::would_wait)) {
    return std::nullopt;
  }
  Budgets::count_late(slot, *admitted);
  if (reply) reply->receipt.would_throttle_ms = *admitted;
  return reply;
}

void Engine::read(RoutingPtr routing, std::string placement, std::string row,
                  const LsnDemand& demand, std::move_only_function<void(Result<ReadReply>)> done,
                  double charge_factor) {
  read_again(std::move(routing), std::move(placement), std::move(row), demand, std::move(done),
             charge_factor, 0);
}

void Engine::read_again(RoutingPtr routing, std::string placement, std::string row,
                        const LsnDemand& demand,
                        std::move_only_function<void(Result<ReadReply>)> done, double charge_factor,
                        int attempt) {
  const std::shared_ptr<Slot> slot = routing->slot_of(placement);
  auto admitted = budgets_.admit(*routing, *slot);
  if (!admitted) return done(pass(admitted.error()));
  const uint32_t would_throttle_ms = *admitted;
  auto go_on = [this, routing, slot, would_throttle_ms, placement = std::move(placement),
                row = std::move(row), demand, charge_factor, attempt,
                done = std::move(done)](Result<std::shared_ptr<Partition>> opened) mutable {
    auto reply = opened ? read_here(*routing, *slot, opened->get(), placement, row, demand,
                                    charge_factor, partition::Reach::files)
                        : Result<ReadReply>(pass(opened.error()));
    if (!reply && reply.error().code == Code::moved) {
      RoutingPtr fresh = find(routing->container->number);
      if (!fresh) return done(pass(container_is_gone()));
      if (attempt >= kRouteAttempts) return done(pass(keeps_moving()));
      return read_again(std::move(fresh), std::move(placement), std::move(row), demand,
                        std::move(done), charge_factor, attempt + 1);
    }
    if (reply) reply->receipt.would_throttle_ms = would_throttle_ms;
    done(std::move(reply));
  };
  with_partition(slot, false, std::move(go_on));
}

// `partition` is null when there are no files, so no items either.
Result<ReadReply> Engine::read_here(const Routing& routing, Slot& slot, const Partition* partition,
                                    std::string_view placement, std::string_view row,
                                    const LsnDemand& demand, double charge_factor,
                                    partition::Reach reach) {
  ReadReply reply;
  reply.receipt.range = slot.range.id;
  reply.receipt.lsn = partition == nullptr ? 0 : partition->lsn();
  if (auto checked = check_demand(demand, slot.range, reply.receipt.lsn); !checked) {
    return pass(checked.error());
  }
  if (partition != nullptr) {
    auto found = partition->read(placement, row, reach);
    if (!found) return pass(found.error());
    const std::optional<int64_t> life_ms = routing.schema->default_life_ms;
    if (*found && !(life_ms && partition::is_expired(**found, life_ms, clock_.now_ms()))) {
      reply.item = std::move(*found);
    }
  }
  const partition::Prices& prices = *routing.prices;
  partition::Work work;
  if (reply.item) {
    work = {.kind = partition::WorkKind::read,
            .items = 1,
            .bytes = prices.counted(reply.item->body.size())};
  }
  reply.receipt.charge = charge_factor * prices.charge(work);
  slot.counters.reads.fetch_add(1, std::memory_order_relaxed);
  if (slot.load) slot.load->note(placement, LoadSample::Access::read);
  Budgets::pay(routing, slot, reply.receipt.charge);
  return reply;
}

Result<FeedReply> Engine::feed(const RoutingPtr& routing, std::string_view min,
                               std::string_view max, const partition::ItemKey* after,
                               size_t items_max, const LsnDemand& demand, double charge_factor) {
  return table_.follow(routing, [&](const Routing& now) {
    return feed_once(now, min, max, after, items_max, demand, charge_factor);
  });
}

Result<uint32_t> Engine::admit_query(const RoutingPtr& routing, std::string_view placement) {
  return budgets_.ask(*routing, *routing->slot_of(placement));
}

void Engine::pay_for_query(const RoutingPtr& routing, std::string_view placement, double charge,
                           uint32_t would_throttle_ms) {
  Slot& slot = *routing->slot_of(placement);
  Budgets::count_late(slot, would_throttle_ms);
  Budgets::pay(*routing, slot, charge);
}

Result<FeedReply> Engine::feed_once(const Routing& routing, std::string_view min,
                                    std::string_view max, const partition::ItemKey* after,
                                    size_t items_max, const LsnDemand& demand,
                                    double charge_factor) {
  const std::string_view from =
      after == nullptr ? min : std::max(min, std::string_view(after->placement));
  auto [begin, end] = routing.slots_of(from, max);
  // In the partitions from this one on.
  const auto has_items = [&, last = end](size_t i) -> Result<bool> {
    for (; i < last; ++i) {
      auto opened = open_if_there(routing.slots[i]);
      if (!opened) return pass(opened.error());
      if (!*opened) continue;
      auto page = (*opened)->scan(min, max, nullptr, 1, 1, *routing.schema);
      if (!page) return pass(page.error());
      if (!page->items.empty() || page->more) return true;
    }
    return false;
  };
  FeedReply reply;
  for (size_t i = begin; i < end; ++i) {
    Slot& slot = *routing.slots[i];
    reply.receipt.range = slot.range.id;
    auto admitted = budgets_.admit(routing, slot);
    if (!admitted) return pass(admitted.error());
    reply.receipt.would_throttle_ms = std::max(reply.receipt.would_throttle_ms, *admitted);
    auto opened = open_if_there(routing.slots[i]);
    if (!opened) return pass(opened.error());
    const uint64_t lsn = *opened ? (*opened)->lsn() : 0;
    if (auto checked = check_demand(demand, slot.range, lsn); !checked) {
      return pass(checked.error());
    }
    if (*opened) {
      auto page = (*opened)->scan(min, max, after, items_max, options_.limits.response_bytes,
                                  *routing.schema);
      if (!page) return pass(page.error());
      reply.page = std::move(*page);
    }
    reply.page.lsn = lsn;
    reply.receipt.lsn = lsn;
    slot.counters.reads.fetch_add(1, std::memory_order_relaxed);
    if (!reply.page.items.empty() || reply.page.more || i + 1 == end) {
      if (!reply.page.more) {
        auto more = has_items(i + 1);
        if (!more) return pass(more.error());
        reply.page.more = *more;
      }
      partition::Work work{.kind = partition::WorkKind::page, .items = reply.page.items.size()};
      for (const auto& [key, item] : reply.page.items) {
        work.bytes += routing.prices->counted(item.body.size());
      }
      reply.receipt.charge = charge_factor * routing.prices->charge(work);
      Budgets::pay(routing, slot, reply.receipt.charge);
      break;
    }
  }
  return reply;
}

Result<std::optional<partition::ItemKey>> Engine::find_by_term(const RoutingPtr& routing,
                                                               std::string_view term) {
  using Found = Result<std::optional<partition::ItemKey>>;
  return table_.follow(routing, [&](const Routing& now) -> Found {
    for (const auto& slot : now.slots) {
      auto opened = open_if_there(slot);
      if (!opened) return pass(opened.error());
      if (!*opened) continue;
      auto found = (*opened)->find_by_term(term);
      if (!found || *found) return found;
    }
    return std::nullopt;
  });
}

}  // namespace orrery::cluster

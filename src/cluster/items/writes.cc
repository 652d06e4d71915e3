// See writes.h.
#include "cluster/items/writes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery::cluster {
namespace {

using partition::Partition;
using partition::Verb;
using partition::Write;

double charge_of(Verb verb, const partition::Written& written, const partition::Prices& prices,
                 double read_factor) {
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

bool takes_room(const Write& write) {
  return write.verb != Verb::remove && write.verb != Verb::read && write.verb != Verb::purge;
}

}  // namespace

void Writes::write(RoutingPtr routing, std::vector<Write> transaction, Done done, ReadTerms reads,
                   int attempt) {
  const std::shared_ptr<Slot> slot = routing->slot_of(transaction.front().placement);
  auto admitted = admit(*routing, *slot, transaction);
  if (!admitted) {
    WriteReply refused;
    refused.receipt.range = slot->range.id;
    refused.error = std::move(admitted.error());
    return done(std::move(refused));
  }
  if (slot->load) slot->load->note(transaction.front().placement, LoadSample::Access::write);
  Pending pending{.routing = std::move(routing),
                  .slot = slot,
                  .done = std::move(done),
                  .reads = std::move(reads),
                  .attempt = attempt,
                  .would_throttle_ms = *admitted};
  opener_.with_partition(slot, IfNoFiles::make,
                         [this, pending = std::move(pending),
                          transaction = std::move(transaction)](Opener::Opened opened) mutable {
                           submit(std::move(pending), std::move(transaction), std::move(opened));
                         });
}

Result<uint32_t> Writes::admit(const Routing& routing, Slot& slot,
                               const std::vector<Write>& transaction) const {
  auto admitted = budgets_.admit(routing, slot);
  if (!admitted || !std::ranges::any_of(transaction, takes_room)) return admitted;
  if (auto within = check_quota(routing); !within) return pass(within.error());
  return admitted;
}

// Partitions that were not opened since the start are not counted yet.
Status Writes::check_quota(const Routing& routing) const {
  uint64_t bytes = 0;
  for (const auto& slot : routing.slots) bytes += slot->bytes.load(std::memory_order_relaxed);
  if (bytes < limits_.container_bytes) return {};
  return fail(Code::quota_exceeded,
              fmt::format("container '{}' holds {} bytes and its quota is {}: delete items, or "
                          "raise the server's limit container-bytes",
                          routing.container->spec.name, bytes, limits_.container_bytes));
}

void Writes::submit(Pending pending, std::vector<Write> transaction, Opener::Opened opened) {
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
                      finish(std::move(pending), *partition, verbs, std::move(outcome));
                    });
}

// With the routing that there is by now.
void Writes::send_on(Pending pending, std::vector<Write> transaction) {
  RoutingPtr fresh = table_.find(pending.routing->container->number);
  if (fresh && pending.attempt < kRouteAttempts) {
    // It may have come back because there are newer rules than those it came with.
    for (Write& write : transaction) write.schema = fresh->schema;
    return write(std::move(fresh), std::move(transaction), std::move(pending.done),
                 std::move(pending.reads), pending.attempt + 1);
  }
  WriteReply reply;
  reply.error = fresh ? keeps_moving() : container_is_gone();
  pending.done(std::move(reply));
}

void Writes::finish(Pending pending, const Partition& partition,
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
  pending.slot->bytes.store(partition.usage().bytes, std::memory_order_relaxed);
  splits_.split_if_full(*pending.routing, pending.slot);
  if (pending.routing->wants_ranges) splits_.scale_if_loaded(*pending.routing, *pending.slot);
  pending.done(std::move(reply));
}

}  // namespace orrery::cluster

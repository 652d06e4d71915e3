// See point_reads.h.
#include "cluster/items/point_reads.h"

#include <utility>

namespace orrery::cluster {

using partition::Partition;

std::optional<Result<ReadReply>> PointReads::read_in_memory(const Routing& routing,
                                                            std::string_view placement,
                                                            std::string_view row,
                                                            const LsnDemand& demand,
                                                            double charge_factor) {
  Slot& slot = *routing.slot_of(placement);
  const std::shared_ptr<Partition> partition = opener_.opened_to_read(slot, demand);
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

void PointReads::read(RoutingPtr routing, std::string placement, std::string row,
                      const LsnDemand& demand,
                      std::move_only_function<void(Result<ReadReply>)> done, double charge_factor,
                      int attempt) {
  const std::shared_ptr<Slot> slot = routing->slot_of(placement);
  auto admitted = budgets_.admit(*routing, *slot);
  if (!admitted) return done(pass(admitted.error()));
  const uint32_t would_throttle_ms = *admitted;
  auto go_on = [this, routing, slot, would_throttle_ms, placement = std::move(placement),
                row = std::move(row), demand, charge_factor, attempt,
                done = std::move(done)](Opener::Opened opened) mutable {
    auto reply = opened ? read_here(*routing, *slot, opened->get(), placement, row, demand,
                                    charge_factor, partition::Reach::files)
                        : Result<ReadReply>(pass(opened.error()));
    if (!reply && reply.error().code == Code::moved) {
      RoutingPtr fresh = table_.find(routing->container->number);
      if (!fresh) return done(pass(container_is_gone()));
      if (attempt >= kRouteAttempts) return done(pass(keeps_moving()));
      return read(std::move(fresh), std::move(placement), std::move(row), demand, std::move(done),
                  charge_factor, attempt + 1);
    }
    if (reply) reply->receipt.would_throttle_ms = would_throttle_ms;
    done(std::move(reply));
  };
  if (auto open = opener_.opened_to_read(*slot, demand)) return go_on(std::move(open));
  opener_.with_partition(slot, IfNoFiles::leave, std::move(go_on));
}

// `partition` is null when there are no files, so no items either.
Result<ReadReply> PointReads::read_here(const Routing& routing, Slot& slot,
                                        const Partition* partition, std::string_view placement,
                                        std::string_view row, const LsnDemand& demand,
                                        double charge_factor, partition::Reach reach) {
  ReadReply reply;
  reply.receipt.range = slot.range.id;
  reply.receipt.lsn = partition == nullptr ? 0 : partition->lsn();
  if (auto checked = check_demand(demand, slot.range, reply.receipt.lsn); !checked) {
    return pass(checked.error());
  }
  if (partition != nullptr) {
    auto found = partition->read(placement, row, reach);
    if (!found) return pass(found.error());
    // Taken after reading: whoever saw this is shown no older state by any replica.
    reply.receipt.lsn = partition->lsn();
    const std::optional<int64_t> life_ms = routing.schema->default_life_ms;
    if (*found && !(life_ms && partition::is_expired(**found, life_ms, clock_.now_ms()))) {
      reply.item = std::move(*found);
    }
  }
  if (auto current = opener_.check_current(); !current) return pass(current.error());
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

}  // namespace orrery::cluster

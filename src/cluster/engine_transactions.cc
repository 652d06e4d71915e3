// Transactions of several steps, for scripts: begun here, run by the face, written like any other.
#include "base/await.h"
#include "cluster/engine.h"

namespace orrery::cluster {

Result<TransactionReply> Engine::begin_transaction(const RoutingPtr& routing,
                                                   std::string_view placement,
                                                   const LsnDemand& demand, size_t bytes_max) {
  return table_.follow(routing, [&](const Routing& now) -> Result<TransactionReply> {
    const std::shared_ptr<Slot>& slot = now.slot_of(placement);
    TransactionReply reply;
    reply.receipt.range = slot->range.id;
    auto admitted = budgets_.admit(now, *slot);
    if (!admitted) return pass(admitted.error());
    reply.receipt.would_throttle_ms = *admitted;
    auto opened = open_slot(slot);
    if (!opened) return pass(opened.error());
    auto begun = partition::Transaction::begin(std::move(*opened), now.schema, bytes_max);
    if (!begun) return pass(begun.error());
    reply.transaction = std::move(*begun);
    reply.receipt.lsn = reply.transaction->lsn();
    if (auto checked = check_demand(demand, slot->range, reply.receipt.lsn); !checked) {
      return pass(checked.error());
    }
    return reply;
  });
}

// The key of a transaction stays in one partition across splits, and an item's LSN means the same
// in the children: what the transaction has seen is still compared rightly there.
WriteReply Engine::write_and_wait(RoutingPtr routing, std::vector<partition::Write> transaction) {
  auto written = await<WriteReply>(
      [&](auto done) { write(std::move(routing), std::move(transaction), std::move(done)); });
  if (written) return std::move(*written);
  WriteReply failed;
  failed.error = std::move(written.error());
  return failed;
}

}  // namespace orrery::cluster

// Reads with the read concern snapshot outside transactions.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/mongo/commands/command.h"
#include "api/mongo/transactions/snapshot_store.h"

namespace orrery::mongo {
namespace {

using value::Type;
using value::Value;

constexpr std::array<std::string_view, 3> kReads = {"find", "aggregate", "distinct"};

Answer<std::shared_ptr<Snapshot>> snapshot_of(const HandlerContext& context, const Call& call) {
  const Value concern = call["readConcern"];
  const Value time = concern.find("atClusterTime");
  if (!concern.find("afterClusterTime").is_undefined()) {
    return refuse(kInvalidOptions,
                  "Specifying 'afterClusterTime' with the read concern 'snapshot' is not allowed "
                  "outside a transaction: use 'atClusterTime'");
  }
  if (time.is_undefined()) return context.snapshots.take(call.database, call.collection());
  if (time.type() != Type::timestamp) {
    return refuse(kTypeMismatch, "BSON field 'readConcern.atClusterTime' is no timestamp");
  }
  if (auto found = context.snapshots.find(time.timestamp())) return found;
  return refuse(
      kSnapshotUnavailable,
      fmt::format("there is no snapshot of the time that was asked for: one is kept for {} "
                  "seconds from the read that it was taken for, by the server that took "
                  "it. Read without atClusterTime to take one",
                  SnapshotStore::kLifetimeS));
}

bool has_change_stream(const Call& call) {
  for (const Value& stage : call["pipeline"].elements()) {
    if (stage.is_object() && !stage.find("$changeStream").is_undefined()) return true;
  }
  return false;
}

}  // namespace

Answer<void> run_at_snapshot(const HandlerContext& context, Call& call) {
  const Command* const command = find_command(call.name);
  if (std::ranges::find(kReads, command->name) == kReads.end() || has_change_stream(call)) {
    return refuse(kInvalidOptions,
                  fmt::format("'{}' does not support the read concern 'snapshot' outside a "
                              "transaction",
                              call.name));
  }
  if (context.remote) {
    return refuse(kNotImplemented,
                  "the read concern snapshot outside a transaction is not implemented among "
                  "several nodes");
  }
  auto snapshot = snapshot_of(context, call);
  if (!snapshot) return pass(std::move(snapshot.error()));
  call.snapshot = std::move(*snapshot);
  return command->run(context, call);
}

}  // namespace orrery::mongo

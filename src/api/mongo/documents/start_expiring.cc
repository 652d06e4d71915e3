// See start_expiring.h.
#include "api/mongo/documents/start_expiring.h"

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "api/mongo/collections/collections.h"
#include "api/mongo/commands/batches.h"
#include "api/mongo/documents/scan.h"
#include "api/mongo/documents/writing.h"
#include "partition/format.h"

namespace orrery::mongo {
namespace {

using value::Value;

constexpr size_t kExpiringInPage = 500;
constexpr std::chrono::milliseconds kLookEvery{10};

// The same definition with its expiring index pending, or not.
Definition with_pending(const Definition& definition, bool is_pending) {
  Definition changed = definition;
  for (IndexSpec& index : changed.indexes) {
    if (!Definition::expire_after_s(index)) continue;
    std::vector<Value::Field> fields;
    for (const Value::Member& member : index.spec.members()) {
      if (member.name == "expiryPending") continue;
      fields.push_back({Value::make_string(std::string(member.name)), member.value});
    }
    if (is_pending) {
      fields.push_back({Value::make_string("expiryPending"), Value::make_bool(true)});
    }
    index.spec = Value::make_object(std::move(fields)).to_owned();
  }
  return changed;
}

// Waits until every partition has the new index rules: writes by the old definition, which say
// nothing of a date, are refused from then on.
Answer<void> wait_for_rules(const HandlerContext& context, const cluster::RoutingPtr& routing,
                            Budget& budget) {
  for (;;) {
    auto usage = context.items.usage(routing);
    if (!usage) return pass(engine_error(usage.error()));
    if (usage->is_indexed) return {};
    if (budget.spend(1)) return refuse(kMaxTimeMsExpired, "operation exceeded time limit");
    std::this_thread::sleep_for(kLookEvery);
  }
}

// Writes documents as they are. What others have written meanwhile has its date.
Answer<double> write_again(const HandlerContext& context, const cluster::RoutingPtr& routing,
                           const std::vector<partition::ItemKey>& keys) {
  WriteBatch batch(context, routing, false);
  double charge = 0;
  for (const partition::ItemKey& key : keys) {
    auto read = context.items.read(routing, key.placement, key.row);
    if (!read) return pass(engine_error(read.error()));
    charge += read->receipt.charge;
    if (!read->item) continue;
    partition::Write write = make_write(partition::Verb::replace, routing, key, read->item->body);
    write.if_version = read->item->version;
    write.is_edit = true;
    batch.add(std::move(write));
  }
  const WriteBatch::Outcome& outcome = batch.finish();
  for (const auto& [at, error] : outcome.refused) {
    if (error.code == Code::precondition_failed || error.code == Code::not_found) continue;
    return pass(engine_error(error));
  }
  return charge + outcome.charge;
}

}  // namespace

Answer<cluster::RoutingPtr> start_expiring(const HandlerContext& context, Call& call,
                                           const cluster::RoutingPtr& routing,
                                           Definition definition) {
  auto pending = replace_definition(context, routing, with_pending(definition, true));
  if (!pending) return pending;
  Budget budget;
  start_budget(call, budget);
  if (auto ready = wait_for_rules(context, *pending, budget); !ready) {
    return pass(std::move(ready.error()));
  }
  Scan scan(context, *pending, whole_collection());
  for (bool has_more = true; has_more;) {
    std::vector<partition::ItemKey> keys;
    while (keys.size() < kExpiringInPage) {
      auto found = scan.next();
      if (!found) return pass(std::move(found.error()));
      has_more = found->has_value();
      if (!has_more) break;
      auto key = partition::parse_item_key(scan.key());
      if (!key) return pass(engine_error(key.error()));
      keys.push_back(std::move(*key));
    }
    scan.pause();
    auto charge = write_again(context, *pending, keys);
    if (!charge) return pass(std::move(charge.error()));
    call.charge += *charge;
  }
  return replace_definition(context, *pending, with_pending(definition, false));
}

}  // namespace orrery::mongo

// Re-indexing: gives items the terms of newer index rules, in the background, while reads and
// writes go on.
//
// Every item has the version of the rules that its terms were made by. Once a write with newer
// rules was applied, the partition refuses writes with older ones (run.h). Items from before are
// found by a scan over all items, a batch at a time, and written again through the writer with the
// new terms. At the end of the scan the partition records that its index is complete. A scan that a
// crash, a closing or a split interrupts starts again, and finds that most items have the new terms
// already.
#include <algorithm>

#include "base/await.h"
#include "partition/format.h"
#include "partition/partition.h"
#include "partition/store.h"
#include "partition/writer.h"

namespace orrery::partition {
namespace {

// What is written at a time: callers' writes wait behind it.
constexpr size_t kGroup = 100;
constexpr size_t kGroupBytes = 1ULL << 20;

bool has_rules(const PartitionRecord& record, const Schema& schema) {
  return record.indexed && record.index_version == schema.index_version;
}

}  // namespace

bool Partition::is_indexed(const Schema& schema) const {
  const PartitionRecord record = writer_->record();
  return record.items == 0 || has_rules(record, schema);
}

uint32_t Partition::indexed_percent(const Schema& schema) const {
  const PartitionRecord record = writer_->record();
  if (record.items == 0 || has_rules(record, schema)) return 100;
  MutexLock lock(reindexing_mutex_);
  if (reindexing_.version != schema.index_version) return 0;
  return static_cast<uint32_t>(std::min<uint64_t>(99, reindexing_.examined * 100 / record.items));
}

Status Partition::commit_and_wait(std::vector<Write> transaction) {
  auto outcome =
      await<Outcome>([&](auto done) { submit(std::move(transaction), std::move(done)); });
  if (!outcome) return pass(outcome.error());
  if (outcome->error) return pass(std::move(*outcome->error));
  return {};
}

Result<bool> Partition::reindex(const std::shared_ptr<const Schema>& schema, size_t examine_max) {
  const PartitionRecord record = writer_->record();
  const bool begins_history = schema->history_s > 0 && record.history_after == kNoHistory;
  if (has_rules(record, *schema) && !begins_history) return true;
  if (record.index_version > schema->index_version) {
    return fail(Code::moved, "there are newer index rules");
  }
  auto write = [&](Verb verb, ItemKey key) {
    Write one;
    one.verb = verb;
    one.placement = std::move(key.placement);
    one.row = std::move(key.row);
    one.schema = schema;
    return one;
  };
  // Before the walk: older rules are refused from here on. (No item has an empty row.)
  if (record.index_version < schema->index_version || begins_history) {
    std::vector<Write> adopt;
    adopt.push_back(write(Verb::reindex, {identity_.min, ""}));
    if (auto adopted = commit_and_wait(std::move(adopt)); !adopted) return pass(adopted.error());
  }
  if (has_rules(record, *schema)) return true;
  Reindexing at;
  {
    MutexLock lock(reindexing_mutex_);
    if (reindexing_.version != schema->index_version) {
      reindexing_ = {schema->index_version, items_from(identity_.min), 0};
    }
    at = reindexing_;
  }
  std::vector<Write> writes;
  bool end = false;
  {
    Store::Use use(*store_);
    if (auto ok = use.ok(); !ok) return pass(ok.error());
    const std::string upper = items_from(identity_.max);
    const rocksdb::Slice upper_bound = upper;
    rocksdb::ReadOptions options = read_options();
    options.iterate_upper_bound = &upper_bound;
    options.fill_cache = false;
    std::unique_ptr<rocksdb::Iterator> it(store_->db().NewIterator(options, store_->items()));
    size_t examined = 0;
    size_t bytes = 0;
    for (it->Seek(at.from); it->Valid(); it->Next(), ++examined) {
      if (examined >= examine_max || writes.size() >= kGroup || bytes >= kGroupBytes) break;
      std::string_view body;
      auto item = decode_item(it->value().ToStringView(), body);
      if (!item) return pass(item.error());
      if (item->index_version == schema->index_version) continue;
      auto key = parse_item_key(it->key().ToStringView());
      if (!key) return pass(key.error());
      bytes += body.size();
      writes.push_back(write(Verb::reindex, std::move(*key)));
    }
    if (!it->status().ok()) return pass(store_->translate(it->status(), "reading items"));
    end = !it->Valid();
    if (!end) at.from = it->key().ToString();
    at.examined += examined;
  }
  if (end) writes.push_back(write(Verb::indexed, {identity_.min, ""}));
  if (!writes.empty()) {
    if (auto committed = commit_and_wait(std::move(writes)); !committed) {
      return pass(committed.error());
    }
  }
  MutexLock lock(reindexing_mutex_);
  reindexing_ = std::move(at);
  return end;
}

}  // namespace orrery::partition

// How a run ends: what it leaves goes into its batch. See run.h.
#include <algorithm>

#include "partition/run.h"

namespace orrery::partition {

// In the order of their keys: a memtable finds the place of one from that of the one before.
void Run::finish_items() {
  for (const auto& [key, item] : items_.sorted()) {
    if (*item) {
      const ItemHeader header = encode_header(**item);
      const rocksdb::Slice key_part(key);
      const rocksdb::Slice parts[] = {{header.data(), header.size()}, (*item)->body};
      batch_.Put(store_.items(), {&key_part, 1}, {parts, 2});
    } else {
      batch_.Delete(store_.items(), key);
    }
  }
}

void Run::finish_sizes() {
  for (const auto& [key, size] : sizes_.sorted()) {
    if (size->items == 0) {
      batch_.Delete(store_.ledger(), key);
    } else {
      batch_.Put(store_.ledger(), key, encode_size(*size));
    }
  }
}

rocksdb::WriteBatch& Run::finish() {
  finish_items();
  finish_sizes();
  // In the order of their keys, too. What the run did to one term twice stays in the order in which
  // it did it.
  std::ranges::sort(terms_, [&](const TermChange& a, const TermChange& b) {
    const auto order = entry_of(a) <=> entry_of(b);
    return order != 0 ? order < 0 : a.at < b.at;
  });
  for (const TermChange& change : terms_) {
    if (change.add) {
      batch_.Put(store_.terms(), entry_of(change), rocksdb::Slice());
    } else {
      batch_.Delete(store_.terms(), entry_of(change));
    }
  }
  for (const IndexLedgerEntry& entry : ledger_.entries()) {
    if (entry.policy) {
      batch_.Put(store_.ledger(), definition_key(entry.version),
                 encode_definition(entry.policy->definition()));
    } else {
      batch_.Put(store_.ledger(), shape_key(entry.version, entry.shape_hash), entry.shape);
    }
  }
  store_.index_ledger().add(ledger_.entries());
  batch_.Put(store_.ledger(), kRecordKey, encode_record(record_));
  return batch_;
}

}  // namespace orrery::partition

// A run: the transactions of one commit (a group commit), while they are validated and turned into
// one write batch.
//
// Each write sees the effects of the writes before it in the run, through overlays over the
// database. The writes of one transaction share an LSN and are numbered by step. A transaction that
// fails is rolled back: the batch and the overlays are as before it.
//
// Threading: used by one writer thread at a time.
#pragma once

#include <rocksdb/write_batch.h>

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "partition/format.h"
#include "partition/index_ledger.h"
#include "partition/partition.h"
#include "partition/prepared_terms.h"
#include "partition/purge_marks.h"
#include "partition/store.h"
#include "partition/term_set.h"

namespace orrery::partition {

// Values that a run has written, over those in the database; can be taken back to a mark.
template <class T>
class Overlay {
 public:
  const T* find(const std::string& key) const {
    auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second.value;
  }
  void set(const std::string& key, T next) {
    auto [at, fresh] = values_.try_emplace(key);
    Entry& entry = at->second;
    if (entry.mark != mark_) {
      undo_.emplace_back(&*at, fresh ? std::nullopt : std::optional<T>(std::move(entry.value)));
      entry.mark = mark_;
    }
    entry.value = std::move(next);
  }
  bool empty() const { return values_.empty(); }
  size_t size() const { return values_.size(); }
  template <class Take>
  void each(const Take& take) const {
    for (const auto& [key, entry] : values_) take(key, entry.value);
  }
  // In the order of their keys.
  std::vector<std::pair<std::string_view, const T*>> sorted() const {
    std::vector<std::pair<std::string_view, const T*>> all;
    all.reserve(values_.size());
    for (const auto& [key, entry] : values_) all.emplace_back(key, &entry.value);
    std::ranges::sort(all, {}, &decltype(all)::value_type::first);
    return all;
  }
  std::vector<std::string> keys() const {
    std::vector<std::string> all;
    all.reserve(values_.size());
    for (const auto& [key, entry] : values_) all.push_back(key);
    return all;
  }
  void mark() {
    undo_.clear();
    ++mark_;
  }
  void roll_back() {
    while (!undo_.empty()) {
      auto& [node, before] = undo_.back();
      if (before) {
        node->second = {.value = std::move(*before)};
      } else {
        values_.erase(values_.find(node->first));
      }
      undo_.pop_back();
    }
  }

 private:
  struct Entry {
    T value = {};
    uint64_t mark = 0;  // the newest that it was changed after
  };
  using Values = std::unordered_map<std::string, Entry>;

  Values values_;
  uint64_t mark_ = 1;
  // What values were at the mark, each once. Nodes of the map stay where they are.
  std::vector<std::pair<typename Values::value_type*, std::optional<T>>> undo_;
};

struct SizeDelta {
  std::string placement;
  int64_t bytes = 0;
  int64_t items = 0;
};

// What an item weighs in its logical partition.
inline uint64_t weight(const Write& write, std::string_view body) {
  return write.row.size() + body.size();
}

// How many writes of a transaction share an LSN at most.
inline constexpr uint16_t kLsnWrites = 1000;
inline constexpr uint64_t kLsnBytes = uint64_t{4} << 20;

class Run {
 public:
  // Limits::response_bytes bounds the bodies that reads and edits of one transaction load from the
  // database and return.
  // `bytes`: about as many as its writes have.
  Run(Store& store, const Partition::Identity& identity, const PartitionRecord& record,
      int64_t now_ms, const Limits& limits, const KnownSizes& known_sizes, size_t bytes);

  // Appends a transaction, which stays as it is. On error nothing of it remains.
  struct Failure {
    Error error;
    size_t write = 0;
  };
  std::expected<std::vector<Written>, Failure> apply(const std::vector<Write>& transaction);

  uint64_t found_bytes() const { return run_found_bytes_; }
  bool empty() const { return batch_.Count() == 0 && items_.empty(); }
  // Completes the batch with what has a last state only (items, sizes, the partition's record), and
  // returns it. Also publishes the additions to the index ledger: readers may need them the moment
  // the batch is committed.
  rocksdb::WriteBatch& finish();
  const PartitionRecord& record() const { return record_; }
  const std::vector<SizeDelta>& deltas() const { return deltas_; }
  // The sizes of logical partitions that it changes, by size_key().
  const Overlay<LogicalSize>& sizes() const { return sizes_; }
  // The terms whose entries change. After finish().
  template <class Take>
  void each_changed_term(const Take& take) const {
    std::string_view last;
    for (const TermChange& change : terms_) {
      const std::string_view entry = entry_of(change);
      if (!last.empty() && entry.starts_with(last)) continue;
      last = entry.substr(0, change.term_size);
      take(last);
    }
  }
  // The purges that there are after it, if it changes them.
  std::optional<PurgeMarksPtr> changed_purges() const;
  // The keys of the items that it writes or removes, and maybe of others.
  std::vector<std::string> item_keys() const { return items_.keys(); }
  // The keys of items that are not there after it.
  std::vector<std::string> removed_keys() const {
    std::vector<std::string> removed;
    items_.each([&](const std::string& key, const std::optional<Item>& item) {
      if (!item) removed.push_back(key);
    });
    return removed;
  }

 private:
  Result<Written> apply_one(const Write& write);
  // A read, a write or a removal of the one item that the write names.
  Result<Written> apply_to_item(const Write& write);
  // Of the item that is there, when it `keeps_it`; of the one that gave up its row; or a new one.
  Origin next_origin(const std::optional<Item>& current, bool keeps_it);
  // What the write's editor makes of the item; nothing without one.
  static Result<std::optional<Editor::Edited>> edit(const Write& write,
                                                    const std::optional<Item>& current);
  // The body and the expiry of the item to be stored; its version and origin are there.
  Status make_body(const Write& write, std::optional<Editor::Edited>& edited, Item& next);
  // Puts the item's change and its history into the batch. `before` is what was there, live or not;
  // `after` is null when it is removed.
  void put_change(const Write& write, const std::string& key, const Item* before, bool live,
                  const Item* after);
  // A replace that changes the item's row: a delete and an insert in one transaction. The item
  // keeps its origin.
  Result<Written> apply_renaming(const Write& write);
  Status count_found(const Write& write, const Item& item);
  // Index rules only move forwards: after a write with newer rules, writes with older ones are
  // refused. So a full scan that starts after that finds every item with outdated terms.
  Status adopt_rules(const Schema& schema);
  Result<Written> apply_reindex(const Write& write);
  Result<Written> note_indexed();
  Status put_note(const Write& write, const Note& note);  // note.cc
  Result<Written> apply_purge(const Write& write);
  Result<Written> note_purged(const Write& write);
  size_t purges_count() const;
  bool is_purged(const std::string& key, const Item& item) const;
  bool is_live(const Schema& schema, const std::string& key, const Item& item) const {
    return !is_expired(item, schema.default_life_ms, now_ms_) && !is_purged(key, item);
  }
  // As what the history tells the end of an item that was not live any more.
  EventKind end_of(const std::string& key, const Item& item) const {
    return is_purged(key, item) ? EventKind::remove : EventKind::expire;
  }
  // Of the write at work: the partition's newest from here on.
  void note_version(const Version& version);
  // Of a write now.
  uint32_t time_s() const { return next_time_s(record_.time_s, now_ms_ / 1000); }
  Status check(const Write& write, const std::optional<Item>& current, bool live) const;
  Result<std::optional<Item>> current_item(const std::string& key);
  Result<LogicalSize> current_size(const std::string& key);
  Result<std::optional<std::string>> current_holder(const std::string& unique_key);
  // Terms and unique values: takes those of `before` away and puts those of `after`, either of
  // which may be null.
  Status reindex(const Write& write, const std::string& key, const Item* before, const Item* after,
                 Written& written);
  // The values of each unique key, of an item that goes and of one that comes. `claim`: whether
  // values that stay the same are held already; they may not be when the keys have changed since
  // the item was written.
  enum class Claim : uint8_t { held, again, again_if_free };
  Status put_unique(const Write& write, const UniqueValues* before, const UniqueValues* after,
                    Claim claim);
  // Nothing if another item, which lives, has it.
  Result<bool> claim_unique(const Write& write, const std::string& key);
  // Takes an expired or purged item of the same logical partition away, since its unique value is
  // wanted.
  Status evict(const Write& cause, const std::string& row, const Item& item);
  // Assigns the next LSN to the writes that follow. A page of changes holds all writes of an LSN,
  // so a very large transaction continues under another one.
  void take_lsn();
  bool is_lsn_full() const { return change_step_ >= kLsnWrites || lsn_bytes_ >= kLsnBytes; }
  // Puts what happens to an item into the history, if its container keeps one.
  void remember(EventKind operation, std::string_view key, const Item* before, const Item* after);
  // The terms that a stored item was given by the definition of its index version, its shape among
  // them.
  TermSet stored_terms(const value::Node& item, const value::IndexPolicy& policy,
                       uint32_t version) const;
  // The terms that an item gets by the schema's rules: the ledger learns what is new. `prepared` is
  // null when they are to be made from `item`.
  TermSet new_terms(const Write& write, const Item& after, const PreparedTerms* prepared,
                    const value::Node* item);
  // As the run leaves them, each once.
  void finish_items();
  void finish_sizes();
  void change_term(std::string_view term, std::string_view key, bool add);
  Status change_size(const Write& write, int64_t bytes, int64_t items, uint64_t limit);

  Store& store_;
  const Partition::Identity& identity_;
  const int64_t now_ms_;
  const Limits& limits_;
  const KnownSizes& known_sizes_;
  uint64_t found_bytes_ = 0;      // of the transaction at hand
  uint64_t run_found_bytes_ = 0;  // of all of them
  rocksdb::WriteBatch batch_;
  PartitionRecord record_;
  Overlay<std::optional<Item>> items_;
  Overlay<LogicalSize> sizes_;
  Overlay<std::optional<std::string>> uniques_;
  const PurgeMarksPtr purges_before_;
  Overlay<std::optional<uint64_t>> purges_;  // by what the items' keys begin with
  std::vector<SizeDelta> deltas_;
  size_t deltas_from_ = 0;  // those of the transaction at hand
  // The transaction at hand: the LSN that its writes share, and what has been given it so far.
  uint64_t lsn_ = 0;
  uint16_t change_step_ = 0;
  uint16_t history_step_ = 0;
  uint64_t lsn_bytes_ = 0;
  std::optional<Origin> renamed_origin_;  // of the item that the write at work gives another row
  // Index entries that come and go, in the order of the writes; finish() puts them into the batch.
  struct TermChange {
    size_t at = 0;  // in term_bytes_
    size_t size = 0;
    size_t term_size = 0;  // what of it is the term
    bool add = false;
  };
  std::string_view entry_of(const TermChange& change) const {
    return std::string_view(term_bytes_).substr(change.at, change.size);
  }
  std::vector<TermChange> terms_;
  std::string term_bytes_;
  IndexLedgerDraft ledger_;
};

}  // namespace orrery::partition

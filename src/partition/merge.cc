// See merge.h.
#include "partition/merge.h"

#include <fmt/format.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <array>
#include <exception>
#include <map>
#include <optional>

#include "base/bytes.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/survive.h"
#include "partition/commit_tail.h"
#include "partition/history_entry.h"
#include "partition/key_range.h"
#include "partition/merged_record.h"
#include "partition/note.h"
#include "partition/store.h"
#include "partition/writer.h"
#include "value/ordered.h"
#include "value/shape.h"

namespace orrery::partition {
namespace {

// What is written to a parent while it is copied. More is an error: it is not idle.
constexpr size_t kTailBytes = 64ULL << 20;
// Of one write to the new database.
constexpr size_t kBatchBytes = 1ULL << 20;
// Before the pause, until what was written meanwhile is less than this, or not half of what it was
// the time before: then it does not get much less by following on.
constexpr size_t kLeftForPause = 64ULL << 10;

enum Family : uint8_t { kLedger, kItems, kTerms, kChanges, kHistory, kFamilies };

rocksdb::ColumnFamilyHandle* family_of(const Store& store, Family family) {
  switch (family) {
    case kItems:
      return store.items();
    case kTerms:
      return store.terms();
    case kChanges:
      return store.changes();
    case kHistory:
      return store.history();
    case kLedger:
    case kFamilies:
      break;
  }
  return store.ledger();
}

// Definitions and shapes of both indexes, by their keys in the ledger.
using IndexEntries = std::map<std::string, std::string>;

Status add_index_entries(const Store& store, IndexEntries& entries) {
  for (const std::string_view kind : {kDefinitions, kShapes}) {
    const std::string upper = value::after_prefix(kind);
    const rocksdb::Slice upper_bound = upper;
    rocksdb::ReadOptions options = read_options();
    options.iterate_upper_bound = &upper_bound;
    std::unique_ptr<rocksdb::Iterator> it(store.db().NewIterator(options, store.ledger()));
    for (it->Seek(kind); it->Valid(); it->Next()) {
      const auto [found, is_new] = entries.emplace(it->key().ToString(), it->value().ToString());
      if (is_new || found->second == it->value().ToStringView()) continue;
      return fail(Code::conflict,
                  "the partitions' indexes name different shapes of items by one hash, so they "
                  "cannot be merged");
    }
    if (!it->status().ok())
      return pass(store.translate(it->status(), "reading the index's ledger"));
  }
  return {};
}

// The shape that an item has been given must be told by the list alone (index_ledger.h), so a list
// that would be longer than one partition remembers cannot be made of two.
Result<IndexEntries> index_entries(const Store& left, const Store& right) {
  IndexEntries entries;
  if (auto added = add_index_entries(left, entries); !added) return pass(added.error());
  if (auto added = add_index_entries(right, entries); !added) return pass(added.error());
  std::map<std::string, size_t> shapes;  // by what the keys of a version begin with
  for (const auto& [key, shape] : entries) {
    if (!key.starts_with(kShapes) || key.size() < 8 ||
        load_u64_be(key.data() + key.size() - 8) == value::kOtherShapes) {
      continue;
    }
    if (++shapes[key.substr(0, key.size() - 8)] <= kMaxShapes) continue;
    return fail(Code::conflict,
                fmt::format("together the partitions have items of more than {} shapes, which is "
                            "what the index of one partition tells apart",
                            kMaxShapes));
  }
  return entries;
}

// Writes entries into the new database.
class Copy {
 public:
  Copy(Store& into, const std::function<bool()>& is_over) : into_(into), is_over_(is_over) {
    // Durable by a flush, or not needed.
    options_.disableWAL = true;
  }

  Store& into() { return into_; }
  // From now on what is written goes to the log, which the record's commit makes durable.
  void use_log() { options_.disableWAL = false; }

  Status put(Family family, const rocksdb::Slice& key, const rocksdb::Slice& value) {
    return noted(batch_.Put(family_of(into_, family), key, value));
  }
  Status remove(Family family, const rocksdb::Slice& key) {
    return noted(batch_.Delete(family_of(into_, family), key));
  }
  Status write() {
    if (batch_.Count() == 0) return {};
    if (is_over_()) return fail(Code::overloaded, "the server is stopping");
    const rocksdb::Status written = into_.write(options_, batch_);
    batch_.Clear();
    if (!written.ok()) return pass(into_.translate(written, "copying a partition to merge it"));
    if (!options_.disableWAL) into_.acknowledge();
    return {};
  }

 private:
  Status noted(const rocksdb::Status& added) {
    if (!added.ok()) return pass(into_.translate(added, "copying a partition to merge it"));
    return batch_.GetDataSize() < kBatchBytes ? Status() : write();
  }

  Store& into_;
  const std::function<bool()>& is_over_;
  rocksdb::WriteOptions options_;
  rocksdb::WriteBatch batch_;
};

// One of the two that are merged.
class Parent {
 public:
  explicit Parent(Partition& partition)
      : identity_(partition.identity()),
        writer_(Writer::of(partition)),
        store_(writer_.store()),
        keys_(keys_between(identity_, identity_.min, identity_.max)) {}

  Store& store() const { return store_; }
  Writer& writer() const { return writer_; }

  // Takes the snapshot, and follows what is written from there on.
  Status begin() {
    const Writer::Paused paused(writer_);
    if (auto ok = store_.is_open(); !ok) return ok;
    snapshot_.emplace(&store_.db());
    copied_ = store_.db().GetLatestSequenceNumber();
    tail_ = std::make_shared<CommitTail>(writer_.clock(), copied_, kTailBytes);
    store_.add_tail(tail_);
    begun_ = writer_.record();
    return {};
  }

  Status copy(Copy& copy) {
    for (const Family family : {kItems, kTerms, kChanges, kHistory}) {
      if (auto done = copy_family(copy, family); !done) return done;
    }
    for (const auto& [from, to] :
         {std::pair(size_key(identity_.min), size_key(identity_.max)),
          std::pair(unique_range(identity_.min), unique_range(identity_.max)),
          std::pair(purge_key(identity_.min), purge_key(identity_.max)),
          std::pair(std::string(kNotes), value::after_prefix(kNotes))}) {
      if (auto done = copy_range(copy, kLedger, from, to); !done) return done;
    }
    snapshot_.reset();
    return copy.write();
  }

  // What was written since, up to now; gives how many bytes that was. While writes are paused, that
  // is all.
  Result<size_t> follow(Copy& copy) {
    const uint64_t until = store_.db().GetLatestSequenceNumber();
    size_t bytes = 0;
    for (bool more = true; more;) {
      auto page = tail_->read(copied_, kBatchBytes);
      if (!page) {
        return std::unexpected(
            Error{.code = Code::overloaded,
                  .message = "too much is written to the partition for it to be merged: try again "
                             "when it is idle",
                  .retry_after_ms = 1000});
      }
      for (const CommitBatch& batch : page->batches) {
        bytes += batch.bytes.size();
        if (auto replayed = replay(copy, batch.bytes); !replayed) return pass(replayed.error());
      }
      copied_ = page->sequence;
      more = page->more && copied_ < until;
    }
    if (auto written = copy.write(); !written) return pass(written.error());
    return bytes;
  }

 private:
  class Replay;

  bool is_mine(Family family, const rocksdb::Slice& key, const rocksdb::Slice& stored) const {
    switch (family) {
      case kItems:
      case kFamilies:
        return true;
      case kTerms: {
        if (begun_.trimmed) return true;
        auto placement = placement_of_term(key.ToStringView());
        return placement && *placement >= identity_.min && *placement < identity_.max;
      }
      case kChanges:
        return keys_.has(stored.ToStringView());
      case kHistory: {
        auto entry = decode_history(stored.ToStringView());
        return entry && keys_.has(entry->item_key);
      }
      case kLedger:
        break;
    }
    if (!key.starts_with(kNotes)) return true;
    auto placement = placement_of_note(key.ToStringView());
    return placement && *placement >= identity_.min && *placement < identity_.max;
  }

  Status copy_family(Copy& copy, Family family) {
    if (family == kItems) return copy_range(copy, family, keys_.from, keys_.to);
    std::string from;
    if (family == kHistory) {
      if (begun_.history_after == kNoHistory) return {};
      from = history_key(begun_.history_after + 1);
    }
    return copy_range(copy, family, from, "");
  }

  // Up to the end of the family when `to` is empty.
  Status copy_range(Copy& copy, Family family, const std::string& from, const std::string& to) {
    const rocksdb::Slice upper_bound = to;
    rocksdb::ReadOptions options = read_options();
    options.snapshot = snapshot_->snapshot();
    options.fill_cache = false;
    options.total_order_seek = true;
    if (!to.empty()) options.iterate_upper_bound = &upper_bound;
    std::unique_ptr<rocksdb::Iterator> it(
        store_.db().NewIterator(options, family_of(store_, family)));
    for (it->Seek(from); it->Valid(); it->Next()) {
      if (!is_mine(family, it->key(), it->value())) continue;
      if (auto put = copy.put(family, it->key(), it->value()); !put) return put;
    }
    if (!it->status().ok()) {
      return pass(store_.translate(it->status(), "reading a partition to merge it"));
    }
    return {};
  }

  Status replay(Copy& copy, const std::string& bytes);

  const Partition::Identity& identity_;
  Writer& writer_;
  Store& store_;
  const KeyRange keys_;
  std::optional<rocksdb::ManagedSnapshot> snapshot_;
  std::shared_ptr<CommitTail> tail_;
  uint64_t copied_ = 0;  // every commit up to this sequence number
  PartitionRecord begun_;
};

// A commit of the parent's, again. Commits have what is in range alone. The record and what the
// index needs to know are written at the end, of both parents at once.
class Parent::Replay final : public rocksdb::WriteBatch::Handler {
 public:
  Replay(const Parent& parent, Copy& copy) : parent_(parent), copy_(copy) {
    for (uint8_t family = 0; family < kFamilies; ++family) {
      ids_[family] = family_of(parent.store_, static_cast<Family>(family))->GetID();
    }
  }

  rocksdb::Status PutCF(uint32_t id, const rocksdb::Slice& key,
                        const rocksdb::Slice& value) override {
    const Family family = family_with(id);
    if (family == kFamilies) return rocksdb::Status::Corruption("unknown column family");
    return is_left_out(family, key) ? rocksdb::Status() : taken(copy_.put(family, key, value));
  }
  rocksdb::Status DeleteCF(uint32_t id, const rocksdb::Slice& key) override {
    const Family family = family_with(id);
    if (family == kFamilies) return rocksdb::Status::Corruption("unknown column family");
    return is_left_out(family, key) ? rocksdb::Status() : taken(copy_.remove(family, key));
  }
  Status result() const { return result_; }

 private:
  Family family_with(uint32_t id) const {
    return static_cast<Family>(std::ranges::find(ids_, id) - ids_.begin());
  }
  bool is_left_out(Family family, const rocksdb::Slice& key) const {
    if (family != kLedger) return false;
    if (key == kRecordKey || key.starts_with(kDefinitions) || key.starts_with(kShapes)) return true;
    return !parent_.is_mine(kLedger, key, {});
  }
  rocksdb::Status taken(Status status) {
    if (status) return {};
    result_ = std::move(status);
    return rocksdb::Status::Aborted();
  }

  const Parent& parent_;
  Copy& copy_;
  std::array<uint32_t, kFamilies> ids_{};
  Status result_;
};

Status Parent::replay(Copy& copy, const std::string& bytes) {
  Replay into(*this, copy);
  const rocksdb::Status done = rocksdb::WriteBatch(bytes).Iterate(&into);
  if (auto result = into.result(); !result) return result;
  if (!done.ok()) return pass(store_.translate(done, "following a partition to merge it"));
  return {};
}

// The database of the child, which has nothing yet.
Result<std::unique_ptr<Store>> make_store(const Writer& parent, const ChildSpec& child,
                                          const PartitionRecord& fresh) {
  auto claim = parent.volume().claim(child.volume_name);
  if (!claim) return pass(claim.error());
  auto store = Store::open(parent.shared(), parent.volume(), std::move(*claim), fresh);
  if (store && (*store)->mode() != Store::Mode::write) {
    return fail(Code::read_only, "the disk has too little space to merge partitions: free some");
  }
  return store;
}

// Copies both, and follows them until there is little left.
Status copy_both(Copy& copy, Parent& left, Parent& right) {
  for (Parent* parent : {&left, &right}) {
    if (auto begun = parent->begin(); !begun) return begun;
  }
  for (Parent* parent : {&left, &right}) {
    if (auto copied = parent->copy(copy); !copied) return copied;
  }
  for (size_t before = SIZE_MAX, bytes = 0;; before = bytes) {
    bytes = 0;
    for (Parent* parent : {&left, &right}) {
      auto followed = parent->follow(copy);
      if (!followed) return pass(followed.error());
      bytes += *followed;
    }
    if (bytes < kLeftForPause || bytes > before / 2) break;
  }
  if (auto flushed = copy.into().flush(); !flushed) return flushed;
  return fault::point("merge.copied");
}

// While both are paused: the rest, and what tells of the whole.
Status complete(Copy& copy, Parent& left, Parent& right, uint32_t range, bool keeps_history) {
  for (Parent* parent : {&left, &right}) {
    if (auto ok = parent->store().is_open(); !ok) return ok;
    if (auto followed = parent->follow(copy); !followed) return pass(followed.error());
  }
  auto entries = index_entries(left.store(), right.store());
  if (!entries) return pass(entries.error());
  for (const auto& [key, value] : *entries) {
    if (auto put = copy.put(kLedger, key, value); !put) return put;
  }
  if (auto written = copy.write(); !written) return written;
  const PartitionRecord merged =
      merged_record(left.writer().record(), right.writer().record(), range, keeps_history);
  if (auto put = copy.into().put_record(merged); !put) return put;
  return copy.into().load_ledger();
}

// Held from the beginning of a merge to its end.
class Busy {
 public:
  explicit Busy(std::atomic<bool>& splitting)
      : splitting_(splitting), is_mine_(!splitting.exchange(true)) {}
  ~Busy() {
    if (is_mine_) splitting_ = false;
  }
  // It stays so: the partition has moved.
  void keep() { is_mine_ = false; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  Status ok() const {
    if (is_mine_) return {};
    return fail(Code::conflict, "a split or merge of this partition is under way already");
  }

 private:
  std::atomic<bool>& splitting_;
  bool is_mine_;
};

// From the pause to the moment of the merge. Writes are waiting, so this ends whatever happens;
// `publish` does not throw once the new map is durable.
Result<MergeTimes> cut_over(
    std::unique_ptr<Store> store, Copy& copy, Parent& left, Parent& right,
    const Partition::Identity& identity, bool keeps_history,
    const std::function<Status(const std::shared_ptr<Partition>&)>& publish) {
  Writer& writer = left.writer();
  const int64_t started_us = writer.clock().steady_us();
  left.writer().pause();
  right.writer().pause();
  Status done;
  try {
    copy.use_log();
    done = complete(copy, left, right, identity.range, keeps_history);
    if (done) {
      auto child =
          Writer::make_partition(writer.shared(), writer.volume(), identity, std::move(store));
      done = fault::point("merge.opened");
      if (done) done = publish(child);
    }
  } catch (const std::exception& error) {
    done = fail(Code::overloaded, fmt::format("merging partitions: {}", error.what()));
  }
  if (!done) {
    left.writer().resume();
    right.writer().resume();
    return pass(done.error());
  }
  const MergeTimes times{.pause_us = writer.clock().steady_us() - started_us};
  left.writer().mark_moved();
  right.writer().mark_moved();
  return times;
}

}  // namespace

std::shared_ptr<Partition> Writer::make_partition(Shared& shared, volume::Volume& volume,
                                                  const Partition::Identity& identity,
                                                  std::unique_ptr<Store> store) {
  return std::shared_ptr<Partition>(new Partition(shared, volume, identity, std::move(store)));
}

Status check_merge(const Partition& left, const Partition& right, uint64_t bytes_max) {
  if (left.identity().max != right.identity().min) {
    return fail(Code::conflict, fmt::format("ranges {} and {} are not neighbours",
                                            left.identity().range, right.identity().range));
  }
  const uint64_t bytes = left.usage().bytes + right.usage().bytes;
  if (bytes > bytes_max) {
    return fail(Code::conflict,
                fmt::format("ranges {} and {} have {} bytes together, and partitions are merged up "
                            "to {}",
                            left.identity().range, right.identity().range, bytes, bytes_max));
  }
  const Store& left_store = Writer::of(left).store();
  const Store& right_store = Writer::of(right).store();
  const Store::Use left_use(left_store);
  if (auto ok = left_use.ok(); !ok) return ok;
  const Store::Use right_use(right_store);
  if (auto ok = right_use.ok(); !ok) return ok;
  auto entries = index_entries(left_store, right_store);
  if (!entries) return pass(entries.error());
  return {};
}

Result<MergeTimes> merge(Partition& left, Partition& right, const ChildSpec& child,
                         bool keeps_history, const std::function<bool()>& is_over,
                         const std::function<Status(const std::shared_ptr<Partition>&)>& publish) {
  Parent left_parent(left);
  Parent right_parent(right);
  const Writer& writer = left_parent.writer();
  if (auto room = writer.volume().room(); !room) return pass(room.error());
  Busy left_busy(left_parent.writer().splitting());
  if (auto ok = left_busy.ok(); !ok) return pass(ok.error());
  Busy right_busy(right_parent.writer().splitting());
  if (auto ok = right_busy.ok(); !ok) return pass(ok.error());
  // Neither trimmed, nor reopened, nor made to forget history meanwhile.
  const MutexLock left_lock(left_parent.store().maintenance());
  const MutexLock right_lock(right_parent.store().maintenance());

  const Partition::Identity identity{child.range, left.identity().min, right.identity().max};
  PartitionRecord fresh;
  fresh.range = identity.range;
  fresh.min = identity.min;
  fresh.max = identity.max;
  auto attempt = [&]() -> Result<MergeTimes> {
    auto store = make_store(writer, child, fresh);
    if (!store) return pass(store.error());
    Copy copy(**store, is_over);
    if (auto copied = copy_both(copy, left_parent, right_parent); !copied) {
      return pass(copied.error());
    }
    return cut_over(std::move(*store), copy, left_parent, right_parent, identity, keeps_history,
                    publish);
  };
  Result<MergeTimes> done;
  try {
    done = attempt();
  } catch (const std::exception& error) {
    done = fail(Code::overloaded, fmt::format("merging partitions: {}", error.what()));
  }
  if (done) {
    left_busy.keep();
    right_busy.keep();
    return done;
  }
  if (auto removed = writer.volume().remove(child.volume_name, writer.clock().now_s()); !removed) {
    log::warn("cannot remove what an abandoned merge left",
              {{"name", child.volume_name}, {"error", removed.error().message}});
  }
  return done;
}

}  // namespace orrery::partition

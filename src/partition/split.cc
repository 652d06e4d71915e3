// Splitting a partition without copying it.
//
// begin_split    a snapshot's sizes are read to choose the cut, while writes go on; how they change
//                meanwhile is tracked from that snapshot on. Memtables are flushed, so that the
//                pause has little left to flush.
// finish_split   writes pause; two clones of the files (links, not copies) are made, opened, and
//                given their ranges and totals; `publish` makes the new map durable: that is the
//                moment of the split. Before it, a crash leaves the old map, and clones that the
//                caller has recorded as files to be removed; after it, the parent's files are.
// trim           later, in each child: what is out of its range is dropped. Until then reads ignore
//                it. A split stops it: nothing but space depends on it, and the clones of what is
//                not trimmed are trimmed to their own ranges.
//
// Fault points, in order: split.begin, split.intended (in the caller), split.cloned_left,
// split.cloned_right, split.opened, split.published (in the caller, after the map), split.trimmed.
#include <fmt/format.h>
#include <rocksdb/convenience.h>

#include <algorithm>
#include <exception>
#include <future>

#include "base/fault.h"
#include "base/log.h"
#include "base/survive.h"
#include "partition/format.h"
#include "partition/partition.h"
#include "partition/store.h"
#include "partition/writer.h"
#include "value/ordered.h"

namespace orrery::partition {
namespace {

void add(Usage& usage, int64_t bytes, int64_t items) {
  usage.bytes += static_cast<uint64_t>(bytes);
  usage.items += static_cast<uint64_t>(items);
}

uint64_t distance(uint64_t a, uint64_t b) {
  return a > b ? a - b : b - a;
}

// Chooses among the places where a partition can be cut, which come in the order of their keys.
class CutChoice {
 public:
  // `key` as in begin_split().
  CutChoice(uint64_t bytes, uint64_t bytes_max, std::string_view key)
      : bytes_(bytes), full_(std::min(bytes, bytes_max) / 10 * 9), key_(key) {}

  void consider(std::string_view cut, const Usage& left) {
    keep_nearest(halved_, bytes_ / 2, cut, left);
    if (key_.empty()) return;
    keep_nearest(filled_, full_, cut, left);
    if (cut <= key_) below_key_ = left.bytes;
    if (at_key_.at.empty() || at_key_.at < key_) set(at_key_, cut, left);
  }

  // The first place at or beyond the key; the last one of all when there is none.
  Cut at_key() const { return at_key_; }
  // The middle; or, when it grows at its end, where the left side is nearly full.
  Cut by_bytes() const {
    const bool grows_at_end = !key_.empty() && below_key_ >= bytes_ / 10 * 9;
    return grows_at_end ? filled_ : halved_;
  }

 private:
  static void keep_nearest(Cut& best, uint64_t target, std::string_view cut, const Usage& left) {
    if (best.at.empty() || distance(left.bytes, target) < distance(best.left.bytes, target)) {
      set(best, cut, left);
    }
  }
  static void set(Cut& best, std::string_view cut, const Usage& left) {
    best.at.assign(cut);
    best.left = left;
  }

  const uint64_t bytes_;
  const uint64_t full_;
  const std::string_view key_;
  uint64_t below_key_ = 0;
  Cut halved_;
  Cut filled_;
  Cut at_key_;
};

std::unexpected<Error> one_key() {
  return fail(Code::conflict,
              "all items of the partition share one partition key (or keys of one hash), which "
              "cannot be split");
}

}  // namespace

Result<bool> Partition::cannot_be_cut(const value::KeyDefinition& keys) const {
  Store::Use use(*store_);
  if (auto ok = use.ok(); !ok) return pass(ok.error());
  const std::string upper = size_key(identity_.max);
  const rocksdb::Slice upper_bound = upper;
  rocksdb::ReadOptions options = read_options();
  options.iterate_upper_bound = &upper_bound;
  std::unique_ptr<rocksdb::Iterator> it(store_->db().NewIterator(options, store_->ledger()));
  it->Seek(size_key(identity_.min));
  const bool any = it->Valid();
  if (any) {
    auto first = parse_item_key(it->key().ToStringView().substr(1));
    if (!first) return pass(first.error());
    const std::string_view hash = value::effective_key(keys, first->placement);
    if (hash.size() < first->placement.size()) {
      it->Seek(size_key(value::after_prefix(hash)));  // there may be any number of its hash
    } else {
      it->Next();
    }
  }
  if (!it->status().ok()) return pass(store_->translate(it->status(), "reading sizes"));
  return any && !it->Valid();
}

Result<Cut> Partition::begin_split(const value::KeyDefinition& keys, std::string_view middle,
                                   CutBy by, std::string_view key) {
  if (auto room = volume_.room(); !room) return pass(room.error());
  // Before trimming is stopped: a partition that is full of one key is asked again and again.
  if (by != CutBy::middle) {
    auto one = cannot_be_cut(keys);
    if (!one) return pass(one.error());
    if (*one) return one_key();
  }
  // From here on trimming gives way.
  if (splitting_.exchange(true)) {
    return fail(Code::conflict, "a split or merge of this partition is under way already");
  }
  OnEnd abandoned([this] { abandon_split(); });
  if (auto injected = fault::point("split.begin"); !injected) return pass(injected.error());
  MutexLock lock(store_->maintenance());
  if (auto ok = store_->is_open(); !ok) return pass(ok.error());
  std::optional<Writer::Paused> paused(std::in_place, *writer_);
  rocksdb::ManagedSnapshot snapshot(&store_->db());
  const PartitionRecord record = writer_->record();
  writer_->track_sizes(true);
  paused.reset();

  const std::string upper = size_key(identity_.max);
  const rocksdb::Slice upper_bound = upper;
  rocksdb::ReadOptions options = read_options();
  options.snapshot = snapshot.snapshot();
  options.iterate_upper_bound = &upper_bound;
  options.fill_cache = false;
  std::unique_ptr<rocksdb::Iterator> it(store_->db().NewIterator(options, store_->ledger()));
  CutChoice choice(record.bytes, shared_.limits.physical_partition_bytes, key);
  Usage left;
  Usage below_middle;
  std::string before;  // the key before, once there is one
  for (it->Seek(size_key(identity_.min)); it->Valid(); it->Next()) {
    auto size = decode_size(it->value().ToStringView());
    auto placement = parse_item_key(it->key().ToStringView().substr(1));
    if (!size) return pass(size.error());
    if (!placement) return pass(placement.error());
    // A cut here puts everything seen so far on the left, unless the key before has the same hash.
    const std::string_view cut = value::effective_key(keys, placement->placement);
    if (!before.empty() && before < cut) choice.consider(cut, left);
    add(left, static_cast<int64_t>(size->bytes), static_cast<int64_t>(size->items));
    if (placement->placement < middle) below_middle = left;
    before = std::move(placement->placement);
  }
  if (!it->status().ok()) return pass(store_->translate(it->status(), "reading sizes"));
  Cut best;
  if (by == CutBy::middle || before.empty()) {
    if (middle <= identity_.min || middle >= identity_.max) {
      return fail(Code::conflict, "the partition's range is too small to be split");
    }
    best.at = middle;
    best.left = below_middle;
  } else {
    best = by == CutBy::load ? choice.at_key() : choice.by_bytes();
    if (best.at.empty()) return one_key();
  }
  best.right = {record.bytes - best.left.bytes, record.items - best.left.items};
  if (auto flushed = store_->flush(); !flushed) return pass(flushed.error());
  paused.emplace(*writer_);
  writer_->track_sides(best.at);
  abandoned.release();
  return best;
}

void Partition::abandon_split() {
  if (!splitting_) return;
  const Writer::Paused paused(*writer_);
  writer_->track_sizes(false);
  splitting_ = false;
}

Result<std::shared_ptr<Partition>> Partition::open_child(Shared& shared, volume::Volume& volume,
                                                         std::string_view volume_name,
                                                         const Identity& identity,
                                                         const Usage& usage) {
  auto claim = volume.claim(volume_name);
  if (!claim) return pass(claim.error());
  auto store = Store::open(shared, volume, std::move(*claim), {});
  if (!store) return pass(store.error());
  if ((*store)->mode() != Store::Mode::write) {
    return fail(Code::read_only, "the disk has too little space to split the partition: free some");
  }
  PartitionRecord record = (*store)->record();
  record.range = identity.range;
  record.min = identity.min;
  record.max = identity.max;
  record.bytes = usage.bytes;
  record.items = usage.items;
  record.trimmed = false;
  (*store)->filter().activate(record.min, record.max);
  if (auto put = (*store)->put_record(record); !put) return pass(put.error());
  return std::shared_ptr<Partition>(new Partition(shared, volume, identity, std::move(*store)));
}

Result<Partition::SplitTimes> Partition::finish_split(
    const Cut& cut, const ChildSpec& left, const ChildSpec& right,
    const std::function<Status(const Children&)>& publish) {
  if (!splitting_) return fail(Code::internal, "no split of this partition was begun");
  if (cut.at <= identity_.min || cut.at >= identity_.max) {
    abandon_split();
    return fail(Code::internal, "the cut is not within the partition");
  }
  const int64_t started_us = shared_.clock.steady_us();
  MutexLock lock(store_->maintenance());
  writer_->pause();
  std::vector<std::string> places;  // that this attempt made

  auto attempt = [&]() -> Status {
    Usage left_usage = cut.left;
    Usage right_usage = cut.right;
    for (const SizeDelta& delta : writer_->tracked()) {
      add(delta.placement < cut.at ? left_usage : right_usage, delta.bytes, delta.items);
    }
    if (auto ok = store_->is_open(); !ok) return ok;
    auto clone = [&](const ChildSpec& child, std::string_view point) -> Status {
      auto target = store_->claim().clone_target(child.volume_name);
      if (!target) return pass(target.error());
      places.push_back(child.volume_name);
      if (auto cloned = store_->clone_to(*target); !cloned) return cloned;
      return fault::point(point);
    };
    if (auto cloned = clone(left, "split.cloned_left"); !cloned) return cloned;
    if (auto cloned = clone(right, "split.cloned_right"); !cloned) return cloned;
    // Both at once: writes are waiting.
    auto opening_right = std::async(std::launch::async, [&] {
      return open_child(shared_, volume_, right.volume_name, {right.range, cut.at, identity_.max},
                        right_usage);
    });
    auto left_child = open_child(shared_, volume_, left.volume_name,
                                 {left.range, identity_.min, cut.at}, left_usage);
    auto right_child = opening_right.get();
    if (!left_child) return pass(left_child.error());
    if (!right_child) return pass(right_child.error());
    if (auto injected = fault::point("split.opened"); !injected) return injected;
    return publish({std::move(*left_child), std::move(*right_child)});
  };

  // Writes are waiting, so this ends whatever happens. `publish` does not throw once the new map is
  // durable.
  Status done;
  try {
    done = attempt();
  } catch (const std::exception& error) {
    done = fail(Code::overloaded, fmt::format("splitting a partition: {}", error.what()));
  }
  writer_->track_sizes(false);
  if (!done) {
    writer_->resume();
    splitting_ = false;
    for (const std::string& name : places) {
      if (auto removed = volume_.remove(name, shared_.clock.now_s()); !removed) {
        log::warn("cannot remove what an abandoned split left",
                  {{"name", name}, {"error", removed.error().message}});
      }
    }
    return pass(done.error());
  }
  SplitTimes times{.pause_us = shared_.clock.steady_us() - started_us};
  writer_->mark_moved();
  return times;
}

Status Partition::trim() {
  MutexLock lock(store_->maintenance());
  if (writer_->record().trimmed || splitting_) return {};
  if (auto ok = store_->is_open(); !ok) return ok;
  rocksdb::DB& db = store_->db();
  struct Gap {
    rocksdb::ColumnFamilyHandle* family;
    std::string from;
    std::string to;
  };
  const std::vector<Gap> gaps = {
      {store_->items(), "", items_from(identity_.min)},
      {store_->items(), items_from(identity_.max), "\xFF\xFF"},
      {store_->ledger(), purge_key(""), purge_key(identity_.min)},
      {store_->ledger(), purge_key(identity_.max), "q"},
      {store_->ledger(), size_key(""), size_key(identity_.min)},
      {store_->ledger(), size_key(identity_.max), "t"},
      {store_->ledger(), unique_range(""), unique_range(identity_.min)},
      {store_->ledger(), unique_range(identity_.max), "v"},
  };
  rocksdb::WriteBatch deletions;
  for (const Gap& gap : gaps) {
    if (gap.from >= gap.to) continue;
    const rocksdb::Slice from = gap.from;
    const rocksdb::Slice to = gap.to;
    rocksdb::Status dropped = rocksdb::DeleteFilesInRange(&db, gap.family, &from, &to, false);
    if (dropped.ok()) dropped = deletions.DeleteRange(gap.family, from, to);
    if (!dropped.ok()) return pass(store_->translate(dropped, "trimming"));
  }
  // Even this goes in between two runs: there is one writer.
  rocksdb::Status deleted;
  {
    const Writer::Paused paused(*writer_);
    deleted = store_->write(rocksdb::WriteOptions(), deletions);
    if (deleted.ok()) store_->acknowledge();
  }
  if (!deleted.ok()) return pass(store_->translate(deleted, "trimming"));
  rocksdb::CompactRangeOptions compact;
  compact.exclusive_manual_compaction = false;
  compact.canceled = &splitting_;
  compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  for (rocksdb::ColumnFamilyHandle* family :
       {store_->terms(), store_->changes(), store_->history()}) {
    rocksdb::Status compacted = db.CompactRange(compact, family, nullptr, nullptr);
    if (splitting_) return {};
    if (!compacted.ok()) return pass(store_->translate(compacted, "trimming the index"));
  }
  if (auto injected = fault::point("split.trimmed"); !injected) return injected;
  return writer_->mark_trimmed();
}

}  // namespace orrery::partition

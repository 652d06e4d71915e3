// See reading.h.
#include "partition/reading.h"

#include <algorithm>
#include <utility>

#include "base/thread_number.h"
#include "partition/store.h"

namespace orrery::partition {
namespace {

// More are made when more are needed at once, and not kept.
constexpr size_t kIdleReadings = 4;  // in a shard
constexpr size_t kIdleIterators = 4;

}  // namespace

void EntryIterator::bound(std::string_view new_lower, std::string_view new_upper) {
  lower = new_lower;
  upper = new_upper;
  lower_bound = lower;
  upper_bound = upper;
}

Reading::Reading(const Store& store)
    : store_(store),
      managed_(store.is_follower()
                   ? std::nullopt
                   : std::optional<rocksdb::ManagedSnapshot>(std::in_place, &store.db())),
      snapshot_(managed_ ? managed_->snapshot() : nullptr),
      sequence_(managed_ ? snapshot_->GetSequenceNumber() : store.db().GetLatestSequenceNumber()) {}

Result<std::unique_ptr<Reading>> Reading::make(const Store& store, Reach reach) {
  std::unique_ptr<Reading> reading(new Reading(store));
  auto stored = store.get(store.ledger(), kRecordKey, reading->snapshot(), reach);
  if (!stored) return pass(stored.error());
  if (!*stored) return fail(Code::corrupt, "the partition has lost its record");
  auto record = decode_record(**stored);
  if (!record) return pass(record.error());
  reading->record_ = std::move(*record);
  return reading;
}

bool Reading::is_newest() const {
  return sequence_ == store_.db().GetLatestSequenceNumber();
}

rocksdb::ReadOptions Reading::options(Reach reach) const {
  rocksdb::ReadOptions read = read_options();
  read.snapshot = snapshot();
  if (reach == Reach::memory) read.read_tier = rocksdb::kBlockCacheTier;
  return read;
}

std::unique_ptr<EntryIterator> Reading::take_entries(std::string_view lower, std::string_view upper,
                                                     EntryUse use) {
  const auto kept = std::ranges::find(idle_, use, &EntryIterator::use);
  if (kept != idle_.end()) {
    std::unique_ptr<EntryIterator> entries = std::move(*kept);
    idle_.erase(kept);
    entries->bound(lower, upper);
    return entries;
  }
  auto entries = std::make_unique<EntryIterator>();
  entries->use = use;
  entries->bound(lower, upper);
  rocksdb::ReadOptions read = options(use.reach);
  read.total_order_seek = !use.in_one_term;
  read.prefix_same_as_start = use.in_one_term;
  read.iterate_lower_bound = &entries->lower_bound;
  read.iterate_upper_bound = &entries->upper_bound;
  entries->it.reset(store_.db().NewIterator(read, store_.terms()));
  return entries;
}

void Reading::give_back(std::unique_ptr<EntryIterator> entries) {
  // One that has failed stays so.
  if (idle_.size() < kIdleIterators && entries->it->status().ok()) {
    idle_.push_back(std::move(entries));
  }
}

Readings::Shard& Readings::shard_of_thread() {
  return shards_[thread_number() % kShards];
}

Result<std::unique_ptr<Reading>> Readings::take(const Store& store, Reach reach) {
  std::vector<std::unique_ptr<Reading>> outdated;  // freed after the lock is
  {
    Shard& shard = shard_of_thread();
    MutexLock lock(shard.mutex);
    while (!shard.idle.empty()) {
      std::unique_ptr<Reading> reading = std::move(shard.idle.back());
      shard.idle.pop_back();
      if (reading->is_newest()) return reading;
      outdated.push_back(std::move(reading));
    }
  }
  return Reading::make(store, reach);
}

void Readings::give_back(std::unique_ptr<Reading> reading) {
  if (!reading->is_newest()) return;
  Shard& shard = shard_of_thread();
  MutexLock lock(shard.mutex);
  if (shard.idle.size() < kIdleReadings) shard.idle.push_back(std::move(reading));
}

void Readings::drop() {
  for (Shard& shard : shards_) {
    std::vector<std::unique_ptr<Reading>> gone;  // freed after the lock is
    MutexLock lock(shard.mutex);
    gone.swap(shard.idle);
  }
}

}  // namespace orrery::partition

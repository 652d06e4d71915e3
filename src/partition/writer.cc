// See writer.h.
#include "partition/writer.h"

#include <fmt/format.h>
#include <rocksdb/convenience.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/fault.h"
#include "base/log.h"
#include "base/survive.h"
#include "partition/history_entry.h"

namespace orrery::partition {
namespace {

// A run is bounded so that the first of many waiting callers is not kept until the last is done.
constexpr size_t kRunTransactions = 256;
constexpr size_t kRunBytes = 4ULL << 20;
// What a write of an item takes in a batch beside its body: its key twice, its head, its size.
constexpr size_t kWriteBytes = 256;
constexpr int64_t kAttemptEveryUs = 1'000'000;
constexpr int64_t kAttemptWaitMostUs = 60'000'000;

bool needs_room(const Write& write) {
  return write.needs_room && write.verb != Verb::remove && write.verb != Verb::expire &&
         write.verb != Verb::purge && write.verb != Verb::purged && write.verb != Verb::read;
}

Error moved_error() {
  return Error{.code = Code::moved, .message = "the partition was split or merged"};
}

Error out_of_memory() {
  return Error{.code = Code::overloaded,
               .message =
                   "the server ran out of memory for this write, which was not done: try "
                   "again",
               .retry_after_ms = 100};
}

}  // namespace

class Writer::Turn {
 public:
  Turn(std::shared_ptr<Partition> partition, Writer& writer)
      : partition_(std::move(partition)), writer_(writer) {}
  Turn(Turn&&) noexcept = default;
  Turn& operator=(Turn&&) = delete;
  ~Turn() {
    if (!partition_) return;
    const auto held = std::move(partition_);
    writer_.end_turn();
  }
  void run() {
    const auto held = std::move(partition_);
    writer_.work();
  }

 private:
  std::shared_ptr<Partition> partition_;  // null when it was used, or moved
  Writer& writer_;
};

Writer::Writer(Partition& partition, Shared& shared, Store& store)
    : partition_(partition),
      shared_(shared),
      store_(store),
      record_(store.record()),
      lsn_(record_.lsn),
      removals_(record_.lsn),
      read_only_reason_(store.read_only_reason()),
      last_attempt_us_(shared.clock.steady_us()),
      attempt_wait_us_(kAttemptEveryUs),
      known_sizes_(shared.caches->sizes) {}

void Writer::submit(std::vector<Write> transaction, Completion done) {
  auto turn = enqueue(transaction, done);
  if (!turn) {
    done(Outcome{.error = std::move(turn.error()), .returned = std::move(transaction)});
  } else if (*turn) {
    post();
  }
}

Result<bool> Writer::enqueue(std::vector<Write>& transaction, Completion& done) {
  if (store_.is_follower()) {
    return fail(Code::elsewhere, "this is a replica: the partition's owner takes the writes");
  }
  MutexLock lock(mutex_);
  if (moved_) return pass(moved_error());
  if (queue_.size() >= shared_.limits.write_queue) {
    return pass({.code = Code::overloaded,
                 .message = fmt::format("{} writes are waiting for this partition, which is its "
                                        "limit (write-queue): send fewer at a time",
                                        queue_.size()),
                 .retry_after_ms = 100});
  }
  queue_.push_back({std::move(transaction), std::move(done)});
  return take_turn();
}

bool Writer::take_turn() {
  if (running_ || moved_ || pauses_ > 0 || queue_.empty()) return false;
  running_ = true;
  return true;
}

void Writer::post(bool at_end) noexcept {
  survive("posting a writer's job", [&] {
    WorkerPool::Job job = [turn = Turn(partition_.shared_from_this(), *this)]() mutable {
      turn.run();
    };
    if (at_end) {
      shared_.writers.post_at_end(std::move(job));
    } else {
      shared_.writers.post(std::move(job));
    }
  });
}

void Writer::work() noexcept {
  std::vector<Entry> entries;
  const bool done = survive("a run of writes", [&] {
    const size_t bytes = take_run(entries);
    commit(entries, bytes);
  });
  if (!done) survive("failing a run of writes", [&] { fail_all(entries, out_of_memory()); });
  yield_turn(true);
}

size_t Writer::take_run(std::vector<Entry>& entries) {
  entries.reserve(kRunTransactions);
  MutexLock lock(mutex_);
  size_t bytes = 0;
  while (!queue_.empty() && entries.size() < kRunTransactions && bytes < kRunBytes) {
    for (const Write& write : queue_.front().transaction) bytes += kWriteBytes + write.body.size();
    entries.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return bytes;
}

void Writer::end_turn() noexcept {
  size_t waiting = 0;
  {
    MutexLock lock(mutex_);
    waiting = queue_.size();
  }
  // Not those that come meanwhile: whoever hears of a failure may try again.
  for (; waiting > 0; --waiting) {
    Entry entry;
    {
      MutexLock lock(mutex_);
      entry = std::move(queue_.front());
      queue_.pop_front();
    }
    survive("failing a write", [&] { fail_one(entry, out_of_memory()); });
  }
  yield_turn(false);
}

void Writer::yield_turn(bool at_end) noexcept {
  {
    MutexLock lock(mutex_);
    running_ = false;
    if (!take_turn()) {
      idle_.notify_all();
      return;
    }
  }
  post(at_end);
}

void Writer::commit(std::vector<Entry>& entries, size_t bytes) {
  if (!writable()) {
    fail_all(entries, Error{.code = Code::read_only,
                            .message = "the partition takes no writes now: " + read_only_reason()});
    return;
  }
  Run run(store_, partition_.identity(), record(), shared_.clock.now_ms(), shared_.limits,
          known_sizes_, bytes);
  std::vector<Outcome> outcomes(entries.size());
  const Status room = room_to_grow();
  size_t first_after_a_change = entries.size();
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!room && std::ranges::any_of(entries[i].transaction, needs_room)) {
      outcomes[i].error = room.error();
      continue;
    }
    if (run.found_bytes() > kRunBytes) {
      put_back(entries, i);
      outcomes.resize(i);
      break;
    }
    if (!run.empty()) first_after_a_change = std::min(first_after_a_change, i);
    auto applied = run.apply(entries[i].transaction);
    if (applied) {
      outcomes[i].written = std::move(*applied);
      outcomes[i].lsn = run.record().lsn;
    } else {
      outcomes[i].error = std::move(applied.error().error);
      outcomes[i].failed_write = applied.error().write;
    }
  }
  if (!run.empty()) {
    if (auto committed = commit_run(run, entries, outcomes); !committed) {
      // Whoever was refused because of what the run would have changed was refused for a state that
      // never was: nobody knows what it would have got, so it fails with the commit. Refusals from
      // before the first change were by what is stored, and stand.
      for (size_t i = 0; i < entries.size(); ++i) {
        if (outcomes[i].error && i < first_after_a_change) continue;
        outcomes[i].error = committed.error();
        outcomes[i].failed_write.reset();
      }
    }
  }
  const uint64_t lsn = this->lsn();
  for (size_t i = 0; i < entries.size(); ++i) {
    if (outcomes[i].error) {
      outcomes[i].lsn = lsn;
      outcomes[i].written.clear();
      if (outcomes[i].error->code == Code::moved) {
        outcomes[i].returned = std::move(entries[i].transaction);
      }
    }
    complete(entries[i], std::move(outcomes[i]));
  }
}

Status Writer::room_to_grow() {
  if (auto room = partition_.volume_.room(); !room) return room;
  if (store_.mode() == Store::Mode::write) return {};
  // What is only in the log may need more space in tables than there will be.
  return fail(Code::read_only,
              "the partition was opened on a full disk and takes only removals yet: try again");
}

void Writer::tell_witnesses(const std::vector<Entry>& entries,
                            const std::vector<Outcome>& outcomes) noexcept {
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const std::vector<Write>& transaction = entries[i].transaction;
    if (outcomes[i].error || transaction.empty() || !transaction.front().witness) continue;
    survive("telling what was stored",
            [&] { transaction.front().witness->stored(outcomes[i].written); });
  }
}

Status Writer::commit_run(Run& run, const std::vector<Entry>& entries,
                          const std::vector<Outcome>& outcomes) {
  // What follows the commit needs no memory: it must not fail.
  PartitionRecord next = run.record();
  const std::optional<PurgeMarksPtr> purges = run.changed_purges();
  std::vector<std::string> removed = run.removed_keys();
  std::vector<SizeDelta> deltas;
  if (tracking_) {
    deltas = run.deltas();
    if (tracked_.capacity() < tracked_.size() + deltas.size()) {
      tracked_.reserve(2 * (tracked_.size() + deltas.size()));
    }
  }
  const ItemCache::Change change(shared_.caches->items, partition_.cache_owner_, run.item_keys());
  rocksdb::Status written;
  try {
    rocksdb::WriteOptions options;
    options.sync = shared_.sync_commits;
    rocksdb::WriteBatch& batch = run.finish();
    Status injected = fault::point("partition.commit");
    shared_.caches->terms.announce(partition_.term_owner_,
                                   store_.db().GetLatestSequenceNumber() + 1,
                                   [&](const auto& take) { run.each_changed_term(take); });
    written = injected ? store_.write(options, batch)
                       : rocksdb::Status::IOError(injected.error().message);
  } catch (const std::exception& error) {
    // The index ledger in memory is ahead of the one in the files, at least.
    written = rocksdb::Status::MemoryLimit(error.what());
  }
  if (!written.ok()) {
    known_sizes_.forget();
    Error error = store_.translate(written, "committing");
    if (error.code != Code::corrupt) error.code = Code::read_only;
    log::error("a partition has stopped taking writes", {{"error", error.message}});
    MutexLock lock(mutex_);
    read_only_reason_ = error.message;
    last_attempt_us_ = shared_.clock.steady_us();
    attempt_wait_us_ = kAttemptEveryUs;
    return pass(std::move(error));
  }
  store_.acknowledge();
  store_.committed(next.lsn);
  track(std::move(deltas));
  remember_sizes(run);
  if (purges) store_.purges().set(*purges);
  if (purges) {
    removals_.forget(next.lsn);
  } else {
    removals_.add(next.lsn, std::move(removed));
  }
  tell_witnesses(entries, outcomes);
  MutexLock lock(mutex_);
  set_record(std::move(next));
  return {};
}

void Writer::remember_sizes(const Run& run) noexcept {
  const bool done = survive("remembering sizes", [&] {
    run.sizes().each(
        [&](const std::string& key, const LogicalSize& size) { known_sizes_.put(key, size); });
  });
  // One that was not put would be found as it was before.
  if (!done) known_sizes_.forget();
}

void Writer::put_back(std::vector<Entry>& entries, size_t from) {
  const auto first = entries.begin() + static_cast<long>(from);
  {
    MutexLock lock(mutex_);
    queue_.insert(queue_.begin(), std::make_move_iterator(first),
                  std::make_move_iterator(entries.end()));
  }
  entries.erase(first, entries.end());
}

bool Writer::writable() {
  const bool room = partition_.volume_.room().has_value();
  const bool room_to_flush = room || partition_.volume_.room(volume::Need::compaction);
  bool taking = false;
  {
    MutexLock lock(mutex_);
    taking = read_only_reason_.empty();
    // Once there is room for it the database goes back to flushing what it has in memory.
    if (taking && (store_.mode() == Store::Mode::write || !room_to_flush)) return true;
    const int64_t wait_us = room ? kAttemptEveryUs : attempt_wait_us_;
    if (shared_.clock.steady_us() < last_attempt_us_ + wait_us) return taking;
    last_attempt_us_ = shared_.clock.steady_us();
  }
  if (auto reopened = store_.reopen(record().lsn); !reopened) {
    log::debug("a partition could not be opened again", {{"error", reopened.error().message}});
    if (store_.mode() != Store::Mode::read_only && store_.is_open()) return taking;  // as before
    MutexLock lock(mutex_);
    read_only_reason_ = reopened.error().message;
    return false;
  }
  if (!taking) {
    log::info("a partition takes writes again", {{"range", partition_.identity().range}});
  }
  MutexLock lock(mutex_);
  // Trying to flush takes time; when that was for nothing, the next time is later.
  attempt_wait_us_ = store_.mode() == Store::Mode::write
                         ? kAttemptEveryUs
                         : std::min(2 * attempt_wait_us_, kAttemptWaitMostUs);
  set_record(store_.record());
  read_only_reason_.clear();
  return true;
}

void Writer::complete(Entry& entry, Outcome outcome) noexcept {
  Completion done = std::exchange(entry.done, nullptr);
  survive("completing a write", [&] { done(std::move(outcome)); });
}

void Writer::fail_one(Entry& entry, const Error& error) {
  Outcome outcome{.error = error, .lsn = lsn()};
  if (error.code == Code::moved) outcome.returned = std::move(entry.transaction);
  complete(entry, std::move(outcome));
}

void Writer::fail_all(std::vector<Entry>& entries, const Error& error) {
  for (Entry& entry : entries) {
    if (entry.done) fail_one(entry, error);
  }
}

void Writer::pause() {
  MutexLock lock(mutex_);
  ++pauses_;
  while (running_) idle_.wait(mutex_);
}

void Writer::resume() {
  {
    MutexLock lock(mutex_);
    --pauses_;
    if (!take_turn()) {
      idle_.notify_all();
      return;
    }
  }
  post();
}

void Writer::mark_moved() {
  const Error moved = moved_error();
  {
    MutexLock lock(mutex_);
    moved_ = true;
    --pauses_;
  }
  for (;;) {
    Entry entry;
    {
      MutexLock lock(mutex_);
      if (queue_.empty()) return;
      entry = std::move(queue_.front());
      queue_.pop_front();
    }
    survive("sending a write to where its partition went", [&] { fail_one(entry, moved); });
  }
}

void Writer::drain() {
  MutexLock lock(mutex_);
  while (running_ || (!queue_.empty() && pauses_ == 0)) idle_.wait(mutex_);
}

Status Writer::mark_trimmed() {
  const Paused paused(*this);  // the record is written by runs too
  PartitionRecord trimmed = record();
  trimmed.trimmed = true;
  Status put = store_.put_record(trimmed);
  if (put) {
    store_.filter().deactivate();
    MutexLock lock(mutex_);
    set_record(std::move(trimmed));
  }
  return put;
}

Status Writer::forget_history(uint64_t lsn) {
  std::optional<Paused> paused(std::in_place, *this);  // the record is written by runs too
  PartitionRecord next = record();
  if (next.history_after != kNoHistory) next.history_after = std::max(next.history_after, lsn);
  std::erase_if(next.history_floors,
                [&](const HistoryFloor& floor) { return floor.after <= next.history_after; });
  {
    // First said, then done, so that no reader finds less than the record promises. If it cannot be
    // done, more is there than is said.
    MutexLock lock(mutex_);
    set_record(next);
  }
  const std::string from = history_key(0);
  const std::string to = history_key(lsn + 1);
  rocksdb::WriteBatch batch;
  rocksdb::Status status = batch.DeleteRange(store_.history(), from, to);
  if (status.ok()) status = batch.Put(store_.ledger(), kRecordKey, encode_record(next));
  // Not synced: should it be lost, it is done again.
  if (status.ok()) status = store_.write(rocksdb::WriteOptions(), batch);
  if (status.ok()) store_.acknowledge();
  paused.reset();
  const rocksdb::Slice first = from;
  const rocksdb::Slice last = to;
  if (status.ok()) {
    status = rocksdb::DeleteFilesInRange(&store_.db(), store_.history(), &first, &last, false);
  }
  if (!status.ok()) return pass(store_.translate(status, "forgetting old history"));
  return {};
}

void Writer::set_record(PartitionRecord record) noexcept {
  record_ = std::move(record);
  lsn_.store(record_.lsn, std::memory_order_release);
}

Usage Writer::usage() const {
  MutexLock lock(mutex_);
  return {record_.bytes, record_.items};
}

PartitionRecord Writer::record() const {
  MutexLock lock(mutex_);
  return record_;
}

std::string Writer::read_only_reason() const {
  MutexLock lock(mutex_);
  return read_only_reason_;
}

void Writer::track_sizes(bool on) {
  tracking_ = on;
  cut_.reset();
  tracked_.clear();
}

void Writer::track_sides(std::string_view cut) {
  std::vector<SizeDelta> sides = {{.placement = "", .bytes = 0, .items = 0},
                                  {.placement = std::string(cut), .bytes = 0, .items = 0}};
  cut_ = cut;
  track(std::exchange(tracked_, std::move(sides)));
}

// There is room in tracked_ already.
void Writer::track(std::vector<SizeDelta> deltas) noexcept {
  if (!tracking_) return;
  if (!cut_) {
    std::ranges::move(deltas, std::back_inserter(tracked_));
    return;
  }
  for (const SizeDelta& delta : deltas) {
    SizeDelta& side = tracked_[delta.placement < *cut_ ? 0 : 1];
    side.bytes += delta.bytes;
    side.items += delta.items;
  }
}

}  // namespace orrery::partition

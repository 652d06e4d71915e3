// See writer.h.
#include "partition/writer.h"

#include <fmt/format.h>
#include <rocksdb/convenience.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/fault.h"
#include "base/log.h"
#include "partition/history_entry.h"

namespace orrery::partition {
namespace {

// A run is bounded so that the first of many waiting callers is not kept until the last is done.
constexpr size_t kRunTransactions = 256;
constexpr size_t kRunBytes = 4ULL << 20;
constexpr int64_t kAttemptEveryUs = 1'000'000;

Error moved_error() {
  return Error{.code = Code::moved, .message = "the partition was split"};
}

}  // namespace

Writer::Writer(Partition& partition, Shared& shared, Store& store)
    : partition_(partition),
      shared_(shared),
      store_(store),
      record_(store.record()),
      lsn_(record_.lsn) {}

void Writer::submit(std::vector<Write> transaction, Completion done) {
  auto turn = enqueue(transaction, done);
  if (!turn) {
    done(Outcome{.error = std::move(turn.error()), .returned = std::move(transaction)});
  } else if (*turn) {
    post();
  }
}

Result<bool> Writer::enqueue(std::vector<Write>& transaction, Completion& done) {
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
  if (running_ || paused_ || queue_.empty()) return false;
  running_ = true;
  return true;
}

void Writer::post() {
  shared_.writers.post([self = partition_.shared_from_this(), this] { work(); });
}

void Writer::work() {
  std::vector<Entry> entries;
  {
    MutexLock lock(mutex_);
    size_t bytes = 0;
    while (!queue_.empty() && entries.size() < kRunTransactions && bytes < kRunBytes) {
      for (const Write& write : queue_.front().transaction) bytes += write.body.size();
      entries.push_back(std::move(queue_.front()));
      queue_.pop_front();
    }
  }
  commit(entries);
  {
    MutexLock lock(mutex_);
    running_ = false;
    if (!take_turn()) {
      idle_.notify_all();
      return;
    }
  }
  post();
}

void Writer::commit(std::vector<Entry>& entries) {
  if (!writable()) {
    fail_all(entries, Error{.code = Code::read_only,
                            .message = "the partition takes no writes now: " + read_only_reason()});
    return;
  }
  Run run(store_, partition_.identity(), record(), shared_.clock.now_s(),
          shared_.limits.response_bytes);
  std::vector<Outcome> outcomes(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    if (run.found_bytes() > kRunBytes) {
      put_back(entries, i);
      outcomes.resize(i);
      break;
    }
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
    rocksdb::WriteOptions options;
    options.sync = shared_.sync_commits;
    Status injected = fault::point("partition.commit");
    const ItemCache::Change change(shared_.caches->items, partition_.cache_owner_, run.item_keys());
    rocksdb::WriteBatch& batch = run.finish();
    shared_.caches->terms.announce(partition_.term_owner_,
                                   store_.db().GetLatestSequenceNumber() + 1,
                                   [&](const auto& take) { run.each_changed_term(take); });
    rocksdb::Status written = injected ? store_.db().Write(options, &batch)
                                       : rocksdb::Status::IOError(injected.error().message);
    if (!written.ok()) {
      Error error = store_.translate(written, "committing");
      if (error.code != Code::corrupt) error.code = Code::read_only;
      log::error("a partition has stopped taking writes", {{"error", error.message}});
      {
        MutexLock lock(mutex_);
        read_only_reason_ = error.message;
        next_attempt_us_ = shared_.clock.steady_us() + kAttemptEveryUs;
      }
      for (size_t i = 0; i < entries.size(); ++i) {
        if (!outcomes[i].error) outcomes[i].error = error;
      }
    } else {
      track(run.deltas());
      MutexLock lock(mutex_);
      set_record(run.record());
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
    entries[i].done(std::move(outcomes[i]));
  }
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
  {
    MutexLock lock(mutex_);
    if (read_only_reason_.empty()) return true;
    if (shared_.clock.steady_us() < next_attempt_us_) return false;
    next_attempt_us_ = shared_.clock.steady_us() + kAttemptEveryUs;
  }
  if (auto reopened = store_.reopen(record().lsn); !reopened) {
    log::debug("a partition still takes no writes", {{"error", reopened.error().message}});
    return false;
  }
  log::info("a partition takes writes again", {{"range", partition_.identity().range}});
  MutexLock lock(mutex_);
  set_record(store_.record());
  read_only_reason_.clear();
  return true;
}

void Writer::fail_all(std::vector<Entry>& entries, const Error& error) {
  const uint64_t lsn = this->lsn();
  for (Entry& entry : entries) {
    Outcome outcome{.error = error, .lsn = lsn};
    if (error.code == Code::moved) outcome.returned = std::move(entry.transaction);
    entry.done(std::move(outcome));
  }
}

void Writer::pause() {
  MutexLock lock(mutex_);
  paused_ = true;
  while (running_) idle_.wait(mutex_);
}

void Writer::resume() {
  {
    MutexLock lock(mutex_);
    paused_ = false;
    if (!take_turn()) {
      idle_.notify_all();
      return;
    }
  }
  post();
}

void Writer::mark_moved() {
  std::vector<Entry> waiting;
  {
    MutexLock lock(mutex_);
    moved_ = true;
    waiting.assign(std::make_move_iterator(queue_.begin()), std::make_move_iterator(queue_.end()));
    queue_.clear();
    paused_ = false;
  }
  fail_all(waiting, moved_error());
}

void Writer::drain() {
  MutexLock lock(mutex_);
  while (running_ || (!queue_.empty() && !paused_)) idle_.wait(mutex_);
}

Status Writer::mark_trimmed() {
  pause();  // the record is written by runs too
  PartitionRecord trimmed = record();
  trimmed.trimmed = true;
  Status put = store_.put_record(trimmed);
  if (put) {
    store_.filter().deactivate();
    MutexLock lock(mutex_);
    set_record(trimmed);
  }
  resume();
  return put;
}

Status Writer::forget_history(uint64_t lsn) {
  pause();  // the record is written by runs too
  PartitionRecord next = record();
  if (next.history_after != kNoHistory) next.history_after = std::max(next.history_after, lsn);
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
  if (status.ok()) status = store_.db().Write(rocksdb::WriteOptions(), &batch);
  resume();
  const rocksdb::Slice first = from;
  const rocksdb::Slice last = to;
  if (status.ok()) {
    status = rocksdb::DeleteFilesInRange(&store_.db(), store_.history(), &first, &last, false);
  }
  if (!status.ok()) return pass(store_.translate(status, "forgetting old history"));
  return {};
}

void Writer::set_record(const PartitionRecord& record) {
  record_ = record;
  lsn_.store(record.lsn, std::memory_order_release);
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
  const std::vector<SizeDelta> before = std::move(tracked_);
  cut_ = cut;
  tracked_ = {{.placement = "", .bytes = 0, .items = 0},
              {.placement = *cut_, .bytes = 0, .items = 0}};
  track(before);
}

void Writer::track(const std::vector<SizeDelta>& deltas) {
  if (!tracking_) return;
  if (!cut_) {
    tracked_.insert(tracked_.end(), deltas.begin(), deltas.end());
    return;
  }
  for (const SizeDelta& delta : deltas) {
    SizeDelta& side = tracked_[delta.placement < *cut_ ? 0 : 1];
    side.bytes += delta.bytes;
    side.items += delta.items;
  }
}

}  // namespace orrery::partition

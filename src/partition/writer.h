// The writer of a partition: a bounded queue of transactions and the job that commits them in runs.
//
// States: idle, running (a job is posted or at work), paused (a split or merge is cutting over:
// transactions wait), moved (for good: they fail with Code::moved). At most one job exists at a
// time, which is what makes it a single writer without a thread of its own.
//
// When memory runs out, the transactions of the current run fail, and none of them is applied. If
// it runs out during the commit itself, the outcome is unknown, and the commit is treated as one
// that failed on disk.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_annotations.h"
#include "partition/partition.h"
#include "partition/removal_log.h"
#include "partition/run.h"

namespace orrery::partition {

class Writer {
 public:
  Writer(Partition& partition, Shared& shared, Store& store);
  // Of a partition, for the files of this folder.
  static Writer& of(Partition& partition) { return *partition.writer_; }
  Store& store() const { return store_; }
  const Clock& clock() const { return shared_.clock; }
  Shared& shared() const { return shared_; }
  volume::Volume& volume() const { return partition_.volume_; }
  // Between the beginning of a split or merge and its end: trimming gives way.
  std::atomic<bool>& splitting() const { return partition_.splitting_; }
  // Over files that were just made.
  static std::shared_ptr<Partition> make_partition(Shared& shared, volume::Volume& volume,
                                                   const Partition::Identity& identity,
                                                   std::unique_ptr<Store> store);

  void submit(std::vector<Write> transaction, Completion done);

  // Waits for the run at work to end and keeps further ones from starting, until it was resumed as
  // often as it was paused.
  void pause();
  void resume();
  class Paused {
   public:
    explicit Paused(Writer& writer) : writer_(writer) { writer_.pause(); }
    ~Paused() { writer_.resume(); }
    Paused(const Paused&) = delete;
    Paused& operator=(const Paused&) = delete;

   private:
    Writer& writer_;
  };
  // Only while paused: fails what waits, and all that comes, with Code::moved.
  void mark_moved();
  void drain();

  // Notes that nothing out of range is left in the files.
  Status mark_trimmed();
  // Drops what the history has up to this LSN.
  Status forget_history(uint64_t lsn);

  // Of a partition that another process writes (follower.h): this writer takes no writes, and tells
  // what was read of it.
  static std::shared_ptr<Partition> make_follower(Shared& shared, volume::Volume& volume,
                                                  const Partition::Identity& identity,
                                                  std::unique_ptr<Store> store);
  static Writer& of(const Partition& partition) { return *partition.writer_; }
  Status catch_up();
  bool is_whole() const;
  PartitionRecord record() const;
  // Parts of it that every read and write asks for, without copying the rest.
  uint64_t lsn() const { return lsn_.load(std::memory_order_acquire); }
  Usage usage() const;
  const RemovalLog& removals() const { return removals_; }
  std::string read_only_reason() const;

  // While on, records changes of sizes, so that the totals of a split can be brought up to date:
  // for each logical partition until the split point is known, then for its two sides only. Called
  // while paused.
  void track_sizes(bool on);
  void track_sides(std::string_view cut);
  const std::vector<SizeDelta>& tracked() const { return tracked_; }

 private:
  struct Entry {
    std::vector<Write> transaction;
    Completion done;  // null once it was called
  };
  // The right to run the one job. If it is destroyed unused, the queued transactions fail, since no
  // other job would take them.
  class Turn;

  // Puts both into the queue and answers as take_turn() does; an error leaves them as they are.
  Result<bool> enqueue(std::vector<Write>& transaction, Completion& done);
  // Whether a job is to be posted, after unlocking (posting may run it at once).
  bool take_turn() ORRERY_REQUIRES(mutex_);
  // `at_end`: of the job before it.
  void post(bool at_end = false) noexcept;
  void work() noexcept;
  // About as many bytes as its batch will have.
  size_t take_run(std::vector<Entry>& entries);
  // Fails what waits, for want of memory.
  void end_turn() noexcept;
  // To the next job, if there is work for one.
  void yield_turn(bool at_end) noexcept;
  void track(std::vector<SizeDelta> deltas) noexcept;
  void set_record(PartitionRecord record) noexcept ORRERY_REQUIRES(mutex_);
  void commit(std::vector<Entry>& entries, size_t bytes);
  // Commits the run that these have made; on failure the partition has stopped taking writes.
  Status commit_run(Run& run, const std::vector<Entry>& entries,
                    const std::vector<Outcome>& outcomes);
  static void tell_witnesses(const std::vector<Entry>& entries,
                             const std::vector<Outcome>& outcomes) noexcept;
  // That it has left, after its commit.
  void remember_sizes(const Run& run) noexcept;
  // Those from `from` on go to the front of the queue again: the run has read enough.
  void put_back(std::vector<Entry>& entries, size_t from);
  // Whether the disk takes writes (again).
  bool writable();
  // Whether it takes those that make the data grow.
  Status room_to_grow();
  // Those that were not completed yet.
  void fail_all(std::vector<Entry>& entries, const Error& error);
  void fail_one(Entry& entry, const Error& error);
  static void complete(Entry& entry, Outcome outcome) noexcept;

  Partition& partition_;
  Shared& shared_;
  Store& store_;

  mutable Mutex mutex_;
  CondVar idle_;
  std::deque<Entry> queue_ ORRERY_GUARDED_BY(mutex_);
  bool running_ ORRERY_GUARDED_BY(mutex_) = false;
  uint32_t pauses_ ORRERY_GUARDED_BY(mutex_) = 0;
  bool moved_ ORRERY_GUARDED_BY(mutex_) = false;
  PartitionRecord record_ ORRERY_GUARDED_BY(mutex_);  // of the newest commit
  std::atomic<uint64_t> lsn_;                         // record_.lsn, for readers
  RemovalLog removals_;
  std::string read_only_reason_ ORRERY_GUARDED_BY(mutex_);
  int64_t last_attempt_us_ ORRERY_GUARDED_BY(mutex_);  // to write, or to open the database again
  int64_t attempt_wait_us_ ORRERY_GUARDED_BY(mutex_);  // until the next one, without room

  // Touched by the one job only, or while paused.
  KnownSizes known_sizes_;
  bool tracking_ = false;
  std::optional<std::string> cut_;  // tracked_ has two entries: the left side's and the right's
  std::vector<SizeDelta> tracked_;
};

}  // namespace orrery::partition

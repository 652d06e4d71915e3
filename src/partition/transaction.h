// A transaction of several operations over one partition, for scripts and batches: snapshot
// isolation.
//
// It reads the partition as it was when the transaction began, plus what it has staged itself. Each
// write is checked against that view when it is staged, with the error that the same write would
// get alone. Nothing is visible to others before commit(), which submits everything as one
// transaction of the writer: first committer wins. If an item that this transaction wrote was
// changed by another since it began, the commit fails whole with Code::retry, and the caller runs
// the transaction again. So no update is lost. Write skew is possible, as it is with snapshot
// isolation everywhere: two transactions that each read what the other writes, and write different
// items, both commit.
//
// Unique keys, sizes and logical partition limits are checked by the commit.
//
// Threading: one thread at a time. Holds the partition open, and a snapshot, which keeps old data
// on disk: end it soon.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "partition/partition.h"
#include "partition/purge_marks.h"

namespace orrery::partition {

class Transaction {
 public:
  static constexpr size_t kWritesMax = 10'000;

  // `bytes_max` bounds the bodies that may be staged. The schema decides what has expired; staged
  // writes get it when they have none.
  static Result<std::unique_ptr<Transaction>> begin(std::shared_ptr<Partition> partition,
                                                    std::shared_ptr<const Schema> schema,
                                                    size_t bytes_max);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // A lower bound: the snapshot has every commit up to this LSN, and maybe later ones.
  uint64_t lsn() const { return lsn_; }

  // Whether the partition was opened again under it: reads have failed since, with Code::retry, and
  // the transaction must be begun anew.
  bool is_outdated() const;

  // What the transaction sees: nothing when the item is not there, or has expired. A staged item
  // has the version of what it replaces (an LSN of 0 when it is new), since its own comes with the
  // commit; its body is as given, without what a finisher adds.
  Result<std::optional<Item>> read(std::string_view placement, std::string_view row) const;
  // Items of one logical partition, in key order, as Partition::scan pages them.
  Result<Page> scan(std::string_view placement, const std::string* after_row, size_t items_max,
                    size_t bytes_max) const;

  // Checks the write against the view and stages it. On error nothing is staged, and the
  // transaction can go on. Upkeep (`expire`, `reindex`, `indexed`), `read` and editors cannot be
  // staged.
  Status stage(Write write);
  size_t staged() const { return writes_.size(); }

  // Ends the transaction and returns the staged writes in order, for a caller that routes and pays
  // for them itself. They must be submitted as one transaction.
  std::vector<Write> take();
  // The same, submitted to the partition; without writes it succeeds at once. Outcomes are those of
  // Partition::submit, one Written for each staged write in order.
  void commit(Completion done);

 private:
  struct Snapshot;
  struct Staged {
    std::optional<Item> item;  // nothing: removed
  };

  Transaction(std::shared_ptr<Partition> partition, std::shared_ptr<const Schema> schema,
              size_t bytes_max);
  Result<std::optional<Item>> read_snapshot(std::string_view placement, std::string_view row) const;

  const std::shared_ptr<Partition> partition_;
  const std::shared_ptr<const Schema> schema_;
  const size_t bytes_max_;
  Visibility visibility_;  // of the snapshot
  uint64_t lsn_ = 0;
  std::unique_ptr<Snapshot> snapshot_;
  std::vector<Write> writes_;
  size_t bytes_ = 0;
  std::map<std::pair<std::string, std::string>, Staged> view_;  // by placement and row
};

}  // namespace orrery::partition

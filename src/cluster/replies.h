// What is asked of an engine and what it answers, as plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "catalog/model.h"
#include "partition/partition.h"
#include "partition/transaction.h"
#include "partition/view.h"

namespace orrery::cluster {

// What every answered operation tells.
struct Receipt {
  uint32_t range = 0;
  uint64_t lsn = 0;                // of the partition
  double charge = 0;               // units, by the prices of the container
  uint32_t would_throttle_ms = 0;  // Throttling::report: how long it would have had to wait
};

struct WriteReply {
  std::optional<Error> error;
  std::optional<size_t> failed_write;  // the one that the error is about; unset: all of them
  std::vector<partition::Written> written;
  std::vector<double> charges;  // of each, when there is no error; the receipt has their sum
  Receipt receipt;
};

struct ReadReply {
  std::optional<partition::Item> item;
  Receipt receipt;
};

struct FeedReply {
  partition::Page page;
  Receipt receipt;
};

// A part of one partition as it was at one moment, for a query to read.
struct ViewReply {
  std::unique_ptr<partition::View> view;
  std::string min;  // the placement keys that it is of
  std::string max;
  Receipt receipt;
};

// A transaction over the partition that has its key, and where that is.
struct TransactionReply {
  std::unique_ptr<partition::Transaction> transaction;
  Receipt receipt;
};

// Where a reader of changes begins: after whichever is later.
struct ChangesFrom {
  uint64_t position = 0;  // an LSN, as a page before told it; also of a range that was split
  std::optional<int64_t> since_s = {};  // with what was written in this second
  bool now = false;                     // after all that there is
};

struct ChangesReply {
  partition::ChangePage page;
  Receipt receipt;
};

struct HistoryReply {
  partition::EventPage page;
  Receipt receipt;
};

// Who may answer a reader.
enum class Freshness : uint8_t {
  newest,   // the partition's owner
  bounded,  // also a replica that is behind by little (replicas/replica_reader.h)
  any,      // also every replica that is not staler than replicas may be
};

// A consistency demand of a reader: for a range, the LSN that its partition must have reached, if
// any; and who may answer. The default asks for nothing but the owner.
class LsnDemand {
 public:
  using Needed = std::function<std::optional<uint64_t>(const catalog::PartitionRange&)>;

  LsnDemand() = default;
  explicit LsnDemand(Needed needed, Freshness freshness = Freshness::newest)
      : needed_(std::move(needed)), freshness_(freshness) {}

  std::optional<uint64_t> needed(const catalog::PartitionRange& range) const {
    return needed_ ? needed_(range) : std::nullopt;
  }
  Freshness freshness() const { return freshness_; }
  void set_freshness(Freshness freshness) { freshness_ = freshness; }

 private:
  Needed needed_;
  Freshness freshness_ = Freshness::newest;
};
// Code::behind when the partition has not got that far.
Status check_demand(const LsnDemand& demand, const catalog::PartitionRange& range, uint64_t lsn);

// For transactions that read.
struct ReadTerms {
  LsnDemand demand;
  double charge_factor = 1;  // reads of stronger consistency cost a multiple
};

// Asks for the split of one partition (the largest when no range is named). `is_wanted` is asked
// when its turn comes.
struct SplitRequest {
  uint32_t container = 0;
  std::optional<uint32_t> range = {};
  std::function<bool()> is_wanted = {};
};
// How many may wait for their turn.
inline constexpr size_t kSplitsWaitingMax = 64;

struct SplitReport {
  uint32_t parent = 0;
  uint32_t left = 0;
  uint32_t right = 0;
  int64_t pause_us = 0;
  int64_t total_us = 0;
};

// Asks for two neighbouring partitions, in either order, to become one.
struct MergeRequest {
  uint32_t container = 0;
  uint32_t first = 0;
  uint32_t second = 0;
  std::function<bool()> is_wanted = {};
};
struct MergeReport {
  uint32_t left = 0;
  uint32_t right = 0;
  uint32_t child = 0;
  int64_t pause_us = 0;
  int64_t total_us = 0;
};

struct PartitionStatus {
  catalog::PartitionRange range;
  std::string node = {};  // of a cluster: which one is to serve it. What follows is known there
  bool open = false;
  partition::Usage usage;
  uint64_t lsn = 0;
  std::string read_only_reason;
  uint64_t reads = 0;
  uint64_t writes = 0;
  uint64_t throttled = 0;
  double charge = 0;
  uint64_t index_bytes = 0;        // what its index takes, about
  uint32_t indexed_percent = 100;  // how many items have the terms of the current index rules
};
// Of all of a container's items; 100 only when all have them.
uint32_t indexed_percent(const std::vector<PartitionStatus>& partitions);

}  // namespace orrery::cluster

// What the face counts, for Prometheus: requests by operation and status, how long they took, what
// they were charged; and, when asked, the state of every open partition.
//
// Threading: any thread. Counting is a few atomic additions to counters that threads hardly share.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cluster/engine.h"
#include "net/server.h"

namespace prometheus {
struct MetricFamily;
}

namespace orrery::cosmos {

class Lanes;

enum class Operation : uint8_t {
  account,
  database,
  container,
  resource,  // a user, a permission, a script
  partition_ranges,
  offer,
  item_create,
  item_upsert,
  item_read,
  item_replace,
  item_delete,
  item_patch,
  item_batch,
  item_bulk,
  item_feed,
  item_query,
  partition_key_delete,
  script_run,
  admin,
  other,
};
inline constexpr size_t kOperations = static_cast<size_t>(Operation::other) + 1;

class Metrics {
 public:
  Metrics();
  ~Metrics();

  void done(Operation operation, int status, int64_t took_us);
  void charge(Operation operation, double request_units);

  // The text that Prometheus reads.
  std::string render(const cluster::Engine& engine, const net::ServerCounters& server,
                     const Lanes& lanes) const;

 private:
  struct Shard;
  static constexpr size_t kShards = 16;

  Shard& shard();
  std::vector<prometheus::MetricFamily> collect() const;

  std::unique_ptr<std::array<Shard, kShards>> shards_;
};

}  // namespace orrery::cosmos

// See descriptors.h.
#include "cli/descriptors.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <limits>

#include "net/server.h"

namespace orrery::cli {
namespace {

// Standard streams, the folder's lock, the listener, and what is opened for a moment by background
// work and libraries.
constexpr uint64_t kOwn = 24;
constexpr uint64_t kOfEventLoop = 2;
constexpr uint64_t kOfScriptWorker = 4;
// Descriptors of an open partition besides `partition_files`: log, manifest, locks, its folder once
// for each column family (10 were counted), and the output of a flush or a compaction.
constexpr uint64_t kOfPartition = 12;
// RocksDB reserves ten of its max_open_files for other files than tables, and accepts no less than
// twenty.
constexpr uint64_t kNotTables = 10;
constexpr uint64_t kPartitionFilesLeast = 20;
constexpr uint64_t kPartitionFilesMost = 2'000;
// Partitions that may be open beside those that are counted: the catalog, and a split's children.
constexpr uint64_t kMorePartitions = 3;
constexpr uint64_t kPartitionsLeast = 4;
constexpr uint64_t kConnectionsLeast = 16;

constexpr uint64_t cost_of_partition(uint64_t files) {
  return kOfPartition + files - kNotTables;
}

}  // namespace

uint64_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::numeric_limits<uint64_t>::max();
  rlimit raised = limit;
  raised.rlim_cur = raised.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
}

Result<bool> fit_descriptors(uint64_t descriptors, uint32_t event_loops, uint32_t script_workers,
                             Limits& limits) {
  const uint64_t fixed = kOwn + kOfEventLoop * event_loops + kOfScriptWorker * script_workers +
                         net::Server::kRefusalsOpenMax;
  constexpr uint64_t kLeastForPartitions =
      (kPartitionsLeast + kMorePartitions) * cost_of_partition(kPartitionFilesLeast);
  const uint64_t least = fixed + kConnectionsLeast + kLeastForPartitions;
  if (descriptors < least) {
    return fail(Code::invalid,
                fmt::format("this process may have {} files open, and needs {} at least: raise the "
                            "limit (ulimit -n, or LimitNOFILE of a systemd service)",
                            descriptors, least));
  }
  const uint64_t rest = descriptors - fixed;
  const uint64_t partitions_wanted = limits.open_partitions;
  const uint64_t connections_wanted = limits.connections;
  // Connections get what they want, up to a quarter. The rest is for partitions.
  limits.connections = std::min(
      {connections_wanted, std::max(rest / 4, kConnectionsLeast), rest - kLeastForPartitions});
  const uint64_t for_partitions = rest - limits.connections;
  const uint64_t places = for_partitions / cost_of_partition(kPartitionFilesLeast);
  limits.open_partitions = std::clamp(places - std::min(places, kMorePartitions), kPartitionsLeast,
                                      std::max(partitions_wanted, kPartitionsLeast));
  const uint64_t share = for_partitions / (limits.open_partitions + kMorePartitions);
  limits.partition_files =
      std::clamp(share - std::min(share, kOfPartition) + kNotTables, kPartitionFilesLeast,
                 std::min(limits.partition_files, kPartitionFilesMost));
  return limits.open_partitions < partitions_wanted || limits.connections < connections_wanted;
}

}  // namespace orrery::cli

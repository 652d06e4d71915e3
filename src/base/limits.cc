// The table that ties each limit's name to its field.
#include "base/limits.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>

namespace orrery {
namespace {

struct Row {
  std::string_view name;
  uint64_t Limits::* field;
  uint64_t least;
  std::string_view help;
};

constexpr std::array kRows = {
    Row{"logical-partition-bytes", &Limits::logical_partition_bytes, 1024,
        "most bytes of items that share one partition key value"},
    Row{"physical-partition-bytes", &Limits::physical_partition_bytes, 1024,
        "bytes at which a physical partition is split"},
    Row{"partition-throughput", &Limits::partition_throughput, 1,
        "units a second that one physical partition serves"},
    Row{"initial-partition-throughput", &Limits::initial_partition_throughput, 1,
        "units a second for each physical partition of a new container, without autoscale"},
    Row{"split-throughput-min", &Limits::split_throughput_min, 0,
        "a container with less does not split by itself"},
    Row{"write-queue", &Limits::write_queue, 1, "writes that may wait for one partition"},
    Row{"partition-purges", &Limits::partition_purges, 1,
        "partition keys of one partition whose items are all being deleted"},
    Row{"purge-percent", &Limits::purge_percent, 1,
        "share of the throughput that deleting them may use"},
    Row{"open-partitions", &Limits::open_partitions, 8,
        "partitions open at a time; to open one more, the longest unused is closed"},
    Row{"partition-files", &Limits::partition_files, 20, "files that an open partition keeps open"},
    Row{"removed-files-age-s", &Limits::removed_files_age_s, 0,
        "seconds that removed files are kept; fewer while less than a tenth of the disk is free"},
    Row{"container-bytes", &Limits::container_bytes, 1024, "storage quota of one container"},
    Row{"container-throughput-min", &Limits::container_throughput_min, 1,
        "least throughput of a container or database"},
    Row{"partitioned-throughput-min", &Limits::partitioned_throughput_min, 1,
        "least throughput of a container that has a partition key"},
    Row{"container-throughput-max", &Limits::container_throughput_max, 1,
        "throughput quota of one container or database"},
    Row{"fixed-throughput-max", &Limits::fixed_throughput_max, 1,
        "most throughput of a container without a partition key"},
    Row{"throughput-step", &Limits::throughput_step, 1, "throughput is a multiple of this"},
    Row{"autoscale-throughput-min", &Limits::autoscale_throughput_min, 1,
        "least maximum of an autoscale container; also its step"},
    Row{"account-databases", &Limits::account_databases, 1, "databases in the account"},
    Row{"database-containers", &Limits::database_containers, 1, "containers in one database"},
    Row{"shared-throughput-containers", &Limits::shared_throughput_containers, 1,
        "containers that share one database's throughput"},
    Row{"database-encryption-keys", &Limits::database_encryption_keys, 1,
        "client encryption keys in one database"},
    Row{"account-resources", &Limits::account_resources, 1,
        "users, permissions and scripts in the account"},
    Row{"account-resources-bytes", &Limits::account_resources_bytes, 1024,
        "size of them all, which are kept in memory"},
    Row{"resource-bytes", &Limits::resource_bytes, 256, "size of one user, permission or script"},
    Row{"container-scripts", &Limits::container_scripts, 1,
        "stored procedures of one container; also its triggers, and its functions"},
    Row{"item-attachments", &Limits::item_attachments, 1, "attachments of one item"},
    Row{"item-bytes", &Limits::item_bytes, 256, "size of one item"},
    Row{"item-id-characters", &Limits::item_id_characters, 1, "length of an item's id"},
    Row{"partition-key-bytes", &Limits::partition_key_bytes, 1, "size of a partition key value"},
    Row{"response-bytes", &Limits::response_bytes, 1024, "size of one page of a feed"},
    Row{"feed-items", &Limits::feed_items, 1, "items on one page of a feed"},
    Row{"query-time-ms", &Limits::query_time_ms, 0,
        "time that one page of a query may take; 0: it ends after each item"},
    Row{"patch-operations", &Limits::patch_operations, 1, "operations of one patch"},
    Row{"batch-operations", &Limits::batch_operations, 1, "operations of one batch or bulk"},
    Row{"batch-bytes", &Limits::batch_bytes, 256, "size of a batch's or a bulk's body"},
    Row{"request-body-bytes", &Limits::request_body_bytes, 1024, "size of a request's body"},
    Row{"request-header-bytes", &Limits::request_header_bytes, 1024, "size of a request's headers"},
    Row{"connections", &Limits::connections, 1, "open client connections"},
    Row{"request-queue", &Limits::request_queue, 1,
        "requests of one kind (management, queries, reads of files, scripts, admin) that may wait"},
    Row{"queue-time-ms", &Limits::queue_time_ms, 1,
        "time that one of them may wait; scripts may for script-time-ms"},
    Row{"script-time-ms", &Limits::script_time_ms, 10,
        "time that one execution of a script may take"},
    Row{"script-operations", &Limits::script_operations, 1,
        "document operations of one execution of a script"},
    Row{"script-workers", &Limits::script_workers, 0,
        "processes that run procedures and triggers, and as many for functions; 0: one a core"},
    Row{"script-heap-bytes", &Limits::script_heap_bytes, 16 << 20,
        "JavaScript objects in one script worker"},
    Row{"script-memory-bytes", &Limits::script_memory_bytes, 64 << 20,
        "memory that one script worker may take in all"},
    Row{"script-message-bytes", &Limits::script_message_bytes, 1 << 20,
        "size of one message from a script worker"},
    Row{"block-cache-bytes", &Limits::block_cache_bytes, 1 << 20, "memory for cached reads"},
    Row{"write-buffer-bytes", &Limits::write_buffer_bytes, 1 << 20,
        "memory for writes not yet in files"},
    Row{"request-buffer-bytes", &Limits::request_buffer_bytes, 1 << 20,
        "memory for requests of more than 16 KB that are being received or answered"},
    Row{"response-buffer-bytes", &Limits::response_buffer_bytes, 1 << 20,
        "memory for answers that clients are slow to take"},
    Row{"disk-reserve-bytes", &Limits::disk_reserve_bytes, 0,
        "what is free on the disk below which only reads and deletes are served; 0: always all"},
    Row{"volume-cache-bytes", &Limits::volume_cache_bytes, 0,
        "local disk for what was read of a volume in Ceph; 0: none"},
    Row{"advise-requests", &Limits::advise_requests, 0,
        "requests of a container that are kept an hour for orrery advise, without values; 0: none"},
};

Result<uint64_t> parse_size(std::string_view name, std::string_view text) {
  uint64_t factor = 1;
  std::string_view digits = text;
  if (!digits.empty()) {
    switch (digits.back()) {
      case 'K':
        factor = 1ULL << 10;
        break;
      case 'M':
        factor = 1ULL << 20;
        break;
      case 'G':
        factor = 1ULL << 30;
        break;
      default:
        break;
    }
    if (factor != 1) digits.remove_suffix(1);
  }
  uint64_t number = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() ||
      number > std::numeric_limits<uint64_t>::max() / factor) {
    return fail(
        Code::invalid,
        fmt::format("limit {}: '{}' is not a whole number (K, M and G may follow it)", name, text));
  }
  return number * factor;
}

}  // namespace

Status Limits::set(std::string_view name, std::string_view text) {
  for (const Row& row : kRows) {
    if (row.name != name) continue;
    auto number = parse_size(name, text);
    if (!number) return pass(number.error());
    if (*number < row.least) {
      return fail(Code::invalid, fmt::format("limit {}: {} is below the least that works, {}", name,
                                             *number, row.least));
    }
    this->*row.field = *number;
    return {};
  }
  std::string known;
  for (const Row& row : kRows) known += fmt::format("{}{}", known.empty() ? "" : ", ", row.name);
  return fail(Code::invalid,
              fmt::format("there is no limit '{}'; the limits are: {}", name, known));
}

Status Limits::set(std::string_view assignment) {
  size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    return fail(
        Code::invalid,
        fmt::format("'{}' is not of the form NAME=VALUE, such as item-bytes=2M", assignment));
  }
  return set(assignment.substr(0, equals), assignment.substr(equals + 1));
}

std::vector<Limits::Entry> Limits::list() const {
  std::vector<Entry> entries;
  entries.reserve(kRows.size());
  for (const Row& row : kRows) entries.push_back({row.name, row.help, this->*row.field});
  return entries;
}

}  // namespace orrery

// Every limit of the system in one place, each with a name that `--limit NAME=VALUE` and the
// configuration file use. The defaults are the published ones; docs/limits.md explains each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace orrery {

struct Limits {
  // Partitions
  uint64_t logical_partition_bytes = 10ULL << 30;
  uint64_t physical_partition_bytes = 50ULL << 30;
  uint64_t partition_throughput = 10'000;         // units a second that one partition serves
  uint64_t initial_partition_throughput = 6'000;  // that a new one is given, if set by hand
  uint64_t split_throughput_min = 0;              // below it a container does not split by itself
  uint64_t write_queue = 4'096;                   // writes waiting for one partition
  uint64_t partition_purges = 1'000;              // keys whose items are being deleted
  uint64_t purge_percent = 10;                    // of the throughput, that deleting them may use
  uint64_t open_partitions = 2'000;               // the program lowers it to what descriptors allow
  uint64_t partition_files = 2'000;               // that one open partition keeps open; likewise
  uint64_t removed_files_age_s = 3'600;           // how long files are kept after they were removed
  // Containers and throughput
  uint64_t container_bytes = 250ULL << 30;
  uint64_t container_throughput_min = 400;
  uint64_t partitioned_throughput_min = 400;  // for containers with a partition key
  uint64_t container_throughput_max = 250'000;
  uint64_t fixed_throughput_max = 10'000;  // for containers without a partition key
  uint64_t throughput_step = 100;
  uint64_t autoscale_throughput_min = 1'000;
  uint64_t account_databases = 500;
  uint64_t database_containers = 5'000;
  uint64_t shared_throughput_containers = 25;
  uint64_t database_encryption_keys = 20;
  // Users, permissions, scripts
  uint64_t account_resources = 100'000;
  uint64_t account_resources_bytes = 256ULL << 20;
  uint64_t resource_bytes = 512ULL << 10;  // of one
  uint64_t container_scripts = 100;        // of each kind
  uint64_t item_attachments = 100;
  // Items and requests
  uint64_t item_bytes = 2ULL << 20;
  uint64_t item_id_characters = 255;
  uint64_t partition_key_bytes = 2'048;
  uint64_t response_bytes = 4ULL << 20;
  uint64_t feed_items = 1'000;     // the most that one page of a feed holds
  uint64_t query_time_ms = 5'000;  // of one page of a query
  uint64_t patch_operations = 10;
  uint64_t batch_operations = 100;
  uint64_t batch_bytes = 2ULL << 20;
  uint64_t request_body_bytes = 4ULL << 20;
  uint64_t request_header_bytes = 64ULL << 10;
  uint64_t connections = 10'000;
  uint64_t request_queue = 1'000;   // requests of one kind waiting for a thread
  uint64_t queue_time_ms = 30'000;  // that one may wait
  // Scripts
  uint64_t script_time_ms = 5'000;              // of one execution
  uint64_t script_operations = 10'000;          // document operations of one execution
  uint64_t script_workers = 0;                  // processes of each kind; 0: one a core
  uint64_t script_heap_bytes = 128ULL << 20;    // JavaScript objects of one worker
  uint64_t script_memory_bytes = 384ULL << 20;  // all that one worker may allocate
  uint64_t script_message_bytes = 16ULL << 20;  // one message from a worker
  // Memory
  uint64_t block_cache_bytes = 256ULL << 20;  // the program sets it by the memory there is
  uint64_t write_buffer_bytes = 256ULL << 20;
  uint64_t request_buffer_bytes = 64ULL << 20;   // likewise set by the program
  uint64_t response_buffer_bytes = 64ULL << 20;  // likewise
  // Disk
  uint64_t disk_reserve_bytes = 256ULL << 20;  // of a small disk, an eighth of it
  uint64_t volume_cache_bytes = 1ULL << 30;    // on the local disk, of a volume elsewhere
  uint64_t advise_requests = 48;  // of a container, kept an hour for the advisor; 0: none

  // Sets one by name. The text is a whole number, optionally with K, M or G (powers of 1024).
  Status set(std::string_view name, std::string_view text);
  // `NAME=VALUE`, as on the command line.
  Status set(std::string_view assignment);

  struct Entry {
    std::string_view name;
    std::string_view help;
    uint64_t value;
  };
  std::vector<Entry> list() const;
};

}  // namespace orrery

// See store_options.h.
#include "partition/store_options.h"

#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/table_properties_collectors.h>

#include <algorithm>
#include <climits>

#include "base/crc32c.h"
#include "partition/memtable.h"
#include "value/term_size.h"

namespace orrery::partition {
namespace {

// What an entry of the index is found by: its term. Files keep a filter of theirs, so that a file
// without a term is passed over for one look at memory: most partitions of a container have no
// entry for most values.
class TermOfEntry final : public rocksdb::SliceTransform {
 public:
  const char* Name() const override { return "orrery.term"; }
  bool InDomain(const rocksdb::Slice& key) const override {
    return value::term_size_or_0(key.ToStringView()) != 0;
  }
  rocksdb::Slice Transform(const rocksdb::Slice& key) const override {
    const size_t size = value::term_size_or_0(key.ToStringView());
    return {key.data(), size != 0 ? size : key.size()};
  }
};

// Recovering from errors is the writer's, by opening the database again: see Store::reopen. RocksDB
// would resume behind its back once there is space.
class NoRecovery final : public rocksdb::EventListener {
 public:
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status,
                            bool* auto_recovery) override {
    *auto_recovery = false;
  }
};

// Half of it, and the first level would be merged into the next twice as often.
constexpr size_t kWriteBufferBytes = 64ULL << 20;
// Tables of the first level are smaller where memtables are, and more of them may wait to be
// compacted: as many bytes.
constexpr size_t kFirstLevelTableBytes = 32ULL << 20;
// As the size of a memtable or of the logs: more than a log ever has.
constexpr size_t kNeverFlushed = 4ULL << 30;

}  // namespace

rocksdb::ColumnFamilyOptions family_options(const Shared& shared, Store::Mode mode, Lookup lookup) {
  rocksdb::ColumnFamilyOptions options;
  // Small enough that the disk's reserve has room for it: see docs/configuration.md.
  options.write_buffer_size =
      std::min<size_t>(kWriteBufferBytes, shared.limits.write_buffer_bytes / 4);
  const int times =
      static_cast<int>(std::max<size_t>(kFirstLevelTableBytes / options.write_buffer_size, 1));
  options.level0_slowdown_writes_trigger *= times;
  options.level0_stop_writes_trigger *= times;
  if (mode == Store::Mode::sparing) {
    options.write_buffer_size = kNeverFlushed;
    options.disable_auto_compactions = true;
  }
  options.memtable_factory = memtable_factory();
  options.arena_block_size = 16ULL << 10;  // an open partition has five, mostly empty
  options.compression = rocksdb::kLZ4Compression;
  options.level_compaction_dynamic_level_bytes = true;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = shared.caches->blocks;
  table.cache_index_and_filter_blocks = true;
  // Counted in the cache, and at hand without being looked up there for every read.
  table.metadata_cache_options.top_level_index_pinning = rocksdb::PinningTier::kAll;
  table.metadata_cache_options.partition_pinning = rocksdb::PinningTier::kAll;
  table.metadata_cache_options.unpartitioned_pinning = rocksdb::PinningTier::kAll;
  table.block_size = 8ULL << 10;
  table.format_version = 5;
  if (lookup != Lookup::in_order) table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  if (lookup == Lookup::by_term) {
    table.whole_key_filtering = false;
    options.prefix_extractor = std::make_shared<const TermOfEntry>();
  }
  if (lookup == Lookup::by_key) {
    table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
    // 32 KB: thousands of partitions may be open, and each has one from its first write.
    options.memtable_prefix_bloom_size_ratio =
        32'768.0 / static_cast<double>(options.write_buffer_size);
    options.memtable_whole_key_filtering = true;
    // A table where every second entry is a removal is compacted soon, which gives space back.
    options.table_properties_collector_factories = {
        rocksdb::NewCompactOnDeletionCollectorFactory(128, 64, 0.5)};
  }
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

rocksdb::DBOptions database_options(const Shared& shared, Store::Mode mode, rocksdb::Env* env) {
  rocksdb::DBOptions options;
  options.env = env;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.paranoid_checks = true;
  // A commit that was cut short by a crash may be at the log's end, and was acknowledged to nobody.
  // Damage anywhere else must be seen, not skipped.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  if (mode == Store::Mode::sparing) {
    // What is in the log stays there and in memory; it is no more than max_total_wal_size below.
    options.avoid_flush_during_recovery = true;
    options.max_total_wal_size = kNeverFlushed;
  } else if (mode == Store::Mode::follow) {
    // What its owner has in memtables it has too. It cannot flush them to make room for others.
    options.create_if_missing = false;
    options.create_missing_column_families = false;
  } else {
    options.write_buffer_manager = shared.caches->write_buffers;
    options.max_total_wal_size = std::min<uint64_t>(128ULL << 20, shared.limits.write_buffer_bytes);
  }
  // A partition of 50 GB has about a thousand files. Only those that are read are opened.
  options.max_open_files =
      static_cast<int>(std::min<uint64_t>(shared.limits.partition_files, INT_MAX));
  options.allow_concurrent_memtable_write = false;  // there is one writer
  options.allow_fallocate = false;                  // thousands of small partitions share a disk
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.info_log = shared.caches->log;  // otherwise it writes a file LOG beside the data
  options.skip_stats_update_on_db_open = true;
  options.skip_checking_sst_file_sizes_on_db_open = true;
  options.bytes_per_sync = 1ULL << 20;
  // Readers on event loops leave the removal of replaced files to RocksDB's threads.
  options.avoid_unnecessary_blocking_io = true;
  options.max_bgerror_resume_count = 0;
  options.listeners = {std::make_shared<NoRecovery>()};
  return options;
}

}  // namespace orrery::partition

// RocksDB takes the checksum of every record of a log. Debian builds it without the processor's
// instruction for that, and the tables in its place took 9 % of a server that inserts. A program's
// function comes before that of a shared library, so this one is called (decision 0045).
namespace rocksdb::crc32c {

uint32_t Extend(uint32_t crc, const char* data, size_t size);

__attribute__((visibility("default"))) uint32_t Extend(uint32_t crc, const char* data,
                                                       size_t size) {
  return orrery::extend_crc32c(crc, {data, size});
}

}  // namespace rocksdb::crc32c

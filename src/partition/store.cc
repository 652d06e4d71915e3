// See store.h.
#include "partition/store.h"

#include <fmt/format.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>

#include "base/log.h"
#include "value/ordered.h"

namespace orrery::partition {
namespace {

class TermsFilter final : public rocksdb::CompactionFilter {
 public:
  explicit TermsFilter(const RangeFilter& range) : range_(range) {}
  const char* Name() const override { return "orrery.terms"; }
  bool Filter(int, const rocksdb::Slice& key, const rocksdb::Slice&, std::string*,
              bool*) const override {
    if (!range_.active()) return false;
    auto placement = placement_of_term(key.ToStringView());
    // What cannot be read is kept: dropping is only for what is known to be another's.
    return placement && !range_.keeps(*placement);
  }

 private:
  const RangeFilter& range_;
};

class ChangesFilter final : public rocksdb::CompactionFilter {
 public:
  explicit ChangesFilter(const RangeFilter& range) : range_(range) {}
  const char* Name() const override { return "orrery.changes"; }
  bool Filter(int, const rocksdb::Slice&, const rocksdb::Slice& item, std::string*,
              bool*) const override {
    if (!range_.active()) return false;
    auto key = parse_item_key(item.ToStringView());
    return key && !range_.keeps(key->placement);
  }

 private:
  const RangeFilter& range_;
};

rocksdb::ColumnFamilyOptions family_options(const Shared& shared, bool point_reads) {
  rocksdb::ColumnFamilyOptions options;
  options.write_buffer_size = 32ULL << 20;
  options.arena_block_size = 64ULL << 10;
  options.compression = rocksdb::kLZ4Compression;
  options.level_compaction_dynamic_level_bytes = true;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = shared.caches->blocks;
  table.cache_index_and_filter_blocks = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.block_size = 8ULL << 10;
  table.format_version = 5;
  if (point_reads) {
    table.filter_policy.reset(rocksdb::NewRibbonFilterPolicy(10));
    options.memtable_prefix_bloom_size_ratio = 0.05;
    options.memtable_whole_key_filtering = true;
  }
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

rocksdb::DBOptions database_options(const Shared& shared, rocksdb::Env* env) {
  rocksdb::DBOptions options;
  options.env = env;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.paranoid_checks = true;
  // A commit that was cut short by a crash may be at the log's end, and was acknowledged to nobody.
  // Damage anywhere else must be seen, not skipped.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  options.write_buffer_manager = shared.caches->write_buffers;
  options.max_total_wal_size = 128ULL << 20;
  options.max_open_files = 256;
  options.allow_concurrent_memtable_write = false;  // there is one writer
  options.allow_fallocate = false;                  // thousands of small partitions share a disk
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.info_log_level = rocksdb::WARN_LEVEL;
  options.keep_log_file_num = 2;
  options.skip_stats_update_on_db_open = true;
  options.skip_checking_sst_file_sizes_on_db_open = true;
  options.bytes_per_sync = 1ULL << 20;
  return options;
}

}  // namespace

Shared::Shared(const Limits& limits_in, const Clock& clock_in, bool sync_commits_in)
    : limits(limits_in),
      clock(clock_in),
      sync_commits(sync_commits_in),
      writers("writer", 4),
      caches(std::make_unique<Caches>()) {
  caches->blocks = rocksdb::NewLRUCache(limits.block_cache_bytes);
  caches->write_buffers = std::make_shared<rocksdb::WriteBufferManager>(limits.write_buffer_bytes);
  rocksdb::Env::Default()->SetBackgroundThreads(2, rocksdb::Env::LOW);
  rocksdb::Env::Default()->SetBackgroundThreads(2, rocksdb::Env::HIGH);
}

Shared::~Shared() = default;

void RangeFilter::activate(std::string min, std::string max) {
  min_ = std::move(min);
  max_ = std::move(max);
  active_.store(true, std::memory_order_release);
}

Result<std::unique_ptr<Store>> Store::open(const Shared& shared,
                                           std::unique_ptr<volume::Claim> claim,
                                           const PartitionRecord& fresh) {
  std::unique_ptr<Store> store(new Store());
  store->claim_ = std::move(claim);
  store->env_ = rocksdb::NewCompositeEnv(store->claim_->file_system());
  store->terms_filter_ = std::make_unique<TermsFilter>(store->filter_);
  store->changes_filter_ = std::make_unique<ChangesFilter>(store->filter_);

  rocksdb::ColumnFamilyOptions terms = family_options(shared, false);
  terms.compaction_filter = store->terms_filter_.get();
  rocksdb::ColumnFamilyOptions changes = family_options(shared, false);
  changes.compaction_filter = store->changes_filter_.get();
  std::vector<rocksdb::ColumnFamilyDescriptor> families = {
      {rocksdb::kDefaultColumnFamilyName, family_options(shared, true)},
      {"items", family_options(shared, true)},
      {"terms", terms},
      {"changes", changes},
  };
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  rocksdb::Status opened = rocksdb::DB::Open(database_options(shared, store->env_.get()),
                                             store->claim_->directory(), families, &handles, &db);
  if (!opened.ok()) return pass(store->translate(opened, "opening the partition's files"));
  store->db_.reset(db);
  db->DestroyColumnFamilyHandle(handles[0]);  // DefaultColumnFamily() serves for it
  store->items_ = handles[1];
  store->terms_ = handles[2];
  store->changes_ = handles[3];

  auto stored = store->get(store->ledger(), kRecordKey);
  if (!stored) return pass(stored.error());
  if (*stored) {
    auto record = decode_record(**stored);
    if (!record) return pass(record.error());
    store->record_ = std::move(*record);
  } else {
    if (auto put = store->put_record(fresh); !put) return pass(put.error());
  }
  return store;
}

Store::~Store() {
  if (!db_) return;
  rocksdb::CancelAllBackgroundWork(db_.get(), /*wait=*/true);
  for (rocksdb::ColumnFamilyHandle* handle : {items_, terms_, changes_}) {
    if (handle != nullptr) db_->DestroyColumnFamilyHandle(handle);
  }
  rocksdb::Status closed = db_->Close();
  if (!closed.ok()) log::warn("closing a partition's files", {{"error", closed.ToString()}});
}

Status Store::put_record(const PartitionRecord& record) {
  rocksdb::WriteOptions options;
  options.sync = true;
  rocksdb::Status put = db_->Put(options, ledger(), kRecordKey, encode_record(record));
  if (!put.ok()) return pass(translate(put, "writing the partition's record"));
  record_ = record;
  return {};
}

Result<std::optional<std::string>> Store::get(rocksdb::ColumnFamilyHandle* family,
                                              std::string_view key,
                                              const rocksdb::Snapshot* snapshot) const {
  rocksdb::ReadOptions options;
  options.snapshot = snapshot;
  rocksdb::PinnableSlice stored;
  rocksdb::Status got = db_->Get(options, family, key, &stored);
  if (got.IsNotFound()) return std::nullopt;
  if (!got.ok()) return pass(translate(got, "reading"));
  return std::string(stored.data(), stored.size());
}

Status Store::flush() {
  rocksdb::FlushOptions options;
  options.allow_write_stall = true;
  rocksdb::Status flushed = db_->Flush(options, {ledger(), items_, terms_, changes_});
  if (!flushed.ok()) return pass(translate(flushed, "flushing"));
  return {};
}

Status Store::clone_to(const std::string& directory) {
  rocksdb::Checkpoint* made = nullptr;
  rocksdb::Status status = rocksdb::Checkpoint::Create(db_.get(), &made);
  std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  if (status.ok()) status = checkpoint->CreateCheckpoint(directory, /*log_size_for_flush=*/0);
  if (!status.ok()) return pass(translate(status, "cloning the partition's files"));
  return {};
}

Error Store::translate(const rocksdb::Status& status, std::string_view doing) const {
  Code code = Code::internal;
  std::string_view advice = "see the server's log";
  if (status.IsCorruption()) {
    code = Code::corrupt;
    advice = "stored bytes are damaged: restore this partition's files from a copy";
  } else if (status.IsNoSpace() || status.subcode() == rocksdb::Status::kNoSpace ||
             status.subcode() == rocksdb::Status::kSpaceLimit) {
    code = Code::read_only;
    advice = "the disk is full: free space and writes go on by themselves";
  } else if (status.IsIOError() || status.IsAborted() || status.IsIncomplete()) {
    code = Code::read_only;
    advice = "the disk reports errors: check it; writes are tried again by themselves";
  }
  return Error{
      .code = code,
      .message = fmt::format("{} in {}: {} ({})", doing, claim_ ? claim_->directory() : "?",
                             status.ToString(), advice)};
}

}  // namespace orrery::partition

// The limit that creates are compared with: RocksDB alone, given the same keys and values that a
// partition writes for each item, by many threads whose synced writes RocksDB groups by itself.
//
//   raw_rocksdb --dir DIR --threads 64 --count 100000 [--seconds 60] [--concurrent-memtable 1]
//               [--sample bench/sample_item.json]
//
// DIR must not be there. The batches are made before the clock starts; each is one item: its body,
// its index terms, its change and the size of its logical partition. (The partition's own record,
// which the engine adds to each group, is left out.) Prints one line of JSON.
#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/write_buffer_manager.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "api/cosmos/items/item_body.h"
#include "base/limits.h"
#include "partition/format.h"
#include "sample.h"
#include "value/terms.h"

namespace orrery::bench {
namespace {

using Clock = std::chrono::steady_clock;

// As partition/store.cc has them, but for concurrent writers, which the engine does not have.
rocksdb::ColumnFamilyOptions family_options(const std::shared_ptr<rocksdb::Cache>& blocks,
                                            bool point_reads) {
  rocksdb::ColumnFamilyOptions options;
  options.write_buffer_size = 32ULL << 20;
  options.arena_block_size = 16ULL << 10;
  options.compression = rocksdb::kLZ4Compression;
  options.level_compaction_dynamic_level_bytes = true;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = blocks;
  table.cache_index_and_filter_blocks = true;
  table.metadata_cache_options.top_level_index_pinning = rocksdb::PinningTier::kAll;
  table.metadata_cache_options.partition_pinning = rocksdb::PinningTier::kAll;
  table.metadata_cache_options.unpartitioned_pinning = rocksdb::PinningTier::kAll;
  table.block_size = 8ULL << 10;
  table.format_version = 5;
  if (point_reads) {
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
    options.memtable_prefix_bloom_size_ratio = 0.001;
    options.memtable_whole_key_filtering = true;
  }
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

struct Database {
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> families;  // ledger, items, terms, changes

  Database() = default;
  Database(Database&&) = default;
  ~Database() {
    for (auto* family : families) db->DestroyColumnFamilyHandle(family);
  }
};

Result<Database> open(const std::string& directory, bool concurrent_memtable) {
  const Limits limits;
  rocksdb::DBOptions options;
  options.create_if_missing = true;
  options.error_if_exists = true;
  options.create_missing_column_families = true;
  options.write_buffer_manager =
      std::make_shared<rocksdb::WriteBufferManager>(limits.write_buffer_bytes);
  options.max_total_wal_size = 128ULL << 20;
  options.max_open_files = 256;
  options.allow_concurrent_memtable_write = concurrent_memtable;
  options.allow_fallocate = false;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.info_log_level = rocksdb::WARN_LEVEL;
  options.bytes_per_sync = 1ULL << 20;
  rocksdb::Env::Default()->SetBackgroundThreads(2, rocksdb::Env::LOW);
  rocksdb::Env::Default()->SetBackgroundThreads(2, rocksdb::Env::HIGH);
  auto blocks = rocksdb::NewLRUCache(limits.block_cache_bytes);
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = {
      {rocksdb::kDefaultColumnFamilyName, family_options(blocks, true)},
      {"items", family_options(blocks, true)},
      {"terms", family_options(blocks, false)},
      {"changes", family_options(blocks, false)},
  };
  Database database;
  rocksdb::DB* db = nullptr;
  const auto opened = rocksdb::DB::Open(options, directory, families, &database.families, &db);
  if (!opened.ok()) return fail(Code::internal, opened.ToString());
  database.db.reset(db);
  return database;
}

// What partition/run.cc puts into a commit for one created item.
Result<rocksdb::WriteBatch> batch_of(const Database& database, const Sample& sample,
                                     const catalog::ContainerSpec& spec,
                                     const value::IndexPolicy& policy, uint64_t number) {
  auto incoming = cosmos::parse_item(sample.body(number), spec.key, Limits());
  if (!incoming) return pass(incoming.error());
  const uint64_t lsn = number + 1;
  partition::Item item;
  item.version = {.lsn = lsn, .time_s = 1'780'000'000, .range = 0, .step = 0};
  item.origin = {.range = 0, .number = lsn};
  item.index_version = 1;
  item.body = cosmos::ItemFinisher(1, 2).finish(incoming->body, item.version, item.origin);
  auto stored = value::JsonDocument::parse(item.body);
  if (!stored) return pass(stored.error());

  const std::string placement = value::place(spec.key, incoming->key);
  const std::string key = partition::item_key(placement, incoming->id);
  std::set<std::string> terms;
  policy.each_term(stored->root(), [&](std::string_view term) { terms.emplace(term); });
  rocksdb::WriteBatch batch;
  for (const std::string& term : terms) batch.Put(database.families[2], term + key, "");
  batch.Put(database.families[0], partition::size_key(placement),
            partition::encode_size({.bytes = item.body.size() * lsn,
                                    .items = lsn,
                                    .key_text = value::to_json(incoming->key)}));
  batch.Put(database.families[1], key, partition::encode_item(item));
  batch.Put(database.families[3], partition::change_key(lsn), key);
  return batch;
}

Status run(int argc, char** argv) {
  const uint64_t count = number_option(argc, argv, "--count", 100'000);
  const size_t threads = number_option(argc, argv, "--threads", 64);
  const std::chrono::seconds time_max(number_option(argc, argv, "--seconds", 60));
  auto sample = Sample::load(std::string(option(argc, argv, "--sample", "bench/sample_item.json")));
  if (!sample) return pass(sample.error());
  auto spec = Sample::container("c0");
  if (!spec) return pass(spec.error());
  const value::IndexPolicy policy(catalog::index_definition(*spec));
  auto database = open(std::string(option(argc, argv, "--dir", "")),
                       number_option(argc, argv, "--concurrent-memtable", 1) != 0);
  if (!database) return pass(database.error());

  std::vector<rocksdb::WriteBatch> batches;
  batches.reserve(count);
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < count; ++i) {
    auto batch = batch_of(*database, *sample, *spec, policy, i);
    if (!batch) return pass(batch.error());
    bytes += batch->GetDataSize();
    batches.push_back(std::move(*batch));
  }

  std::atomic<uint64_t> next{0};
  std::atomic<bool> failed{false};
  std::vector<std::vector<uint32_t>> times_us(threads);
  const auto start = Clock::now();
  {
    std::vector<std::jthread> writers;
    for (size_t t = 0; t < threads; ++t) {
      writers.emplace_back([&, &times = times_us[t]] {
        rocksdb::WriteOptions options;
        options.sync = true;
        for (uint64_t i = next++; i < count && !failed; i = next++) {
          const auto begun = Clock::now();
          if (begun - start > time_max) break;
          if (!database->db->Write(options, &batches[i]).ok()) failed = true;
          times.push_back(static_cast<uint32_t>(
              std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun).count()));
        }
      });
    }
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (failed) return fail(Code::internal, "a write failed");

  std::vector<uint32_t> all;
  for (const auto& times : times_us) all.insert(all.end(), times.begin(), times.end());
  std::ranges::sort(all);
  auto percentile = [&all](double part) {
    return all.empty() ? 0 : all[static_cast<size_t>(part * static_cast<double>(all.size() - 1))];
  };
  fmt::print(R"({{"writes":{},"seconds":{:.3f},"bytes_per_write":{},"per_second":{:.0f},)"
             R"("p50_us":{},"p99_us":{}}})"
             "\n",
             all.size(), seconds, bytes / count, static_cast<double>(all.size()) / seconds,
             percentile(0.5), percentile(0.99));
  return {};
}

}  // namespace
}  // namespace orrery::bench

int main(int argc, char** argv) {
  if (auto ran = orrery::bench::run(argc, argv); !ran) {
    fmt::print(stderr, "raw_rocksdb: {}\n", ran.error().message);
    return 1;
  }
}

// The limit that feeds are compared with: walking RocksDB alone over the files of a partition that
// nobody has open, reading every value.
//
//   raw_walk --data DIR --partition c1-p0
//
// Walks `items` in the order of its keys, and `changes` with a look at the item of each entry.
// Prints one line of JSON.
#include <fmt/format.h>
#include <rocksdb/db.h>

#include <chrono>
#include <cstdio>
#include <memory>

#include "base/result.h"
#include "sample.h"

namespace orrery::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Database {
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> families;

  Database() = default;
  Database(Database&&) = default;
  ~Database() {
    for (auto* family : families) db->DestroyColumnFamilyHandle(family);
  }
  Result<rocksdb::ColumnFamilyHandle*> family(std::string_view name) const {
    for (auto* one : families) {
      if (one->GetName() == name) return one;
    }
    return fail(Code::not_found, fmt::format("there is no column family '{}'", name));
  }
};

Result<Database> open(const std::string& directory) {
  std::vector<std::string> names;
  auto listed = rocksdb::DB::ListColumnFamilies(rocksdb::DBOptions(), directory, &names);
  if (!listed.ok()) return fail(Code::internal, listed.ToString());
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const std::string& name : names) families.emplace_back(name, rocksdb::ColumnFamilyOptions());
  Database database;
  rocksdb::DB* db = nullptr;
  auto opened = rocksdb::DB::OpenForReadOnly(rocksdb::DBOptions(), directory, families,
                                             &database.families, &db);
  if (!opened.ok()) return fail(Code::internal, opened.ToString());
  database.db.reset(db);
  return database;
}

struct Walk {
  uint64_t entries = 0;
  uint64_t bytes = 0;
  double per_second = 0;
};

// `items` is null to count the values of `family` itself.
Result<Walk> walk(const Database& database, rocksdb::ColumnFamilyHandle* family,
                  rocksdb::ColumnFamilyHandle* items) {
  const auto start = Clock::now();
  Walk walk;
  std::unique_ptr<rocksdb::Iterator> it(database.db->NewIterator(rocksdb::ReadOptions(), family));
  rocksdb::PinnableSlice value;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    ++walk.entries;
    if (items == nullptr) {
      walk.bytes += it->value().size();
      continue;
    }
    value.Reset();
    const auto got = database.db->Get(rocksdb::ReadOptions(), items, it->value(), &value);
    if (!got.ok()) return fail(Code::internal, got.ToString());
    walk.bytes += value.size();
  }
  if (!it->status().ok()) return fail(Code::internal, it->status().ToString());
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  walk.per_second = static_cast<double>(walk.entries) / seconds;
  return walk;
}

Status run(int argc, char** argv) {
  const std::string directory = fmt::format("{}/partitions/{}/db", option(argc, argv, "--data", ""),
                                            option(argc, argv, "--partition", ""));
  auto database = open(directory);
  if (!database) return pass(database.error());
  auto items = database->family("items");
  auto changes = database->family("changes");
  if (!items) return pass(items.error());
  if (!changes) return pass(changes.error());
  auto by_key = walk(*database, *items, nullptr);
  if (!by_key) return pass(by_key.error());
  auto by_change = walk(*database, *changes, *items);
  if (!by_change) return pass(by_change.error());
  fmt::print(R"({{"items":{},"items_per_second":{:.0f},"changes":{},"changes_per_second":{:.0f}}})"
             "\n",
             by_key->entries, by_key->per_second, by_change->entries, by_change->per_second);
  return {};
}

}  // namespace
}  // namespace orrery::bench

int main(int argc, char** argv) {
  if (auto ran = orrery::bench::run(argc, argv); !ran) {
    fmt::print(stderr, "raw_walk: {}\n", ran.error().message);
    return 1;
  }
}

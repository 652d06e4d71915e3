// What the tests of this folder share: a partition in a temporary directory, a clock that stands
// still, and writes that wait for their outcome. Included by tests only.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fault.h"
#include "base/limits.h"
#include "partition/format.h"
#include "partition/partition.h"
#include "partition/test_volume.h"
#include "value/placement.h"
#include "value/shape.h"
#include "value/terms.h"

namespace orrery::partition {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "orrery-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline value::Path path_of(std::string_view text) {
  return value::parse_property_path(text).value();
}

inline value::IndexPolicy policy_of(const std::vector<std::pair<std::string, bool>>& rules) {
  std::vector<value::IndexRule> parsed;
  for (const auto& [text, include] : rules) {
    parsed.push_back({.path = value::parse_index_path(text).value(), .include = include});
  }
  return value::IndexPolicy({.rules = parsed});
}

inline std::shared_ptr<Schema> indexing_everything() {
  auto schema = std::make_shared<Schema>();
  schema->index = value::IndexPolicy::everything();
  return schema;
}

// A body with an id and further members, as JSON members without braces: `"n":1`.
inline std::string body_of(std::string_view row, std::string_view members = "") {
  std::string body = "{\"id\":\"" + std::string(row) + "\"";
  if (!members.empty()) body += "," + std::string(members);
  return body + "}";
}

// The placement is the key itself here: a partition only sorts it.
inline const value::KeyDefinition kPlainKeys{.placement = value::Placement::range, .paths = {}};

inline Write write_of(Verb verb, std::string_view key, std::string_view row,
                      const std::shared_ptr<const Schema>& schema, std::string_view members = "") {
  Write write;
  write.verb = verb;
  write.placement = key;
  write.row = row;
  if (verb != Verb::remove && verb != Verb::expire) write.body = body_of(row, members);
  write.key_text = "[\"" + std::string(key) + "\"]";
  write.schema = schema;
  return write;
}

inline std::vector<Write> one(Write write) {
  std::vector<Write> transaction;
  transaction.push_back(std::move(write));
  return transaction;
}

template <class... Writes>
std::vector<Write> all_of(Writes... writes) {
  std::vector<Write> transaction;
  (transaction.push_back(std::move(writes)), ...);
  return transaction;
}

inline Outcome commit(Partition& partition, std::vector<Write> transaction) {
  std::promise<Outcome> promise;
  std::future<Outcome> outcome = promise.get_future();
  partition.submit(std::move(transaction),
                   [&promise](Outcome done) { promise.set_value(std::move(done)); });
  return outcome.get();
}

inline Outcome commit(Partition& partition, Write write) {
  return commit(partition, one(std::move(write)));
}

inline std::optional<Code> code_of(const Outcome& outcome) {
  return outcome.error ? std::optional(outcome.error->code) : std::nullopt;
}

using Terms = std::vector<std::pair<std::string, ItemKey>>;

inline bool operator<(const ItemKey& a, const ItemKey& b) {
  return std::tie(a.placement, a.row) < std::tie(b.placement, b.row);
}

// Everything in the partition, for comparing.
inline std::map<ItemKey, Item> items_of(const Partition& partition) {
  std::map<ItemKey, Item> items;
  Page page = partition.scan("", "\xFF", nullptr, 1'000'000, SIZE_MAX, Schema{}).value();
  for (auto& [key, item] : page.items) items.emplace(std::move(key), std::move(item));
  return items;
}

// The terms that the stored bodies should have, where there are fewer shapes than are remembered.
inline Terms expected_terms(const Partition& partition, const value::IndexPolicy& policy) {
  Terms terms;
  for (const auto& [key, item] : items_of(partition)) {
    auto json = value::JsonDocument::parse(item.body);
    EXPECT_TRUE(json.has_value());
    std::set<std::string> of_item;
    policy.each_term(json->root(), [&](std::string_view term) { of_item.emplace(term); });
    for (const std::string& term : of_item) terms.emplace_back(term, key);
    if (!policy.has_shapes()) continue;
    const std::vector<std::string_view> sorted(of_item.begin(), of_item.end());
    terms.emplace_back(value::shape_term(value::shape_hash(value::shape_of(sorted).value())), key);
  }
  std::ranges::sort(terms);
  return terms;
}

inline Terms sorted_terms(const Partition& partition) {
  Terms terms = partition.all_terms().value();
  std::ranges::sort(terms);
  return terms;
}

inline Usage recomputed_usage(const Partition& partition) {
  Usage usage;
  for (const auto& [key, item] : items_of(partition)) {
    usage.bytes += key.row.size() + item.body.size();
    ++usage.items;
  }
  return usage;
}

// What can happen to the files of a database while nobody has it open, each of which loses commits
// that were acknowledged. The database has some in its log and some in tables.
struct Loss {
  std::string name;
  std::function<void(const std::string& directory)> happen;
};
inline std::vector<Loss> losses() {
  namespace fs = std::filesystem;
  auto newest = [](const std::string& directory, std::string_view start, std::string_view ending) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(directory)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(start) && name.ends_with(ending)) found.push_back(entry.path());
    }
    EXPECT_FALSE(found.empty()) << start << "*" << ending << " in " << directory;
    return found.empty() ? fs::path() : *std::ranges::max_element(found);
  };
  auto log = [newest](const std::string& directory) { return newest(directory, "0", ".log"); };
  auto manifest = [newest](const std::string& directory) {
    return newest(directory, "MANIFEST-", "");
  };
  auto cut = [](const fs::path& path, uint64_t bytes) { fs::resize_file(path, bytes); };
  return {
      {"LogRemoved", [=](const std::string& at) { fs::remove(log(at)); }},
      {"LogEmptied", [=](const std::string& at) { cut(log(at), 0); }},
      {"LogHalved", [=](const std::string& at) { cut(log(at), fs::file_size(log(at)) / 2); }},
      {"LogsLastCommitCut",
       [=](const std::string& at) { cut(log(at), fs::file_size(log(at)) - 9); }},
      {"LogsLastCommitDamaged",
       [=](const std::string& at) {
         std::fstream file(log(at), std::ios::in | std::ios::out | std::ios::binary);
         file.seekp(-5, std::ios::end);
         file.put('\x5A');
       }},
      {"ManifestRemoved", [=](const std::string& at) { fs::remove(manifest(at)); }},
      {"ManifestEmptied", [=](const std::string& at) { cut(manifest(at), 0); }},
      {"ManifestHalved",
       [=](const std::string& at) { cut(manifest(at), fs::file_size(manifest(at)) / 2); }},
      {"ManifestsLastEditCut",
       [=](const std::string& at) { cut(manifest(at), fs::file_size(manifest(at)) - 1); }},
      {"TableRemoved", [=](const std::string& at) { fs::remove(newest(at, "0", ".sst")); }},
  };
}

// Opens what a test has just let go of: the writer's job may hold a reference for a moment after
// completing the caller.
template <class Open>
auto once_free(const Open& open) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  for (;;) {
    auto opened = open();
    if (opened || opened.error().code != Code::moved || std::chrono::steady_clock::now() > end) {
      return opened;
    }
    std::this_thread::yield();
  }
}

class PartitionTest : public testing::Test {
 public:
  ~PartitionTest() override { fault::disarm_all(); }

 protected:
  PartitionTest() {
    limits_.block_cache_bytes = 8ULL << 20;
    limits_.write_buffer_bytes = 8ULL << 20;
    volume_ = open_test_volume(directory_.path());
    shared_ = std::make_unique<Shared>(limits_, clock_);
    schema_ = indexing_everything();
  }

  Result<std::shared_ptr<Partition>> try_open(std::string_view name = "p1") {
    return once_free([&] { return Partition::open(*shared_, *volume_, name, identity_); });
  }
  std::shared_ptr<Partition> open(std::string_view name = "p1") {
    auto opened = try_open(name);
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    return opened.value_or(nullptr);
  }

  Write create(std::string_view key, std::string_view row, std::string_view members = "") const {
    return write_of(Verb::create, key, row, schema_, members);
  }
  Write upsert(std::string_view key, std::string_view row, std::string_view members = "") const {
    return write_of(Verb::upsert, key, row, schema_, members);
  }
  Write replace(std::string_view key, std::string_view row, std::string_view members = "") const {
    return write_of(Verb::replace, key, row, schema_, members);
  }
  Write remove(std::string_view key, std::string_view row) const {
    return write_of(Verb::remove, key, row, schema_);
  }

  std::string database_of(std::string_view name) const {
    return directory_.path() + "/partitions/" + std::string(name) + "/db";
  }
  // Files of the partition's database whose names end so.
  std::vector<std::string> files_of(std::string_view name, std::string_view ending) const {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(database_of(name))) {
      if (entry.path().string().ends_with(ending)) files.push_back(entry.path().string());
    }
    std::ranges::sort(files);
    return files;
  }

  TemporaryDirectory directory_;
  ManualClock clock_;
  Limits limits_;
  std::unique_ptr<volume::Volume> volume_;
  std::unique_ptr<Shared> shared_;
  std::shared_ptr<Schema> schema_;
  Partition::Identity identity_{.range = 7, .min = "", .max = "\xFF"};
};

}  // namespace orrery::partition

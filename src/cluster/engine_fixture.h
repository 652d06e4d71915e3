// What the tests of this folder share: an engine on a temporary directory, and operations that wait
// for their outcome. Included by tests only.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/await.h"
#include "base/clock.h"
#include "base/fault.h"
#include "cluster/engine.h"
#include "partition/partition_fixture.h"
#include "partition/test_volume.h"
#include "prices/request_units.h"

namespace orrery::cluster {

inline constexpr std::string_view kFace = "face";  // of the databases

inline value::KeyDefinition key_of(value::Placement placement = value::Placement::hash_v2) {
  return {.placement = placement, .paths = {value::parse_property_path("/pk").value()}};
}

inline std::string place(const Routing& routing, std::string_view key) {
  const value::KeyDefinition& definition = routing.container->spec.key;
  if (definition.paths.empty()) return value::place(definition, {});
  value::KeyPart part;
  part.type = value::Type::string;
  part.text = key;
  return value::place(definition, {part});
}

inline partition::Write write_of(const Routing& routing, partition::Verb verb, std::string_view key,
                                 std::string_view row, std::string_view members = "") {
  partition::Write write = partition::write_of(verb, key, row, routing.schema, members);
  write.placement = place(routing, key);
  return write;
}

inline std::string pad(size_t bytes) {
  return "\"pad\":\"" + std::string(bytes, 'x') + "\"";
}

class EngineTest : public testing::Test {
 public:
  ~EngineTest() override { fault::disarm_all(); }

 protected:
  EngineTest() {
    options_.throttling = Throttling::report;
    options_.sync_commits = false;
    options_.prices = &prices::kRequestUnits;
    options_.limits.block_cache_bytes = 8ULL << 20;
    options_.limits.write_buffer_bytes = 32ULL << 20;
    // So that 20,000 units are two partitions, whether they are given at once or later.
    options_.limits.initial_partition_throughput = options_.limits.partition_throughput;
  }

  virtual std::string folder() { return directory_.path(); }
  virtual std::unique_ptr<volume::Volume> open_volume() {
    return partition::open_test_volume(folder());
  }

  void open() {
    engine_.reset();
    volume_ = open_volume();
    auto opened = Engine::open(*volume_, clock_, options_);
    ASSERT_TRUE(opened) << opened.error().message;
    engine_ = std::move(*opened);
    if (!engine_->catalog().database({kFace, "db"})) {
      ASSERT_TRUE(engine_->create_database({kFace, "db"}, std::nullopt));
    }
    database_ = engine_->catalog().database({kFace, "db"})->number;
  }

  RoutingPtr make(std::string_view name, uint32_t units = 400,
                  const value::KeyDefinition& key = key_of()) {
    catalog::ContainerSpec spec;
    spec.name = name;
    spec.key = key;
    spec.index_rules = {{.path = value::parse_index_path("/*").value(), .include = true}};
    auto made = engine_->create_container(database_, spec, catalog::Throughput{.units = units});
    EXPECT_TRUE(made) << made.error().message;
    return made.value_or(nullptr);
  }
  RoutingPtr find(std::string_view name) const { return engine_->find({kFace, "db"}, name); }

  WriteReply write(const RoutingPtr& routing, partition::Write write) {
    return await<WriteReply>([&](auto done) {
             engine_->write(routing, partition::one(std::move(write)), std::move(done));
           })
        .value();
  }
  WriteReply upsert(const RoutingPtr& routing, std::string_view key, std::string_view row,
                    std::string_view members = "") {
    return write(routing, write_of(*routing, partition::Verb::upsert, key, row, members));
  }
  Result<ReadReply> read(const RoutingPtr& routing, std::string_view key, std::string_view row,
                         const LsnDemand& demand = {}) {
    return await<Result<ReadReply>>([&](auto done) {
             engine_->read(routing, place(*routing, key), std::string(row), demand,
                           std::move(done));
           })
        .value();
  }
  // Rows "0" … of keys "k0" …, spread over many logical partitions.
  void load(const RoutingPtr& routing, int from, int to, size_t bytes = 100) {
    for (int i = from; i < to; ++i) {
      auto reply = upsert(routing, "k" + std::to_string(i), std::to_string(i), pad(bytes));
      ASSERT_FALSE(reply.error) << reply.error->message;
    }
  }
  // Every row of the feed, in its order.
  std::vector<std::string> rows(RoutingPtr routing, size_t page_size = 7) {
    std::vector<std::string> all;
    std::optional<partition::ItemKey> after;
    for (bool more = true; more;) {
      auto reply = engine_->feed(routing, value::placement_min(), value::placement_max(),
                                 after ? &*after : nullptr, page_size, {});
      EXPECT_TRUE(reply) << reply.error().message;
      if (!reply) return all;
      for (const auto& [key, item] : reply->page.items) all.push_back(key.row);
      more = reply->page.more;
      if (more) after = reply->page.last;
    }
    return all;
  }
  // That rows "0" to "count - 1" of load() are there, each once, by feed and one by one.
  void expect_all(const RoutingPtr& routing, int count) {
    std::vector<std::string> expected;
    for (int i = 0; i < count; ++i) {
      expected.push_back(std::to_string(i));
      auto reply = read(routing, "k" + std::to_string(i), std::to_string(i));
      ASSERT_TRUE(reply) << reply.error().message;
      EXPECT_TRUE(reply->item) << i;
    }
    EXPECT_THAT(rows(routing), testing::UnorderedElementsAreArray(expected));
  }
  uint64_t items_by_usage(uint32_t container) {
    uint64_t items = 0;
    auto statuses = engine_->status(container);
    EXPECT_TRUE(statuses);
    for (const PartitionStatus& one : *statuses) items += one.usage.items;
    return items;
  }

  size_t open_now() const {
    size_t count = 0;
    engine_->each_open([&](const Routing&, const Slot&, const partition::Partition&) { ++count; });
    return count;
  }

  static bool eventually(const std::function<bool()>& question) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!question()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }
  std::vector<std::string> files() const { return volume_->list().value(); }
  // Folders of what was removed and is still kept.
  std::vector<std::string> removed_files() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder() + "/removed")) {
      names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  }
  // The volume's names that the maps call for; those of partitions never written to are not there.
  std::vector<std::string> named_files() const {
    std::vector<std::string> names = {"catalog"};
    for (const auto& container : engine_->catalog().all_containers()) {
      for (const auto& range : container->map->ranges) names.push_back(range.volume_name);
    }
    return names;
  }

  partition::TemporaryDirectory directory_;
  ManualClock clock_;
  EngineOptions options_;
  std::unique_ptr<volume::Volume> volume_;
  std::unique_ptr<Engine> engine_;
  uint32_t database_ = 0;
};

}  // namespace orrery::cluster

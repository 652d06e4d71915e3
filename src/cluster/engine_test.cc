// Databases, containers, items and feeds through the engine, over several partitions.
#include "cluster/engine.h"

#include <fstream>

#include "cluster/engine_fixture.h"

namespace orrery::cluster {
namespace {

using partition::Verb;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(EngineTest, ContainersAreFoundByFaceAndName) {
  open();
  const auto other = engine_->create_database({"other", "db"}, std::nullopt).value();
  catalog::ContainerSpec spec;
  spec.name = "same";
  const catalog::Throughput throughput{.units = 400};
  const auto mine = engine_->create_container(database_, spec, throughput).value();
  const auto theirs = engine_->create_container(other->number, spec, throughput).value();
  EXPECT_EQ(engine_->find({kFace, "db"}, "same")->container->number, mine->container->number);
  EXPECT_EQ(engine_->find({"other", "db"}, "same")->container->number, theirs->container->number);
  ASSERT_TRUE(engine_->remove_container(mine->container->number));
  EXPECT_EQ(engine_->find({kFace, "db"}, "same"), nullptr);
  EXPECT_NE(engine_->find({"other", "db"}, "same"), nullptr);
}

TEST_F(EngineTest, A9HashSpaceIsDividedEvenly) {
  open();
  for (auto placement : {value::Placement::hash_v1, value::Placement::hash_v2}) {
    auto routing =
        make(placement == value::Placement::hash_v1 ? "v1" : "v2", 30'000, key_of(placement));
    const auto boundaries = value::divide_evenly(placement, 3);
    ASSERT_EQ(routing->slots.size(), 3);
    EXPECT_EQ(routing->slots[0]->range.max, boundaries[0]);
    EXPECT_EQ(routing->slots[1]->range.min, boundaries[0]);
    EXPECT_EQ(routing->slots[2]->range.min, boundaries[1]);
    EXPECT_EQ(routing->slots[2]->range.id, 2);
  }
  EXPECT_THAT(files(), ElementsAre("catalog")) << "making a container makes no files";
}

TEST_F(EngineTest, ItemsOverSeveralPartitions) {
  open();
  auto routing = make("c", 50'000);
  load(routing, 0, 60);
  expect_all(routing, 60);
  std::set<uint32_t> used;
  for (int i = 0; i < 60; ++i) {
    used.insert(routing->slot_of(place(*routing, "k" + std::to_string(i)))->range.id);
  }
  EXPECT_EQ(used.size(), 5);

  EXPECT_EQ(write(routing, write_of(*routing, Verb::create, "k1", "1")).error->code,
            Code::conflict);
  EXPECT_FALSE(write(routing, write_of(*routing, Verb::remove, "k1", "1")).error);
  EXPECT_EQ(write(routing, write_of(*routing, Verb::remove, "k1", "1")).error->code,
            Code::not_found);
  EXPECT_EQ(write(routing, write_of(*routing, Verb::replace, "k1", "1")).error->code,
            Code::not_found);
  EXPECT_FALSE(read(routing, "k1", "1")->item);

  open();
  routing = find("c");
  EXPECT_FALSE(read(routing, "k1", "1")->item);
  EXPECT_EQ(rows(routing).size(), 59);
  EXPECT_EQ(items_by_usage(routing->container->number), 59);
  auto largest = engine_->largest(routing->container->number, 5);
  ASSERT_TRUE(largest);
  ASSERT_EQ(largest->size(), 5);
  EXPECT_GE((*largest)[0].usage.bytes, (*largest)[4].usage.bytes);
}

TEST_F(EngineTest, ReceiptsTellRangeLsnAndCharge) {
  open();
  auto routing = make("c");
  auto first = upsert(routing, "a", "1", pad(900));
  auto second = upsert(routing, "a", "2", pad(900));
  EXPECT_EQ(second.receipt.lsn, first.receipt.lsn + 1);
  EXPECT_GT(first.receipt.charge, 0);
  EXPECT_EQ(first.receipt.charge, second.receipt.charge);
  auto one = read(routing, "a", "1");
  EXPECT_EQ(one->receipt.lsn, second.receipt.lsn);
  EXPECT_NEAR(one->receipt.charge, 1, 0.05);
}

TEST_F(EngineTest, ASessionDemandsWhatItHasSeen) {
  open();
  auto routing = make("c");
  const uint64_t lsn = upsert(routing, "a", "1").receipt.lsn;
  auto demand = [](uint64_t wanted) {
    return LsnDemand([wanted](const catalog::PartitionRange&) { return std::optional(wanted); });
  };
  EXPECT_TRUE(read(routing, "a", "1", demand(lsn)));
  EXPECT_EQ(read(routing, "a", "1", demand(lsn + 1)).error().code, Code::behind);
  auto feed = [&](uint64_t wanted) {
    return engine_->feed(routing, "", "\xFF", nullptr, 10, demand(wanted));
  };
  EXPECT_TRUE(feed(lsn));
  EXPECT_EQ(feed(lsn + 1).error().code, Code::behind);
}

TEST_F(EngineTest, RemovedContainersLeaveNoFiles) {
  open();
  auto routing = make("c", 20'000);
  auto kept = make("kept");
  load(routing, 0, 20);
  load(kept, 0, 3);
  const std::string stem = "c" + std::to_string(routing->container->number) + "-";
  EXPECT_THAT(files(), Contains(StartsWith(stem)));
  ASSERT_TRUE(engine_->remove_container(routing->container->number));
  EXPECT_EQ(find("c"), nullptr);
  EXPECT_EQ(upsert(routing, "a", "1").error->code, Code::not_found);
  EXPECT_EQ(read(routing, "a", "1").error().code, Code::not_found);
  EXPECT_EQ(engine_->feed(routing, "", "\xFF", nullptr, 10, {}).error().code, Code::not_found);
  EXPECT_TRUE(eventually([&] { return !testing::Value(files(), Contains(StartsWith(stem))); }));
  EXPECT_EQ(engine_->remove_container(routing->container->number).error().code, Code::not_found);
  auto again = make("c");
  EXPECT_TRUE(rows(again).empty());
  expect_all(kept, 3);
}

TEST_F(EngineTest, RemovedDatabasesTakeTheirContainersAlong) {
  open();
  load(make("a"), 0, 3);
  load(make("b"), 0, 3);
  ASSERT_TRUE(engine_->remove_database(database_));
  EXPECT_EQ(find("a"), nullptr);
  EXPECT_TRUE(eventually([&] { return files() == std::vector<std::string>{"catalog"}; }));
  open();
  EXPECT_EQ(find("a"), nullptr);
}

TEST_F(EngineTest, QuotasOfDatabasesAndContainers) {
  options_.limits.account_databases = 2;
  options_.limits.database_containers = 2;
  open();
  EXPECT_TRUE(engine_->create_database({kFace, "second"}, {}));
  EXPECT_EQ(engine_->create_database({kFace, "third"}, {}).error().code, Code::quota_exceeded);
  EXPECT_EQ(engine_->create_database({kFace, "db"}, {}).error().code, Code::conflict);
  make("a");
  make("b");
  catalog::ContainerSpec spec;
  spec.name = "c";
  EXPECT_EQ(engine_->create_container(database_, spec, {}).error().code, Code::quota_exceeded);
  spec.name = "a";
  EXPECT_EQ(engine_->create_container(database_, spec, {}).error().code, Code::conflict);
  EXPECT_EQ(engine_->create_container(999, spec, {}).error().code, Code::not_found);
}

TEST_F(EngineTest, TheContainerQuotaCountsClosedPartitionsToo) {
  options_.limits.container_bytes = 40'000;
  options_.limits.open_partitions = 1;
  open();
  auto routing = make("c", 20'000);
  int stored = 0;
  WriteReply reply;
  for (; stored < 100; ++stored) {
    reply = upsert(routing, "k" + std::to_string(stored), std::to_string(stored), pad(1000));
    if (reply.error) break;
  }
  ASSERT_TRUE(reply.error);
  EXPECT_EQ(reply.error->code, Code::quota_exceeded);
  EXPECT_THAT(reply.error->message, HasSubstr("container-bytes"));
  ASSERT_EQ(routing->slots.size(), 2U);
  EXPECT_EQ(open_now(), 1U);
  EXPECT_EQ(upsert(routing, "more", "1").error->code, Code::quota_exceeded);
  for (int i = 0; i < 5; ++i) {
    auto removed = write(
        routing, write_of(*routing, Verb::remove, "k" + std::to_string(i), std::to_string(i)));
    EXPECT_FALSE(removed.error) << "removing is how to get below it";
  }
  EXPECT_FALSE(upsert(routing, "more", "1").error);
}

TEST_F(EngineTest, ReplacingAContainerKeepsItsItemsAndItsKey) {
  open();
  auto before = make("c");
  load(before, 0, 5);
  catalog::ContainerSpec spec = before->container->spec;
  spec.default_life_ms = 100'000;
  auto after = engine_->replace_container(before->container->number, spec);
  ASSERT_TRUE(after);
  EXPECT_EQ((*after)->container->index_version, before->container->index_version);
  EXPECT_EQ((*after)->schema->default_life_ms, 100'000);
  EXPECT_EQ((*after)->slots[0], before->slots[0]);
  expect_all(*after, 5);
  clock_.advance_ms(101'000);
  EXPECT_FALSE(read(*after, "k1", "1")->item);
  EXPECT_TRUE(rows(*after).empty());
  EXPECT_TRUE(eventually([&] { return items_by_usage(before->container->number) == 0; }));
  spec.key = key_of(value::Placement::hash_v1);
  EXPECT_EQ(engine_->replace_container(before->container->number, spec).error().code,
            Code::invalid);
  EXPECT_EQ(engine_->replace_container(999, spec).error().code, Code::not_found);
}

TEST_F(EngineTest, AnyChangeOfWhatIsIndexedIsANewIndexVersion) {
  open();
  RoutingPtr routing = make("c");
  catalog::ContainerSpec spec = routing->container->spec;
  const auto replaced = [&] {
    const uint32_t before = routing->container->index_version;
    routing = engine_->replace_container(routing->container->number, spec).value();
    EXPECT_EQ(routing->schema->index_version, routing->container->index_version);
    return routing->container->index_version - before;
  };
  EXPECT_EQ(replaced(), 0U);
  spec.index_rules.push_back({.path = value::parse_index_path("/x/?").value(), .include = false});
  EXPECT_EQ(replaced(), 1U);
  spec.composite_indexes = {
      {.parts = {{.path = value::parse_property_path("/a").value()},
                 {.path = value::parse_property_path("/b").value(), .descending = true}}}};
  EXPECT_EQ(replaced(), 1U);
  EXPECT_EQ(replaced(), 0U);
  spec.composite_indexes[0].parts[0].descending = true;
  EXPECT_EQ(replaced(), 1U);
  spec.spatial_indexes = {value::parse_index_path("/place/*").value()};
  EXPECT_EQ(replaced(), 1U);
  spec.indexed = false;
  EXPECT_EQ(replaced(), 1U);
  spec.spatial_indexes.clear();
  EXPECT_EQ(replaced(), 0U) << "nothing is indexed before or after";
}

TEST_F(EngineTest, TheFeedOfARangeContainerFollowsItsKeys) {
  options_.limits.physical_partition_bytes = 60'000;
  open();
  auto routing = make("c", 20'000, key_of(value::Placement::range));
  ASSERT_EQ(routing->slots.size(), 1) << "a range cannot be divided before there are keys";
  EXPECT_EQ(engine_->split(routing->container->number, 0).error().code, Code::conflict);
  std::vector<std::string> sorted;
  for (int i = 0; i < 120; ++i) {
    const std::string key = std::to_string(1000 + (i * 37) % 120);
    ASSERT_FALSE(upsert(routing, key, key, pad(1000)).error);
    sorted.push_back(std::to_string(1000 + i));
  }
  EXPECT_TRUE(eventually([&] { return find("c")->slots.size() >= 2; }));
  EXPECT_EQ(rows(routing), sorted) << "with the routing from before the splits";
  EXPECT_EQ(rows(find("c")), sorted);
}

TEST_F(EngineTest, NoMorePartitionsAreOpenThanMayBe) {
  options_.limits.open_partitions = 3;
  open();
  std::vector<RoutingPtr> all;
  for (int i = 0; i < 12; ++i) {
    all.push_back(make("c" + std::to_string(i)));
    load(all.back(), 0, 3);
    EXPECT_LE(open_now(), 3U);
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 2; ++round) {
        for (size_t i = 0; i < all.size(); ++i) {
          auto reply = read(all[(i + 3 * static_cast<size_t>(t)) % all.size()], "k1", "1");
          EXPECT_TRUE(reply && reply->item);
          EXPECT_LE(open_now(), 3U);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const RoutingPtr& routing : all) {
    load(routing, 3, 5);
    expect_all(routing, 5);
  }
}

TEST_F(EngineTest, TheLongestUnusedIsClosed) {
  options_.limits.open_partitions = 2;
  open();
  auto first = make("a");
  auto second = make("b");
  auto third = make("c");
  load(first, 0, 1);
  clock_.advance_ms(2'000);
  load(second, 0, 1);
  clock_.advance_ms(2'000);
  load(first, 1, 2);
  clock_.advance_ms(2'000);
  // A writer's job has its partition for a moment longer than the write takes.
  EXPECT_TRUE(eventually([&] { return second->slots[0]->opened().use_count() == 2; }));
  load(third, 0, 1);
  EXPECT_TRUE(first->slots[0]->opened());
  EXPECT_FALSE(second->slots[0]->opened());
  EXPECT_TRUE(third->slots[0]->opened());
}

TEST_F(EngineTest, PartitionsInUseAreNotClosed) {
  options_.limits.open_partitions = 1;
  open();
  auto first = make("a");
  auto second = make("b");
  load(first, 0, 1);
  load(second, 0, 1);
  auto in_use = second->slots[0]->opened();
  ASSERT_TRUE(in_use);
  // It is tried until the one in use is let go.
  std::thread reader([&] {
    auto reply = read(first, "k0", "0");
    EXPECT_TRUE(reply && reply->item);
  });
  in_use.reset();
  reader.join();
  in_use = first->slots[0]->opened();
  ASSERT_TRUE(in_use);
  auto refused = read(second, "k0", "0");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::overloaded);
  EXPECT_THAT(refused.error().message, HasSubstr("open-partitions"));
}

TEST_F(EngineTest, OpeningHappensOnceForManyAtATime) {
  open();
  load(make("c", 20'000), 0, 20);
  open();
  auto routing = find("c");
  std::vector<std::thread> threads;
  std::atomic<int> found = 0;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&, i] {
      auto reply = read(routing, "k" + std::to_string(i), std::to_string(i));
      if (reply && reply->item) ++found;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found, 16);
}

TEST_F(EngineTest, ADamagedPartitionSaysSoAndOthersWork) {
  open();
  load(make("broken"), 0, 5);
  load(make("fine"), 0, 5);
  const std::string name = find("broken")->slots[0]->range.volume_name;
  engine_.reset();
  const std::string database = folder() + "/partitions/" + name + "/db";
  for (const auto& entry : std::filesystem::directory_iterator(database)) {
    if (!entry.path().filename().string().starts_with("MANIFEST")) continue;
    std::filesystem::resize_file(entry.path(), 10);
  }
  open();
  auto routing = find("broken");
  EXPECT_EQ(read(routing, "k1", "1").error().code, Code::corrupt);
  auto refused = upsert(routing, "k1", "1");
  ASSERT_TRUE(refused.error);
  EXPECT_EQ(refused.error->code, Code::corrupt);
  EXPECT_THAT(refused.error->message, HasSubstr(name));
  EXPECT_FALSE(engine_->feed(routing, "", "\xFF", nullptr, 10, {}));
  auto statuses = engine_->status(routing->container->number);
  ASSERT_TRUE(statuses);
  EXPECT_THAT((*statuses)[0].read_only_reason, HasSubstr(name));
  EXPECT_FALSE(engine_->split(routing->container->number, {}));
  expect_all(find("fine"), 5);
  ASSERT_TRUE(engine_->remove_container(routing->container->number));
  EXPECT_TRUE(eventually([&] { return !testing::Value(files(), Contains(name)); }));
}

TEST_F(EngineTest, FindsAnItemByTermInAnyPartition) {
  open();
  auto routing = make("c", 50'000);
  load(routing, 0, 20);
  std::string term = value::term_path(value::parse_property_path("/id").value());
  value::append_term_value(term, std::string_view("7"));
  auto found = engine_->find_by_term(routing, term);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->row, "7");
  ASSERT_TRUE(
      engine_->split(routing->container->number, routing->slot_of((*found)->placement)->range.id));
  EXPECT_TRUE(engine_->find_by_term(routing, term).value()) << "with a routing from before";
}

TEST_F(EngineTest, DeletionUnderLoad) {
  open();
  for (int round = 0; round < 3; ++round) {
    auto routing = make("c", 20'000);
    std::atomic<int> stored = 0;
    std::atomic<int> wrong = 0;
    std::vector<std::thread> writers;
    for (int w = 0; w < 4; ++w) {
      writers.emplace_back([&, w] {
        for (int i = 0; i < 100'000; ++i) {
          auto reply = upsert(routing, std::to_string(i), std::to_string(w));
          if (!reply.error) {
            ++stored;
            continue;
          }
          if (reply.error->code != Code::not_found) ++wrong;
          break;
        }
      });
    }
    EXPECT_TRUE(eventually([&] { return stored > 200; }));
    if (round == 1) EXPECT_TRUE(engine_->split(routing->container->number, {}));
    EXPECT_TRUE(engine_->remove_container(routing->container->number));
    for (std::thread& writer : writers) writer.join();
    EXPECT_EQ(wrong, 0);
  }
  EXPECT_TRUE(eventually([&] { return files() == std::vector<std::string>{"catalog"}; }));
}

// Splits and removals take the same locks: in one order, or this never ends.
TEST_F(EngineTest, RemovingWhileSplittingEmptyPartitions) {
  open();
  for (int round = 0; round < 20; ++round) {
    auto routing = make("c");
    const uint32_t number = routing->container->number;
    std::thread splitter([&] {
      while (engine_->split(number, {})) {
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(round));
    EXPECT_TRUE(engine_->remove_container(number));
    splitter.join();
  }
}

TEST_F(EngineTest, StoppingWhileWritesThatFillPartitionsAreQueued) {
  options_.limits.physical_partition_bytes = 20'000;
  for (int round = 0; round < 4; ++round) {
    open();
    auto routing = make("c" + std::to_string(round));
    std::atomic<int> left = 200;
    for (int i = 0; i < 200; ++i) {
      engine_->write(
          routing,
          partition::one(write_of(*routing, Verb::upsert, std::to_string(i), "1", pad(1000))),
          [&](const WriteReply& reply) {
            EXPECT_FALSE(reply.error);
            --left;
          });
    }
    engine_.reset();
    EXPECT_EQ(left, 0);
  }
}

TEST_F(EngineTest, AReadOfAPartitionThatKeepsMovingEnds) {
  open();
  const RoutingPtr routing = make("c");
  ASSERT_FALSE(upsert(routing, "k", "1").error);
  Slot& slot = *routing->slots.front();
  {
    MutexLock lock(slot.mutex);
    slot.partition = nullptr;
  }
  slot.gone = true;  // and no newer routing knows where it went
  auto reply = read(routing, "k", "1");
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Code::overloaded);
  const WriteReply written = upsert(routing, "k", "1");
  ASSERT_TRUE(written.error);
  EXPECT_EQ(written.error->code, Code::overloaded);
}

TEST_F(EngineTest, AReadFromMemoryDoesNotOpenAPartition) {
  open();
  const RoutingPtr routing = make("c");
  ASSERT_FALSE(upsert(routing, "k", "1").error);
  auto inline_reply = engine_->read_in_memory(*routing, place(*routing, "k"), "1", {}, 1);
  ASSERT_TRUE(inline_reply && *inline_reply);
  EXPECT_TRUE((**inline_reply).item);
  open();
  const RoutingPtr again = find("c");
  EXPECT_FALSE(engine_->read_in_memory(*again, place(*again, "k"), "1", {}, 1));
  EXPECT_TRUE(read(again, "k", "1")->item);
}

}  // namespace
}  // namespace orrery::cluster

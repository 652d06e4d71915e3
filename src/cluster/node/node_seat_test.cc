// Engines of several nodes over one volume, in one process: what each serves by the plan, what
// moves, and that the catalog's owner and its copies agree. Coordination is played by the tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/await.h"
#include "base/survive.h"
#include "cluster/engine.h"
#include "cluster/engine_fixture.h"
#include "cluster/node/budgets_elsewhere.h"
#include "cluster/node/catalog_caller.h"
#include "nodes/seat.h"
#include "peer/link.h"
#include "volume/objects/directory_store.h"
#include "volume/objects/object_volume.h"

namespace orrery::cluster {
namespace {

class NodesTest : public testing::Test {
 protected:
  struct Node {
    std::string name;
    std::unique_ptr<volume::Volume> volume;
    std::unique_ptr<Engine> engine;
  };

  // To a node by its name, which is its address here.
  class DirectLink final : public peer::Link {
   public:
    explicit DirectLink(NodesTest& test) : test_(test) {}
    void call(const std::string& address, std::string kind, std::string bytes,
              std::chrono::milliseconds, peer::Done done) override {
      ++calls_;
      const OnEnd over([this] { --calls_; });
      const auto found = test_.nodes_.find(address);
      if (closed_ || found == test_.nodes_.end()) {
        return done(fail(Code::overloaded, "no such node: " + address));
      }
      if (kind == kChangeCall) {
        done = [this, done = std::move(done)](Result<std::string> answer) mutable {
          if (test_.loses_answer()) {
            answer = fail(Code::internal, "the connection ended before the answer");
          }
          done(std::move(answer));
        };
      }
      found->second.engine->answer(kind, bytes, std::move(done));
    }

    // From here on it reaches nobody, and nobody is being asked.
    void close() {
      closed_ = true;
      while (calls_ > 0) std::this_thread::yield();
    }

   private:
    NodesTest& test_;
    std::atomic<int> calls_{0};
    std::atomic<bool> closed_{false};
  };

  NodesTest() {
    options_.throttling = Throttling::report;
    options_.sync_commits = false;
    options_.prices = &prices::kRequestUnits;
    options_.limits.block_cache_bytes = 8ULL << 20;
    options_.limits.write_buffer_bytes = 32ULL << 20;
    options_.limits.initial_partition_throughput = options_.limits.partition_throughput;
    options_.link = &link_;
    for (const char* name : {"a", "b"}) start(name);
    own("a");
    database_ = at("a").create_database({kFace, "db"}, std::nullopt).value()->number;
  }
  ~NodesTest() override {
    link_.close();  // upkeep of one may be asking another
    for (auto& [name, node] : nodes_) node.engine.reset();
  }

  void start(const std::string& name) {
    Node& node = nodes_[name];
    node.name = name;
    node.volume = volume::open_object_volume(store_, {.node_name = name,
                                                      .clock = [this] { return boot_us_.load(); },
                                                      .lease_renews_itself = false})
                      .value();
    EngineOptions options = options_;
    options.node = name;
    node.engine = Engine::open(*node.volume, clock_, options).value();
    node.engine->set_coordinator([this, name]() -> std::optional<std::string> {
      return coordinator_ == name ? std::nullopt : std::optional(coordinator_);
    });
  }
  void own(const std::string& name) {
    coordinator_ = name;
    auto owned = partition::once_free([&] { return at(name).seat()->own_catalog(); });
    ASSERT_TRUE(owned) << owned.error().message;
  }
  Engine& at(const std::string& name) { return *nodes_.at(name).engine; }

  // What coordination does all the time.
  void tell_news() {
    for (auto& [name, node] : nodes_) {
      if (name == coordinator_) continue;
      auto news = at(coordinator_).seat()->news(node.engine->seat()->catalog_lsn());
      ASSERT_TRUE(news) << news.error().message;
      auto applied = node.engine->seat()->apply(*news);
      ASSERT_TRUE(applied) << applied.error().message;
    }
  }
  // Of a change of the catalog.
  bool loses_answer() {
    return loses_answers_after_split_ && find(coordinator_, "c")->slots.size() > 1;
  }
  // Ranges in the order of the map, each with its node.
  void plan(const RoutingPtr& routing, const std::vector<std::string>& owners) {
    auto plan = std::make_shared<nodes::Plan>();
    plan->term = 1;
    plan->version = ++plans_;
    for (const auto& [name, node] : nodes_) {
      plan->members.push_back({.name = name, .address = name, .incarnation = name});
    }
    for (size_t i = 0; i < owners.size(); ++i) {
      plan->owners[{routing->container->number, routing->slots[i]->range.id}] =
          owners[i] == "a" ? 0 : 1;
    }
    for (auto& [name, node] : nodes_) node.engine->seat()->follow(plan);
  }

  RoutingPtr make(std::string_view name, uint32_t units) {
    catalog::ContainerSpec spec;
    spec.name = name;
    spec.key = key_of();
    auto made =
        at(coordinator_).create_container(database_, spec, catalog::Throughput{.units = units});
    EXPECT_TRUE(made) << made.error().message;
    tell_news();
    return made.value_or(nullptr);
  }
  RoutingPtr find(const std::string& node, std::string_view name) {
    return at(node).find({kFace, "db"}, name);
  }
  std::optional<Error> write(const std::string& node, const RoutingPtr& routing,
                             const std::string& key) {
    return await<WriteReply>([&](auto done) {
             at(node).write(routing,
                            partition::one(write_of(*routing, partition::Verb::upsert, key, "r")),
                            std::move(done));
           })
        ->error;
  }
  Result<ReadReply> read(const std::string& node, const RoutingPtr& routing,
                         const std::string& key) {
    return await<Result<ReadReply>>([&](auto done) {
             at(node).read(routing, place(*routing, key), "r", {}, std::move(done));
           })
        .value();
  }
  // b splits what it serves. The owner of the catalog, a, has the new map; b does not know it while
  // loses_answers_after_split_.
  std::thread begin_split_in_doubt() {
    const RoutingPtr routing = make("c", 400);
    plan(routing, {"b"});
    for (int i = 0; i < 30; ++i) {
      EXPECT_FALSE(write("b", find("b", "c"), "k" + std::to_string(i)));
    }
    loses_answers_after_split_ = true;
    std::thread splitter([this, number = routing->container->number] {
      static_cast<void>(at("a").split(number, 0));
    });
    while (find("a", "c")->slots.size() < 2) std::this_thread::yield();
    tell_news();
    return splitter;
  }
  // A key of the routing's i-th range.
  static std::string key_in(const Routing& routing, size_t i) {
    for (int n = 0;; ++n) {
      std::string key = "k" + std::to_string(n);
      if (routing.slot_of(place(routing, key)) == routing.slots[i]) return key;
    }
  }

  partition::TemporaryDirectory directory_;
  std::shared_ptr<volume::ObjectStore> store_ =
      volume::open_directory_store(directory_.path() + "/objects").value();
  ManualClock clock_;
  std::atomic<int64_t> boot_us_{1'000'000};  // of leases: it stands still
  EngineOptions options_;
  DirectLink link_{*this};
  std::map<std::string, Node> nodes_;
  std::string coordinator_;
  uint32_t database_ = 0;
  uint64_t plans_ = 0;
  std::atomic<bool> loses_answers_after_split_{false};
};

TEST_F(NodesTest, EachServesWhatThePlanNamesItFor) {
  const RoutingPtr routing = make("c", 20'000);
  ASSERT_EQ(routing->slots.size(), 2U);
  const std::string first = key_in(*routing, 0);
  const std::string second = key_in(*routing, 1);
  EXPECT_EQ(write("a", routing, first)->code, Code::elsewhere) << "there is no plan yet";
  plan(routing, {"a", "b"});
  const RoutingPtr there = find("b", "c");
  ASSERT_TRUE(there);
  EXPECT_FALSE(write("a", routing, first));
  EXPECT_EQ(write("b", there, first)->code, Code::elsewhere);
  EXPECT_EQ(at("b").placement()->address_of(*there->slots[0]), "a");
  EXPECT_EQ(at("b").placement()->address_of(*there->slots[1]), std::nullopt);
  EXPECT_FALSE(write("b", there, second));
  EXPECT_EQ(read("a", routing, second).error().code, Code::elsewhere);
  EXPECT_TRUE(read("b", there, second)->item);
  EXPECT_TRUE(at("a").catalog().has_files(routing->slots[1]->range)) << "b told the owner";
}

TEST_F(NodesTest, APartitionMovesWithAllThatIsInIt) {
  const RoutingPtr routing = make("c", 400);
  plan(routing, {"a"});
  EXPECT_FALSE(write("a", routing, "k"));
  plan(routing, {"b"});
  // b waits for a to let go.
  EXPECT_TRUE(read("b", find("b", "c"), "k")->item);
  EXPECT_EQ(read("a", routing, "k").error().code, Code::elsewhere);
  while (!at("a").seat()->is_quiet()) std::this_thread::yield();  // its thread says so by and by
  EXPECT_FALSE(write("b", find("b", "c"), "more"));
  plan(routing, {"a"});
  EXPECT_TRUE(read("a", routing, "more")->item);
}

TEST_F(NodesTest, ANodeSplitsWhatItServesAndAllKnow) {
  const RoutingPtr routing = make("c", 400);
  plan(routing, {"b"});
  for (int i = 0; i < 30; ++i) {
    ASSERT_FALSE(write("b", find("b", "c"), "k" + std::to_string(i)));
  }
  // The coordinator asks b, which has the partition.
  auto news = [&] { tell_news(); };
  std::thread follower([&] {
    for (int i = 0; i < 200 && find("b", "c")->slots.size() < 2; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    news();
  });
  auto split = at("a").split(routing->container->number, 0);
  follower.join();
  ASSERT_TRUE(split) << split.error().message;
  EXPECT_EQ(find("a", "c")->slots.size(), 2U);
  const RoutingPtr there = find("b", "c");
  ASSERT_EQ(there->slots.size(), 2U);
  EXPECT_TRUE(there->slots[0]->here) << "children stay where their parent was";
  EXPECT_FALSE(find("a", "c")->slots[0]->here);
  for (int i = 0; i < 30; ++i) {
    EXPECT_TRUE(read("b", there, "k" + std::to_string(i))->item);
    EXPECT_EQ(read("a", find("a", "c"), "k" + std::to_string(i)).error().code, Code::elsewhere);
  }
  // And one of them goes on to another node.
  plan(there, {"a", "b"});
  const RoutingPtr here = find("a", "c");
  int at_a = 0;
  for (int i = 0; i < 30; ++i) {
    auto found = read("a", here, "k" + std::to_string(i));
    if (!found) continue;
    EXPECT_TRUE(found->item);
    ++at_a;
  }
  EXPECT_GT(at_a, 0);
}

TEST_F(NodesTest, AChildThatIsGivenAwayBeforeItsSplitIsKnownIsLetGo) {
  std::thread splitter = begin_split_in_doubt();
  const RoutingPtr here = find("a", "c");
  plan(here, {"a", "b"});
  loses_answers_after_split_ = false;
  const std::string left = key_in(*here, 0);
  const std::string right = key_in(*here, 1);
  EXPECT_FALSE(write("a", here, left)) << "a waits for b to let go, in vain";
  EXPECT_TRUE(read("a", here, left)->item);
  EXPECT_FALSE(write("b", find("b", "c"), right));
  splitter.join();
}

// The same for a child that stays: a request wants it before the node knows that it has made it.
TEST_F(NodesTest, AChildThatIsWantedBeforeItsSplitIsKnownIsServed) {
  std::thread splitter = begin_split_in_doubt();
  plan(find("a", "c"), {"b", "b"});
  const RoutingPtr here = find("b", "c");
  ASSERT_EQ(here->slots.size(), 2U);
  std::optional<Error> refused;
  std::thread writer([&] { refused = write("b", here, key_in(*here, 0)); });
  for (Mutex& opening = here->slots[0]->open_mutex; opening.try_lock(); std::this_thread::yield()) {
    opening.unlock();
  }
  loses_answers_after_split_ = false;
  writer.join();
  EXPECT_FALSE(refused) << refused->message;
  {
    Slot& child = *here->slots[0];
    const MutexLock lock(child.open_mutex);
    EXPECT_FALSE(child.open_error) << "it waited for itself to let go, for ten seconds";
  }
  splitter.join();
}

// The node asked for a change, and the answer told of a container that it had not heard of.
TEST_F(NodesTest, WhatTheAnswerToAChangeTellsIsRoutedWithTheNextNews) {
  const RoutingPtr routing = make("c", 400);
  plan(routing, {"b"});
  catalog::ContainerSpec spec;
  spec.name = "later";
  spec.key = key_of();
  ASSERT_TRUE(at("a").create_container(database_, spec, catalog::Throughput{}));
  ASSERT_FALSE(write("b", find("b", "c"), "k")) << "b tells the catalog that it has opened it";
  ASSERT_EQ(at("b").catalog().lsn(), at("a").catalog().lsn());
  EXPECT_LT(at("b").placement()->catalog_lsn(), at("a").catalog().lsn()) << "nor says that it has";
  EXPECT_FALSE(find("b", "later"));
  tell_news();
  EXPECT_TRUE(find("b", "later"));
  EXPECT_EQ(at("b").placement()->catalog_lsn(), at("a").catalog().lsn());
  // Whoever cannot wait for news has it before them.
  spec.name = "last";
  ASSERT_TRUE(at("a").create_container(database_, spec, catalog::Throughput{}));
  plan(find("b", "later"), {"b"});
  ASSERT_FALSE(write("b", find("b", "later"), "k"));
  const uint64_t lsn = at("a").catalog().lsn();
  ASSERT_TRUE(at("b").placement()->wait_for_catalog(lsn, std::chrono::steady_clock::now()));
  EXPECT_TRUE(find("b", "last"));
}

TEST_F(NodesTest, ANodeMergesWhatItServesAndAllKnow) {
  const RoutingPtr routing = make("c", 20'000);
  ASSERT_EQ(routing->slots.size(), 2U);
  const uint32_t number = routing->container->number;
  plan(routing, {"a", "b"});
  for (int i = 0; i < 30; ++i) {
    const std::string key = "k" + std::to_string(i);
    if (write("a", find("a", "c"), key)) ASSERT_FALSE(write("b", find("b", "c"), key));
  }
  auto apart = at("a").merge(number, 0, 1);
  ASSERT_FALSE(apart);
  EXPECT_EQ(apart.error().code, Code::conflict);
  EXPECT_NE(apart.error().message.find("different nodes"), std::string::npos);
  // Both at b now: the coordinator asks there.
  plan(routing, {"b", "b"});
  std::thread follower([&] {
    for (int i = 0; i < 200 && find("b", "c")->slots.size() > 1; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    tell_news();
  });
  auto merged = at("a").merge(number, 0, 1);
  follower.join();
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_EQ(find("a", "c")->slots.size(), 1U);
  const RoutingPtr there = find("b", "c");
  ASSERT_EQ(there->slots.size(), 1U);
  EXPECT_TRUE(there->slots[0]->here) << "it stays where its parents were";
  for (int i = 0; i < 30; ++i) {
    EXPECT_TRUE(read("b", there, "k" + std::to_string(i))->item);
  }
  // b removes the parents' files and tells a, which ends first.
  for (int i = 0; i < 3'000 && !at("a").catalog().removals().empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(at("a").catalog().removals().empty());
}

TEST_F(NodesTest, AnotherNodeTakesTheCatalogOver) {
  const RoutingPtr routing = make("c", 400);
  plan(routing, {"b"});
  EXPECT_FALSE(write("b", find("b", "c"), "k"));
  EXPECT_EQ(at("b").seat()->own_catalog().error().code, Code::moved) << "its owner lives";
  at("a").seat()->disown_catalog();
  own("b");
  EXPECT_TRUE(read("b", find("b", "c"), "k")->item) << "its partitions stayed open";
  make("more", 400);
  ASSERT_TRUE(find("a", "more"));
  EXPECT_EQ(at("a").create_database({kFace, "x"}, std::nullopt).error().code, Code::elsewhere);
  EXPECT_EQ(at("a").seat()->news(0).error().code, Code::moved);
}

TEST_F(NodesTest, WhatIsDroppedAtTheOwnerIsGoneEverywhere) {
  const RoutingPtr routing = make("c", 400);
  plan(routing, {"b"});
  const RoutingPtr there = find("b", "c");
  EXPECT_FALSE(write("b", there, "k"));
  ASSERT_TRUE(at("a").remove_container(routing->container->number));
  tell_news();
  EXPECT_FALSE(find("b", "c"));
  EXPECT_EQ(read("b", there, "k").error().code, Code::not_found);
}

TEST_F(NodesTest, WithoutAGoodLeaseNothingIsAnswered) {
  const RoutingPtr routing = make("c", 400);
  plan(routing, {"a"});
  EXPECT_FALSE(write("a", routing, "k"));
  EXPECT_TRUE(read("a", routing, "k")->item);
  boot_us_ += 10'000'000;  // nobody renewed it
  EXPECT_EQ(read("a", routing, "k").error().code, Code::overloaded);
  EXPECT_EQ(at("a").read_in_memory(*routing, place(*routing, "k"), "r", {}, 1).value().error().code,
            Code::overloaded);
  EXPECT_EQ(at("a").feed(routing, "", "\xFF", nullptr, 10, {}).error().code, Code::overloaded);
  EXPECT_EQ(at("a").changes(routing, "", "\xFF", {}, 10, {}).error().code, Code::overloaded);
  EXPECT_EQ(at("a").seat()->news(0).error().code, Code::moved);
}

TEST_F(NodesTest, WithoutAGoodLeaseTheCatalogsOwnerRefusesNothing) {
  const auto ask = [&] {
    auto answer = await<Result<std::string>>([&](auto done) {
      at("a").answer(kChangeCall, "no change that could be made", std::move(done));
    });
    return answer->error().code;
  };
  EXPECT_EQ(ask(), Code::invalid);
  boot_us_ += 10'000'000;  // another may own it by now, and make such a change
  EXPECT_EQ(ask(), Code::elsewhere);
}

TEST_F(NodesTest, AQueryIsChargedToTheBudgetOfTheOwner) {
  const RoutingPtr here = make("c", 20'000);
  plan(here, {"a", "b"});
  const RoutingPtr there = find("b", "c");
  const std::string first = place(*here, key_in(*here, 0));
  const std::string second = place(*here, key_in(*here, 1));
  EXPECT_EQ(at("a").admit_query(here, second).value(), 0U);
  at("a").pay_for_query(here, second, 50'000);
  EXPECT_GT(at("b").admit_query(there, second).value(), 0U) << "at its owner";
  EXPECT_GT(at("a").admit_query(here, second).value(), 0U) << "which has said so";
  EXPECT_EQ(at("a").admit_query(here, first).value(), 0U) << "that of another partition is its own";
  EXPECT_EQ(here->slots[1]->counters.charge.load(), 0);
  EXPECT_EQ(there->slots[1]->counters.charge.load(), 50'000);
  clock_.advance_ms(20'000);
  EXPECT_EQ(at("a").admit_query(here, second).value(), 0U);
  EXPECT_EQ(at("b").admit_query(there, second).value(), 0U);
  // One that is too late, or nonsense, is refused.
  const auto code = [&](const char* node, std::string bytes) {
    return await<Result<std::string>>(
               [&](auto done) { at(node).answer(kPayCall, bytes, std::move(done)); })
        ->error()
        .code;
  };
  const uint32_t container = here->container->number;
  const std::string paid = encode(
      ChargeElsewhere{.container = container, .range = here->slots[1]->range.id, .charge = 1});
  EXPECT_EQ(code("a", paid), Code::elsewhere);
  EXPECT_EQ(code("b", paid.substr(1)), Code::invalid);
}

TEST_F(NodesTest, ANewNodeBringsTheCatalogUpToDateByItself) {
  make("c", 400);
  start("d");
  EXPECT_FALSE(find("d", "c"));
  tell_news();
  EXPECT_TRUE(find("d", "c"));
  EXPECT_EQ(at("d").seat()->ranges().size(), 1U);
}

}  // namespace
}  // namespace orrery::cluster

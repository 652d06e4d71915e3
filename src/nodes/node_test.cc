// Nodes over a shared directory, with a clock and ticks that the test moves. What the simulation
// leaves to chance is here one story at a time.
#include "nodes/node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "nodes/node_thread.h"
#include "volume/objects/directory_store.h"

namespace orrery::nodes {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// What all seats share: the catalog and the roots.
struct Shared {
  Mutex mutex;
  std::map<std::string, std::string> owners ORRERY_GUARDED_BY(mutex);  // of roots
  uint64_t epoch ORRERY_GUARDED_BY(mutex) = 0;                         // of the catalog
  uint64_t lsn ORRERY_GUARDED_BY(mutex) = 0;
  uint32_t ranges ORRERY_GUARDED_BY(mutex) = 0;

  void make_ranges(uint32_t count) {
    MutexLock lock(mutex);
    ranges += count;
    ++lsn;
  }
};

class FakeSeat final : public Seat {
 public:
  FakeSeat(Shared& shared, volume::ObjectStore& store, std::string incarnation)
      : shared_(shared), store_(store), incarnation_(std::move(incarnation)) {}

  Result<uint64_t> own_catalog() override {
    const std::string owner = owner_incarnation(kCatalogName).value();
    auto over = volume::is_over(store_, owner);
    if (!over || (!*over && owner != incarnation_)) return fail(Code::moved, "it has an owner");
    MutexLock lock(shared_.mutex);
    shared_.owners[kCatalogName] = incarnation_;
    owns_ = true;
    return ++shared_.epoch;
  }
  void disown_catalog() override {
    MutexLock lock(shared_.mutex);
    owns_ = false;
    std::string& owner = shared_.owners[kCatalogName];
    if (owner == incarnation_) owner.clear();
  }
  uint64_t catalog_lsn() const override {
    MutexLock lock(shared_.mutex);
    return owns_ ? shared_.lsn : copy_.lsn;
  }
  Result<News> news(uint64_t) override {
    MutexLock lock(shared_.mutex);
    if (!owns_) return fail(Code::moved, "not the owner");
    return News{.lsn = shared_.lsn, .bytes = std::to_string(shared_.ranges)};
  }
  Status apply(const News& news) override {
    MutexLock lock(shared_.mutex);
    copy_ = news;
    return {};
  }
  std::vector<RangeFacts> ranges() const override {
    MutexLock lock(shared_.mutex);
    const uint32_t count =
        owns_ ? shared_.ranges : static_cast<uint32_t>(std::atoi(copy_.bytes.c_str()));
    std::vector<RangeFacts> ranges;
    for (uint32_t i = 0; i < count; ++i) {
      ranges.push_back(
          {.ref = {.container = 1, .range = i}, .volume_name = "p" + std::to_string(i)});
    }
    return ranges;
  }
  void follow(std::shared_ptr<const Plan> plan) override {
    MutexLock lock(shared_.mutex);
    if (plan_ && closes_slowly && count(*plan) < count(*plan_)) quiet = false;
    plan_ = std::move(plan);
  }
  bool is_quiet() const override { return quiet; }
  Result<std::string> owner_incarnation(const std::string& name) override {
    MutexLock lock(shared_.mutex);
    const auto found = shared_.owners.find(name);
    return found == shared_.owners.end() ? std::string() : found->second;
  }

  std::atomic<bool> quiet = true;
  std::atomic<bool> closes_slowly = false;  // until the test says that it is quiet

 private:
  int64_t count(const Plan& plan) const {
    return std::ranges::count_if(plan.owners, [&](const auto& owner) {
      return plan.members[owner.second].incarnation == incarnation_;
    });
  }

  Shared& shared_;
  volume::ObjectStore& store_;
  const std::string incarnation_;
  bool owns_ = false;
  News copy_;
  std::shared_ptr<const Plan> plan_;
};

// Calls the other node in the same thread.
class DirectLink final : public peer::Link {
 public:
  void call(const std::string& address, std::string kind, std::string bytes,
            std::chrono::milliseconds, peer::Done done) override {
    peer::Answerer* to = nullptr;
    {
      MutexLock lock(mutex_);
      const auto found = nodes_.find(address);
      if (found != nodes_.end()) to = found->second;
    }
    if (!to) return done(fail(Code::overloaded, "nobody is there"));
    to->answer(std::move(kind), std::move(bytes), std::move(done));
  }
  void listen(const std::string& address, peer::Answerer* node) {
    MutexLock lock(mutex_);
    if (node) {
      nodes_[address] = node;
    } else {
      nodes_.erase(address);
    }
  }

 private:
  Mutex mutex_;
  std::map<std::string, peer::Answerer*> nodes_ ORRERY_GUARDED_BY(mutex_);
};

// A link that can be cut on the way out.
class CutLink final : public peer::Link {
 public:
  explicit CutLink(peer::Link& base) : base_(base) {}
  void call(const std::string& address, std::string kind, std::string bytes,
            std::chrono::milliseconds deadline, peer::Done done) override {
    if (is_cut) return done(fail(Code::overloaded, "cut"));
    base_.call(address, std::move(kind), std::move(bytes), deadline, std::move(done));
  }
  bool is_cut = false;

 private:
  peer::Link& base_;
};

class NodeTest : public testing::Test {
 protected:
  struct Life {
    std::unique_ptr<volume::Lease> lease;
    std::unique_ptr<FakeSeat> seat;
    std::unique_ptr<CutLink> link;
    std::unique_ptr<Node> node;
    bool is_stopped = false;  // as by SIGSTOP
    bool is_stuck = false;    // it does not tick, and does everything else
  };

  NodeTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "orrery-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    store_ = volume::open_directory_store(folder_).value();
  }
  ~NodeTest() override {
    lives_.clear();
    std::filesystem::remove_all(folder_);
  }

  Life& start(const std::string& name) {
    auto life = std::make_unique<Life>();
    life->lease = volume::Lease::take(*store_, {.node_name = name,
                                                .address = name,
                                                .clock = [this] { return now_us_; },
                                                .renews_itself = false})
                      .value();
    life->seat = std::make_unique<FakeSeat>(shared_, *store_, life->lease->incarnation());
    life->link = std::make_unique<CutLink>(network_);
    life->node = std::make_unique<Node>(*store_, *life->lease, *life->link, *life->seat);
    network_.listen(name, life->node.get());
    lives_[name] = std::move(life);
    return *lives_[name];
  }

  void pass(int64_t ms) {
    for (int64_t i = 0; i < ms / 50; ++i) {
      now_us_ += 50'000;
      for (const auto& [name, life] : lives_) {
        if (life->is_stopped) continue;
        if (now_us_ % 400'000 == 0 && !life->lease->is_lost()) life->lease->renew();
        if (!life->is_stuck) life->node->tick();
      }
    }
  }
  std::vector<std::string> coordinators() const {
    std::vector<std::string> names;
    for (const auto& [name, life] : lives_) {
      if (!life->is_stopped && life->node->is_coordinator()) names.push_back(name);
    }
    return names;
  }
  // How many ranges each member has.
  std::map<std::string, uint32_t> shares(const std::string& of) const {
    std::map<std::string, uint32_t> shares;
    const auto plan = lives_.at(of)->node->plan();
    if (!plan) return shares;
    for (const Member& member : plan->members) shares[member.name] = 0;
    for (const auto& [ref, owner] : plan->owners) ++shares[plan->members[owner].name];
    return shares;
  }
  Node& node(const std::string& name) { return *lives_.at(name)->node; }

  using Shares = std::map<std::string, uint32_t>;

  std::string folder_;
  std::unique_ptr<volume::ObjectStore> store_;
  int64_t now_us_ = 10'000'000;
  Shared shared_;
  DirectLink network_;
  std::map<std::string, std::unique_ptr<Life>> lives_;
};

TEST_F(NodeTest, OneCoordinatesAndTheOthersFollow) {
  for (const char* name : {"c", "a", "b"}) start(name);
  shared_.make_ranges(9);
  pass(1'000);
  EXPECT_THAT(coordinators(), ElementsAre("a"));
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_TRUE(node(name).is_ready()) << name;
    EXPECT_EQ(node(name).coordinator()->name, "a");
    EXPECT_EQ(shares(name), (Shares{{"a", 3}, {"b", 3}, {"c", 3}})) << name;
  }
  shared_.make_ranges(3);
  pass(300);
  EXPECT_EQ(shares("c"), (Shares{{"a", 4}, {"b", 4}, {"c", 4}}));
  EXPECT_LE(now_us_ - node("b").catalog_as_of_us().value(), 300'000);
}

TEST_F(NodeTest, WhenTheCoordinatorHangsAnotherTakesItsPlace) {
  for (const char* name : {"a", "b", "c"}) start(name);
  shared_.make_ranges(6);
  pass(1'000);
  const uint64_t term = node("c").plan()->term;
  lives_["a"]->is_stopped = true;
  network_.listen("a", nullptr);
  pass(3'500);
  EXPECT_THAT(coordinators(), ElementsAre("b"));
  EXPECT_GT(node("c").plan()->term, term);
  EXPECT_EQ(shares("c"), (Shares{{"b", 3}, {"c", 3}}));
  // It comes back, and finds that it is over.
  lives_["a"]->is_stopped = false;
  pass(500);
  EXPECT_TRUE(lives_["a"]->lease->is_lost());
  EXPECT_FALSE(node("a").is_coordinator());
}

TEST_F(NodeTest, ANodeThatIsDrainedGivesTheCatalogAwayLast) {
  for (const char* name : {"a", "b", "c"}) start(name);
  shared_.make_ranges(30);
  pass(1'000);
  bool is_told = false;
  node("c").drain("a", true, [&](const Result<std::string>& told) { is_told = told.has_value(); });
  EXPECT_FALSE(is_told) << "its row does not say so yet";
  lives_["a"]->seat->closes_slowly = true;
  pass(1'500);
  EXPECT_TRUE(is_told);
  EXPECT_EQ(shares("a")["a"], 6U) << "four at a time";
  EXPECT_FALSE(node("a").is_drained());
  lives_["a"]->seat->closes_slowly = false;
  lives_["a"]->seat->quiet = true;
  pass(2'000);
  EXPECT_TRUE(node("a").is_drained());
  EXPECT_THAT(coordinators(), ElementsAre("b"));
  EXPECT_EQ(shares("a"), (Shares{{"a", 0}, {"b", 15}, {"c", 15}}));
  node("a").drain("a", false, [](const Result<std::string>&) {});
  pass(12'000);
  EXPECT_GE(shares("c")["a"], 8U);
}

TEST_F(NodeTest, ADrainOutlivesTheCoordinator) {
  for (const char* name : {"a", "b", "c"}) start(name);
  shared_.make_ranges(20);
  pass(1'000);
  lives_["c"]->seat->closes_slowly = true;
  node("b").drain("c", true, [](const Result<std::string>&) {});
  pass(1'000);
  lives_["a"]->is_stopped = true;
  network_.listen("a", nullptr);
  EXPECT_GT(shares("b")["c"], 0U);
  lives_["c"]->seat->closes_slowly = false;
  lives_["c"]->seat->quiet = true;
  pass(6'000);
  EXPECT_THAT(coordinators(), ElementsAre("b"));
  EXPECT_EQ(shares("b"), (Shares{{"b", 20}, {"c", 0}}));
}

TEST_F(NodeTest, OperatorsMoveRangesThroughAnyNode) {
  for (const char* name : {"a", "b"}) start(name);
  shared_.make_ranges(4);
  pass(1'000);
  const auto moved = [&](uint32_t range, const char* to) {
    Code code = Code::internal;
    node("b").move({.container = 1, .range = range}, to, [&](const Result<std::string>& told) {
      code = told ? Code::retry : told.error().code;
    });
    return code;
  };
  EXPECT_EQ(moved(0, "b"), Code::retry);
  EXPECT_EQ(moved(1, "b"), Code::retry);
  EXPECT_EQ(moved(2, "b"), Code::retry);
  EXPECT_EQ(moved(9, "b"), Code::not_found);
  EXPECT_EQ(moved(0, "nobody"), Code::not_found);
  pass(12'000);
  EXPECT_GE(shares("a")["b"], 3U) << "and it stays so";
  node("b").rebalance([](const Result<std::string>&) {});
  pass(1'000);
  EXPECT_EQ(shares("a"), (Shares{{"a", 2}, {"b", 2}}));
}

TEST_F(NodeTest, ANodeThatReachesNobodyIsRevoked) {
  for (const char* name : {"a", "b", "c"}) start(name);
  pass(1'000);
  lives_["c"]->link->is_cut = true;
  network_.listen("c", nullptr);
  pass(3'500);
  EXPECT_TRUE(lives_["c"]->lease->is_lost());
  EXPECT_THAT(coordinators(), ElementsAre("a"));
}

TEST_F(NodeTest, ANodeThatIsReachedAndDoesNotFollowIsLeftAloneForLonger) {
  for (const char* name : {"a", "b", "c"}) start(name);
  pass(1'000);
  lives_["c"]->is_stuck = true;  // as when the store does not answer
  pass(8'000);
  EXPECT_FALSE(lives_["c"]->lease->is_lost());
  pass(9'000);
  EXPECT_TRUE(lives_["c"]->lease->is_lost());
}

TEST_F(NodeTest, ACoordinatorThatIsReachedAndDoesNotAnswerIsLeftAlone) {
  for (const char* name : {"a", "b", "c"}) start(name);
  pass(1'000);
  lives_["a"]->is_stuck = true;
  pass(10'000);
  EXPECT_FALSE(lives_["a"]->lease->is_lost());
}

TEST_F(NodeTest, ACoordinatorThatMostCannotReachIsRevoked) {
  for (const char* name : {"a", "b", "c"}) start(name);
  pass(1'000);
  lives_["b"]->link->is_cut = true;
  pass(1'500);
  EXPECT_FALSE(lives_["a"]->lease->is_lost()) << "one of three is not most of them";
  lives_["b"]->link->is_cut = false;
  pass(500);
  network_.listen("a", nullptr);
  pass(5'000);
  EXPECT_TRUE(lives_["a"]->lease->is_lost());
  EXPECT_THAT(coordinators(), ElementsAre("b"));
}

TEST_F(NodeTest, ANodeThatIsCutOffAndComesBackIsGivenNothing) {
  for (const char* name : {"a", "b", "c"}) start(name);
  shared_.make_ranges(6);
  pass(1'000);
  lives_["c"]->link->is_cut = true;
  network_.listen("c", nullptr);
  pass(2'800);
  EXPECT_TRUE(lives_["c"]->lease->is_lost());
  EXPECT_EQ(shares("a"), (Shares{{"a", 3}, {"b", 3}})) << "it has ended its lease itself";
  // A service manager starts it again, and again.
  for (int i = 0; i < 3; ++i) {
    start("c").link->is_cut = true;
    network_.listen("c", nullptr);
    pass(600);
    EXPECT_EQ(shares("a"), (Shares{{"a", 3}, {"b", 3}, {"c", 0}}));
    pass(2'200);
    EXPECT_TRUE(lives_["c"]->lease->is_lost());
  }
  start("c");
  node("a").rebalance([](const Result<std::string>&) {});
  pass(2'000);
  EXPECT_EQ(shares("a"), (Shares{{"a", 2}, {"b", 2}, {"c", 2}}));
}

TEST_F(NodeTest, WhoReachesNobodyLeavesTheCatalogToTheOthers) {
  for (const char* name : {"a", "b", "c"}) start(name);
  pass(1'000);
  lives_["a"]->link->is_cut = true;
  network_.listen("a", nullptr);
  while (!lives_["a"]->lease->is_lost()) pass(50);
  // The first by name, and the catalog is nobody's.
  start("a").link->is_cut = true;
  network_.listen("a", nullptr);
  pass(600);
  EXPECT_THAT(coordinators(), ElementsAre("b"));
}

TEST_F(NodeTest, OfTwoThatReachNobodyOneClaimsTheCatalogInTheEnd) {
  for (const char* name : {"a", "b"}) {
    start(name).link->is_cut = true;
    network_.listen(name, nullptr);
  }
  pass(1'900);
  EXPECT_THAT(coordinators(), IsEmpty());
  pass(400);
  EXPECT_THAT(coordinators(), ElementsAre("a"));
}

TEST_F(NodeTest, AFollowerGivesUpItsQuestionToADeadCoordinator) {
  for (const char* name : {"a", "b", "c"}) start(name);
  shared_.make_ranges(6);
  pass(1'000);
  // It takes questions and answers none, and its lease ends.
  lives_["a"]->is_stopped = true;
  const uint64_t term = node("c").plan()->term;
  while (coordinators().empty()) pass(50);
  pass(100);
  EXPECT_GT(node("c").plan()->term, term) << "of the coordinator that there is now";
}

TEST_F(NodeTest, OfTwoNodesNeitherIsRevokedForTheNetwork) {
  for (const char* name : {"a", "b"}) start(name);
  pass(1'000);
  lives_["b"]->link->is_cut = true;
  pass(10'000);
  EXPECT_FALSE(lives_["a"]->lease->is_lost());
  EXPECT_FALSE(lives_["b"]->lease->is_lost());
  EXPECT_EQ(node("a").status().members.at(0).state, volume::LeaseRow::State::live);
}

TEST_F(NodeTest, ABarrierWaitsForEverybodyWhoIsNotOver) {
  for (const char* name : {"a", "b", "c"}) start(name);
  pass(1'000);
  lives_["c"]->is_stopped = true;
  shared_.make_ranges(1);
  const int64_t committed_us = now_us_;
  const uint64_t lsn = lives_["a"]->seat->catalog_lsn();
  EXPECT_FALSE(node("a").everyone_has(lsn, committed_us));
  pass(1'000);
  EXPECT_FALSE(node("a").everyone_has(lsn, committed_us)) << "c may serve by its old copy";
  EXPECT_FALSE(node("b").everyone_has(lsn, committed_us)) << "only the coordinator knows";
  pass(3'000);
  EXPECT_TRUE(node("a").everyone_has(lsn, committed_us));
}

TEST_F(NodeTest, TellsOperatorsWhatItKnows) {
  for (const char* name : {"a", "b"}) start(name);
  shared_.make_ranges(2);
  pass(3'000);
  const NodeStatus status = node("a").status();
  EXPECT_EQ(status.self.name, "a");
  EXPECT_TRUE(status.is_coordinator);
  EXPECT_TRUE(status.lease_good);
  EXPECT_EQ(status.coordinator, "a");
  EXPECT_EQ(status.ranges, 2U);
  ASSERT_EQ(status.members.size(), 2U);
  for (const MemberStatus& member : status.members) EXPECT_EQ(member.ranges, 1U);
  const NodeStatus follower = node("b").status();
  EXPECT_FALSE(follower.is_coordinator);
  EXPECT_EQ(follower.coordinator, "a");
  EXPECT_GE(follower.catalog_age_us, 0);
  EXPECT_LT(follower.catalog_age_us, 1'000'000);
  EXPECT_GT(follower.counters.questions, 5U);
}

TEST_F(NodeTest, CallsThatItDoesNotKnowAreRefused) {
  start("a");
  const auto code = [&](const char* kind, const char* bytes) {
    Code code = Code::retry;
    node("a").answer(kind, bytes,
                     [&](const Result<std::string>& told) { code = told.error().code; });
    return code;
  };
  EXPECT_EQ(code("nodes.dance", ""), Code::unsupported);
  EXPECT_EQ(code(kFollowKind, "?"), Code::invalid);
  EXPECT_EQ(code(kRebalanceKind, ""), Code::moved) << "it has not claimed the catalog";
}

// Threads and time as in production.
TEST_F(NodeTest, RunsOnThreadsOfItsOwn) {
  struct Threaded {
    std::unique_ptr<volume::Lease> lease;
    std::unique_ptr<FakeSeat> seat;
    std::unique_ptr<NodeThread> thread;
  };
  shared_.make_ranges(6);
  std::vector<Threaded> nodes;
  for (const char* name : {"a", "b", "c"}) {
    Threaded life;
    life.lease = volume::Lease::take(*store_, {.node_name = name, .address = name}).value();
    life.seat = std::make_unique<FakeSeat>(shared_, *store_, life.lease->incarnation());
    life.thread = std::make_unique<NodeThread>(*store_, *life.lease, network_, *life.seat);
    network_.listen(name, &life.thread->node());
    nodes.push_back(std::move(life));
  }
  const auto all_have = [&](size_t members) {
    return std::ranges::all_of(nodes, [&](const Threaded& life) {
      const auto plan = life.thread->node().plan();
      return plan && plan->members.size() == members && plan->owners.size() == 6;
    });
  };
  while (!all_have(3)) std::this_thread::yield();
  // Followers hear of a commit without waiting for their next question.
  for (const Threaded& life : nodes) {
    if (life.thread->node().is_coordinator()) life.thread->node().catalog_changed();
  }
  network_.listen("c", nullptr);
  nodes.pop_back();  // an orderly stop: its row is over
  while (!all_have(2)) std::this_thread::yield();
  for (const char* name : {"a", "b"}) network_.listen(name, nullptr);
}

}  // namespace
}  // namespace orrery::nodes

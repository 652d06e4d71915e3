// What is known of a graph as others write to it, and traversals that are run at once by it.
#include "api/gremlin/graph/known_graph.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <optional>
#include <random>
#include <thread>

#include "api/gremlin/graph/engine_graph_fixture.h"

namespace orrery::gremlin {
namespace {

using testing::ElementsAre;

class KnownGraphTest : public GraphOverEngineTest {
 protected:
  // As a thread does that may not wait, in one transaction. The charge.
  Result<double> run_at_once(const cluster::RoutingPtr& routing, std::string_view text) {
    const auto graph = graph_of(routing, &caches_, false);
    gremlin::Run run(*graph, {});
    auto compiled = compile(parse_traversal(text, {}).value(), run);
    if (!compiled) return pass(compiled.error());
    if (compiled->only_adds) graph->will_only_add();
    auto out = compiled->traversal->all(run, run.seed());
    if (!out) return pass(out.error());
    if (!graph->can_commit_later()) return pass(graph->commit().error());
    std::promise<Status> stored;
    graph->commit_later([&](Status status) { stored.set_value(std::move(status)); });
    if (auto status = stored.get_future().get(); !status) return pass(status.error());
    return graph->work().charge;
  }
};

TEST_F(KnownGraphTest, ANewEdgeIsAddedToTheListsOfItsVertices) {
  open();
  const auto routing = make("g");
  make_hub(routing, 3);
  run(routing, "g.V('hub').both().id()");
  run(routing, "g.V('s0').out().id()");
  run(routing, "g.V('s0').addE('other').to(V('hub'))");
  run(routing, "g.V('s0').addE('usual').to(V('hub'))");
  run(routing, "g.V('s0').id()");
  const auto known = caches_.of(routing->container->number)->graph();
  const auto size = [&](std::string_view id, std::string_view partition, bool is_out) {
    const ElementKey key{std::string(id), Value::text(std::string(partition))};
    const auto list = known->lists(known->numbers({&key, 1}), is_out)[0];
    return list ? std::optional(list->others.size()) : std::nullopt;
  };
  EXPECT_EQ(size("s0", "k0", true), 3U);
  EXPECT_EQ(size("hub", "h", false), 5U);
  EXPECT_THAT(run(routing, "g.V('hub').in('usual').id()"),
              testing::UnorderedElementsAre("s0", "s1", "s2"));
  EXPECT_THAT(run(routing, "g.V('s0').out('other', 'rare').count()"), ElementsAre("2"));
}

// What is known gives what is stored, at the same charge, whatever was written in between.
TEST_F(KnownGraphTest, WhatIsKnownFollowsRandomWrites) {
  for (const uint32_t units : {400U, 40'000U}) {
    open();
    const auto routing = make("g" + std::to_string(units), units);
    std::mt19937 random(units);
    const auto any = [&](size_t below) { return std::to_string(random() % below); };
    constexpr size_t kVertices = 6, kEdges = 12;
    const auto vertex = [&](const std::string& n) {
      return "addV('v').property('id','v" + n + "').property('pk','k" + n + "')";
    };
    for (size_t n = 0; n < kVertices; ++n) run(routing, "g." + vertex(std::to_string(n)));
    for (int step = 0; step < 250; ++step) {
      const std::string from = any(kVertices), edge = "E('e" + any(kEdges) + "')";
      switch (random() % 8) {
        case 0:
          run(routing, "g." + edge + ".drop()");
          break;
        case 1:
          run(routing, "g." + edge + ".property('n'," + any(9) + ")");
          break;
        case 2:
          run(routing, "g.V('v" + from + "').drop()");
          run(routing, "g." + vertex(from));
          break;
        default: {
          auto added =
              try_run(routing, "g.V('v" + from + "').addE('l" + any(3) + "').to(V('v" +
                                   any(kVertices) + "')).property('id','e" + any(kEdges) + "')");
          ASSERT_TRUE(added || added.error().code == Code::conflict) << added.error().message;
        }
      }
      const std::string hop = "g.V('v" + any(kVertices) + "')." +
                              (random() % 2 == 0 ? "out" : "in") +
                              (random() % 2 == 0 ? "()" : "('l" + any(3) + "')") + ".id()";
      auto known = run(routing, hop);
      const StoreWork work = last_;
      NeighbourCaches none_known(1ULL << 20);
      auto read = try_run(routing, hop, &none_known).value();
      std::ranges::sort(known);
      std::ranges::sort(read);
      ASSERT_EQ(known, read) << hop << " at step " << step;
      ASSERT_NEAR(last_.charge, work.charge, 1e-9) << hop << " at step " << step;
    }
  }
}

TEST_F(KnownGraphTest, WhatIsKnownKeepsUpWhileNobodyReads) {
  open();
  const auto routing = make("g");
  make_hub(routing, 2);
  run(routing, "g.V('s0').out().id()");
  const auto known = caches_.of(routing->container->number)->graph();
  const uint64_t read = known->feeds_read();
  const size_t rounds = 2 * StoredNotes::kChangesMax / 300;
  for (size_t i = 0; i < rounds; ++i) {
    run(routing,
        "g.inject(1).repeat(union(identity(),identity())).times(9).limit(300)"
        ".addV('v').property('pk','k0')");
  }
  EXPECT_THAT(run(routing, "g.V('s0').out().id()"), ElementsAre("hub"));
  EXPECT_EQ(known->feeds_read(), read);
}

// Nobody can see a commit before what is known has heard of it.
TEST_F(KnownGraphTest, WhatManyThreadsStoreIsFollowedWithoutReadingIt) {
  open();
  const auto routing = make("g", 40'000);
  make_hub(routing, 4);
  run(routing, "g.V('hub').in().id()");
  const auto known = caches_.of(routing->container->number)->graph();
  const uint64_t read = known->feeds_read();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      StoreWork work;
      const std::string add = "g.V('s" + std::to_string(i) + "').addE('e').to(V('hub'))";
      for (int n = 0; n < 50; ++n) EXPECT_TRUE(run_with(routing, add, caches_, work));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(run(routing, "g.V('hub').in('e').count()"), ElementsAre("200"));
  EXPECT_EQ(known->feeds_read(), read);
}

TEST_F(KnownGraphTest, AnEdgeIsAddedAtOnceByWhatIsInMemory) {
  open();
  const auto routing = make("g");
  make_hub(routing, 3);
  const std::string_view add = "g.V('s0').addE('e').to(V('s1'))";
  const auto code_of_add = [&] {
    const auto added = run_at_once(routing, add);
    return added ? std::nullopt : std::optional(added.error().code);
  };
  EXPECT_EQ(code_of_add(), Code::would_wait) << "nothing is known of this graph";
  run(routing, "g.V('s0').id()");
  const auto looked_up = run_at_once(routing, add);
  ASSERT_TRUE(looked_up) << looked_up.error().message;
  const auto known = run_at_once(routing, add);
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_THAT(run(routing, "g.V('s0').out('e').id()"), ElementsAre("s1", "s1"));
  run(routing, add);
  EXPECT_DOUBLE_EQ(last_.charge, *looked_up);
  EXPECT_DOUBLE_EQ(last_.charge, *known);

  // What another protocol writes has to be read, by somebody who may wait.
  std::vector<partition::Write> others;
  others.push_back(
      items_.make_write(partition::Verb::create, R"({"id":"x","pk":"k0"})", *routing, {}).value());
  ASSERT_FALSE(engine_->write_and_wait(routing, std::move(others)).error);
  EXPECT_EQ(code_of_add(), Code::would_wait);
  run(routing, "g.V('s0').id()");
  EXPECT_EQ(code_of_add(), std::nullopt);
  run(routing, "g.V('s1').drop()");
  EXPECT_EQ(code_of_add(), Code::invalid) << "there is no s1";
  EXPECT_THAT(run(routing, "g.V('s0').out('e').count()"), ElementsAre("0"));
}

TEST_F(KnownGraphTest, WhatIsLargeIsNotReadAtOnce) {
  open();
  const auto routing = make("g");
  run(routing, "g.V('small').id()");
  for (const size_t bytes : {1000, 100'000}) {
    const std::string id = std::to_string(bytes);
    run(routing, "g.addV('v').property('pk','p').property('id','" + id + "').property('t','" +
                     std::string(bytes, 'x') + "')");
    const auto added = run_at_once(routing, "g.V('" + id + "').addE('e').to(V('" + id + "'))");
    EXPECT_EQ(added ? std::nullopt : std::optional(added.error().code),
              bytes < 10'000 ? std::nullopt : std::optional(Code::would_wait));
  }
}

TEST_F(KnownGraphTest, WhatIsNotOneTransactionIsNotStoredAtOnce) {
  open();
  const auto routing = make("g");
  const auto added = run_at_once(routing,
                                 "g.addV('v').property('id','1').property('pk','p')"
                                 ".addV('v').property('id','2').property('pk','q')");
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, Code::would_wait);
  EXPECT_THAT(run(routing, "g.V().count()"), ElementsAre("0"));
}

// A traversal that does not end at once has paid for nothing: it will be run again.
TEST_F(KnownGraphTest, WhatIsNotDoneAtOnceIsNotPaidFor) {
  open();
  const auto routing = make("g");
  make_hub(routing, 2);
  run(routing, "g.V('s0').id()");
  const std::atomic<double>& paid = routing->slots[0]->counters.charge;
  const double before = paid;
  EXPECT_FALSE(
      run_at_once(routing, "g.V('s0').addV('v').property('pk','x').addV('v').property('pk','y')"));
  EXPECT_EQ(paid, before);
  EXPECT_TRUE(run_at_once(routing, "g.V('s0').addE('e').to(V('s0'))"));
  EXPECT_GT(paid, before);
}

}  // namespace
}  // namespace orrery::gremlin

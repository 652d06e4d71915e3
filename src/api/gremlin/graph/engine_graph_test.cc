// Traversals over the items of an engine: random ones against a naive evaluator in one partition
// and in several, hops by the index and without one, what is staged, and splits on the way.
#include "api/gremlin/graph/engine_graph.h"

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include "api/gremlin/graph/engine_graph_fixture.h"
#include "api/gremlin/traversal/naive_traversal.h"

namespace orrery::gremlin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class EngineGraphTest : public GraphOverEngineTest {
 protected:
  void check_random(uint32_t units, int rounds, uint32_t seed);
  void check_cases(const cluster::RoutingPtr& routing, NaiveGraph& naive, int cases);
};

void EngineGraphTest::check_cases(const cluster::RoutingPtr& routing, NaiveGraph& naive,
                                  int cases) {
  for (int i = 0; i < cases; ++i) {
    const NaiveGraph::Case one = naive.make_case();
    for (const std::string_view end : {".id()", ".as('x').id()"}) {
      const std::string text = one.text + std::string(end);
      const auto given = run(routing, text);
      EXPECT_EQ(std::multiset<std::string>(given.begin(), given.end()), one.ids()) << text;
      // With nothing known it costs the same.
      const StoreWork work = last_;
      NeighbourCaches none_known(1ULL << 20);
      ASSERT_TRUE(try_run(routing, text, &none_known)) << text;
      EXPECT_NEAR(last_.charge, work.charge, 1e-9) << text;
      EXPECT_EQ(last_.items, work.items) << text;
      // Nor does it give anything else when what it has read is dropped on the way.
      NeighbourCaches tiny(2000);
      const auto by_tiny = try_run(routing, text, &tiny);
      ASSERT_TRUE(by_tiny) << text;
      EXPECT_EQ(std::multiset<std::string>(by_tiny->begin(), by_tiny->end()), one.ids()) << text;
    }
    EXPECT_THAT(run(routing, one.text + ".count()"),
                ElementsAre(std::to_string(one.walkers.size())))
        << one.text;
  }
}

void EngineGraphTest::check_random(uint32_t units, int rounds, uint32_t seed) {
  std::mt19937 random(seed);
  open();
  for (int round = 0; round < rounds; ++round) {
    const auto routing = make("g" + std::to_string(round), units);
    NaiveGraph naive(random);
    for (const std::string& text : naive.texts()) ASSERT_TRUE(try_run(routing, text)) << text;
    check_cases(routing, naive, 6);
    // What is known from then on has to follow the changes.
    for (int i = 0; i < 8; ++i) {
      const std::string text = naive.change();
      ASSERT_TRUE(try_run(routing, text)) << text;
      check_cases(routing, naive, 2);
    }
  }
}

TEST_F(EngineGraphTest, RandomTraversalsInOnePartitionGiveWhatANaiveEvaluatorGives) {
  check_random(400, 12, 17);
}

TEST_F(EngineGraphTest, RandomTraversalsInFourPartitionsGiveWhatANaiveEvaluatorGives) {
  check_random(40'000, 12, 18);
  EXPECT_EQ(find("g0")->slots.size(), 4U);
}

TEST_F(EngineGraphTest, APopularVertexIsReadInPages) {
  open();
  const auto routing = make("g", 40'000);
  make_hub(routing, 400);
  EXPECT_THAT(run(routing, "g.V(['h','hub']).in().count()"), ElementsAre("400"));
  // The vertex, the edges of four partitions, and the vertices at their other ends.
  EXPECT_LE(last_.requests, 6U);
  run(routing, "g.V(['h','hub']).inE().limit(5)");
  EXPECT_LT(last_.items, 100U);
  EXPECT_THAT(run(routing, "g.V(['h','hub']).in('rare').count()"), ElementsAre("40"));
  EXPECT_THAT(run(routing, "g.V().out().dedup().id()"), ElementsAre("hub"));
}

TEST_F(EngineGraphTest, WhatOtherProtocolsWriteIsSeen) {
  open();
  const auto routing = make("g", 40'000);
  make_hub(routing, 20);
  const std::string_view all = "g.V(['h','hub']).in().id()";
  EXPECT_EQ(run(routing, all).size(), 20U);
  const auto write = [&](partition::Verb verb, std::string_view json) {
    auto made = items_.make_write(verb, json, *routing, engine_->limits());
    ASSERT_TRUE(made);
    std::vector<partition::Write> transaction;
    transaction.push_back(std::move(*made));
    EXPECT_FALSE(engine_->write_and_wait(routing, std::move(transaction)).error);
  };
  const std::string edge =
      R"({"id":"e","pk":"k3","label":"usual","_isEdge":true,"_vertexId":"s3","_sinkPartition":"h",)";
  write(partition::Verb::create, edge + R"("_sink":"hub"})");
  EXPECT_EQ(run(routing, all).size(), 21U);
  EXPECT_THAT(run(routing, "g.V('s3').out().count()"), ElementsAre("2"));
  // Now it leads elsewhere.
  write(partition::Verb::replace, edge + R"("_sink":"nobody"})");
  EXPECT_EQ(run(routing, all).size(), 20U);
  EXPECT_THAT(run(routing, "g.V('s3').out().id()"), ElementsAre("hub"));
  write(partition::Verb::create, R"({"id":"nobody","pk":"h","label":"v"})");
  EXPECT_THAT(run(routing, "g.V('s3').out().id()"), testing::UnorderedElementsAre("hub", "nobody"));
  write(partition::Verb::replace, R"({"id":"nobody","pk":"h","label":"w"})");
  EXPECT_THAT(run(routing, "g.V('s3').out().hasLabel('w').id()"), ElementsAre("nobody"));
  write(partition::Verb::remove, R"({"id":"nobody","pk":"h"})");
  EXPECT_THAT(run(routing, "g.V('s3').out().id()"), ElementsAre("hub"));
  write(partition::Verb::remove, R"({"id":"e","pk":"k3"})");
  EXPECT_THAT(run(routing, "g.V('s3').out().count()"), ElementsAre("1"));
}

TEST_F(EngineGraphTest, WhatTraversalsStoreIsFollowedWithoutReadingIt) {
  open();
  const auto routing = make("g", 40'000);
  make_hub(routing, 2);
  run(routing, "g.V('hub').in().id()");
  const auto known = caches_.of(routing->container->number)->graph();
  const uint64_t read = known->feeds_read();
  run(routing, "g.V('hub').addE('e').to(V('s0')).addV('v').property('id','x').property('pk','k1')");
  EXPECT_THAT(run(routing, "g.V('hub').out().id()"), ElementsAre("s0"));
  run(routing, "g.V('s1').drop()");
  EXPECT_THAT(run(routing, "g.V('hub').in().id()"), ElementsAre("s0"));
  EXPECT_EQ(known->feeds_read(), read);
}

TEST_F(EngineGraphTest, WhatIsKnownIsBounded) {
  open();
  const auto routing = make("g", 40'000);
  make_hub(routing, 60);
  NeighbourCaches small(20'000);
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(try_run(routing, "g.V(['h','hub']).in().out().dedup().id()", &small).value(),
                ElementsAre("hub"));
    EXPECT_THAT(try_run(routing, "g.V().out().in().dedup().count()", &small).value(),
                ElementsAre("60"));
    EXPECT_LE(small.bytes(), 20'000U);
  }
}

TEST_F(EngineGraphTest, AVertexWithTooManyEdgesIsReadInPages) {
  open();
  const auto routing = make("g");
  run(routing, "g.addV('v').property('id','hub').property('pk','h')");
  for (int i = 0; i < 30; ++i) {
    std::string text = "g.V(['h','hub']).as('h')";
    for (int n = 0; n < 70; ++n) text += ".addE('e').from('h').to('h')";
    run(routing, text);
  }
  EXPECT_THAT(run(routing, "g.V(['h','hub']).out().count()"), ElementsAre("2100"));
  EXPECT_THAT(run(routing, "g.V(['h','hub']).both().count()"), ElementsAre("4200"));
  run(routing, "g.V(['h','hub']).out().limit(5)");
  EXPECT_LT(last_.items, 100U);
}

// A loop that cannot be made with numbers goes on with traversers, and knows what came before.
TEST_F(EngineGraphTest, ALoopComesByAVertexWithTooManyEdges) {
  open();
  const auto routing = make("g");
  for (const char* id : {"a", "b", "c", "d"}) {
    run(routing, "g.addV('v').property('pk','h').property('id','" + std::string(id) + "')");
  }
  run(routing,
      "g.V('a').as('a').V('b').as('b').V('c').as('c').V('d').as('d').addE('e').from('a').to('b')"
      ".addE('e').from('a').to('c').addE('e').from('b').to('c').addE('e').from('c').to('d')");
  for (int i = 0; i < 30; ++i) {
    std::string text = "g.V('c').as('c').V('a').as('a')";
    for (int n = 0; n < 70; ++n) text += ".addE('e').from('c').to('a')";
    run(routing, text);
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(run(routing, "g.V('a').repeat(out().dedup()).times(2).id()"),
                testing::UnorderedElementsAre("a", "d"));
    EXPECT_THAT(run(routing, "g.V('a').repeat(out()).times(2).count()"), ElementsAre("2102"));
    EXPECT_THAT(run(routing, "g.V('a').repeat(out()).times(3).dedup().count()"), ElementsAre("4"));
    EXPECT_THAT(run(routing, "g.V('a').out().out().out().count()"), ElementsAre("6301"));
  }
}

// Vertices that others have read are given to a traversal that only adds, and are not changed.
TEST_F(EngineGraphTest, AnEdgeIsAddedWithoutReadingItsEnds) {
  open();
  const auto routing = make("g");
  make_hub(routing, 2);
  run(routing, "g.V('s0').id()");
  run(routing, "g.V('s1').id()");
  run(routing, "g.V('s0').addE('e').to(V('s1')).property('w', 1)");
  EXPECT_THAT(run(routing, "g.V('s0').out('e').id()"), ElementsAre("s1"));
  EXPECT_THAT(run(routing, "g.V('s0').outE('e').values('w')"), ElementsAre("1"));
  // One that changes a vertex reads it, and leaves what others have.
  run(routing, "g.V('s0').property('n', 1).addE('e').to(V('s1'))");
  EXPECT_THAT(run(routing, "g.V('s0').values('n')"), ElementsAre("1"));
  auto failed = try_run(routing, "g.V('s0').property('n', 2).constant(1).out()");
  ASSERT_FALSE(failed);
  EXPECT_THAT(run(routing, "g.V('s0').values('n')"), ElementsAre("1"));
}

// Vertex programs give vertices properties that others are not to see.
TEST_F(EngineGraphTest, WhatAProgramSetsIsOfItsTraversal) {
  open();
  const auto routing = make("g");
  make_hub(routing, 3);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run(routing, "g.V(['h','hub']).in().id()").size(), 3U);
    EXPECT_EQ(run(routing, "g.V('hub').id()").size(), 1U);
    EXPECT_EQ(run(routing, "g.V().pageRank().by('rank').in().values('rank')").size(), 3U);
    EXPECT_EQ(run(routing, "g.V().has('rank')").size(), 0U);
    EXPECT_EQ(run(routing, "g.V(['h','hub']).in().values('rank')").size(), 0U);
  }
}

// Each thread has a vertex, and counts the edges that it has added to it, while the others do the
// same and what is known is dropped now and then.
TEST_F(EngineGraphTest, TraversalsOfManyThreadsSeeWhatTheirThreadWrote) {
  open();
  const auto routing = make("g", 40'000);
  constexpr int kThreads = 4, kEdges = 25;
  for (int i = 0; i < kThreads; ++i) {
    const std::string number = std::to_string(i);
    run(routing, "g.addV('v').property('id','" + number + "').property('pk','k" + number + "')");
  }
  NeighbourCaches caches(12'000);
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const std::string from = "g.V('" + std::to_string(i) + "')";
      StoreWork work;
      for (int n = 1; n <= kEdges; ++n) {
        const std::string to = std::to_string((i + n) % kThreads);
        const bool done =
            run_with(routing, from + ".addE('e').to(V('" + to + "'))", caches, work).has_value();
        const auto count = run_with(routing, from + ".out().count()", caches, work);
        const auto loops =
            run_with(routing, from + ".repeat(both()).times(2).dedup().count()", caches, work);
        const bool is_right = done && count && *count == std::vector{std::to_string(n)} && loops;
        if (!is_right) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_THAT(run(routing, "g.V().out().count()"), ElementsAre(std::to_string(kThreads * kEdges)));
}

TEST_F(EngineGraphTest, OneValueIsLookedUpInTheIndex) {
  open();
  const auto routing = make("g", 40'000);
  for (int i = 0; i < 40; ++i) {
    const std::string number = std::to_string(i);
    run(routing, "g.addV('v').property('id','" + number + "').property('pk','k" + number +
                     "').property('n'," + std::to_string(i % 4) + ").property('t','" +
                     std::string(250, 'x') + number + "')");
  }
  run(routing, "g.V('1').addE('e').to(V('2')).property('n', 3)");
  EXPECT_EQ(run(routing, "g.V().has('n', 3).id()").size(), 10U);
  EXPECT_EQ(last_.items, 10U);  // an edge has its values elsewhere in its item
  EXPECT_EQ(run(routing, "g.V().has('n', 3).limit(1).id()").size(), 1U);
  EXPECT_EQ(run(routing, "g.V().has('n', within(9)).id()").size(), 0U);
  // Long values share a term.
  EXPECT_THAT(run(routing, "g.V().has('t', '" + std::string(250, 'x') + "7').id()"),
              ElementsAre("7"));
  EXPECT_THAT(run(routing, "g.E().has('n', 3).inV().id()"), ElementsAre("2"));
  // What the traversal has staged is found as well.
  EXPECT_EQ(run(routing, "g.addV('v').property('pk','x').property('n',3).V().has('n', 3)").size(),
            11U);
}

TEST_F(EngineGraphTest, ACountReadsNoItems) {
  open();
  const auto routing = make("g");
  make_hub(routing, 50);
  EXPECT_THAT(run(routing, "g.V().count()"), ElementsAre("51"));
  EXPECT_EQ(last_.items, 0U);
  EXPECT_THAT(run(routing, "g.E().hasLabel('rare').count()"), ElementsAre("5"));
  EXPECT_EQ(last_.items, 0U);
  // Of what the traversal has staged, too.
  EXPECT_THAT(run(routing, "g.addV('v').property('pk','x').V().count()"), ElementsAre("52"));
}

TEST_F(EngineGraphTest, ALoopReadsTheEdgesOfAVertexOnce) {
  open();
  const auto routing = make("g");
  run(routing,
      "g.addV('v').property('id','1').property('pk','p').as('a').addV('v').property('id','2')"
      ".property('pk','p').as('b').addE('e').from('a').to('b').addE('e').from('b').to('a')");
  EXPECT_THAT(run(routing, "g.V('1').repeat(out()).times(9).id()"), ElementsAre("2"));
  // The vertex by a query; the edges of each, and the other vertex.
  EXPECT_EQ(last_.items, 4U);
  EXPECT_THAT(run(routing, "g.V('1').out().addE('e').to(V('2')).outV().out().id()"),
              ElementsAre("1", "2"));
}

TEST_F(EngineGraphTest, ManyPartitionKeysAreStoredTogether) {
  open();
  const auto routing = make("g", 40'000);
  std::string text = "g";
  for (int i = 0; i < 100; ++i) {
    const std::string number = std::to_string(i);
    text += ".addV('v').property('id','" + number + "').property('pk','k" + number + "')";
  }
  run(routing, text);
  EXPECT_EQ(last_.writes, 100U);
  EXPECT_THAT(run(routing, "g.V().count()"), ElementsAre("100"));
  // One of them is there: the others of its turn are stored.
  auto again = try_run(routing, text);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::conflict);
}

TEST_F(EngineGraphTest, HopsNeedNoIndex) {
  open();
  catalog::ContainerSpec spec;
  spec.name = "bare";
  spec.key = cluster::key_of();
  spec.index_rules = {{.path = value::parse_index_path("/*").value(), .include = true},
                      {.path = value::parse_index_path("/_sink/?").value(), .include = false},
                      {.path = value::parse_index_path("/_vertexId/?").value(), .include = false}};
  ASSERT_TRUE(engine_->create_container(database_, spec, catalog::Throughput{.units = 400}));
  const auto routing = find("bare");
  make_hub(routing, 20);
  EXPECT_THAT(run(routing, "g.V(['h','hub']).in().count()"), ElementsAre("20"));
  EXPECT_THAT(run(routing, "g.V('s3').out().id()"), ElementsAre("hub"));
}

TEST_F(EngineGraphTest, LongIdsShareTermsAndAreToldApart) {
  open();
  const auto routing = make("g");
  const std::string base(240, 'x');
  for (const char* end : {"1", "2"}) {
    run(routing, "g.addV('v').property('id','" + base + end + "').property('pk','p')");
  }
  run(routing, "g.V('" + base + "1').addE('e').to(V('" + base + "2'))");
  EXPECT_THAT(run(routing, "g.V('" + base + "1').out().id()"), ElementsAre(base + "2"));
  EXPECT_THAT(run(routing, "g.V('" + base + "2').out().count()"), ElementsAre("0"));
  EXPECT_THAT(run(routing, "g.V('" + base + "2').in().id()"), ElementsAre(base + "1"));
}

TEST_F(EngineGraphTest, ASplitOnTheWayIsNotNoticed) {
  open();
  const auto routing = make("g");
  make_hub(routing, 300);
  const auto graph = graph_of(routing);
  gremlin::Run run_of(*graph, {});
  auto compiled = compile(parse_traversal("g.V(['h','hub']).in().out()", {}).value(), run_of);
  ASSERT_TRUE(compiled);
  compiled->traversal->start(run_of.seed());
  Batch out;
  ASSERT_TRUE(compiled->traversal->pull(run_of, 64, out));
  auto split = engine_->split(routing->container->number, std::nullopt);
  ASSERT_TRUE(split) << split.error().message;
  for (size_t had = 0; had < out.size();) {
    had = out.size();
    ASSERT_TRUE(compiled->traversal->pull(run_of, 64, out));
  }
  uint64_t count = 0;
  for (const Traverser& one : out) count += one.bulk;
  EXPECT_EQ(count, 300U);
}

TEST_F(EngineGraphTest, WhatFailsBeforeItsEndStoresNothing) {
  open();
  const auto routing = make("g");
  auto failed =
      try_run(routing, "g.addV('v').property('id','1').property('pk','p').constant(1).out()");
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("is for vertices"));
  EXPECT_THAT(run(routing, "g.V().count()"), ElementsAre("0"));
  auto twice = try_run(routing,
                       "g.addV('v').property('id','1').property('pk','p')"
                       ".addV('v').property('id','1').property('pk','p')");
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, Code::conflict);
}

TEST_F(EngineGraphTest, AVertexDroppedAndMadeAgainInOneTraversalIsNew) {
  open();
  const auto routing = make("g");
  run(routing, "g.addV('v').property('id','1').property('pk','p').property('n',1)");
  run(routing,
      "g.V('1').sideEffect(drop()).addV('w').property('id','1').property('pk','p').property('m',"
      "2)");
  EXPECT_THAT(run(routing, "g.V('1').label()"), ElementsAre("w"));
  EXPECT_THAT(run(routing, "g.V('1').values('n', 'm')"), ElementsAre("2"));
  run(routing, "g.addV('x').property('id','2').property('pk','p').sideEffect(drop())");
  EXPECT_THAT(run(routing, "g.V().id()"), ElementsAre("1"));
}

}  // namespace
}  // namespace orrery::gremlin

// Traversals over the items of an engine: random ones against a naive evaluator in one partition
// and in several, hops by the index and without one, what is staged, and splits on the way.
#include "api/gremlin/graph/engine_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <optional>
#include <random>
#include <thread>

#include "api/gremlin/parse/parser.h"
#include "api/gremlin/traversal/compile.h"
#include "api/gremlin/traversal/naive_traversal.h"
#include "cluster/engine_fixture.h"
#include "cluster/query/query_helpers.h"

namespace orrery::gremlin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Items as they are written, without what a face adds.
class PlainItems final : public face::SharedItems {
 public:
  std::string_view face() const override { return cluster::kFace; }
  Result<partition::Write> make_write(partition::Verb verb, std::string_view json,
                                      const cluster::Routing& routing,
                                      const Limits&) const override {
    auto document = value::JsonDocument::parse(json);
    if (!document) return pass(document.error());
    partition::Write made;
    made.verb = verb;
    const value::Node* key = document->root().find("pk");
    made.placement = cluster::place(routing, key == nullptr ? "" : key->text);
    made.row = document->root().find("id")->text;
    made.body = json;
    made.schema = routing.schema;
    return made;
  }
  std::function<uint64_t(std::string_view)> age() const override {
    return [](std::string_view) { return 0; };
  }
  Result<TokenGrant> open_token(std::string_view, const cluster::Engine&, const account::Account&,
                                const cluster::Routing&, int64_t) const override {
    return fail(Code::unauthorized, "there are none");
  }
  std::optional<partition::Version> version_of(std::string_view) const override {
    return std::nullopt;
  }
};

class EngineGraphTest : public cluster::EngineTest {
 protected:
  std::unique_ptr<EngineGraph> graph_of(const cluster::RoutingPtr& routing,
                                        NeighbourCaches* caches = nullptr, bool may_wait = true) {
    auto graph = EngineGraph::open(
        {.engine = *engine_,
         .items = items_,
         .clock = clock_,
         .parsed = parsed_,
         .helpers = &helpers_,
         .remote = nullptr,
         .until_us = INT64_MAX,
         .is_wanted = [] { return true; },
         .memory_max = 512ULL << 20,
         .only_placement = {},
         .cache = caches == nullptr ? nullptr : caches->of(routing->container->number),
         .may_wait = may_wait},
        routing);
    EXPECT_TRUE(graph) << graph.error().message;
    return std::move(*graph);
  }
  Result<std::vector<std::string>> try_run(const cluster::RoutingPtr& routing,
                                           std::string_view text,
                                           NeighbourCaches* caches = nullptr) {
    return run_with(routing, text, caches == nullptr ? caches_ : *caches, last_);
  }
  // On any thread.
  Result<std::vector<std::string>> run_with(const cluster::RoutingPtr& routing,
                                            std::string_view text, NeighbourCaches& caches,
                                            StoreWork& work) {
    const auto graph = graph_of(routing, &caches);
    auto chain = parse_traversal(text, {});
    if (!chain) return pass(chain.error());
    gremlin::Run run(*graph, {});
    auto compiled = compile(*chain, run);
    if (!compiled) return pass(compiled.error());
    if (compiled->only_adds) graph->will_only_add();
    if (compiled->only_adds && compiled->is_read_only) graph->will_not_write();
    auto out = compiled->traversal->all(run, run.seed());
    if (!out) return pass(out.error());
    auto stored = graph->commit();
    work = graph->work();
    if (!stored) return pass(stored.error());
    std::vector<std::string> made;
    for (const Traverser& one : *out) made.insert(made.end(), one.bulk, one.value.print());
    return made;
  }
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
  std::vector<std::string> run(const cluster::RoutingPtr& routing, std::string_view text) {
    auto made = try_run(routing, text);
    EXPECT_TRUE(made) << text << ": " << made.error().message;
    return made.value_or(std::vector<std::string>());
  }
  // A vertex 'hub' and `count` edges to it, from vertices in as many partition keys.
  void make_hub(const cluster::RoutingPtr& routing, int count) {
    run(routing, "g.addV('v').property('id','hub').property('pk','h')");
    for (int i = 0; i < count; ++i) {
      const std::string number = std::to_string(i);
      run(routing, "g.addV('v').property('id','s" + number + "').property('pk','k" + number +
                       "').addE('" + (i % 10 == 0 ? "rare" : "usual") + "').to(V(['h','hub']))");
    }
  }
  void check_random(uint32_t units, int rounds, uint32_t seed);
  void check_cases(const cluster::RoutingPtr& routing, NaiveGraph& naive, int cases);

  PlainItems items_;
  ParsedQueries parsed_;
  cluster::QueryHelpers helpers_{2};
  NeighbourCaches caches_{16ULL << 20};
  StoreWork last_;
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

TEST_F(EngineGraphTest, ANewEdgeIsAddedToTheListsOfItsVertices) {
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
TEST_F(EngineGraphTest, WhatIsKnownFollowsRandomWrites) {
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

TEST_F(EngineGraphTest, WhatIsKnownKeepsUpWhileNobodyReads) {
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
TEST_F(EngineGraphTest, WhatManyThreadsStoreIsFollowedWithoutReadingIt) {
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

TEST_F(EngineGraphTest, AnEdgeIsAddedAtOnceByWhatIsInMemory) {
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

TEST_F(EngineGraphTest, WhatIsLargeIsNotReadAtOnce) {
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

TEST_F(EngineGraphTest, WhatIsNotOneTransactionIsNotStoredAtOnce) {
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
TEST_F(EngineGraphTest, WhatIsNotDoneAtOnceIsNotPaidFor) {
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

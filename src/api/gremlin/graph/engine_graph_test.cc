// Traversals over the items of an engine: random ones against a naive evaluator in one partition
// and in several, hops by the index and without one, what is staged, and splits on the way.
#include "api/gremlin/graph/engine_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

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
  std::unique_ptr<EngineGraph> graph_of(const cluster::RoutingPtr& routing) {
    auto graph = EngineGraph::open({.engine = *engine_,
                                    .items = items_,
                                    .clock = clock_,
                                    .parsed = parsed_,
                                    .helpers = &helpers_,
                                    .remote = nullptr,
                                    .until_us = INT64_MAX,
                                    .is_wanted = [] { return true; },
                                    .memory_max = 512ULL << 20},
                                   routing);
    EXPECT_TRUE(graph) << graph.error().message;
    return std::move(*graph);
  }
  Result<std::vector<std::string>> try_run(const cluster::RoutingPtr& routing,
                                           std::string_view text) {
    const auto graph = graph_of(routing);
    auto chain = parse_traversal(text, {});
    if (!chain) return pass(chain.error());
    gremlin::Run run(*graph, {});
    auto compiled = compile(*chain, run);
    if (!compiled) return pass(compiled.error());
    auto out = compiled->traversal->all(run, run.seed());
    if (!out) return pass(out.error());
    auto stored = graph->commit();
    last_ = graph->work();
    if (!stored) return pass(stored.error());
    std::vector<std::string> made;
    for (const Traverser& one : *out) made.insert(made.end(), one.bulk, one.value.print());
    return made;
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

  PlainItems items_;
  ParsedQueries parsed_;
  cluster::QueryHelpers helpers_{2};
  StoreWork last_;
};

void EngineGraphTest::check_random(uint32_t units, int rounds, uint32_t seed) {
  std::mt19937 random(seed);
  open();
  for (int round = 0; round < rounds; ++round) {
    const auto routing = make("g" + std::to_string(round), units);
    NaiveGraph naive(random);
    for (const std::string& text : naive.texts()) ASSERT_TRUE(try_run(routing, text)) << text;
    for (int i = 0; i < 12; ++i) {
      const NaiveGraph::Case one = naive.make_case();
      for (const std::string_view end : {".id()", ".as('x').id()"}) {
        const auto given = run(routing, one.text + std::string(end));
        EXPECT_EQ(std::multiset<std::string>(given.begin(), given.end()), one.ids()) << one.text;
      }
      EXPECT_THAT(run(routing, one.text + ".count()"),
                  ElementsAre(std::to_string(one.walkers.size())))
          << one.text;
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

// Traversals over a graph in memory: a table of texts with what they give, and random ones against
// a naive evaluator that walks edge by edge.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "api/gremlin/parse/parser.h"
#include "api/gremlin/traversal/compile.h"
#include "api/gremlin/traversal/memory_graph.h"

namespace orrery::gremlin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

Result<std::vector<std::string>> try_run(Graph& graph, std::string_view text) {
  auto chain = parse_traversal(text, {});
  if (!chain) return pass(chain.error());
  Run run(graph, {});
  auto compiled = compile(*chain, run);
  if (!compiled) return pass(compiled.error());
  auto out = compiled->traversal->all(run, run.seed());
  if (!out) return pass(out.error());
  std::vector<std::string> made;
  for (const Traverser& one : *out) made.insert(made.end(), one.bulk, one.value.print());
  return made;
}

class TraversalTest : public testing::Test {
 protected:
  TraversalTest() {
    for (const std::string_view text : {
             "g.addV('person').property('id','1').property('name','marko').property('age',29)",
             "g.addV('person').property('id','2').property('name','vadas').property('age',27)",
             "g.addV('software').property('id','3').property('name','lop')",
             "g.addV('person').property('id','4').property('name','josh').property('age',32)",
             "g.V('1').addE('knows').to(V('2')).property('weight',0.5)",
             "g.V('1').addE('knows').to(V('4')).property('weight',1.0)",
             "g.V('1').addE('created').to(V('3')).property('weight',0.4)",
             "g.V('4').addE('created').to(V('3')).property('weight',0.4)",
         }) {
      EXPECT_TRUE(try_run(graph_, text)) << text;
    }
  }
  std::vector<std::string> run(std::string_view text) {
    auto made = try_run(graph_, text);
    EXPECT_TRUE(made) << text << ": " << made.error().message;
    return made.value_or(std::vector<std::string>());
  }
  std::string refused(std::string_view text) {
    auto made = try_run(graph_, text);
    EXPECT_FALSE(made) << text;
    return made ? "" : made.error().message;
  }
  MemoryGraph graph_;
};

TEST_F(TraversalTest, Hops) {
  EXPECT_THAT(run("g.V('1').out('knows').values('name')"), UnorderedElementsAre("vadas", "josh"));
  EXPECT_THAT(run("g.V('3').in().values('name')"), UnorderedElementsAre("marko", "josh"));
  EXPECT_THAT(run("g.V('1').outE('created').inV().id()"), ElementsAre("3"));
  EXPECT_THAT(run("g.V('4').bothE().otherV().id()"), UnorderedElementsAre("3", "1"));
}

TEST_F(TraversalTest, AHopOfManyIsOneRequest) {
  graph_.hops = 0;
  run("g.V().out()");
  EXPECT_EQ(graph_.hops, 1U);
}

TEST_F(TraversalTest, FiltersAndPredicates) {
  EXPECT_THAT(run("g.V().has('age', gt(28).and(lt(30))).values('name')"), ElementsAre("marko"));
  EXPECT_THAT(run("g.V().has('age', within(27, 32)).count()"), ElementsAre("2"));
  EXPECT_THAT(run("g.V().has('name', startingWith('va')).id()"), ElementsAre("2"));
  EXPECT_THAT(run("g.V().where(out('created')).id()"), UnorderedElementsAre("1", "4"));
  EXPECT_THAT(run("g.V().not(out()).id()"), UnorderedElementsAre("2", "3"));
  EXPECT_THAT(run("g.V().as('a').out().in().where(neq('a')).id()"), UnorderedElementsAre("4", "1"));
}

TEST_F(TraversalTest, GroupsAndOrders) {
  EXPECT_THAT(run("g.V().groupCount().by(label)"), ElementsAre("{person=3, software=1}"));
  EXPECT_THAT(run("g.V().hasLabel('person').order().by('age', desc).values('name')"),
              ElementsAre("josh", "marko", "vadas"));
  EXPECT_THAT(run("g.V().hasLabel('person').values('age').sum()"), ElementsAre("88"));
  EXPECT_THAT(run("g.V('1').project('n', 'c').by('name').by(out().count())"),
              ElementsAre("{n=marko, c=3}"));
}

TEST_F(TraversalTest, RepeatAndPaths) {
  EXPECT_THAT(run("g.V('1').repeat(out()).times(2).path().by('name')"),
              ElementsAre("path[marko, josh, lop]"));
  EXPECT_THAT(run("g.V('1').repeat(out()).emit().id()"), UnorderedElementsAre("2", "4", "3", "3"));
  EXPECT_THAT(refused("g.V('1').repeat(both()).count()"), HasSubstr("32 loops"));
}

TEST_F(TraversalTest, AnEdgeWithItselfIsMetTwice) {
  run("g.V('2').addE('self').to(V('2'))");
  EXPECT_EQ(run("g.V('2').bothE('self')").size(), 2U);
}

TEST_F(TraversalTest, ALimitEndsWhatComesBefore) {
  EXPECT_THAT(run("g.inject(1).repeat(identity()).emit().limit(5).count()"), ElementsAre("5"));
}

TEST_F(TraversalTest, WritesAndDrops) {
  run("g.V('1').drop()");
  EXPECT_THAT(run("g.E().count()"), ElementsAre("1"));
  EXPECT_THAT(run("g.V('2').property('age', 28).values('age')"), ElementsAre("28"));
}

TEST_F(TraversalTest, VertexPrograms) {
  EXPECT_THAT(run("g.V('2').shortestPath().with(ShortestPath.target, hasId('3')).select(values)"),
              ElementsAre("[v[2], v[1], v[3]]"));
  EXPECT_THAT(run("g.V().connectedComponent().values('gremlin.connectedComponentVertexProgram."
                  "component').dedup()"),
              ElementsAre("1"));
  EXPECT_THAT(run("g.V().pageRank().by('rank').order().by('rank', desc).limit(1).values('name')"),
              ElementsAre("lop"));
}

TEST_F(TraversalTest, WhatIsNotThereSaysSo) {
  EXPECT_THAT(refused("g.V().subgraph('x')"), HasSubstr("subgraph"));
  EXPECT_THAT(refused("g.V().timeLimit(5)"), HasSubstr("timeLimit"));
  EXPECT_THAT(refused("g.withStrategies(ProjectionStrategy.build().create()).V()"),
              HasSubstr("ProjectionStrategy"));
  EXPECT_THAT(refused("g.V().values('name').out()"), HasSubstr("is for vertices"));
  EXPECT_THAT(refused("g.V().order().by('missing')"), HasSubstr("does not map to a value"));
}

TEST_F(TraversalTest, LivingTraversersAndTheirPathsAreBounded) {
  EXPECT_THAT(refused("g.V().repeat(both()).times(30).path().count()"), HasSubstr("of memory"));
  // A fold of so many would write them one by one.
  std::string bulks = "g.inject(1)";
  for (int i = 0; i < 70; ++i) bulks += ".union(identity(),identity()).barrier()";
  EXPECT_THAT(refused(bulks + ".count()"), HasSubstr("64 bits"));
  EXPECT_THAT(refused(bulks + ".fold()"), HasSubstr("of memory"));
}

// The naive way: one walker for each result, one edge after the other, no bulk and no batches.
using Edges = std::vector<std::pair<int, int>>;
std::vector<int> naive_hop(const Edges& edges, const std::vector<int>& from, char way) {
  std::vector<int> to;
  for (const int vertex : from) {
    for (const auto& [out, in] : edges) {
      if (way != 'i' && out == vertex) to.push_back(in);
      if (way != 'o' && in == vertex) to.push_back(out);
    }
  }
  return to;
}

TEST(RandomTraversals, GiveWhatANaiveEvaluatorGives) {
  std::mt19937 random(17);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 200; ++round) {
    MemoryGraph graph;
    const int vertices = 2 + below(8);
    for (int i = 0; i < vertices; ++i) {
      ASSERT_TRUE(try_run(graph, "g.addV('v').property('id','" + std::to_string(i) +
                                     "').property('n'," + std::to_string(i) + ")"));
    }
    Edges edges;
    for (int i = below(15); i > 0; --i) {
      edges.emplace_back(below(vertices), below(vertices));
      ASSERT_TRUE(try_run(graph, "g.V('" + std::to_string(edges.back().first) +
                                     "').addE('e').to(V('" + std::to_string(edges.back().second) +
                                     "'))"));
    }
    std::vector<int> walkers;
    for (int i = 0; i < vertices; ++i) walkers.push_back(i);
    std::string text = "g.V()";
    for (int step = below(5); step > 0; --step) {
      switch (below(6)) {
        case 0:
          text += ".out()";
          walkers = naive_hop(edges, walkers, 'o');
          break;
        case 1:
          text += ".in()";
          walkers = naive_hop(edges, walkers, 'i');
          break;
        case 2:
          text += ".both()";
          walkers = naive_hop(edges, walkers, 'b');
          break;
        case 3: {
          const int most = below(vertices);
          text += ".has('n', lte(" + std::to_string(most) + "))";
          std::erase_if(walkers, [&](int vertex) { return vertex > most; });
          break;
        }
        case 4:
          text += ".repeat(out()).times(2)";
          walkers = naive_hop(edges, naive_hop(edges, walkers, 'o'), 'o');
          break;
        default: {
          text += ".where(out())";
          std::erase_if(walkers,
                        [&](int vertex) { return naive_hop(edges, {vertex}, 'o').empty(); });
        }
      }
    }
    std::multiset<std::string> expected;
    for (const int vertex : walkers) expected.insert(std::to_string(vertex));
    // The same with a path is run without bulk.
    for (const std::string_view end : {".id()", ".as('x').id()"}) {
      auto given = try_run(graph, text + std::string(end));
      ASSERT_TRUE(given) << text << ": " << given.error().message;
      EXPECT_EQ(std::multiset<std::string>(given->begin(), given->end()), expected) << text;
    }
  }
}

}  // namespace
}  // namespace orrery::gremlin

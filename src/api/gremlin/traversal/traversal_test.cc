// Traversals over a graph in memory: a table of texts with what they give, and random ones against
// a naive evaluator that walks edge by edge.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "api/gremlin/parse/parser.h"
#include "api/gremlin/traversal/compile.h"
#include "api/gremlin/traversal/memory_graph.h"
#include "api/gremlin/traversal/naive_traversal.h"

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
  EXPECT_THAT(refused("g.V('1').repeat(both()).count()"), HasSubstr("64 loops"));
  // What a barrier in the body gives has gone through as many loops.
  EXPECT_THAT(run("g.inject(1, 2).repeat(sum()).times(3)"), ElementsAre("3"));
  EXPECT_THAT(run("g.inject(1).repeat(repeat(identity()).times(2)).times(3).loops()"),
              ElementsAre("0"));
}

TEST_F(TraversalTest, AnEdgeWithItselfIsMetTwice) {
  run("g.V('2').addE('self').to(V('2'))");
  EXPECT_EQ(run("g.V('2').bothE('self')").size(), 2U);
}

TEST_F(TraversalTest, ALimitEndsWhatComesBefore) {
  EXPECT_THAT(run("g.inject(1).repeat(identity()).emit().limit(5).count()"), ElementsAre("5"));
}

TEST_F(TraversalTest, ALimitEndsAHop) {
  for (int i = 0; i < 300; ++i) run("g.V('2').addE('many').to(V('3'))");
  graph_.hop_edges = 0;
  EXPECT_EQ(run("g.V('2').outE('many').limit(3)").size(), 3U);
  EXPECT_LT(graph_.hop_edges, 300U);
}

TEST_F(TraversalTest, ConditionsOfAHopGoToTheGraph) {
  EXPECT_THAT(run("g.V('1').outE('knows').has('weight', gt(0.7)).inV().id()"), ElementsAre("4"));
  EXPECT_THAT(run("g.V('1').outE().hasLabel('created').has('weight', 0.4).inV().id()"),
              ElementsAre("3"));
  EXPECT_THAT(run("g.V('1').outE().as('e').has('weight', gt(0.7)).inV().id()"), ElementsAre("4"));
}

TEST_F(TraversalTest, PartitionStrategyKeepsWithinItsPartitions) {
  const std::string in_a =
      "g.withStrategies(new PartitionStrategy(partitionKey: 'p', writePartition: 'a', "
      "readPartitions: ['a'])).";
  const std::string in_both =
      "g.withStrategies(PartitionStrategy.build().partitionKey('p').writePartition('b')"
      ".readPartitions('a', 'b').create()).";
  run(in_a + "addV('x').property('id', 'a1')");
  run(in_both + "addV('x').property('id', 'b1')");
  run(in_both + "V('a1').addE('to').to(V('b1'))");
  run(in_a + "V('a1').addE('to').to(V('a1'))");
  EXPECT_THAT(run(in_a + "V().id()"), ElementsAre("a1"));
  EXPECT_THAT(run(in_both + "V().id()"), UnorderedElementsAre("a1", "b1"));
  EXPECT_THAT(run(in_a + "V('a1').out('to').id()"), ElementsAre("a1"));
  EXPECT_THAT(run(in_both + "V('a1').out('to').id()"), UnorderedElementsAre("a1", "b1"));
  EXPECT_THAT(run(in_a + "V('a1').both().id()"), ElementsAre("a1", "a1"));
  EXPECT_THAT(run(in_a + "E().count()"), ElementsAre("1"));
  EXPECT_THAT(
      run("g.withStrategies(new PartitionStrategy(partitionKey: 'p', readPartitions: ['a']))"
          ".withoutStrategies(PartitionStrategy).V('b1').id()"),
      ElementsAre("b1"));
  EXPECT_THAT(refused("g.withStrategies(new PartitionStrategy(partitionKey: 'p')).addV()"),
              HasSubstr("writePartition"));
}

TEST_F(TraversalTest, SubgraphStrategyHidesTheRest) {
  const std::string people =
      "g.withStrategies(SubgraphStrategy.build().vertices(hasLabel('person')).create()).";
  EXPECT_THAT(run(people + "V().id()"), UnorderedElementsAre("1", "2", "4"));
  EXPECT_THAT(run(people + "V('1').out().id()"), UnorderedElementsAre("2", "4"));
  EXPECT_THAT(run(people + "E().count()"), ElementsAre("2"));
  EXPECT_THAT(run("g.withStrategies(new SubgraphStrategy(edges: has('weight', gt(0.45)), vertices: "
                  "hasLabel('person'), checkAdjacentVertices: false)).E().count()"),
              ElementsAre("2"));
  EXPECT_THAT(run("g.withStrategies(new SubgraphStrategy(edges: hasLabel('knows'))).V('1').both()"
                  ".values('name')"),
              UnorderedElementsAre("vadas", "josh"));
  EXPECT_THAT(run("g.withStrategies(new SubgraphStrategy(vertexProperties: hasKey('name')))"
                  ".V('1').values()"),
              ElementsAre("marko"));
}

TEST_F(TraversalTest, OtherStrategies) {
  EXPECT_THAT(refused("g.withStrategies(ReadOnlyStrategy).addV()"), HasSubstr("ReadOnlyStrategy"));
  EXPECT_THAT(run("g.withStrategies(ReadOnlyStrategy).V().count()"), ElementsAre("4"));
  EXPECT_THAT(refused("g.withStrategies(EdgeLabelVerificationStrategy.build().create()).V().out()"),
              HasSubstr("labels"));
  const std::string seeded = "g.withStrategies(new SeedStrategy(seed: 7)).V().sample(2).id()";
  EXPECT_EQ(run(seeded), run(seeded));
  EXPECT_THAT(run("g.withoutStrategies(LazyBarrierStrategy).V('1').id()"), ElementsAre("1"));
}

TEST_F(TraversalTest, WritesAndDrops) {
  run("g.V('1').drop()");
  EXPECT_THAT(run("g.E().count()"), ElementsAre("1"));
  EXPECT_THAT(run("g.V('2').property('age', 28).values('age')"), ElementsAre("28"));
}

TEST_F(TraversalTest, MergedEdgesFindTheirEndsByOptions) {
  const std::string merge =
      "g.V('2').as('v').mergeE([(T.label): 'likes', (from): Merge.outV, (to): Merge.inV])"
      ".option(Merge.outV, select('v')).option(Merge.inV, [(T.label): 'person', name: 'josh'])"
      ".inV().id()";
  EXPECT_THAT(run(merge), ElementsAre("4"));
  EXPECT_THAT(run(merge), ElementsAre("4"));
  EXPECT_THAT(run("g.V('2').outE('likes').count()"), ElementsAre("1"));
  EXPECT_THAT(refused("g.mergeE([(T.label): 'x', (from): Merge.outV, (to): '4'])"),
              HasSubstr("Merge.outV"));
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

TEST_F(TraversalTest, HowDriversEndWhatGivesNothing) {
  for (const char* end : {"iterate", "none", "discard"}) {
    auto chain = parse_traversal("g.V()." + std::string(end) + "()", {});
    ASSERT_TRUE(chain) << end;
    gremlin::Run of_chain(graph_, {});
    EXPECT_EQ(compile(*chain, of_chain)->read_as, "iterate") << end;
  }
}

TEST_F(TraversalTest, WhatIsNotThereSaysSo) {
  EXPECT_THAT(refused("g.V().subgraph('x')"), HasSubstr("subgraph"));
  EXPECT_THAT(refused("g.V().timeLimit(5)"), HasSubstr("timeLimit"));
  EXPECT_THAT(refused("g.withStrategies(EventStrategy.build().create()).V()"),
              HasSubstr("EventStrategy"));
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

TEST(RandomTraversals, GiveWhatANaiveEvaluatorGives) {
  std::mt19937 random(17);
  for (int round = 0; round < 300; ++round) {
    NaiveGraph naive(random);
    MemoryGraph graph;
    for (const std::string& text : naive.texts()) ASSERT_TRUE(try_run(graph, text)) << text;
    for (int i = 0; i < 4; ++i) {
      const NaiveGraph::Case one = naive.make_case();
      // The same with a path is run without bulk.
      for (const std::string_view end : {".id()", ".as('x').id()"}) {
        auto given = try_run(graph, one.text + std::string(end));
        ASSERT_TRUE(given) << one.text << ": " << given.error().message;
        EXPECT_EQ(std::multiset<std::string>(given->begin(), given->end()), one.ids()) << one.text;
      }
      EXPECT_THAT(try_run(graph, one.text + ".count()").value(),
                  ElementsAre(std::to_string(one.walkers.size())))
          << one.text;
    }
  }
}

}  // namespace
}  // namespace orrery::gremlin

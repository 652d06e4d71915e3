// What the tests of graphs over an engine share: traversals by their text, and a graph with a hub.
// Included by tests only.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/gremlin/graph/engine_graph.h"
#include "api/gremlin/parse/parser.h"
#include "api/gremlin/traversal/compile.h"
#include "cluster/engine_fixture.h"
#include "cluster/query/query_helpers.h"

namespace orrery::gremlin {

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

class GraphOverEngineTest : public cluster::EngineTest {
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

  PlainItems items_;
  ParsedQueries parsed_;
  cluster::QueryHelpers helpers_{2};
  NeighbourCaches caches_{16ULL << 20};
  StoreWork last_;
};

}  // namespace orrery::gremlin

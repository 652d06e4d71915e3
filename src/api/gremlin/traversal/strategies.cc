// See strategies.h.
#include "api/gremlin/traversal/strategies.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

namespace orrery::gremlin {
namespace {

// They change how other implementations work, and not what a traversal gives.
constexpr auto kWithoutEffect = std::to_array<std::string_view>({"AdjacentToIncidentStrategy",
                                                                 "ByModulatorOptimizationStrategy",
                                                                 "ComputerVerificationStrategy",
                                                                 "ConnectiveStrategy",
                                                                 "CountStrategy",
                                                                 "EarlyLimitStrategy",
                                                                 "FilterRankingStrategy",
                                                                 "GraphFilterStrategy",
                                                                 "HaltedTraverserStrategy",
                                                                 "IdentityRemovalStrategy",
                                                                 "IncidentToAdjacentStrategy",
                                                                 "InlineFilterStrategy",
                                                                 "LambdaRestrictionStrategy",
                                                                 "LazyBarrierStrategy",
                                                                 "MatchAlgorithmStrategy",
                                                                 "MatchPredicateStrategy",
                                                                 "OptionsStrategy",
                                                                 "OrderLimitStrategy",
                                                                 "PathProcessorStrategy",
                                                                 "PathRetractionStrategy",
                                                                 "ProfileStrategy",
                                                                 "ReferenceElementStrategy",
                                                                 "RepeatUnrollStrategy",
                                                                 "RequirementsStrategy",
                                                                 "StandardVerificationStrategy",
                                                                 "VertexProgramStrategy"});

bool is_hop(std::string_view name) {
  return is_one_of(name, {"out", "in", "both", "outE", "inE", "bothE", "to", "toE"});
}

// A setting by its name: the last one counts. Null when it was not given.
const StepCall* setting(const Chain& strategy, std::string_view name) {
  const StepCall* found = nullptr;
  for (const StepCall& call : strategy.calls) {
    if (call.name == name) found = &call;
  }
  return found;
}

// All values of a setting, and those of lists in it.
Value::List values_of(const StepCall& call) {
  Value::List made;
  for (const Argument& argument : call.arguments) {
    if (!argument.is_value()) continue;
    if (argument.value.is_list()) {
      std::ranges::copy(argument.value.elements(), std::back_inserter(made));
    } else {
      made.push_back(argument.value);
    }
  }
  return made;
}

StepCall call_of(std::string name, std::vector<Argument> arguments = {}) {
  return {std::move(name), std::move(arguments)};
}
Argument value_argument(Value value) {
  return {.value = std::move(value), .chain = {}, .predicate = {}};
}
Argument chain_argument(std::vector<StepCall> calls) {
  return {.value = {},
          .chain = std::make_shared<Chain>(Chain{"__", std::move(calls)}),
          .predicate = {}};
}

// Puts calls in the place of each call, in nested traversals too.
using Rewrite = std::function<Result<std::vector<StepCall>>(StepCall call)>;
Result<Chain> rewritten(const Chain& chain, const Rewrite& rewrite) {
  Chain made{chain.source, {}};
  for (StepCall call : chain.calls) {
    for (Argument& argument : call.arguments) {
      if (!argument.chain || argument.chain->source != "__") continue;
      auto inner = rewritten(*argument.chain, rewrite);
      if (!inner) return pass(inner.error());
      argument.chain = std::make_shared<Chain>(std::move(*inner));
    }
    auto calls = rewrite(std::move(call));
    if (!calls) return pass(calls.error());
    std::ranges::move(*calls, std::back_inserter(made.calls));
  }
  return made;
}

// What has to hold of vertices and of edges.
struct ElementTests {
  std::vector<StepCall> vertices;
  std::vector<StepCall> edges;
};

void append(std::vector<StepCall>& to, const std::vector<StepCall>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// A hop to vertices goes over edges for which the test holds.
std::vector<StepCall> tested_hop(StepCall call, const ElementTests& tests) {
  const bool to_edges = call.name.ends_with('E');
  if (to_edges || tests.edges.empty()) {
    std::vector<StepCall> made{std::move(call)};
    append(made, to_edges ? tests.edges : tests.vertices);
    return made;
  }
  std::string end = "otherV";
  if (call.name == "to") {
    call.name = "toE";
  } else {
    if (call.name != "both") end = call.name == "out" ? "inV" : "outV";
    call.name += "E";
  }
  std::vector<StepCall> made{std::move(call)};
  append(made, tests.edges);
  made.push_back(call_of(end));
  append(made, tests.vertices);
  return made;
}

std::vector<StepCall> tested(StepCall call, const ElementTests& tests) {
  const std::string name = call.name;
  // to() is a hop with a direction, and the end of an edge otherwise.
  const bool is_end = name == "to" && !(!call.arguments.empty() && call.arguments[0].is_token());
  if (is_hop(name) && !is_end) return tested_hop(std::move(call), tests);
  std::vector<StepCall> made{std::move(call)};
  if (name == "V" || is_one_of(name, {"inV", "outV", "bothV", "otherV", "toV"})) {
    append(made, tests.vertices);
  }
  if (name == "E") append(made, tests.edges);
  return made;
}

Result<Chain> in_partitions(const Chain& chain, const Chain& strategy) {
  const StepCall* key = setting(strategy, "partitionKey");
  const StepCall* write = setting(strategy, "writePartition");
  const StepCall* read = setting(strategy, "readPartitions");
  if (key == nullptr || values_of(*key).size() != 1 || !values_of(*key)[0].is_text()) {
    return fail(Code::invalid, "PartitionStrategy needs a partitionKey, which is a text");
  }
  const StepCall* meta = setting(strategy, "includeMetaProperties");
  if (meta != nullptr && !values_of(*meta).empty() && values_of(*meta)[0].as_bool()) {
    return fail(Code::unsupported, "PartitionStrategy with includeMetaProperties is not supported");
  }
  const Argument name = value_argument(values_of(*key)[0]);
  auto within = std::make_shared<Predicate>();
  within->op = "within";
  if (read != nullptr) within->values = values_of(*read);
  const StepCall has =
      call_of("has", {name, {.value = {}, .chain = {}, .predicate = std::move(within)}});
  const ElementTests tests{{has}, {has}};
  return rewritten(chain, [&](StepCall call) -> Result<std::vector<StepCall>> {
    if (call.name == "mergeV" || call.name == "mergeE") {
      return fail(Code::unsupported,
                  fmt::format("{}() with PartitionStrategy is not supported", call.name));
    }
    if (call.name != "addV" && call.name != "addE") return tested(std::move(call), tests);
    if (write == nullptr || values_of(*write).empty()) {
      return fail(Code::invalid, "a traversal that adds elements needs a writePartition");
    }
    return std::vector<StepCall>{std::move(call),
                                 call_of("property", {name, value_argument(values_of(*write)[0])})};
  });
}

Result<Chain> of_subgraph(const Chain& chain, const Chain& strategy) {
  const auto criterion = [&](std::string_view name) -> std::optional<StepCall> {
    const StepCall* given = setting(strategy, name);
    if (given == nullptr || given->arguments.empty() || !given->arguments[0].chain) {
      return std::nullopt;
    }
    return call_of("filter", {given->arguments[0]});
  };
  const auto vertices = criterion("vertices");
  const auto edges = criterion("edges");
  const auto properties = criterion("vertexProperties");
  bool checks_ends = true;
  if (const StepCall* adjacent = setting(strategy, "checkAdjacentVertices")) {
    const Value::List values = values_of(*adjacent);
    checks_ends = values.empty() || values[0].as_bool();
  }
  ElementTests tests;
  if (vertices) tests.vertices.push_back(*vertices);
  if (edges) tests.edges.push_back(*edges);
  if (vertices && checks_ends) {
    for (const char* end : {"inV", "outV"}) {
      tests.edges.push_back(call_of("filter", {chain_argument({call_of(end), *vertices})}));
    }
  }
  return rewritten(chain, [&](StepCall call) -> Result<std::vector<StepCall>> {
    if (!properties ||
        !is_one_of(call.name, {"properties", "values", "valueMap", "propertyMap", "elementMap"})) {
      return tested(std::move(call), tests);
    }
    if (call.name != "properties" && call.name != "values") {
      return fail(Code::unsupported,
                  fmt::format("{}() with vertexProperties of SubgraphStrategy is not supported",
                              call.name));
    }
    const bool is_values = call.name == "values";
    call.name = "properties";
    std::vector<StepCall> made{std::move(call), *properties};
    if (is_values) made.push_back(call_of("value"));
    return made;
  });
}

Status check_labels(const Chain& chain) {
  auto checked = rewritten(chain, [](StepCall call) -> Result<std::vector<StepCall>> {
    const bool names_some =
        std::ranges::any_of(call.arguments, [](const Argument& one) { return one.is_text(); });
    if (is_hop(call.name) && call.name != "to" && !names_some) {
      return fail(Code::invalid,
                  fmt::format("{}() names no labels, and EdgeLabelVerificationStrategy "
                              "asks for them",
                              call.name));
    }
    return std::vector<StepCall>{std::move(call)};
  });
  if (!checked) return pass(checked.error());
  return {};
}

Result<Chain> with_strategy(Chain chain, const Chain& strategy, Run& run) {
  const std::string& name = strategy.source;
  if (name == "ReadOnlyStrategy") {
    if (!writes(chain)) return chain;
    return fail(Code::invalid,
                "the traversal has a step that writes, and ReadOnlyStrategy forbids that");
  }
  if (name == "PartitionStrategy") return in_partitions(chain, strategy);
  if (name == "SubgraphStrategy") return of_subgraph(chain, strategy);
  if (name == "EdgeLabelVerificationStrategy") {
    if (auto checked = check_labels(chain); !checked) return pass(checked.error());
    return chain;
  }
  if (name == "SeedStrategy") {
    const StepCall* seed = setting(strategy, "seed");
    const Value::List values = seed == nullptr ? Value::List() : values_of(*seed);
    if (values.size() != 1 || !values[0].is_integer()) {
      return fail(Code::invalid, "SeedStrategy needs a seed, which is a whole number");
    }
    run.random.seed(static_cast<uint64_t>(values[0].as_integer()));
    return chain;
  }
  if (name == "ProjectionStrategy") {
    std::vector<std::string> names;
    if (const StepCall* shown = setting(strategy, "IncludeSystemProperties")) {
      for (const Value& value : values_of(*shown)) names.push_back(value.print());
    }
    if (auto shown = run.graph.show_system_properties(names); !shown) return pass(shown.error());
    return chain;
  }
  if (std::ranges::find(kWithoutEffect, name) != kWithoutEffect.end()) return chain;
  return fail(Code::unsupported, name + " is not supported");
}

// The name of a strategy in withoutStrategies(): its own, or that of its class.
std::string name_of(const Argument& argument) {
  if (argument.chain) return argument.chain->source;
  if (!argument.is_text()) return {};
  const std::string& text = argument.value.string();
  return text.substr(text.rfind('.') + 1);
}

}  // namespace

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

bool writes(const Chain& chain) {
  return std::ranges::any_of(chain.calls, [](const StepCall& call) {
    return is_one_of(call.name, {"addV", "addE", "property", "drop", "mergeV", "mergeE"}) ||
           std::ranges::any_of(call.arguments, [](const Argument& argument) {
             return argument.chain && writes(*argument.chain);
           });
  });
}

bool only_adds(const Chain& chain) {
  bool is_new = false;  // what a property() here would be of
  for (const StepCall& call : chain.calls) {
    const bool is_of_before = is_one_of(call.name, {"property", "from", "to"});
    if (!is_of_before) is_new = is_one_of(call.name, {"addV", "addE"});
    if (call.name == "property" && !is_new) return false;
    // Vertex programs set properties.
    if (is_one_of(call.name, {"drop", "mergeV", "mergeE", "pageRank", "peerPressure",
                              "connectedComponent", "shortestPath", "program"})) {
      return false;
    }
    const bool all = std::ranges::all_of(call.arguments, [](const Argument& argument) {
      return !argument.chain || only_adds(*argument.chain);
    });
    if (!all) return false;
  }
  return true;
}

Result<Chain> apply_strategies(Chain chain, Run& run) {
  std::vector<Chain> strategies;
  Chain left{chain.source, {}};
  left.calls.reserve(chain.calls.size());
  for (StepCall& call : chain.calls) {
    if (call.name == "withStrategies") {
      for (const Argument& argument : call.arguments) {
        if (!argument.chain) {
          return fail(Code::invalid, print(call).substr(0, 200) + " names no strategy");
        }
        strategies.push_back(*argument.chain);
      }
    } else if (call.name == "withoutStrategies") {
      for (const Argument& argument : call.arguments) {
        std::erase_if(strategies,
                      [&](const Chain& one) { return one.source == name_of(argument); });
      }
    } else {
      left.calls.push_back(std::move(call));
    }
  }
  for (const Chain& strategy : strategies) {
    auto applied = with_strategy(std::move(left), strategy, run);
    if (!applied) return applied;
    left = std::move(*applied);
  }
  return left;
}

}  // namespace orrery::gremlin

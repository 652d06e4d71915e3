// See names.h.
#include "api/gremlin/parse/names.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace orrery::gremlin {
namespace {

constexpr std::array kSteps = std::to_array<StepName>({
    {"E", 0, kAny},
    {"V", 0, kAny},
    {"addE", 1, 1},
    {"addV", 0, 1},
    {"aggregate", 1, 2},
    {"and", 0, kAny},
    {"as", 1, kAny},
    {"barrier", 0, 1},
    {"both", 0, kAny},
    {"bothE", 0, kAny},
    {"bothV", 0, 0},
    {"branch", 1, 1},
    {"by", 0, 2},
    {"cap", 1, kAny},
    {"choose", 1, 3},
    {"coalesce", 0, kAny},
    {"coin", 1, 1},
    {"connectedComponent", 0, 0},
    {"constant", 1, 1},
    {"count", 0, 1},
    {"cyclicPath", 0, 0},
    {"dedup", 0, kAny},
    {"discard", 0, 0},
    {"drop", 0, 0},
    {"elementMap", 0, kAny},
    {"emit", 0, 1},
    {"executionProfile", 0, 0},
    {"explain", 0, 0},
    {"fail", 0, 1},
    {"filter", 1, 1},
    {"flatMap", 1, 1},
    {"fold", 0, 2},
    {"from", 1, 1},
    {"group", 0, 1},
    {"groupCount", 0, 1},
    {"has", 1, 3},
    {"hasId", 1, kAny},
    {"hasKey", 1, kAny},
    {"hasLabel", 1, kAny},
    {"hasNext", 0, 0},
    {"hasNot", 1, 1},
    {"hasValue", 1, kAny},
    {"id", 0, 0},
    {"identity", 0, 0},
    {"in", 0, kAny},
    {"inE", 0, kAny},
    {"inV", 0, 0},
    {"index", 0, 0},
    {"inject", 0, kAny},
    {"is", 1, 1},
    {"iterate", 0, 0},
    {"key", 0, 0},
    {"label", 0, 0},
    {"limit", 1, 2},
    {"local", 1, 1},
    {"loops", 0, 1},
    {"map", 1, 1},
    {"match", 1, kAny},
    {"math", 1, 1},
    {"max", 0, 1},
    {"mean", 0, 1},
    {"mergeE", 0, 1},
    {"mergeV", 0, 1},
    {"min", 0, 1},
    {"next", 0, 1},
    {"none", 0, 0},
    {"not", 1, 1},
    {"option", 1, 2},
    {"optional", 1, 1},
    {"or", 0, kAny},
    {"order", 0, 1},
    {"otherV", 0, 0},
    {"out", 0, kAny},
    {"outE", 0, kAny},
    {"outV", 0, 0},
    {"pageRank", 0, 1},
    {"path", 0, 0},
    {"peerPressure", 0, 0},
    {"profile", 0, 1},
    {"project", 1, kAny},
    {"properties", 0, kAny},
    {"property", 1, kAny},
    {"propertyMap", 0, kAny},
    {"range", 2, 3},
    {"read", 0, 0},
    {"repeat", 1, 2},
    {"sack", 0, 1},
    {"sample", 1, 2},
    {"select", 1, kAny},
    {"shortestPath", 0, 0},
    {"sideEffect", 1, 1},
    {"simplePath", 0, 0},
    {"skip", 1, 2},
    {"store", 1, 1},
    {"sum", 0, 1},
    {"tail", 0, 2},
    {"timeLimit", 1, 1},
    {"times", 1, 1},
    {"to", 1, kAny},
    {"toBulkSet", 0, 0},
    {"toE", 1, kAny},
    {"toList", 0, 0},
    {"toSet", 0, 0},
    {"toV", 1, 1},
    {"tree", 0, 1},
    {"tryNext", 0, 0},
    {"unfold", 0, 0},
    {"union", 0, kAny},
    {"until", 1, 1},
    {"value", 0, 0},
    {"valueMap", 0, kAny},
    {"values", 0, kAny},
    {"where", 1, 2},
    {"with", 1, 2},
    {"withBulk", 1, 1},
    {"withComputer", 0, kAny},
    {"withPath", 0, 0},
    {"withSack", 1, 3},
    {"withSideEffect", 2, 3},
    {"withStrategies", 1, kAny},
    {"withoutStrategies", 1, kAny},
});
static_assert(std::ranges::is_sorted(kSteps, {}, &StepName::name));

constexpr std::array<std::string_view, 19> kPredicates = {"between",
                                                          "containing",
                                                          "endingWith",
                                                          "eq",
                                                          "gt",
                                                          "gte",
                                                          "inside",
                                                          "lt",
                                                          "lte",
                                                          "neq",
                                                          "notContaining",
                                                          "notEndingWith",
                                                          "notStartingWith",
                                                          "outside",
                                                          "startingWith",
                                                          "test",
                                                          "within",
                                                          "without",
                                                          "~"};

// Where a name has its class; of two classes with one name the first is meant when it stands bare.
constexpr auto kConstants = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"T", "id"},
    {"T", "label"},
    {"T", "key"},
    {"T", "value"},
    {"Order", "asc"},
    {"Order", "desc"},
    {"Order", "incr"},
    {"Order", "decr"},
    {"Order", "shuffle"},
    {"Scope", "local"},
    {"Scope", "global"},
    {"Pop", "first"},
    {"Pop", "last"},
    {"Pop", "all"},
    {"Pop", "mixed"},
    {"Cardinality", "single"},
    {"Cardinality", "list"},
    {"Cardinality", "set"},
    {"Column", "keys"},
    {"Column", "values"},
    {"Operator", "sum"},
    {"Operator", "minus"},
    {"Operator", "mult"},
    {"Operator", "div"},
    {"Operator", "min"},
    {"Operator", "max"},
    {"Operator", "assign"},
    {"Operator", "and"},
    {"Operator", "or"},
    {"Operator", "addAll"},
    {"Operator", "sumLong"},
    {"Pick", "any"},
    {"Pick", "none"},
    {"Direction", "OUT"},
    {"Direction", "IN"},
    {"Direction", "BOTH"},
    {"Direction", "out"},
    {"Direction", "in"},
    {"Direction", "from"},
    {"Direction", "to"},
    {"Barrier", "normSack"},
    {"Merge", "onCreate"},
    {"Merge", "onMatch"},
    {"Merge", "outV"},
    {"Merge", "inV"},
});

Value token_of(std::string_view type, std::string_view name) {
  if (type == "Order" && name == "incr") name = "asc";
  if (type == "Order" && name == "decr") name = "desc";
  if (type == "Direction" && (name == "from" || name == "out")) name = "OUT";
  if (type == "Direction" && (name == "to" || name == "in")) name = "IN";
  return Value::token(std::string(type) + "." + std::string(name));
}

}  // namespace

const StepName* find_step(std::string_view name) {
  const auto at = std::ranges::lower_bound(kSteps, name, {}, &StepName::name);
  return at != kSteps.end() && at->name == name ? &*at : nullptr;
}

bool is_predicate(std::string_view name) {
  return std::ranges::find(kPredicates, name) != kPredicates.end();
}

std::optional<Value> bare_constant(std::string_view name) {
  if (name == "NaN") return Value::real(std::nan(""));
  if (name == "Infinity") return Value::real(std::numeric_limits<double>::infinity());
  for (const auto& [type, known] : kConstants) {
    if (known == name) return token_of(type, name);
  }
  return std::nullopt;
}

std::optional<Value> constant(std::string_view type, std::string_view name) {
  if (const size_t dot = type.rfind('.'); dot != std::string_view::npos)
    type.remove_prefix(dot + 1);
  for (const auto& [known_type, known] : kConstants) {
    if (known_type == type && known == name) return token_of(type, name);
  }
  if (type == "WithOptions") {
    if (name == "tokens") return Value::text("~tinkerpop.valueMap.tokens");
    if (name == "indexer") return Value::text("~tinkerpop.index.indexer");
    if (name == "none" || name == "list") return Value::integer(0);
    if (name == "ids" || name == "map") return Value::integer(1);
    if (name == "labels") return Value::integer(2);
    if (name == "keys") return Value::integer(4);
    if (name == "values") return Value::integer(8);
    if (name == "all") return Value::integer(15);
  }
  if (type == "PageRank") return Value::text("~tinkerpop.pageRank." + std::string(name));
  if (type == "PeerPressure") return Value::text("~tinkerpop.peerPressure." + std::string(name));
  if (type == "ConnectedComponent") {
    return Value::text("~tinkerpop.connectedComponent." + std::string(name));
  }
  if (type == "ShortestPath") return Value::text("~tinkerpop.shortestPath." + std::string(name));
  if (type == "Integer" && name == "MAX_VALUE") return Value::integer(2147483647);
  if (type == "Integer" && name == "MIN_VALUE") return Value::integer(-2147483648LL);
  if (type == "Long" && name == "MAX_VALUE") {
    return Value::integer(std::numeric_limits<int64_t>::max(), Kind::int64);
  }
  if (type == "Double" && name == "NaN") return Value::real(std::nan(""));
  return std::nullopt;
}

}  // namespace orrery::gremlin

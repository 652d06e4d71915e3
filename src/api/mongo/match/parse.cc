// Filters as a tree of nodes: the logical operators, $not, $all and $elemMatch, and the tables of
// operators.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "api/mongo/bson/types.h"
#include "api/mongo/match/node.h"

namespace orrery::mongo {
namespace {

using Leaf = MatchPath::Leaf;
using value::Type;

bool is_reference_member(std::string_view name) {
  return name == "$ref" || name == "$id" || name == "$db";
}

Value first_member_name(const Value& object) {
  for (const auto& [name, value] : object.members()) return Value::make_string(std::string(name));
  return {};
}

Answer<void> check_depth(const MatchScope& scope) {
  if (scope.depth <= kMaxNesting) return {};
  return refuse(kBadValue, fmt::format("exceeded the depth limit of {} of a filter", kMaxNesting));
}

// --- operators of a path

Answer<MatchNodePtr> parse_not(const MatchPath& path, const Value& operand,
                               const MatchScope& scope) {
  if (operand.type() == Type::regex) {
    Answer<MatchNodePtr> regex = parse_equality(path, operand);
    if (!regex) return regex;
    return make_not(*std::move(regex));
  }
  if (!operand.is_object()) return refuse(kBadValue, "$not needs a regex or a document");
  if (operand.size() == 0) return refuse(kBadValue, "$not cannot be empty");
  Answer<MatchNodePtr> inner = parse_operators(path, operand, nested(scope, false));
  if (!inner) return inner;
  return make_not(*std::move(inner));
}

// An array as the document that BSON has for it: its members are named by their positions.
Value as_document(const Value& array) {
  std::vector<Value::Field> fields;
  size_t i = 0;
  for (const Value& element : array.elements())
    fields.push_back(field(fmt::to_string(i++), element));
  return Value::make_object(std::move(fields));
}

Answer<MatchNodePtr> parse_elem_match(const MatchPath& path, const Value& operand,
                                      const MatchScope& scope) {
  if (!operand.is_object()) return refuse(kBadValue, "$elemMatch needs an Object");
  const MatchScope inner = nested(scope, false);
  const Value first = first_member_name(operand);
  const bool is_of_values = has_operators(operand) && first.text() != "$and" &&
                            first.text() != "$or" && first.text() != "$nor";
  Answer<MatchNodePtr> node =
      is_of_values ? parse_operators(MatchPath(), operand, inner) : parse_filter(operand, inner);
  if (!node) return node;
  return make_leaf(path, Leaf::whole,
                   [node = *std::move(node), is_of_values](const Value& value, MatchState& state) {
                     if (!value.is_array()) return false;
                     const std::optional<size_t> before = state.position;
                     size_t i = 0;
                     for (const Value& element : value.elements()) {
                       if (!state.go_on()) return false;
                       bool is_match = false;
                       if (is_of_values) {
                         is_match = node->matches_value(element, state);
                       } else if (element.is_object()) {
                         is_match = node->matches(element, state);
                       } else if (element.is_array()) {
                         is_match = node->matches(as_document(element), state);
                       }
                       if (is_match) {
                         state.position = i;
                         return true;
                       }
                       state.position = before;
                       ++i;
                     }
                     return false;
                   });
}

Answer<MatchNodePtr> parse_all(const MatchPath& path, const Value& operand,
                               const MatchScope& scope) {
  if (!operand.is_array()) return refuse(kBadValue, "$all needs an array");
  if (operand.size() == 0) return make_constant(false);
  const auto is_elem_match = [](const Value& element) {
    return element.is_object() && first_member_name(element) == Value::borrow_string("$elemMatch");
  };
  const bool are_elem_matches = is_elem_match(operand.at(0));
  std::vector<MatchNodePtr> nodes;
  for (const Value& element : operand.elements()) {
    Answer<MatchNodePtr> node;
    if (are_elem_matches) {
      if (!is_elem_match(element)) {
        return refuse(kBadValue, "$all/$elemMatch has to be consistent");
      }
      node = parse_elem_match(path, element.find("$elemMatch"), nested(scope, false));
    } else {
      if (has_operators(element)) return refuse(kBadValue, "no $ expressions in $all");
      node = parse_equality(path, element);
    }
    if (!node) return node;
    nodes.push_back(*std::move(node));
  }
  return are_elem_matches ? make_and(std::move(nodes))
                          : make_and_of_first_position(std::move(nodes));
}

constexpr std::array kNestingOperators = {
    FieldOperator{"$not", parse_not},
    FieldOperator{"$all", parse_all},
    FieldOperator{"$elemMatch", parse_elem_match},
};

const FieldOperator* find_operator(std::string_view name) {
  const auto* const found = std::ranges::find(kNestingOperators, name, &FieldOperator::name);
  if (found != kNestingOperators.end()) return found;
  if (const FieldOperator* comparison = find_comparison(name)) return comparison;
  return find_geo(name);
}

// --- operators of a document

struct TopOperator {
  std::string_view name;
  Answer<MatchNodePtr> (*parse)(std::string_view name, const Value& operand,
                                const MatchScope& scope);
};

Answer<std::vector<MatchNodePtr>> parse_clauses(std::string_view name, const Value& operand,
                                                const MatchScope& scope, bool keeps_top) {
  if (!operand.is_array()) {
    return refuse(kBadValue, fmt::format("{} must be an array", name));
  }
  if (operand.size() == 0) {
    return refuse(kBadValue, "$and/$or/$nor must be a nonempty array");
  }
  MatchScope inner = nested(scope, true);
  if (!keeps_top) inner.near = nullptr;
  std::vector<MatchNodePtr> nodes;
  for (const Value& clause : operand.elements()) {
    if (!clause.is_object()) {
      return refuse(kBadValue, "$or/$and/$nor entries need to be full objects");
    }
    Answer<MatchNodePtr> node = parse_filter(clause, inner);
    if (!node) return pass(std::move(node.error()));
    nodes.push_back(*std::move(node));
  }
  return nodes;
}

Answer<MatchNodePtr> parse_and(std::string_view name, const Value& operand,
                               const MatchScope& scope) {
  Answer<std::vector<MatchNodePtr>> nodes = parse_clauses(name, operand, scope, true);
  if (!nodes) return pass(std::move(nodes.error()));
  return make_and(*std::move(nodes));
}

Answer<MatchNodePtr> parse_or(std::string_view name, const Value& operand,
                              const MatchScope& scope) {
  Answer<std::vector<MatchNodePtr>> nodes = parse_clauses(name, operand, scope, false);
  if (!nodes) return pass(std::move(nodes.error()));
  return make_or(*std::move(nodes));
}

Answer<MatchNodePtr> parse_nor(std::string_view name, const Value& operand,
                               const MatchScope& scope) {
  Answer<MatchNodePtr> any = parse_or(name, operand, scope);
  if (!any) return any;
  return make_not(*std::move(any));
}

Answer<MatchNodePtr> parse_expr(std::string_view, const Value& operand, const MatchScope& scope) {
  if (!scope.is_top) {
    return refuse(kBadValue, "$expr can only be applied to the top-level document");
  }
  ParseContext context = scope.options.context;
  context.depth += scope.depth;
  Answer<Expression> expression = Expression::parse(operand, context);
  if (!expression) return pass(std::move(expression.error()));
  return make_document_node(
      [expression = *std::move(expression)](const Value& document, MatchState& state) {
        const Answer<Value> value = expression.evaluate(state.evaluation, document);
        if (!value) state.fail(value.error());
        return value && is_truthy(*value);
      });
}

Answer<MatchNodePtr> parse_schema(std::string_view, const Value& operand, const MatchScope& scope) {
  if (!operand.is_object()) return refuse(kTypeMismatch, "$jsonSchema must be an object");
  if (!scope.is_top) {
    return refuse(kBadValue, "$jsonSchema can only be applied to the top-level document");
  }
  return parse_json_schema(operand);
}

Answer<MatchNodePtr> parse_comment(std::string_view, const Value&, const MatchScope&) {
  return make_constant(true);
}

template <bool kAnswer>
Answer<MatchNodePtr> parse_always(std::string_view name, const Value& operand, const MatchScope&) {
  if (!operand.is_number()) {
    return refuse(kFailedToParse, fmt::format("{} must be an integer value of 1", name));
  }
  return make_constant(kAnswer);
}

Answer<MatchNodePtr> parse_unsupported(std::string_view name, const Value&, const MatchScope&) {
  return refuse(kNotImplemented, fmt::format("{} is not supported in a filter", name));
}

constexpr std::array kTopOperators = {
    TopOperator{"$and", parse_and},
    TopOperator{"$or", parse_or},
    TopOperator{"$nor", parse_nor},
    TopOperator{"$expr", parse_expr},
    TopOperator{"$jsonSchema", parse_schema},
    TopOperator{"$comment", parse_comment},
    TopOperator{"$alwaysTrue", parse_always<true>},
    TopOperator{"$alwaysFalse", parse_always<false>},
    TopOperator{"$where", parse_unsupported},
    TopOperator{"$text", parse_unsupported},
};

}  // namespace

bool has_operators(const Value& value) {
  if (!value.is_object()) return false;
  for (const auto& [name, member] : value.members()) {
    return name.starts_with('$') && !is_reference_member(name);
  }
  return false;
}

Answer<MatchNodePtr> parse_operators(const MatchPath& path, const Value& operators,
                                     const MatchScope& scope) {
  if (const Answer<void> fits = check_depth(scope); !fits) return pass(fits.error());
  std::vector<MatchNodePtr> nodes;
  bool has_regex = false;
  for (const auto& [name, operand] : operators.members()) {
    if (name == "$regex" || name == "$options") {
      if (has_regex) continue;  // both are taken together
      has_regex = true;
      Answer<MatchNodePtr> node =
          parse_regex_operators(path, operators.find("$regex"), operators.find("$options"));
      if (!node) return node;
      nodes.push_back(*std::move(node));
      continue;
    }
    // Parts of $near, which looks at them itself.
    if (name == "$maxDistance" || name == "$minDistance") {
      if (operators.find("$near").is_undefined() && operators.find("$nearSphere").is_undefined()) {
        return refuse(kBadValue, fmt::format("{} needs a $near or a $nearSphere", name));
      }
      continue;
    }
    if (name == "$comment") continue;
    const FieldOperator* const found = find_operator(name);
    if (found == nullptr) {
      return refuse(kBadValue, fmt::format("unknown operator: {}", name));
    }
    const bool takes_all = name == "$near" || name == "$nearSphere" || name == "$geoNear";
    Answer<MatchNodePtr> node = found->parse(path, takes_all ? operators : operand, scope);
    if (!node) return node;
    nodes.push_back(*std::move(node));
  }
  return make_and(std::move(nodes));
}

Answer<MatchNodePtr> parse_filter(const Value& filter, const MatchScope& scope) {
  if (const Answer<void> fits = check_depth(scope); !fits) return pass(fits.error());
  std::vector<MatchNodePtr> nodes;
  for (const auto& [name, operand] : filter.members()) {
    Answer<MatchNodePtr> node;
    if (name.starts_with('$') && !is_reference_member(name)) {
      const auto* const found = std::ranges::find(kTopOperators, name, &TopOperator::name);
      if (found == kTopOperators.end()) {
        return refuse(
            kBadValue,
            fmt::format("unknown top level operator: {}. If you have a field name that "
                        "starts with a '$' symbol, consider using $getField or $setField.",
                        name));
      }
      node = found->parse(name, operand, scope);
    } else if (has_operators(operand)) {
      node = parse_operators(MatchPath(name), operand, scope);
    } else {
      node = parse_equality(MatchPath(name), operand);
    }
    if (!node) return node;
    nodes.push_back(*std::move(node));
  }
  return make_and(std::move(nodes));
}

}  // namespace orrery::mongo

// See item_query.h.
#include "api/gremlin/graph/item_query.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/gremlin/graph/item.h"
#include "api/gremlin/traversal/step.h"
#include "value/json.h"

namespace orrery::gremlin {
namespace {

std::string member_of(std::string_view from, std::string_view name) {
  std::string out(from);
  out += '[';
  value::append_json_string(out, name);
  return out + "]";
}

bool is_scalar(const Value& value) {
  return value.is_text() || value.is_number() || value.kind() == Kind::boolean;
}

}  // namespace

value::Value query_value(const Value& value) {
  if (value.is_text()) return value::Value::make_string(value.string());
  if (value.is_number()) return value::Value::make_number(value.as_number());
  if (value.kind() == Kind::boolean) return value::Value::make_bool(value.as_bool());
  if (value.is_list()) {
    std::vector<value::Value> elements;
    for (const Value& element : value.elements()) elements.push_back(query_value(element));
    return value::Value::make_array(std::move(elements));
  }
  return value::Value::make_null();
}

std::optional<OneValue> one_value_of(const Condition& condition, const std::string& key_name,
                                     bool edges) {
  if (condition.of != Condition::Of::property || !condition.predicate) return std::nullopt;
  if (condition.name == key_name || condition.name == "ttl" ||
      std::ranges::find(kShowable, condition.name) != std::end(kShowable)) {
    return std::nullopt;
  }
  const Predicate& predicate = *condition.predicate;
  if (predicate.op != "eq" && predicate.op != "within") return std::nullopt;
  if (predicate.values.size() != 1 || !is_scalar(predicate.values[0])) return std::nullopt;
  OneValue made{.path = {.steps = {{.name = condition.name}}},
                .value = query_value(predicate.values[0])};
  if (!edges) {
    made.path.steps.push_back({.name = "", .array = true});
    made.path.steps.push_back({.name = "_value"});
  }
  return made;
}

ItemFilter::ItemFilter(std::string key_name, bool edges)
    : key_name_(std::move(key_name)),
      edges_(edges),
      where_(edges ? "c._isEdge = true" : "NOT IS_DEFINED(c._isEdge)") {}

std::string ItemFilter::parameter(Value value) {
  parameters_.push_back(std::move(value));
  return fmt::format("@p{}", parameters_.size() - 1);
}

// The text is the same for lists of any length, so that it is parsed once.
void ItemFilter::add_list(std::string_view member, Value::List values) {
  const std::string of = member_of("c", member);
  if (values.size() == 1) {
    where_ += fmt::format(" AND {} = {}", of, parameter(std::move(values[0])));
  } else {
    where_ +=
        fmt::format(" AND ARRAY_CONTAINS({}, {})", parameter(Value::list(std::move(values))), of);
  }
}

void ItemFilter::add_labels(const std::vector<std::string>& labels) {
  Value::List values;
  for (const std::string& label : labels) values.push_back(Value::text(label));
  add_list("label", std::move(values));
}

bool ItemFilter::count_only() {
  select_ = "SELECT VALUE COUNT(1)";
  return is_exact_;
}

std::string ItemFilter::test(const Predicate& predicate, const std::string& of) {
  const auto compare = [&](std::string_view op, size_t i = 0) {
    return fmt::format("{} {} {}", of, op, parameter(predicate.values[i]));
  };
  if (!std::ranges::all_of(predicate.values, is_scalar)) return {};
  const std::string& op = predicate.op;
  if (op == "eq") return compare("=");
  if (op == "lt") return compare("<");
  if (op == "lte") return compare("<=");
  if (op == "gt") return compare(">");
  if (op == "gte") return compare(">=");
  if (op == "inside") return compare(">") + " AND " + compare("<", 1);
  if (op == "between") return compare(">=") + " AND " + compare("<", 1);
  if (op == "outside") return "(" + compare("<") + " OR " + compare(">", 1) + ")";
  if (op == "within" && predicate.values.size() == 1) return compare("=");
  if (op == "within") {
    return fmt::format("ARRAY_CONTAINS({}, {})", parameter(Value::list(predicate.values)), of);
  }
  if (op == "startingWith") {
    return fmt::format("STARTSWITH({}, {})", of, parameter(predicate.values[0]));
  }
  if (op == "and") {
    std::string out;
    for (const auto& part : predicate.parts) {
      const std::string one = test(*part, of);
      if (one.empty()) is_exact_ = false;
      if (!one.empty()) out += (out.empty() ? "" : " AND ") + one;
    }
    return out;
  }
  if (op == "or") {
    std::string out;
    for (const auto& part : predicate.parts) {
      const std::string one = test(*part, of);
      if (one.empty()) return {};
      out += (out.empty() ? "(" : " OR ") + ("(" + one + ")");
    }
    return out.empty() ? out : out + ")";
  }
  return {};
}

void ItemFilter::add(const Condition& condition) {
  const auto add_test = [&](const std::string& test) {
    if (test.empty()) is_exact_ = false;
    if (!test.empty()) where_ += " AND " + test;
  };
  if (condition.of != Condition::Of::property) {
    if (!condition.predicate) return;
    const bool is_label = condition.of == Condition::Of::label;
    if (is_label && !edges_ && gremlin::test(*condition.predicate, Value::text(kNoLabel))) {
      is_exact_ = false;  // an item without a label is shown with this one
      return;
    }
    add_test(test(*condition.predicate, is_label ? "c.label" : "c.id"));
    return;
  }
  const bool is_flat = edges_ || condition.name == key_name_ || condition.name == "ttl" ||
                       std::ranges::find(kShowable, condition.name) != std::end(kShowable);
  const std::string member = member_of("c", condition.name);
  if (!condition.predicate) {
    is_exact_ = false;  // what is there may be no property
    add_test(fmt::format("IS_DEFINED({})", is_flat ? member : member + "[0]"));
    return;
  }
  const size_t had = parameters_.size();
  const std::string inner = test(*condition.predicate, is_flat ? member : "v._value");
  if (inner.empty()) {
    is_exact_ = false;
    parameters_.resize(had);
    return;
  }
  add_test(is_flat ? inner
                   : fmt::format("EXISTS(SELECT VALUE v FROM v IN {} WHERE {})", member, inner));
}

std::pair<std::string, std::vector<Value>> ItemFilter::finish() && {
  return {fmt::format("{} FROM c WHERE {}", select_, where_), std::move(parameters_)};
}

}  // namespace orrery::gremlin

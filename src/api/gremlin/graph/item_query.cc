// See item_query.h.
#include "api/gremlin/graph/item_query.h"

#include <fmt/format.h>

#include <algorithm>

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
  return value::Value::make_null();
}

ItemFilter::ItemFilter(std::string key_name, bool edges)
    : key_name_(std::move(key_name)),
      edges_(edges),
      where_(edges ? "c._isEdge = true" : "NOT IS_DEFINED(c._isEdge)") {}

std::string ItemFilter::parameter(Value value) {
  parameters_.push_back(std::move(value));
  return fmt::format("@p{}", parameters_.size() - 1);
}

void ItemFilter::add_id_list(std::span<const Value> values, std::string_view member) {
  if (values.size() == 1) {
    where_ += fmt::format(" AND {} = {}", member_of("c", member), parameter(values[0]));
    return;
  }
  where_ += " AND " + member_of("c", member) + " IN (";
  for (size_t i = 0; i < values.size(); ++i) where_ += (i > 0 ? "," : "") + parameter(values[i]);
  where_ += ")";
}

void ItemFilter::add_labels(const std::vector<std::string>& labels) {
  std::vector<Value> values;
  for (const std::string& label : labels) values.push_back(Value::text(label));
  add_id_list(values, "label");
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
  if (op == "within" && !predicate.values.empty() && predicate.values.size() <= 1000) {
    std::string out = of + " IN (";
    for (size_t i = 0; i < predicate.values.size(); ++i) {
      out += (i > 0 ? "," : "") + parameter(predicate.values[i]);
    }
    return out + ")";
  }
  if (op == "startingWith") {
    return fmt::format("STARTSWITH({}, {})", of, parameter(predicate.values[0]));
  }
  if (op == "and") {
    std::string out;
    for (const auto& part : predicate.parts) {
      const std::string one = test(*part, of);
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
    if (!test.empty()) where_ += " AND " + test;
  };
  if (condition.of != Condition::Of::property) {
    // A vertex without a label is shown with one: only what every item has can be asked for.
    const std::string of = condition.of == Condition::Of::id ? "c.id" : "c.label";
    if (condition.predicate) add_test(test(*condition.predicate, of));
    return;
  }
  const bool is_flat = edges_ || condition.name == key_name_ || condition.name == "ttl";
  const std::string member = member_of("c", condition.name);
  if (!condition.predicate) {
    add_test(fmt::format("IS_DEFINED({})", is_flat ? member : member + "[0]"));
    return;
  }
  const size_t had = parameters_.size();
  const std::string inner = test(*condition.predicate, is_flat ? member : "v._value");
  if (inner.empty()) {
    parameters_.resize(had);
    return;
  }
  add_test(is_flat ? inner
                   : fmt::format("EXISTS(SELECT VALUE v FROM v IN {} WHERE {})", member, inner));
}

std::pair<std::string, std::vector<Value>> ItemFilter::finish() && {
  return {"SELECT VALUE c FROM c WHERE " + where_, std::move(parameters_)};
}

}  // namespace orrery::gremlin

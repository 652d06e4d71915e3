// See vector_paths.h.
#include "query/bind/vector_paths.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "query/functions/text.h"

namespace orrery::query {
namespace {

constexpr size_t kVectors = 2;  // the first arguments
constexpr size_t kOptions = 3;  // the argument
constexpr std::string_view kMetricName = "distanceFunction";

BoundExpr constant(value::Value value) {
  BoundExpr made;
  made.constant = std::move(value);
  return made;
}

// What the options say, as they are written.
std::optional<VectorMetric> metric_by_options(const Expr& call) {
  if (call.children.size() <= kOptions) return std::nullopt;
  const Expr& options = *call.children[kOptions];
  for (size_t i = 0; i < options.names.size(); ++i) {
    if (options.names[i] != kMetricName) continue;
    return parse_vector_metric(options.children[i]->text);
  }
  return std::nullopt;
}

}  // namespace

bool is_vector_distance(const Expr& expr) {
  return expr.kind == ExprKind::call && to_upper(expr.text) == "VECTORDISTANCE";
}

std::optional<VectorMetric> metric_by_policy(const Expr& call, const VectorPaths& paths) {
  for (size_t i = 0; i < std::min(call.children.size(), kVectors); ++i) {
    value::Path path;
    const Expr* at = call.children[i].get();
    for (; at->kind == ExprKind::member; at = at->children[0].get()) {
      path.steps.push_back({.name = at->text, .array = false});
    }
    if (at->kind != ExprKind::identifier) continue;
    std::ranges::reverse(path.steps);
    const auto known = std::ranges::find(paths, path, &VectorPath::path);
    if (known != paths.end()) return known->metric;
  }
  return std::nullopt;
}

bool nearest_is_largest(const Expr& call, const VectorPaths& paths) {
  auto metric = metric_by_options(call);
  if (!metric) metric = metric_by_policy(call, paths);
  return metric != VectorMetric::euclidean;
}

void say_metric(const Expr& call, const VectorPaths& paths, std::vector<BoundExpr>& arguments) {
  using value::Value;
  const auto metric = metric_by_policy(call, paths);
  if (!metric) return;
  if (arguments.size() == kVectors) arguments.push_back(constant(Value::make_bool(false)));
  if (arguments.size() == kOptions) arguments.push_back(constant(Value::make_object({})));
  BoundExpr& options = arguments[kOptions];
  const bool says = !options.is_constant() || !options.constant.is_object() ||
                    !options.constant.find(kMetricName).is_undefined();
  if (says) return;
  options = constant(
      Value::make_object({{.name = Value::make_string(std::string(kMetricName)),
                           .value = Value::make_string(std::string(to_string(*metric)))}}));
}

}  // namespace orrery::query

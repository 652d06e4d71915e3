// VECTORDISTANCE: the exact score of two vectors. Cosine and dot product are similarities (larger
// is nearer), euclidean is a distance. Vectors of different lengths, or holding anything but
// numbers, have no score: undefined.
#include "query/functions/vector.h"

#include <cmath>
#include <string>

#include "query/functions/arguments.h"
#include "query/functions/groups.h"
#include "query/functions/text.h"

namespace orrery::query {

namespace {

Value vector_distance(Arguments arguments, Context& /*context*/) {
  const Value& left = arguments[0];
  const Value& right = arguments[1];
  if (!left.is_array() || !right.is_array() || left.size() != right.size()) return {};
  if (left.size() == 0) return {};
  if (!flag(arguments, 2)) return {};
  const std::optional<VectorMetric> metric =
      arguments.size() < 4 ? VectorMetric::cosine : vector_metric(arguments[3]);
  if (!metric) return {};
  double dot = 0;
  double left_square = 0;
  double right_square = 0;
  double difference_square = 0;
  auto other = right.elements().begin();
  for (const Value& element : left.elements()) {
    const Value theirs = *other;
    ++other;
    if (!element.is_number() || !theirs.is_number()) return {};
    const double a = element.number();
    const double b = theirs.number();
    dot += a * b;
    left_square += a * a;
    right_square += b * b;
    difference_square += (a - b) * (a - b);
  }
  switch (*metric) {
    case VectorMetric::dot_product:
      return number(dot);
    case VectorMetric::euclidean:
      return number(std::sqrt(difference_square));
    case VectorMetric::cosine:
      break;
  }
  // A vector without length has no direction; it is like none.
  if (left_square == 0 || right_square == 0) return number(0);
  return number(dot / (std::sqrt(left_square) * std::sqrt(right_square)));
}

constexpr Function kVectorFunctions[] = {{"VECTORDISTANCE", 2, 4, vector_distance}};

}  // namespace

std::optional<VectorMetric> vector_metric(const Value& options) {
  if (!options.is_object()) return std::nullopt;
  const Value name = options.find("distanceFunction");
  if (name.is_undefined()) return VectorMetric::cosine;
  if (!name.is_string()) return std::nullopt;
  return parse_vector_metric(name.text());
}

std::string_view to_string(VectorMetric metric) {
  switch (metric) {
    case VectorMetric::cosine:
      return "cosine";
    case VectorMetric::dot_product:
      return "dotproduct";
    case VectorMetric::euclidean:
      return "euclidean";
  }
  return "";
}

std::optional<VectorMetric> parse_vector_metric(std::string_view name) {
  using enum VectorMetric;
  for (const VectorMetric metric : {cosine, dot_product, euclidean}) {
    if (to_lower(name) == to_string(metric)) return metric;
  }
  return std::nullopt;
}

std::span<const Function> vector_functions() {
  return kVectorFunctions;
}

}  // namespace orrery::query

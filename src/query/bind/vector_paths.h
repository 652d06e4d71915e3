// The metric of VectorDistance where a query does not name one: that of the container's vector
// policy for the path.
#pragma once

#include <optional>
#include <vector>

#include "query/evaluate/bound.h"
#include "query/functions/vector.h"
#include "query/parse/ast.h"
#include "value/path.h"

namespace orrery::query {

struct VectorPath {
  value::Path path;
  VectorMetric metric = VectorMetric::cosine;
};
using VectorPaths = std::vector<VectorPath>;

bool is_vector_distance(const Expr& expr);
// The policy's metric for the vectors of a call; empty when the policy does not have their path.
std::optional<VectorMetric> metric_by_policy(const Expr& call, const VectorPaths& paths);
// Whether ORDER BY a call, without ASC or DESC, is descending, so that the nearest come first: true
// for similarities, false for distances. The metric is that of the options, else of the policy,
// else cosine.
bool nearest_is_largest(const Expr& call, const VectorPaths& paths);
// Adds the policy's metric to the bound arguments of a call, unless the query names one.
void say_metric(const Expr& call, const VectorPaths& paths, std::vector<BoundExpr>& arguments);

}  // namespace orrery::query

// How distances between vectors are measured where a query does not say: by the container's policy
// for the path that VectorDistance is called with.
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
// Of a call: what the policy says of its vectors; nothing when they are not in it.
std::optional<VectorMetric> metric_by_policy(const Expr& call, const VectorPaths& paths);
// Whether ORDER BY a call, without ASC or DESC, is downwards: the nearest come first, which are
// those of the smallest distance or of the largest similarity. By its options, or the policy, or
// cosine.
bool nearest_is_largest(const Expr& call, const VectorPaths& paths);
// Puts what the policy says into the bound arguments of a call, where a query would say it, unless
// it does.
void say_metric(const Expr& call, const VectorPaths& paths, std::vector<BoundExpr>& arguments);

}  // namespace orrery::query

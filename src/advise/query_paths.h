// Which properties a query names in its filter, and how. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "query/parse/ast.h"
#include "value/path.h"

namespace orrery::advise {

// Only what must hold for every row counts: operands of AND at the top of WHERE.
struct QueryPaths {
  struct Use {
    value::Path path;
    std::vector<const query::Expr*> operands;  // equal: one; in: each; range: the bounds
  };
  std::vector<Use> equal;
  std::vector<Use> in;
  std::vector<Use> range;
};

// `query` must live as long as the result.
QueryPaths paths_of(const query::Query& query);

// The text of the query with each literal replaced by @1, @2, … in order.
std::string without_literals(const query::Query& query);

}  // namespace orrery::advise

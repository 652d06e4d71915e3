// The text of a query over the items of a graph, from conditions on its elements. It may find more
// than the conditions ask for, never less: what cannot be said is left out.
//
// Pure; any thread may call.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/gremlin/traversal/graph.h"
#include "value/path.h"
#include "value/value.h"

namespace orrery::gremlin {

class ItemFilter {
 public:
  // Of the edges or of the vertices of a graph that is partitioned by this property.
  ItemFilter(std::string key_name, bool edges);

  void add(const Condition& condition);
  // The member is one of these.
  void add_list(std::string_view member, Value::List values);
  void add_labels(const std::vector<std::string>& labels);
  // Asks for the number of items in the place of the items. False: it would count more than the
  // conditions ask for.
  bool count_only();

  // The text, and the values of its parameters @p0, @p1, …
  std::pair<std::string, std::vector<Value>> finish() &&;

 private:
  std::string parameter(Value value);
  // What the predicate says of this expression; empty when it cannot be said.
  std::string test(const Predicate& predicate, const std::string& of);

  const std::string key_name_;
  const bool edges_;
  bool is_exact_ = true;  // what was added is in where_, and says the same there
  std::string_view select_ = "SELECT VALUE c";
  std::string where_;
  std::vector<Value> parameters_;
};

value::Value query_value(const Value& value);

// The one value that a property must have for a condition to hold, and where items have it;
// nothing for other conditions, and for members that every item has in its own way.
struct OneValue {
  value::Path path;
  value::Value value;
};
std::optional<OneValue> one_value_of(const Condition& condition, const std::string& key_name,
                                     bool edges);

}  // namespace orrery::gremlin

// What the steps that write have in common: values that are given or computed, properties to be
// set, ends of edges.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/gremlin/traversal/compile.h"

namespace orrery::gremlin {

// A value, or a traversal that gives it.
struct Given {
  Value value;
  std::shared_ptr<Traversal> traversal;
  // Nothing: the traversal gave none.
  Result<std::optional<Value>> get(Run& run, const Traverser& traverser) const;
};
Result<Given> given(Compiler& compiler, const Argument& argument);

struct PropertySpec {
  std::string cardinality;  // single, list, set; empty: not said
  Given key;
  Given value;
  std::vector<std::pair<std::string, Given>> meta;
};
Result<std::vector<PropertySpec>> property_specs(Compiler& compiler,
                                                 const std::vector<const StepCall*>& calls);
// Changes the element in memory. `is_new`: its id and label may be set, too.
Status set_property(Run& run, const Traverser& traverser, const PropertySpec& spec,
                    const Value& element, bool is_new);
Status save_element(Run& run, const Value& element);

// from() and to(): a label of the path, a vertex, or a traversal that finds one.
struct EndSpec {
  std::string label;
  Given end;
};
Result<std::optional<EndSpec>> end_spec(Compiler& compiler, const Calls& calls,
                                        std::string_view name);
// The traverser's own vertex when there is no spec.
Result<VertexPtr> end_vertex(Run& run, const Traverser& traverser,
                             const std::optional<EndSpec>& spec, std::string_view name);
void connect(Edge& edge, const Vertex& from, const Vertex& to);

}  // namespace orrery::gremlin

// What withStrategies() asks for: some change the calls of a traversal before it is compiled, some
// forbid calls, and those that only make a traversal faster elsewhere mean nothing here.
//   ReadOnlyStrategy              no step may write
//   PartitionStrategy             elements belong to the partitions that a property names
//   SubgraphStrategy              only elements for which traversals give something are there
//   ProjectionStrategy            shows what the system keeps with an element: _ts, _etag
//   EdgeLabelVerificationStrategy a hop must name labels
//   SeedStrategy                  coin(), sample() and shuffle give the same each time
#pragma once

#include <initializer_list>
#include <string_view>

#include "api/gremlin/parse/tree.h"
#include "api/gremlin/traversal/run.h"
#include "base/result.h"

namespace orrery::gremlin {

// The chain of a whole traversal without its strategies. Code::unsupported, with its name, for one
// that is not there.
Result<Chain> apply_strategies(Chain chain, Run& run);

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names);

// Whether the chain has a step that writes.
bool writes(const Chain& chain);
// Whether what it writes is new: it has no step that changes or drops an element that is there, if
// only for itself, as vertex programs do.
bool only_adds(const Chain& chain);

}  // namespace orrery::gremlin

// See graph.h.
#include "api/gremlin/traversal/graph.h"

namespace orrery::gremlin {

Result<std::vector<EdgePtr>> all_edges(HopCursor& cursor) {
  std::vector<EdgePtr> all;
  while (true) {
    auto some = cursor.next(1000);
    if (!some) return pass(some.error());
    if (some->empty()) return all;
    for (HopEdge& one : *some) all.push_back(std::move(one.edge));
  }
}

}  // namespace orrery::gremlin

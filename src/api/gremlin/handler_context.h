// What the connections of this face share. There is one, in Service, and it outlives them.
//
// Threading: immutable; what it refers to may be used by any thread.
#pragma once

#include <memory>

#include "api/gremlin/graph/neighbour_cache.h"
#include "api/gremlin/graph/parsed_queries.h"
#include "cluster/query/remote_views.h"
#include "face/face.h"
#include "face/request_metrics.h"
#include "face/shared_items.h"

namespace orrery::gremlin {

enum class Operation : uint8_t { eval, bytecode, close, authentication, other };

struct ServiceOptions {
  // Whether GraphSON 2 is answered with types. Clients of the service that this face stands in for
  // ask for version 2 and expect none.
  bool typed_graphson2 = false;
  uint32_t loops_max = 64;  // of a repeat()
  uint32_t cache_mb = 256;  // of decoded vertices and their neighbours; 0: none are kept
};

struct HandlerContext {
  HandlerContext(const face::Context& lent_in, const face::SharedItems& items_in,
                 const ServiceOptions& options_in, face::RequestMetrics& metrics_in)
      : lent(lent_in),
        items(items_in),
        options(options_in),
        metrics(metrics_in),
        neighbours(size_t{options_in.cache_mb} << 20) {
    if (lent.forwarder != nullptr && lent.forwarder->calls() != nullptr) {
      remote = std::make_unique<cluster::RemoteViews>(*lent.forwarder->calls(),
                                                      lent.forwarder->placement());
    }
  }

  const face::Context lent;
  const face::SharedItems& items;
  const ServiceOptions options;
  face::RequestMetrics& metrics;
  std::unique_ptr<cluster::RemoteViews> remote;  // null in a server alone
  mutable ParsedQueries parsed;
  mutable NeighbourCaches neighbours;
};

}  // namespace orrery::gremlin

// What the connections of this face share. There is one, in Service, and it outlives them.
//
// Threading: immutable; what it refers to may be used by any thread.
#pragma once

#include <memory>

#include "api/gremlin/graph/neighbour_cache.h"
#include "api/gremlin/graph/parsed_queries.h"
#include "cluster/query/remote_views.h"
#include "face/face.h"
#include "face/items_anywhere.h"
#include "face/request_metrics.h"
#include "face/shared_items.h"

namespace orrery::gremlin {

inline constexpr std::string_view kFaceName = "gremlin";

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
    if (lent.forwarder != nullptr) {
      anywhere = std::make_unique<face::ItemsAnywhere>(
          lent.engine, lent.forwarder, kFaceName,
          [this](partition::Write& write, const cluster::Routing& routing) {
            return complete(write, routing);
          });
    }
  }

  const face::Context lent;
  const face::SharedItems& items;
  const ServiceOptions options;
  face::RequestMetrics& metrics;
  std::unique_ptr<cluster::RemoteViews> remote;   // null in a server alone
  std::unique_ptr<face::ItemsAnywhere> anywhere;  // likewise
  mutable ParsedQueries parsed;
  mutable NeighbourCaches neighbours;

 private:
  // A write of a traversal at another node: made again by the face that has the containers.
  Status complete(partition::Write& write, const cluster::Routing& routing) const {
    if (write.verb == partition::Verb::remove) return {};
    auto made = items.make_write(write.verb, write.body, routing, lent.engine.limits());
    if (!made) return pass(made.error());
    made->if_version = write.if_version;
    if (made->placement != write.placement || made->row != write.row) {
      return fail(Code::invalid, "an item that another node sent is not of the key that it says");
    }
    write = std::move(*made);
    return {};
  }
};

}  // namespace orrery::gremlin

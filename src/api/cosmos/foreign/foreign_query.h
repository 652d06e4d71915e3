// A query over the items of another face's container. It sees them as this face shows them
// (foreign_item.h), so that a filter, a projection and a read agree. What the container's own index
// knows is of the stored values and of no use for that: every item within the bounds is read.
//
// It has the form of cluster::ContainerQuery, and is charged as that is.
//
// Threading: one thread at a time. It blocks.
#pragma once

#include <cstddef>
#include <string>

#include "cluster/engine.h"
#include "cluster/query/container_query.h"
#include "query/parse/ast.h"

namespace orrery::cosmos {

class ForeignQuery {
 public:
  // `bounds` outlives it.
  ForeignQuery(cluster::Engine& engine, cluster::RoutingPtr routing, const query::Query& query,
               const cluster::KeyBounds& bounds);

  bool is_about_one_key() const;
  size_t partitions() const;
  // Reach::memory: Code::would_wait.
  Result<cluster::ContainerQuery::Result> run(
      const query::BoundQuery& bound, const query::Position* from, const cluster::LsnDemand& demand,
      partition::Reach reach, const query::PageLimits& limits, query::Context& context);
  // After run().
  void pay(const cluster::Receipt& receipt);

 private:
  cluster::Engine& engine_;
  const cluster::RoutingPtr routing_;
  const cluster::KeyBounds& bounds_;
  const bool reads_items_;
  std::string start_;  // the placement key whose partition the page is charged to
};

}  // namespace orrery::cosmos

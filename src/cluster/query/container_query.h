// A query over the items of one container, executed on the server: it merges as many partitions as
// it touches, and orders, groups and limits the results, page by page. It serves every face.
// Clients need no query plan of their own for it.
//
// A page is charged to the partition where it starts. That partition admits it before it runs, and
// the caller, who knows the price, pays there.
//
// Threading: one thread at a time; others may help it (PageLimits::helpers). It may block. With
// Reach::memory it fails with Code::would_wait instead.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/engine.h"
#include "cluster/query/engine_space.h"
#include "query/evaluate/bound.h"
#include "query/evaluate/evaluate.h"
#include "query/parse/ast.h"
#include "query/plan/placement_filter.h"
#include "query/run/page.h"
#include "query/run/position.h"

namespace orrery::cluster {

// The placement keys in [min, max) that pass `only`.
struct KeyBounds {
  std::string min{value::placement_min()};
  std::string max{value::placement_max()};
  value::LevelFilter only{};

  bool has(std::string_view placement) const {
    return placement >= min && placement < max && only.has(placement);
  }
  void narrow(std::string_view from, std::string_view to) {
    if (from > min) min = from;
    if (to < max) max = to;
  }
};

class ContainerQuery {
 public:
  // `bounds` outlives it, and so does `remote`, for partitions at other nodes (null in a server
  // alone).
  ContainerQuery(Engine& engine, RoutingPtr routing, const query::Query& query,
                 const query::Parameters& parameters, const KeyBounds& bounds,
                 RemoteViews* remote = nullptr);

  // The ranges that it can touch within its bounds, sorted and disjoint.
  const std::vector<query::PlacementRange>& ranges() const { return ranges_; }
  bool is_about_one_key() const {
    return ranges_.empty() || (ranges_.size() == 1 && ranges_.front().is_point());
  }
  size_t partitions() const;

  struct Result {
    query::QueryPage page;
    Receipt receipt;  // without the charge
  };
  // The page after `from`, or the first one.
  orrery::Result<Result> run(const query::BoundQuery& bound, const query::Position* from,
                             const LsnDemand& demand, partition::Reach reach,
                             const query::PageLimits& limits, query::Context& context);
  // After run().
  void pay(const Receipt& receipt);

 private:
  // The placement key whose partition the page is charged to.
  std::string start_of(const query::Position* from) const;

  Engine& engine_;
  RemoteViews* const remote_;
  const RoutingPtr routing_;
  const KeyBounds& bounds_;
  std::vector<query::PlacementRange> ranges_;
  std::string start_;
};

}  // namespace orrery::cluster

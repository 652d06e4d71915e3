// Views of partitions at other nodes, for queries over several partitions: such a query runs at the
// node that a client asked, and reads what lies elsewhere through these, in blocks. (A query over
// one partition goes to its owner whole.)
//
// The owner keeps the view (view_server.h), so all that a page reads of a partition is of one
// snapshot, as it is where the partition is here.
//
// Code::retry: the owner is another now, or cannot be reached, or has let go of the view. The page
// is to be run again from its start.
//
// Threading: any thread; a view is for one at a time. Everything blocks.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/engine.h"
#include "cluster/placement.h"
#include "peer/link.h"
#include "query/plan/item_view.h"
#include "value/placement.h"

namespace orrery::cluster {

class RemoteViews {
 public:
  // Both outlive it.
  RemoteViews(peer::Link& link, const Placement& placement) : link_(link), placement_(placement) {}

  // Whether the partition is at another node.
  bool is_elsewhere(const Slot& slot) const { return placement_.address_of(slot).has_value(); }

  struct Opened {
    std::unique_ptr<query::ItemView> view;
    std::string max;
    Receipt receipt;  // without the charge
  };
  // As Engine::open_view(), with only what passes `only`.
  Result<Opened> open(const Routing& routing, std::string_view placement, std::string_view min,
                      std::string_view max, const value::LevelFilter& only,
                      const LsnDemand& demand);

 private:
  peer::Link& link_;
  const Placement& placement_;
};

}  // namespace orrery::cluster

// Documents of one partition as of one moment, wherever the partition is served: here, or at
// another node, whose view of it is read over the network (cluster/query/remote_views.h).
//
// Threading: one thread at a time. Blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "api/mongo/handler_context.h"
#include "base/result.h"
#include "cluster/query/engine_space.h"
#include "query/plan/item_view.h"

namespace orrery::mongo {

struct DocumentView {
  std::unique_ptr<cluster::ReadAllowance> allowance;  // of the view, if it is of this node
  std::unique_ptr<query::ItemView> view;
  std::string max;   // where the partition, or what was asked for, ends
  uint64_t lsn = 0;  // of the partition
};

// A view of the part of [min, max) in the partition that has `placement`. A partition that was
// split or moved is followed, and `routing` is then the newest. Code::not_found when the collection
// was dropped.
Result<DocumentView> open_view(const HandlerContext& context, cluster::RoutingPtr& routing,
                               std::string_view placement, std::string_view min,
                               std::string_view max);

// Whether a view's error says that it is to be opened again: its node has let go of it, or is gone.
inline bool is_lost_view(const orrery::Error& error) {
  return error.code == Code::retry;
}
// How often that is done in a row.
inline constexpr int kLostViewsMax = 16;

Result<bool> has_documents(const HandlerContext& context, cluster::RoutingPtr routing);

}  // namespace orrery::mongo

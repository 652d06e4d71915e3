// What is stored in a container's partitions and asked of them, whichever nodes serve them: the
// figures of those here come from the engine, the others' from their owners.
//
// An owner that does not answer in time (ask_nodes.h) leaves its partitions unknown. So does one of
// an older program, which does not know the call.
//
//   call     kCall: {"container":NUMBER,"keys":COUNT}
//   answer   {"partitions":[…],"keys":[…]} as GET /admin/partitions has them, of what is here
//
// Threading: any thread that may wait for files and for other nodes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/engine.h"
#include "peer/link.h"

namespace orrery::ops {

struct RangeFigures {
  cluster::PartitionStatus status;
  bool is_known = false;  // otherwise the range, the node and the share are all that is right
  bool is_splitting = false;
  double share = 0;  // units a second
  std::vector<partition::Partition::LogicalPartition> largest;
};

class PartitionFigures final : public peer::Answerer {
 public:
  static constexpr const char* kCall = "ops.partitions";

  explicit PartitionFigures(cluster::Engine& engine) : engine_(engine) {}

  // To other nodes; null: it is alone, or is stopping.
  void set_link(peer::Link* link) { link_ = link; }

  // In the order of the ranges, each with so many of its largest keys.
  Result<std::vector<RangeFigures>> of(uint32_t container, size_t keys_of_each);

  void answer(std::string kind, std::string bytes, peer::Done done) override;

 private:
  Result<std::vector<RangeFigures>> known_here(uint32_t container, size_t keys_of_each);
  void ask_owners(uint32_t container, size_t keys_of_each, std::vector<RangeFigures>& all);

  cluster::Engine& engine_;
  std::atomic<peer::Link*> link_{nullptr};
};

// The ranges and their keys as JSON arrays.
std::string ranges_json(const std::vector<RangeFigures>& all);
std::string keys_json(const std::vector<RangeFigures>& all);
// The largest of all of them, by their bytes.
std::string largest_keys_json(const std::vector<RangeFigures>& all, size_t count);

}  // namespace orrery::ops

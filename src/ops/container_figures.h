// What is stored in all containers and asked of them, summed over the nodes that serve their
// partitions. Opens nothing: what is closed is told of as it was last seen, without its items.
//
// A node that does not answer leaves what it serves out of the sums, and the numbers of items
// unknown.
//
//   call     kCall, no bytes
//   answer   {"containers":[{"number":…,"ranges":…,"bytes":…,"largest":…,"items":…,"throttled":…,
//            "requestUnits":…}]}, of what is here; items is null when some partition is closed
//
// Threading: any thread that may wait for other nodes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "cluster/engine.h"
#include "peer/link.h"

namespace orrery::ops {

struct ContainerFigures {
  size_t ranges = 0;  // that are counted here
  uint64_t bytes = 0;
  uint64_t largest = 0;                // partition
  std::optional<uint64_t> items = 0U;  // nothing: not known
  uint64_t throttled = 0;
  double charge = 0;

  void add(const ContainerFigures& other);
};

class AllContainers final : public peer::Answerer {
 public:
  static constexpr const char* kCall = "ops.containers";

  explicit AllContainers(cluster::Engine& engine) : engine_(engine) {}

  // To other nodes; null: it is alone, or is stopping.
  void set_link(peer::Link* link) { link_ = link; }

  // By container number. `others`: addresses of the other nodes.
  std::map<uint32_t, ContainerFigures> figures(const std::set<std::string>& others) const;

  void answer(std::string kind, std::string bytes, peer::Done done) override;

 private:
  std::map<uint32_t, ContainerFigures> here() const;

  cluster::Engine& engine_;
  std::atomic<peer::Link*> link_{nullptr};
};

}  // namespace orrery::ops

// Items of one partition, read and written wherever that is served: here by the engine, elsewhere
// by a request to the node that has it. For the parts of a request that concerns several
// partitions, of which a face can send none whole to one owner.
//
// A partition that moves is followed. A write is run once: one whose answer was lost is asked for
// again at the node that it was sent to, as forward.h says; when that node is gone nobody can tell.
//
// In a server alone everything is the engine's, at no cost.
//
// Threading: any thread. Everything but write() and answer() blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/engine.h"
#include "face/forward.h"
#include "face/item_messages.h"
#include "net/http.h"

namespace orrery::face {

struct StoredItems {
  cluster::WriteReply reply;
  bool is_unknown = false;  // with an error: it may be done or not
};

class ItemsAnywhere {
 public:
  // Gives a write that came from another node what only the face can: schema, finisher, terms.
  using Complete = std::function<Status(partition::Write& write, const cluster::Routing& routing)>;

  // The method of its requests: a face gives them to answer().
  static constexpr std::string_view kMethod = "ITEMS";

  // `forwarder`: null in a server alone. All outlive it.
  ItemsAnywhere(cluster::Engine& engine, Forwarder* forwarder, std::string_view face,
                Complete complete);

  bool is_alone() const { return forwarder_ == nullptr; }
  // Whether the partition is at another node now, or at none.
  bool is_elsewhere(const cluster::Routing& routing, std::string_view placement) const;

  // As Engine::write(), of writes that can_travel(). `wants_items`: the reply is to have them as
  // they were stored.
  using WriteDone = std::move_only_function<void(StoredItems)>;
  void write(cluster::RoutingPtr routing, std::vector<partition::Write> transaction,
             bool wants_items, WriteDone done);
  StoredItems write_and_wait(cluster::RoutingPtr routing,
                             std::vector<partition::Write> transaction);

  Result<cluster::ReadReply> read(const cluster::RoutingPtr& routing, std::string_view placement,
                                  std::string_view row);
  // Of the partitions that meet [min, max).
  Result<std::vector<partition::KeptNote>> notes(const cluster::RoutingPtr& routing,
                                                 std::string_view min, std::string_view max,
                                                 std::string_view owner, uint64_t number);
  // Code::moved when the node that has it cannot be asked now: later.
  Result<cluster::HistoryReply> history(const cluster::RoutingPtr& routing, std::string_view min,
                                        std::string_view max, const cluster::ChangesFrom& from,
                                        size_t most);
  // Of all partitions of a container.
  Result<PartitionUsage> usage(const cluster::RoutingPtr& routing);

  // Waits until this node's copy of the catalog has all that its owner had when this was called:
  // for who has found no such container here. Nothing in a server alone.
  Status learn_catalog() const;

  // Calls `attempt` until it gives something, or an error that no other node would help with.
  // Code::retry, moved and elsewhere are tried again for as long as a request is, after pauses.
  Status patiently(const std::function<Status()>& attempt) const;

  // A request of kMethod that another node sent. Does not block.
  void answer(const net::Request& request, const Forwarded& forwarded, net::Responder responder);

 private:
  class Errand;
  enum class Patience : uint8_t { waits, does_not_wait };
  template <class T>
  using Here = std::function<Result<T>(const cluster::RoutingPtr& now)>;
  // Of a question that only reads. Code::retry when it was not answered there.
  Result<peer::ForwardAnswer> send(const std::string& address, std::string_view what,
                                   std::string_view body, Forwarder::TimePoint deadline) const;
  template <class T>
  Result<T> ask(const cluster::Routing& routing, std::string_view what,
                const PartitionQuestion& question, const Here<T>& here,
                Result<T> (*decode)(std::string_view), Patience patience = Patience::waits) const;
  void answer_write(std::string_view body, net::Responder responder);
  void answer_read(const PartitionQuestion& question, net::Responder responder);
  Result<std::string> run(std::string_view what, const PartitionQuestion& question);
  Result<PartitionUsage> usage_here(const cluster::Routing& routing, std::string_view placement);

  cluster::Engine& engine_;
  Forwarder* const forwarder_;
  const std::string face_;
  const Complete complete_;
};

}  // namespace orrery::face

// The writes of a traversal that are not stored yet. Those of one partition key are stored
// together, all or none. The traversal sees its own writes meanwhile: the graph looks here as well.
//
// Threading: one thread at a time. commit() blocks, commit_later() does not.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/gremlin/graph/known_graph.h"
#include "api/gremlin/value/elements.h"
#include "base/result.h"
#include "cluster/engine.h"
#include "face/items_anywhere.h"
#include "partition/partition.h"

namespace orrery::gremlin {

// What became of the writes of a traversal.
struct WriteReport {
  uint64_t stored = 0;
  uint64_t waiting = 0;  // or given up
  double charge = 0;
};

class StagedWrites {
 public:
  // The verb by which a change of an item is staged: one that is new here stays new.
  partition::Verb verb_for(const partition::ItemKey& key, partition::Verb verb) const;
  // `element`: what is written. Code::conflict for a second one with the same key.
  Status put(partition::Write write, Value element);

  bool empty() const { return count_ == 0; }
  uint64_t count() const { return count_; }
  uint64_t bytes() const { return bytes_; }
  // Vertices or edges that were added or changed and are still there.
  std::vector<Value> elements(bool edges) const;

  // Stores everything, one partition key after the other, or some at a time when they are many.
  // What was stored before an error stays; the rest is given up. `wait` is asked to wait for so
  // many milliseconds when the throughput is used up and something was stored: false ends it.
  struct Terms {
    cluster::Engine& engine;
    const cluster::RoutingPtr& routing;
    std::function<bool(uint32_t ms)> wait;
    face::ItemsAnywhere* anywhere = nullptr;  // null: every partition is here
    std::shared_ptr<KnownGraph> known = {};   // is told what was stored; null: nobody is
  };
  Status commit(const Terms& terms, WriteReport& report);

  // Whether all of it is of one partition key.
  bool is_of_one_key() const;
  // commit() of one key, without blocking. `done` is called on any thread; this and the report live
  // until then.
  using Done = std::move_only_function<void(Status)>;
  void commit_later(const Terms& terms, WriteReport& report, Done done);

 private:
  struct Entry {
    partition::Write write;
    Value element;
    bool is_void = false;
  };
  // Of one partition key, in the order in which they were staged.
  using Group = std::vector<Entry*>;
  class Witness;

  // By when they are to be stored.
  std::array<std::vector<Group>, 3> groups();
  // These at the same time.
  static Status store(std::span<const Group> some, const Terms& terms, WriteReport& report);
  // `done` is destroyed without a call when memory runs out.
  using Reply = std::move_only_function<void(cluster::WriteReply)>;
  static void write(const Group& group, const Terms& terms, Reply done);
  static std::optional<Error> take(std::future<cluster::WriteReply>& answer, const Group& group,
                                   WriteReport& report);
  static std::optional<Error> take(const cluster::WriteReply& reply, const Group& group,
                                   WriteReport& report);
  void clear();

  std::vector<Entry> entries_;
  std::unordered_map<std::string, size_t> newest_;  // by the stored key, of entries_
  uint64_t count_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace orrery::gremlin

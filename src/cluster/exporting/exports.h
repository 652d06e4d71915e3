// The partitions whose files somebody copies (orrery backup): opens them, reads their files, lets
// go of them. Which ranges there are is told with the catalog's files.
//
// Among nodes the catalog's owner exports the catalog and the owner of a partition that partition;
// any other node passes the request on to it, and remembers to whom. What a node passed on to
// another the other does not pass on again: it says Code::moved, and whoever copies asks once more.
//
// Invariants
//  - Nothing waits for an export: a partition that is to be closed is closed (partition/export.h).
//  - An export that nobody has read from for kIdleUs ends, so that one who has died does not keep
//    files from being deleted.
//  - At most kOpenMax are open.
//  - Commits are kept for who follows (partition/commit_tail.h) until nobody asked for
//  kFollowIdleUs.
//
// Fault point: export.read, before files are read.
//
// Threading: any thread that may block.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/thread_annotations.h"
#include "catalog/catalog.h"
#include "cluster/exporting/export_messages.h"
#include "cluster/partitions/opener.h"
#include "cluster/placement.h"
#include "cluster/routing_table.h"
#include "partition/commit_tail.h"
#include "partition/export.h"
#include "peer/link.h"

namespace orrery::cluster {

class Exports {
 public:
  static constexpr int64_t kIdleUs = 60'000'000;
  static constexpr size_t kOpenMax = 64;
  static constexpr int64_t kFollowIdleUs = 300'000'000;

  // `placement` and `link` are null in a server alone.
  Exports(const RoutingTable& table, catalog::Catalog& catalog, Opener& opener, const Clock& clock,
          const Placement* placement, peer::Link* link)
      : table_(table),
        catalog_(catalog),
        opener_(opener),
        clock_(clock),
        placement_(placement),
        link_(link) {}

  // Answers one request of export_messages.h, here or at the node that has it.
  Result<std::string> serve(std::string_view request);
  // The same of another node: only here.
  Result<std::string> serve_here(std::string_view request);
  // Ends those that nobody reads from any more.
  void end_idle();

 private:
  struct Held {
    std::unique_ptr<partition::Export> files;  // null: it is at `address`
    std::shared_ptr<Slot> slot;                // null: the catalog's
    std::string address;
    int64_t used_us = 0;
  };

  Result<std::string> serve_here(const ExportRequest& request);
  Result<std::string> pass_on(const std::string& address, std::string_view request);
  // Where it is to be done: nothing, here.
  Result<std::string> address_for(const ExportRequest& request);
  Result<std::shared_ptr<Slot>> slot_of(const ExportRequest& request) const;
  Result<std::string> open_catalog();
  Result<std::string> open_range(const ExportRequest& request);
  Result<std::string> read(const ExportRequest& request);
  Result<std::string> read_commits(const ExportRequest& request);
  Result<uint64_t> keep(std::shared_ptr<Held> held);

  const RoutingTable& table_;
  catalog::Catalog& catalog_;
  Opener& opener_;
  const Clock& clock_;
  const Placement* const placement_;
  peer::Link* const link_;
  Mutex mutex_;
  std::map<uint64_t, std::shared_ptr<Held>> held_ ORRERY_GUARDED_BY(mutex_);
  struct Followed {
    partition::CommitFollower follower;
    int64_t asked_us = 0;
  };
  // Taken first, and held while commits are read: those who follow are few.
  Mutex follow_mutex_;
  std::map<std::string, Followed> followed_ ORRERY_GUARDED_BY(follow_mutex_);  // by name
};

}  // namespace orrery::cluster

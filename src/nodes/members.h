// Which nodes there are, as the rows of leases say, and ending the leases of those that do not
// renew theirs.
//
// A member is a row that is live and has an address. Every node watches every other, up to
// kWatchersMax; beyond that the coordinator and two deputies do, and the others look at all rows
// ten times less often, but for the coordinator's.
//
// Threading: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "nodes/seat.h"
#include "volume/objects/lease.h"
#include "volume/objects/object_store.h"

namespace orrery::nodes {

inline constexpr size_t kWatchersMax = 16;

struct SeenRow {
  std::string incarnation;
  volume::LeaseRow row;
  int64_t changed_us = 0;  // when a change of it was seen last, by this node's clock
};

class Members {
 public:
  Members(volume::ObjectStore& store, const volume::Lease& lease) : store_(store), lease_(lease) {}

  // Reads the rows, and takes the next step of ending the leases of the silent. `doubted`: those
  // that are revoked though they renew, because other nodes cannot reach them.
  Status poll(const std::string& coordinator, const std::set<std::string>& doubted);

  // All that are not over, by incarnation, this node's among them.
  const std::map<std::string, SeenRow>& rows() const { return rows_; }
  // By name.
  const std::vector<Member>& live() const { return live_; }
  const Member* find(const std::string& incarnation) const;
  // When, by this node's clock, the next of those that were looked at last is to be ended, unless
  // it is renewed. INT64_MAX: none.
  int64_t due_us() const { return due_us_; }
  // When the newest reading of all rows began. What was over by then is not among them.
  int64_t read_us() const { return read_us_; }
  uint64_t leases_ended() const { return leases_ended_; }
  // The newest version that all of them can read. 0: no row was read yet.
  uint32_t readable_by_all() const;

 private:
  bool is_watcher(const std::string& coordinator) const;
  Status look_at(const std::string& incarnation, bool is_doubted);
  void list_live();

  volume::ObjectStore& store_;
  const volume::Lease& lease_;
  std::map<std::string, volume::LeaseWatch> watches_;
  std::map<std::string, SeenRow> rows_;
  std::vector<Member> live_;
  int64_t read_us_ = INT64_MIN;
  int64_t due_us_ = INT64_MAX;
  uint32_t polls_ = 0;
  uint64_t leases_ended_ = 0;
};

}  // namespace orrery::nodes

// What a node knows of the cluster, for operators and metrics.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nodes/seat.h"
#include "volume/objects/lease.h"

namespace orrery::nodes {

struct MemberStatus {
  Member member;
  volume::LeaseRow::State state = volume::LeaseRow::State::live;
  volume::SpokenVersions versions;
  int64_t silent_us = 0;  // since a renewal of its was seen
  std::string cannot_reach;
  uint64_t ranges = 0;  // by the plan
  // At the coordinator: what it said last.
  int64_t unheard_us = 0;
  uint64_t catalog_lsn = 0;
  bool has_plan = false;  // the newest one
  bool quiet = false;     // nothing that it should not have any more is still there
};

// Since the start.
struct NodeCounters {
  uint64_t leases_ended = 0;  // of others, that this node saw alive
  uint64_t catalogs_claimed = 0;
  uint64_t plans_made = 0;
  uint64_t questions = 0;  // to the coordinator
  uint64_t questions_failed = 0;
  uint64_t polls_failed = 0;
};

struct NodeStatus {
  Member self;
  bool lease_good = false;
  bool lease_lost = false;
  int64_t lease_age_us = -1;  // since its newest renewal; below 0: it is lost
  uint64_t lease_renewals = 0;
  bool is_coordinator = false;
  std::string coordinator;  // a name; empty: not known
  uint64_t term = 0;        // of the plan
  uint64_t plan_version = 0;
  uint64_t ranges = 0;
  uint32_t written_version = 0;  // 0: not known yet
  uint64_t catalog_lsn = 0;
  int64_t catalog_age_us = -1;  // below 0: there is no copy
  std::vector<MemberStatus> members;
  NodeCounters counters;
};

}  // namespace orrery::nodes

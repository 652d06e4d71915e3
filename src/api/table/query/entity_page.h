// One page of a query over a table: reads the stretches that the filter leaves, in order, and asks
// the filter of each entity in them.
//
// A page ends with its entities, its bytes or its time. Where the next one begins is told by the
// two keys of the first entity that was not looked at, so that a partition may be split in between;
// or by a placement key, where another node has what comes next.
//
// Threading: blocks, unless it may read memory only.
#pragma once

#include <optional>
#include <string>

#include "api/table/entities/entity_json.h"
#include "api/table/query/filter.h"
#include "api/table/query/key_ranges.h"
#include "cluster/engine.h"

namespace orrery::table {

struct NextKeys {
  std::string partition_key;
  std::string row_key;
  std::string placement = {};  // set in place of both: from the first entity at or after it on
};

struct PageRequest {
  const Filter& filter;
  const KeyRange& granted;
  size_t entities_max = 1000;
  std::optional<NextKeys> from = {};
  EntityShape shape;
  int64_t until_us = 0;  // steady time
  std::function<bool()> is_wanted = nullptr;
};

struct EntityPage {
  std::string entities;  // JSON objects, separated by commas
  size_t count = 0;
  std::optional<NextKeys> next;
  cluster::Receipt receipt;
  uint64_t entities_read = 0;
  uint64_t bytes_read = 0;
  // With Reach::memory: there is more than may be read on a thread that must not wait. The rest of
  // the page is read from `next` on, by whoever may.
  bool is_unfinished = false;
};

// Goes on with `begun`, a page that is unfinished, from where `request` says. Code::would_wait with
// Reach::memory when files have to be read.
Result<EntityPage> read_page(cluster::Engine& engine, const Clock& clock,
                             cluster::RoutingPtr routing, const PageRequest& request,
                             partition::Reach reach, EntityPage begun = {});

}  // namespace orrery::table

// Request charges: what an operation costs in request units, from what it did and nothing else, so
// that the same request on the same data always costs the same. docs/request-units.md publishes
// the formula.
#pragma once

#include <cstdint>

namespace orrery::partition {

// The size that an item is charged for: what is stored (its id, too, for writes) without what the
// system adds to every item, so that an item of 1 KB as its author wrote it costs what 1 KB costs.
uint64_t charged_bytes(uint64_t stored_bytes);

// Reading one item of this size. Strong and bounded-staleness reads cost twice this.
double read_charge(uint64_t bytes);
// A read that finds nothing, or whose If-None-Match says that the client has it already.
double miss_charge();

double create_charge(uint64_t bytes, uint32_t terms);
double replace_charge(uint64_t new_bytes, uint32_t terms_removed, uint32_t terms_added);
double remove_charge(uint64_t old_bytes, uint32_t terms_removed);
// A page of a feed: every item as if read together, not one by one.
double feed_charge(uint64_t bytes, uint64_t items);
// Running a script once, besides the operations that it does.
double script_charge();
// A page of a query: what it read of items and what it gave back.
struct QueryWork {
  uint64_t entries_read = 0;  // of the index
  uint64_t items_read = 0;
  uint64_t bytes_read = 0;  // of items
  uint64_t bytes_returned = 0;
  uint64_t bytes_asked = 0;  // of the query itself
};
double query_charge(const QueryWork& work);

}  // namespace orrery::partition

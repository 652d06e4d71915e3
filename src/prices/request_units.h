// The prices of faces that charge in request units: what an operation costs, from what it did and
// nothing else. docs/request-units.md publishes the formula. A room of its own, since several
// protocols of the same service charge in the same units, and faces do not include one another.
#pragma once

#include <cstdint>

#include "partition/work.h"

namespace orrery::prices {

// The policy to hand to the engine.
extern const partition::Prices kRequestUnits;

// The size that an item is charged for: what is stored (its id, too, for writes) without what the
// system adds to every item, so that an item of 1 KB as its author wrote it costs what 1 KB costs.
uint64_t charged_bytes(uint64_t stored_bytes);

// Reading one item of this size. Strong and bounded-staleness reads cost twice this.
double read_charge(uint64_t bytes);
// A read that finds nothing, or whose client has the item already.
double miss_charge();

double create_charge(uint64_t bytes, uint32_t terms);
double replace_charge(uint64_t new_bytes, uint32_t terms_removed, uint32_t terms_added);
double remove_charge(uint64_t old_bytes, uint32_t terms_removed);
// A page of a feed: every item as if read together, not one by one.
double feed_charge(uint64_t bytes, uint64_t items);
// Running a script once, besides the operations that it does.
double script_charge();
// A page of a query: what it read of items and what it gave back. `kind` is not looked at.
double query_charge(const partition::Work& work);

}  // namespace orrery::prices

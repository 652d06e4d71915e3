// What an operation did, in counts, and the interface of the policy that makes a charge of it. The
// engine counts; what a count costs is decided by the face that a container belongs to.
//
// The same work always has the same charge: budgets, and what clients are told, depend on that.
#pragma once

#include <algorithm>
#include <cstdint>

namespace orrery::partition {

enum class WorkKind : uint8_t {
  read,     // one item
  miss,     // nothing was found, or done
  create,   // one item
  replace,  // one item
  remove,   // one item
  page,     // items of a feed, read together
  query,    // a page of a query
};

// Bytes of an item are those beyond Prices::free_bytes: see Prices::counted().
struct Work {
  WorkKind kind = WorkKind::miss;
  uint64_t items = 0;  // read
  uint64_t bytes = 0;  // of the items read, of the one written, or of the one removed
  uint32_t terms_added = 0;
  uint32_t terms_removed = 0;
  uint64_t entries_read = 0;  // of the index
  uint64_t bytes_returned = 0;
  uint64_t bytes_asked = 0;  // of the query itself
};

// A policy is a constant of its face. Without one, every operation costs one unit.
struct Prices {
  uint64_t free_bytes = 0;  // of each item: what the face itself adds to it
  uint32_t per_unit = 1;    // charges are multiples of one part in so many of a unit
  double (*charge)(const Work& work) = [](const Work&) { return 1.0; };

  uint64_t counted(uint64_t stored_bytes) const {
    return stored_bytes - std::min(stored_bytes, free_bytes);
  }
};
inline constexpr Prices kOneForEach = {};

}  // namespace orrery::partition

// Whether what a partition keeps agrees with itself: its items with their index entries, their
// changes, their unique values, the sizes of logical partitions, and the totals of its record.
//
// One snapshot of all of it is read from end to end, each column family once, in bounded memory:
// the entries that items should have, and those that are there, are counted and summed up by their
// hashes (Tally). Only where these differ is each entry looked up, to name some of them.
//
// Not looked at: the history of writes, and what lies out of range until a child of a split is
// trimmed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "partition/partition.h"

namespace orrery::partition {

struct Flaw {
  enum class Kind : uint8_t {
    item,    // its bytes cannot be read
    term,    // the index lacks an entry, or has one too many
    change,  // the same of the log of changes
    unique,  // the same of unique values
    size,    // of a logical partition
    total,   // of the partition
  };
  Kind kind = Kind::item;
  std::string what;  // with the values; keys are as clients wrote them
};

struct Verification {
  Usage usage;              // as counted
  uint64_t keys = 0;        // logical partitions with items
  uint64_t terms = 0;       // entries of the index
  std::vector<Flaw> flaws;  // kFlawsMax of each kind at most
  uint64_t more_flaws = 0;  // that were found and are not among them
};
inline constexpr size_t kFlawsMax = 10;

// Called now and then with how many items were read.
using VerifyProgress = std::function<void(uint64_t items)>;

}  // namespace orrery::partition

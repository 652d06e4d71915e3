// What the index and the unique keys need of a body, made from its parsed form before the write is
// queued, on the thread of whoever writes: so the writer, of which a partition has one, parses no
// body that is new.
//
// It holds for the index version that it was made by. The writer that finds another in the write's
// schema (the rules changed on the way) makes terms from the stored body, as it does for bodies
// that it makes itself.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "partition/item.h"
#include "partition/term_set.h"
#include "value/document.h"

namespace orrery::partition {

class Finisher;

// Terms that take more than this are left to the writer: a full queue holds this much for each
// write.
inline constexpr size_t kPreparedTermsMax = 128U << 10;

struct PreparedTerms {
  uint32_t index_version = 0;
  TermDraft draft;
  std::vector<std::string> unique_values;  // one for each unique key

  // `body` is what finish() will be given: without the members that it adds. Null when the writer
  // is to do it.
  static std::shared_ptr<const PreparedTerms> make(const value::Node& body, const Schema& schema,
                                                   const Finisher* finisher);
};

// The values that an item has of each unique key. A missing value counts as null: of the items that
// have null or nothing at a path there can be one.
std::vector<std::string> unique_values(const value::Node& item, const Schema& schema);

}  // namespace orrery::partition

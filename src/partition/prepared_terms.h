// The index terms and unique values of a body, derived before the write is queued, on the caller's
// thread. A partition has one writer; this way it does not have to parse new bodies.
//
// They are valid for the index version that they were made for. If the rules changed before the
// write is applied, the writer derives the terms from the stored body, as it does for bodies that
// it makes itself.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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

// One for each unique key. Nothing: the item claims none, as the key's condition does not hold.
using UniqueValues = std::vector<std::optional<std::string>>;

struct PreparedTerms {
  uint32_t index_version = 0;
  TermDraft draft;
  UniqueValues unique_values;

  // `body` is what finish() will be given: without the members that it adds. Null when the writer
  // is to do it.
  static std::shared_ptr<const PreparedTerms> make(const value::Node& body, const Schema& schema,
                                                   const Finisher* finisher);
};

// The values that an item has of each unique key. A missing value counts as null: of the items that
// have null or nothing at a path there can be one.
UniqueValues unique_values(const value::Node& item, const Schema& schema);

// A unique key that holds no longer keeps its number, since the numbers of the others must stay:
// an empty path before its own tells it apart. Its values are taken away as items are re-indexed.
std::vector<value::Path> retired(const std::vector<value::Path>& unique_key);
bool is_retired(const std::vector<value::Path>& unique_key);

}  // namespace orrery::partition

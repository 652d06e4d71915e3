// Some members of documents, decoded in place without the others: what a filter or a group looks at
// is often a small part of a large document.
//
// One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "value/document.h"
#include "value/value.h"

namespace orrery::mongo {

class MemberSelector {
 public:
  explicit MemberSelector(std::vector<std::string> names);
  const std::vector<std::string>& names() const { return names_; }

  // The document with those of its members that have one of the names. It borrows from `bson`, and
  // is valid until the next call. Nothing: the bytes are no document, as far as they were looked
  // at.
  std::optional<value::Value> select(std::string_view bson);

 private:
  bool is_wanted(std::string_view name) const;

  const std::vector<std::string> names_;
  uint64_t sizes_ = 0;  // a bit for the size of each name; the last one is of longer ones too
  // Of some documents, one after the other, so that most need no memory of their own.
  std::optional<value::NodeArena> nodes_;
  size_t sharing_ = 0;  // how many they are
};

}  // namespace orrery::mongo

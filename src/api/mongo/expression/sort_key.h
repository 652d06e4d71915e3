// A sort specification, {a: 1, "b.c": -1}: the key of a document, and how keys compare. A path that
// leads to an array counts as its least element where it ascends, as its greatest where it
// descends. A document without the path has null there.
//
// Immutable; any thread may call.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "api/mongo/bson/error.h"
#include "api/mongo/bson/types.h"
#include "value/value.h"

namespace orrery::mongo {

class SortKey {
 public:
  struct Part {
    std::string path;
    std::vector<std::string> steps;
    bool is_descending = false;
  };

  // Refuses empty ones (15976), directions that are not 1 or -1 (15975), and too many parts.
  static Answer<SortKey> parse(const Value& spec);

  std::vector<Value> of(const Value& document, const Collation* collation = nullptr) const;
  std::strong_ordering compare(const std::vector<Value>& a, const std::vector<Value>& b,
                               const Collation* collation) const;
  const std::vector<Part>& parts() const { return parts_; }

 private:
  std::vector<Part> parts_;
};

}  // namespace orrery::mongo

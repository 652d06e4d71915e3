// A sort of documents: {a: 1, "b.c": -1}. Where the path leads to several values of a document, the
// least of them counts when ascending and the greatest when descending; missing counts as null, an
// empty array as less than null.
//
// Immutable; any thread may call.
#pragma once

#include <compare>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/mongo/bson/collation.h"
#include "api/mongo/bson/error.h"
#include "api/mongo/expression/sort_key.h"
#include "value/value.h"

namespace orrery::mongo {

class Sort {
 public:
  struct Part {
    std::string path;
    bool descending = false;
  };
  // What a document is sorted by: a value for each part. Kept beside the document, so that it is
  // made once.
  using Key = std::vector<value::Value>;

  // {$natural: 1} has no parts, and says so. An empty document has no parts either.
  static Answer<Sort> parse(const value::Value& spec,
                            std::shared_ptr<const Collation> collation = nullptr);

  const std::vector<Part>& parts() const { return parts_; }
  bool is_natural() const { return natural_ != 0; }
  bool is_reverse_natural() const { return natural_ < 0; }

  Key key(const value::Value& document) const;
  // Strings in keys compare by the collation.
  std::strong_ordering compare(const Key& a, const Key& b) const;
  std::strong_ordering compare_documents(const value::Value& a, const value::Value& b) const;

 private:
  std::vector<Part> parts_;
  std::optional<SortKey> key_;  // of the parts, where there are any
  int natural_ = 0;
  std::shared_ptr<const Collation> collation_;
};

}  // namespace orrery::mongo

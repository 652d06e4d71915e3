// What a filter says of single paths, without looking at documents: for the index, for point access
// by keys, and for the document that an upsert inserts.
//
// Pure; any thread may call.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/mongo/bson/collation.h"
#include "api/mongo/bson/error.h"
#include "value/value.h"

namespace orrery::mongo {

// Values of one type, between two of them or to the type's end.
struct Interval {
  value::Type type = value::Type::null;
  std::optional<value::Value> low = std::nullopt;  // none: from the first value of the type
  std::optional<value::Value> high = std::nullopt;
  bool has_low = true;  // whether the ends belong to it
  bool has_high = true;
};

// Which values at a path a matching document can have. The values of a document are those that an
// index has of it: null where there is none, each element of an array (and the array itself where
// it is empty or within another).
struct Bounds {
  bool is_everything = true;        // nothing is known: all documents
  std::vector<Interval> intervals;  // ascending, apart from one another
  bool is_exact = false;  // whoever has a value in them satisfies what the filter says of the path
};

// With `is_multikey`, that is when some document has an array on the path, conditions on the path
// are not combined: each may be satisfied by another element. Strings have no bounds under a
// collation: the index compares bytes.
Bounds bounds_of(const value::Value& filter, std::string_view path, bool is_multikey,
                 const Collation* collation = nullptr);

// The value that all matching documents have at a path, as {path: value}, {path: {$eq: value}},
// {path: {$in: [value]}} or the same within $and say. Nothing for regular expressions.
std::optional<value::Value> equality_of(const value::Value& filter, std::string_view path);
// Those of {path: {$in: […]}} and of equality.
std::optional<std::vector<value::Value>> choices_of(const value::Value& filter,
                                                    std::string_view path);

// The document that an upsert starts from: the equalities of the filter, nested as their paths say,
// _id first. 54 when a path is set twice.
Answer<value::Value> upsert_seed(const value::Value& filter);
// Of a replacement: the filter's _id, or an empty document.
Answer<value::Value> upsert_seed_of_replacement(const value::Value& filter);

}  // namespace orrery::mongo

// How a stored body becomes values: one class for each encoding of documents. A face that stores
// bodies of its own encoding brings its codec; JSON's is here.
//
// What a codec must keep to:
//  - Bodies come from outside. Whatever the bytes, it gives a tree or an error, and never more than
//    kMaxDepth levels of nesting.
//  - The root is an object. An object has no two members of one name.
//  - Each node's `raw` is the value's own bytes, and `is_json` says whether those are JSON.
//  - What append() writes of an object, parse() reads back as an equal one.
//  - Decoding is deterministic: the terms of an item are derived from its stored body again when
//    its index entries are deleted.
// Codecs have no state: any thread may use one.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "value/document.h"

namespace orrery::value {

class Value;

// Something that holds for an item or does not. Immutable: any thread may ask.
class Condition {
 public:
  virtual ~Condition() = default;
  virtual bool holds(const Node& item) const = 0;
};

class Codec {
 public:
  virtual ~Codec() = default;
  virtual Result<Document> parse(std::string_view body) const = 0;
  // Appends a value, as the rows of queries show it, until `out` has about `most` bytes; false when
  // there is more. Undefined appends nothing.
  virtual bool append(std::string& out, const Value& value, size_t most) const = 0;
  // What a face wrote as a condition on its items. The same text must always mean the same: who is
  // an item's unique values' holder depends on it. Null: it is none.
  virtual std::shared_ptr<const Condition> condition(std::string_view /*text*/) const {
    return nullptr;
  }
};

const std::shared_ptr<const Codec>& json_codec();
// For bodies of an encoding that this program does not know: refuses each, naming the encoding.
std::shared_ptr<const Codec> unknown_codec(std::string encoding);

}  // namespace orrery::value

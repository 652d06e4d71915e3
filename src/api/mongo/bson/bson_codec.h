// How BSON becomes values, and values BSON: the codec (value/codec.h) of the encoding "bson", and
// the same for the documents of messages.
//
// What is stored is the client's bytes; nodes point into them. Decoding keeps the kind of each
// number. Two old types have no value of their own: a symbol is decoded as a string, a pointer to a
// document as {$ref, $id}. The type "undefined", which no client writes any more, is decoded as
// null: here an undefined value is one that is not there.
//
// Refused are wrong lengths, unknown types, strings that are not UTF-8, nesting deeper than
// value::kMaxDepth, and objects with two members of one name. The time and memory that it takes
// are in proportion to the bytes.
//
// Pure; any thread may call.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api/mongo/bson/bson_writer.h"
#include "api/mongo/bson/error.h"
#include "value/codec.h"
#include "value/document.h"
#include "value/value.h"

namespace orrery::mongo {

// The name that containers have it by.
inline constexpr std::string_view kBsonEncoding = "bson";

const std::shared_ptr<const value::Codec>& bson_codec();

// One document, of exactly these bytes. The first keeps a copy of them; of the second, they must
// outlive the result.
Answer<value::Document> parse_bson(std::string_view bytes);
Answer<value::Document> parse_bson_in_place(std::string_view bytes);
// The same as a value that owns everything.
Answer<value::Value> from_bson(std::string_view bytes);

}  // namespace orrery::mongo

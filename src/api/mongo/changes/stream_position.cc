// See stream_position.h. The bytes are BSON: {p: [{c, a, b, l, n, e}, …], i}.
#include "api/mongo/changes/stream_position.h"

#include <limits>
#include <utility>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/bson/bson_writer.h"
#include "api/mongo/bson/numbers.h"
#include "base/bytes.h"

namespace orrery::mongo {
namespace {

using value::Type;
using value::Value;

// More than the partitions of all collections that one stream can be of.
constexpr size_t kPartsMax = 10'000;

std::unexpected<Error> no_token() {
  return refuse(kInvalidResumeToken, "the resume token is not one of a change stream here");
}

}  // namespace

Value token_of(const StreamPosition& position) {
  BsonWriter bytes;
  bytes.begin_array("p");
  BsonWriter::Index index;
  for (const StreamPosition::Part& part : position.parts) {
    bytes.begin_document(index.next())
        .int64("c", part.container)
        .binary("a", part.min)
        .binary("b", part.max)
        .int64("l", static_cast<int64_t>(part.lsn))
        .int64("n", static_cast<int64_t>(part.begun_lsn))
        .int64("e", part.begun_events)
        .end();
  }
  bytes.end().boolean("i", position.is_invalidated);
  return Value::make_object(
      {{Value::make_string("_data"), Value::make_string(to_hex_upper(bytes.take()))}});
}

Answer<StreamPosition> read_token(const Value& token) {
  const Value data = token.find("_data");
  if (!data.is_string()) return no_token();
  const auto bytes = from_hex(data.text());
  if (!bytes) return no_token();
  const auto document = from_bson(*bytes);
  if (!document) return no_token();
  StreamPosition position;
  const Value parts = document->find("p");
  if (!parts.is_array() || parts.size() > kPartsMax) return no_token();
  for (const Value& part : parts.elements()) {
    bool is_whole = true;
    const auto number = [&](std::string_view name, uint64_t most) {
      const int64_t given = exact_integer(part.find(name)).value_or(-1);
      is_whole = is_whole && given >= 0 && static_cast<uint64_t>(given) <= most;
      return static_cast<uint64_t>(given);
    };
    constexpr uint64_t kMost32 = std::numeric_limits<uint32_t>::max();
    constexpr uint64_t kMost64 = std::numeric_limits<int64_t>::max();
    const Value min = part.find("a");
    const Value max = part.find("b");
    if (min.type() != Type::binary || max.type() != Type::binary || min.bytes() >= max.bytes()) {
      return no_token();
    }
    position.parts.push_back({.container = static_cast<uint32_t>(number("c", kMost32)),
                              .min = std::string(min.bytes()),
                              .max = std::string(max.bytes()),
                              .lsn = number("l", kMost64),
                              .begun_lsn = number("n", kMost64),
                              .begun_events = static_cast<uint32_t>(number("e", kMost32))});
    if (!is_whole) return no_token();
  }
  position.is_invalidated = document->find("i").is_true();
  return position;
}

}  // namespace orrery::mongo

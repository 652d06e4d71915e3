// Resume tokens: read back as they were written, and refused when they are none.
#include "api/mongo/changes/stream_position.h"

#include <gtest/gtest.h>

#include <limits>

#include "api/mongo/bson/bson_writer.h"
#include "api/mongo/bson/types.h"
#include "base/bytes.h"

namespace orrery::mongo {
namespace {

Value token(std::string data) {
  return Value::make_object({{Value::make_string("_data"), Value::make_string(std::move(data))}});
}

TEST(StreamPosition, IsReadBackAsItWasWritten) {
  StreamPosition position;
  position.parts.push_back({.container = 7,
                            .min = std::string("\0\xFF", 2),
                            .max = "m",
                            .lsn = uint64_t{1} << 40,
                            .begun_lsn = (uint64_t{1} << 40) + 1,
                            .begun_events = 3});
  position.parts.push_back(
      {.container = 8, .min = "m", .max = "\xFF", .lsn = 0, .begun_lsn = 0, .begun_events = 0});
  EXPECT_EQ(read_token(token_of(position)), position);
  position.is_invalidated = true;
  EXPECT_EQ(read_token(token_of(position)), position);
}

TEST(StreamPosition, RefusesWhatIsNoToken) {
  for (const std::string& data : {"", "0", "zz", "00", "0500000000"}) {
    EXPECT_EQ(read_token(token(data)).error().code, 260) << data;
  }
  EXPECT_EQ(read_token(Value::make_object({})).error().code, 260);
  EXPECT_EQ(read_token(Value()).error().code, 260);
}

// Clients make tokens up: of numbers that no counter has, of any kind.
TEST(StreamPosition, RefusesNumbersThatNoPositionHas) {
  const auto with = [](std::string_view name, const Value& number) {
    BsonWriter bytes;
    bytes.begin_array("p").begin_document("0").binary("a", "a").binary("b", "b");
    for (const std::string_view other : {"c", "l", "n", "e"}) {
      if (other == name) {
        EXPECT_TRUE(bytes.value(other, number, 100));
      } else {
        bytes.int64(other, 1);
      }
    }
    bytes.end().end();
    return read_token(token(to_hex_upper(bytes.take())));
  };
  using Limits = std::numeric_limits<double>;
  for (const std::string_view name : {"c", "l", "n", "e"}) {
    EXPECT_TRUE(with(name, Value::make_number(2))) << name;
    for (const double number : {-1.0, 0.5, 1e300, Limits::quiet_NaN(), Limits::infinity()}) {
      EXPECT_EQ(with(name, Value::make_number(number)).error().code, 260) << name << number;
    }
    EXPECT_EQ(with(name, Value::make_string("1")).error().code, 260) << name;
  }
  EXPECT_EQ(with("c", Value::make_integer(int64_t{1} << 32)).error().code, 260);
}

}  // namespace
}  // namespace orrery::mongo

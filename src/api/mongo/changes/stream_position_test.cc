// Resume tokens: read back as they were written, and refused when they are none.
#include "api/mongo/changes/stream_position.h"

#include <gtest/gtest.h>

#include "api/mongo/bson/types.h"

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

}  // namespace
}  // namespace orrery::mongo

// See input_buffer.h: how its memory grows and is let go.
#include "net/input_buffer.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace orrery::net {
namespace {

void put(InputBuffer& buffer, std::string_view bytes, size_t wanted = 0) {
  while (!bytes.empty()) {
    const std::span<char> room = buffer.room(wanted);
    const size_t size = std::min(room.size(), bytes.size());
    std::memcpy(room.data(), bytes.data(), size);
    buffer.added(size);
    bytes.remove_prefix(size);
  }
}

TEST(InputBuffer, GrowsToWhatIsWanted) {
  InputBuffer buffer;
  EXPECT_EQ(buffer.next_capacity(), InputBuffer::kSmallBytes);
  put(buffer, std::string(30'000, 'x'), 30'000);
  EXPECT_EQ(buffer.capacity(), 30'000U);
  EXPECT_EQ(buffer.next_capacity(), 60'000U);
  buffer.consume(30'000);
  EXPECT_EQ(buffer.capacity(), 0U);
}

TEST(InputBuffer, LargeMemoryIsNotKeptForAFewBytes) {
  InputBuffer buffer;
  put(buffer, std::string(100'000, 'x') + "next");
  buffer.consume(90'000);
  EXPECT_LE(buffer.capacity(), InputBuffer::kFreeBytes);
  buffer.consume(10'000);
  EXPECT_EQ(std::string_view(buffer.data(), buffer.size()), "next");
  put(buffer, " one");
  EXPECT_EQ(std::string_view(buffer.data(), buffer.size()), "next one");
}

}  // namespace
}  // namespace orrery::net

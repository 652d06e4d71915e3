// Cursors: who has one, how long they are kept, and how many.
#include "api/mongo/cursors/cursor_store.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

namespace orrery::mongo {
namespace {

class Rows final : public RowStream {
 public:
  explicit Rows(size_t bytes) : bytes_(bytes) {}
  Answer<bool> next(std::string& /*bson*/) override { return false; }
  size_t memory() const override { return bytes_; }

 private:
  const size_t bytes_;
};

std::unique_ptr<Cursor> cursor(size_t bytes = 0) {
  auto made = std::make_unique<Cursor>();
  made->rows = std::make_unique<Rows>(bytes);
  return made;
}

TEST(CursorStore, ACursorIsWithOneCommandAtATime) {
  ManualClock clock;
  CursorStore store(clock);
  const int64_t id = *store.add(cursor());
  EXPECT_NE(id, 0);
  auto taken = store.take(id);
  ASSERT_TRUE(taken);
  EXPECT_EQ(store.take(id).error().code, 12051);
  store.put_back(id, std::move(*taken));
  EXPECT_TRUE(store.take(id));
  EXPECT_TRUE(store.remove(id));
  EXPECT_FALSE(store.remove(id));
  EXPECT_EQ(store.take(id).error().code, kCursorNotFound);
}

TEST(CursorStore, AUserRemovesItsOwnAlone) {
  ManualClock clock;
  CursorStore store(clock);
  auto made = cursor();
  made->user = "ada";
  const int64_t id = *store.add(std::move(made));
  EXPECT_FALSE(store.remove_of("bob", id));
  auto taken = store.take(id);  // also while it is in use
  ASSERT_TRUE(taken);
  EXPECT_FALSE(store.remove_of("bob", id));
  store.put_back(id, std::move(*taken));
  EXPECT_TRUE(store.remove_of("ada", id));
  EXPECT_EQ(store.size(), 0U);
}

TEST(CursorStore, OneThatNobodyAsksForIsGoneAfterTenMinutes) {
  ManualClock clock;
  CursorStore store(clock);
  const int64_t idle = *store.add(cursor());
  auto kept = cursor();
  kept->never_expires = true;
  const int64_t forever = *store.add(std::move(kept));
  clock.advance_ms(CursorStore::kIdleUs / 1000 + 2000);
  EXPECT_FALSE(store.take(idle));
  EXPECT_TRUE(store.take(forever));
}

TEST(CursorStore, MemoryIsBounded) {
  ManualClock clock;
  CursorStore store(clock);
  const int64_t first = *store.add(cursor(CursorStore::kBytesMax));
  EXPECT_FALSE(store.add(cursor(1)));
  // One that was not asked for in a minute makes room.
  clock.advance_ms(61'000);
  EXPECT_TRUE(store.add(cursor(1)));
  EXPECT_FALSE(store.take(first));
}

}  // namespace
}  // namespace orrery::mongo

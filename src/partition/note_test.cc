// Notes: committed with their writes, seen by no reader of items, found again after a crash and in
// the children of a split, and removed by those that follow.
#include "partition/note.h"

#include "partition/partition_fixture.h"
#include "partition/verify.h"

namespace orrery::partition {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class NoteTest : public PartitionTest {
 protected:
  std::shared_ptr<Partition> partition_ = open();

  Write noted(Write write, std::string owner, uint64_t number, std::string body,
              uint32_t part = 0) const {
    write.note = std::make_shared<const Note>(Note{.owner = std::move(owner),
                                                   .number = number,
                                                   .part = part,
                                                   .body = std::move(body),
                                                   .life_s = 60});
    return write;
  }
  static std::vector<std::string> bodies(const Partition& partition, std::string_view owner,
                                         uint64_t number) {
    std::vector<std::string> all;
    for (const KeptNote& note : partition.notes(owner, number).value()) all.push_back(note.body);
    return all;
  }
};

TEST_F(NoteTest, IsThereWhenItsWriteIs) {
  ASSERT_FALSE(commit(*partition_, noted(create("k", "1"), "a", 1, "done")).error);
  EXPECT_THAT(bodies(*partition_, "a", 1), ElementsAre("done"));
  EXPECT_THAT(bodies(*partition_, "a", 2), IsEmpty());
  EXPECT_THAT(bodies(*partition_, "b", 1), IsEmpty());
  // A transaction that fails leaves none.
  const Outcome refused =
      commit(*partition_, all_of(noted(create("k", "2"), "b", 1, "done"), create("k", "1")));
  EXPECT_EQ(code_of(refused), Code::conflict);
  EXPECT_THAT(bodies(*partition_, "b", 1), IsEmpty());
  partition_.reset();
  partition_ = open();
  EXPECT_THAT(bodies(*partition_, "a", 1), ElementsAre("done"));
}

TEST_F(NoteTest, IsNoItem) {
  ASSERT_FALSE(commit(*partition_, create("k", "1")).error);
  const Usage before = partition_->usage();
  ASSERT_FALSE(commit(*partition_, noted(replace("k", "1"), "a", 1, "done")).error);
  EXPECT_EQ(partition_->usage().items, before.items);
  EXPECT_EQ(partition_->usage().bytes, before.bytes);
  EXPECT_EQ(items_of(*partition_).size(), 1U);
  EXPECT_EQ(partition_->changes({}, *schema_)->changes.size(), 1U);
  EXPECT_TRUE(partition_->verify(*schema_, {})->flaws.empty());
}

TEST_F(NoteTest, PartsAreKeptSideBySide) {
  ASSERT_FALSE(commit(*partition_, noted(create("k", "1"), "a", 1, "x", 0)).error);
  ASSERT_FALSE(commit(*partition_, noted(create("k", "2"), "a", 1, "y", 1)).error);
  ASSERT_FALSE(commit(*partition_, noted(create("l", "1"), "a", 1, "z", 1)).error);
  EXPECT_THAT(bodies(*partition_, "a", 1), UnorderedElementsAre("x", "y", "z"));
}

TEST_F(NoteTest, GoesWithTheNextNumber) {
  for (uint64_t number = 1; number <= 10; ++number) {
    const std::string row = std::to_string(number);
    ASSERT_FALSE(commit(*partition_, noted(create("k", row), "a", number, row)).error);
  }
  for (uint64_t number = 1; number < 10; ++number) {
    EXPECT_THAT(bodies(*partition_, "a", number), IsEmpty()) << number;
  }
  EXPECT_THAT(bodies(*partition_, "a", 10), ElementsAre("10"));
}

TEST_F(NoteTest, GoesWithTime) {
  ASSERT_FALSE(commit(*partition_, noted(create("k", "1"), "b", 1, "old")).error);
  clock_.advance_ms(59'000);
  EXPECT_THAT(bodies(*partition_, "b", 1), ElementsAre("old"));
  clock_.advance_ms(2'000);
  EXPECT_THAT(bodies(*partition_, "b", 1), IsEmpty());
  // The next one before it takes it away, so that a clock that goes back does not show it again.
  ASSERT_FALSE(commit(*partition_, noted(create("k", "2"), "a", 1, "new")).error);
  clock_.advance_ms(-10'000);
  EXPECT_THAT(bodies(*partition_, "b", 1), IsEmpty());
}

TEST_F(NoteTest, IsFoundInTheChildOfItsPlacement) {
  for (int i = 0; i < 10; ++i) {
    const std::string key = "k" + std::to_string(i);
    ASSERT_FALSE(commit(*partition_, noted(create(key, "1"), "a", 1, key)).error);
  }
  auto cut = partition_->begin_split(kPlainKeys, "m");
  ASSERT_TRUE(cut) << cut.error().message;
  Partition::Children children;
  ASSERT_TRUE(partition_->finish_split(*cut, {8, "c1"}, {9, "c2"},
                                       [&](const Partition::Children& made) -> Status {
                                         children = made;
                                         return {};
                                       }));
  std::vector<std::string> all;
  for (const auto& child : {children.first, children.second}) {
    ASSERT_TRUE(child->trim());
    for (const KeptNote& note : child->notes("a", 1).value()) {
      EXPECT_GE(note.placement, child->identity().min);
      EXPECT_LT(note.placement, child->identity().max);
      all.push_back(note.body);
    }
  }
  EXPECT_EQ(all.size(), 10U);
}

}  // namespace
}  // namespace orrery::partition

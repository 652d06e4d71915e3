// What is told of a time: all of it, or nothing.
#include "api/gremlin/graph/stored_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace orrery::gremlin {
namespace {

using testing::ElementsAre;
using testing::Optional;

StoredNotes::Stored write(uint64_t lsn, std::string row) {
  return {.lsn = lsn, .change = {.placement = "p", .row = std::move(row), .edge = nullptr}};
}

std::optional<std::vector<std::string>> rows(StoredNotes& notes, size_t part, uint64_t from,
                                             uint64_t to) {
  const auto taken = notes.take(part, from, to);
  if (!taken) return std::nullopt;
  std::vector<std::string> made;
  for (const auto& change : *taken) made.push_back(change.row);
  return made;
}

TEST(StoredNotesTest, AreToldInTheOrderOfTheirLsns) {
  StoredNotes notes(2);
  notes.add(0, {write(12, "c")});
  notes.add(0, {write(11, "a"), write(11, "b")});
  notes.add(1, {write(11, "of another partition")});
  EXPECT_THAT(rows(notes, 0, 10, 12), Optional(ElementsAre("a", "b", "c")));
  EXPECT_THAT(rows(notes, 0, 12, 12), Optional(ElementsAre()));
  EXPECT_THAT(rows(notes, 1, 10, 11), Optional(ElementsAre("of another partition")));
}

TEST(StoredNotesTest, SayNothingOfATimeThatTheyKnowAPartOf) {
  StoredNotes notes(1);
  notes.add(0, {write(11, "a")});
  notes.add(0, {write(13, "c")});
  EXPECT_EQ(rows(notes, 0, 10, 13), std::nullopt) << "12 was somebody else";
  notes.add(0, {write(15, "e")});
  notes.add(0, {write(14, "d")});
  EXPECT_EQ(rows(notes, 0, 11, 15), std::nullopt) << "12 still was";
  EXPECT_THAT(rows(notes, 0, 12, 15), Optional(ElementsAre("c", "d", "e")));
  notes.add(0, {write(16, "f")});
  notes.add(0, {write(17, "g")});
  notes.add(0, {write(18, "h")});
  EXPECT_THAT(rows(notes, 0, 15, 17), Optional(ElementsAre("f", "g")));
  EXPECT_THAT(rows(notes, 0, 17, 18), Optional(ElementsAre("h")));
}

TEST(StoredNotesTest, ComeLateWithoutHarm) {
  StoredNotes notes(1);
  EXPECT_EQ(rows(notes, 0, 10, 11), std::nullopt);
  notes.add(0, {write(11, "late")});
  notes.add(0, {write(12, "b")});
  EXPECT_THAT(rows(notes, 0, 11, 12), Optional(ElementsAre("b")));
}

TEST(StoredNotesTest, AreBounded) {
  StoredNotes notes(1);
  for (uint64_t lsn = 1; lsn <= StoredNotes::kChangesMax; ++lsn) notes.add(0, {write(lsn, "x")});
  notes.add(0, {write(StoredNotes::kChangesMax + 1, "y")});
  EXPECT_EQ(rows(notes, 0, 0, StoredNotes::kChangesMax + 1), std::nullopt);
  notes.add(0, {write(StoredNotes::kChangesMax + 2, "z")});
  EXPECT_THAT(rows(notes, 0, StoredNotes::kChangesMax + 1, StoredNotes::kChangesMax + 2),
              Optional(ElementsAre("z")));
}

}  // namespace
}  // namespace orrery::gremlin

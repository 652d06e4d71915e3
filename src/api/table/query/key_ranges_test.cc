// Which stretches of a table filters and grants leave, and that nothing which matches is left out.
#include "api/table/query/key_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "api/table/entities/entity_json.h"
#include "partition/format.h"

namespace orrery::table {
namespace {

value::KeyDefinition key_of(value::Placement placement) {
  return {.placement = placement, .paths = {value::parse_property_path("/PartitionKey").value()}};
}

const value::KeyDefinition kOrdered = key_of(value::Placement::range);
const value::KeyDefinition kHashed = key_of(value::Placement::hash_v2);

// Of the keys a to f and rows 1 to 5, those that the stretches have: "a1 a2 b1".
std::string read(std::string_view text, const KeyRange& granted = {},
                 const value::KeyDefinition& key = kOrdered) {
  auto filter = parse_filter(text);
  EXPECT_TRUE(filter) << text;
  const auto stretches = stretches_of(*filter, granted, key);
  std::string found;
  for (char partition = 'a'; partition <= 'f'; ++partition) {
    for (char row = '1'; row <= '5'; ++row) {
      const std::string placement = place_partition(key, std::string(1, partition));
      const std::string item = partition::item_key(placement, std::string(1, row));
      for (const Stretch& one : stretches) {
        if (item < one.from || item >= one.to) continue;
        EXPECT_TRUE(placement >= one.min && placement < one.max) << text;
        if (!found.empty()) found += ' ';
        (found += partition) += row;
      }
    }
  }
  for (size_t i = 1; i < stretches.size(); ++i) {
    EXPECT_LE(stretches[i - 1].to, stretches[i].from) << text;
  }
  return found;
}

TEST(KeyRanges, OfAFilter) {
  EXPECT_EQ(read("PartitionKey eq 'b' and RowKey eq '3'"), "b3");
  EXPECT_EQ(read("'b' eq PartitionKey and n eq 1"), "b1 b2 b3 b4 b5");
  EXPECT_EQ(read("PartitionKey eq 'b' and RowKey gt '1' and RowKey le '3'"), "b2 b3");
  EXPECT_EQ(read("PartitionKey gt 'e'"), "f1 f2 f3 f4 f5");
  EXPECT_EQ(read("PartitionKey ge 'e' and PartitionKey lt 'f'"), "e1 e2 e3 e4 e5");
  EXPECT_EQ(
      read("(PartitionKey eq 'a' and RowKey eq '1') or (PartitionKey eq 'c' and RowKey lt '3')"),
      "a1 c1 c2");
  EXPECT_EQ(read("PartitionKey eq 'a' and PartitionKey eq 'b'"), "");
  EXPECT_EQ(read("not (PartitionKey lt 'f')"), "f1 f2 f3 f4 f5");
  EXPECT_EQ(read("not (PartitionKey ne 'b' or RowKey ne '2')"), "b2");
  EXPECT_EQ(read("PartitionKey eq 5"), "");
  EXPECT_EQ(read("false"), "");
  EXPECT_EQ(read("PartitionKey eq 'a' and (RowKey eq '1' or n eq 5)"), "a1 a2 a3 a4 a5");
  EXPECT_EQ(read("n eq 1 or PartitionKey eq 'a'").size(), 89U);
  EXPECT_EQ(read("").size(), 89U);
}

TEST(KeyRanges, OfAGrant) {
  const KeyRange one{.first = KeyBound{"b", "4"}, .last = KeyBound{"d", "2"}};
  EXPECT_EQ(read("", one), "b4 b5 c1 c2 c3 c4 c5 d1 d2");
  EXPECT_EQ(read("RowKey eq '5' and PartitionKey eq 'b'", one), "b5");
  EXPECT_EQ(read("PartitionKey eq 'a'", one), "");
  EXPECT_EQ(read("", {.first = KeyBound{"b", "2"}, .last = KeyBound{"b", "3"}}), "b2 b3");
  EXPECT_EQ(read("", {.first = KeyBound{"f", std::nullopt}, .last = {}}), "f1 f2 f3 f4 f5");
  EXPECT_EQ(read("", {.first = KeyBound{"c", "1"}, .last = KeyBound{"b", "1"}}), "");
}

TEST(KeyRanges, ByHashOnlyOneKeyIsARange) {
  EXPECT_EQ(read("PartitionKey eq 'b' and RowKey ge '4'", {}, kHashed), "b4 b5");
  EXPECT_EQ(read("PartitionKey gt 'e'", {}, kHashed).size(), 89U);
}

TEST(KeyRanges, ManyBoxesBecomeOne) {
  std::string text = "RowKey eq '0'";
  for (int i = 0; i < 300; ++i) {
    text += " or PartitionKey eq 'c' and RowKey eq '" + std::to_string(i) + "'";
  }
  auto filter = parse_filter(text);
  ASSERT_TRUE(filter);
  EXPECT_LE(key_boxes(*filter).size(), kKeyBoxesMax + 1);
  EXPECT_NE(read(text).find("c3"), std::string::npos);
}

// Whatever a filter matches lies in its stretches.
TEST(KeyRanges, LeaveNothingOut) {
  uint64_t state = 12345;
  const auto pick = [&](uint64_t below) {
    state = state * 6364136223846793005 + 1442695040888963407;
    return (state >> 33) % below;
  };
  const std::function<std::string(int)> make = [&](int depth) -> std::string {
    static constexpr const char* kOperations[] = {"eq", "ne", "gt", "ge", "lt", "le"};
    if (depth == 0 || pick(3) == 0) {
      const bool is_row = pick(2) == 0;
      return std::string(is_row ? "RowKey " : "PartitionKey ") + kOperations[pick(6)] + " '" +
             static_cast<char>(is_row ? '1' + pick(5) : 'a' + pick(6)) + "'";
    }
    if (pick(4) == 0) return "not (" + make(depth - 1) + ")";
    return "(" + make(depth - 1) + (pick(2) == 0 ? ") and (" : ") or (") + make(depth - 1) + ")";
  };
  for (int i = 0; i < 2000; ++i) {
    const std::string text = make(4);
    auto filter = parse_filter(text);
    ASSERT_TRUE(filter) << text;
    const std::string found = read(text);
    for (char partition = 'a'; partition <= 'f'; ++partition) {
      for (char row = '1'; row <= '5'; ++row) {
        const std::string keys[] = {std::string(1, partition), std::string(1, row)};
        EntityWriter writer;
        writer.add(kPartitionKey, {.type = Edm::string, .bytes = keys[0]});
        writer.add(kRowKey, {.type = Edm::string, .bytes = keys[1]});
        if (!matches_entity(*filter, writer.take())) continue;
        EXPECT_NE(found.find(keys[0] + keys[1]), std::string::npos) << text;
      }
    }
  }
}

}  // namespace
}  // namespace orrery::table

// Unique keys: which values of a logical partition no two items may have, and who holds them.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/hash.h"
#include "partition/write_fixture.h"
#include "value/hash_twin.h"

namespace orrery::partition {
namespace {

using testing::HasSubstr;

class UniqueValuesTest : public WriteTest {};

TEST_F(UniqueValuesTest, UniqueValuesAreHeldWithinALogicalPartition) {
  schema_->unique_keys = {{path_of("/u")}, {path_of("/a"), path_of("/b/c")}};
  ASSERT_FALSE(run(create("k", "1", "\"u\":1,\"a\":1,\"b\":{\"c\":1}")).error);
  const Outcome clash = run(create("k", "2", "\"u\":1,\"a\":2"));
  EXPECT_EQ(code_of(clash), Code::conflict);
  EXPECT_THAT(clash.error->message, HasSubstr("/u"));
  EXPECT_THAT(clash.error->message, HasSubstr("'1'"));
  EXPECT_EQ(code_of(run(create("k", "2", "\"u\":2,\"a\":1,\"b\":{\"c\":1}"))), Code::conflict);
  EXPECT_FALSE(run(create("l", "2", "\"u\":1,\"a\":1,\"b\":{\"c\":1}")).error) << "another key";
  EXPECT_FALSE(run(create("k", "2", "\"u\":\"1\",\"a\":1")).error) << "another type";
  // Changing a value frees the old one; replacing without change keeps it.
  EXPECT_FALSE(run(replace("k", "1", "\"u\":1,\"a\":1,\"b\":{\"c\":1},\"x\":1")).error);
  EXPECT_FALSE(run(replace("k", "1", "\"u\":5,\"a\":5")).error);
  EXPECT_FALSE(run(create("k", "3", "\"u\":1,\"a\":3")).error);
  EXPECT_EQ(code_of(run(replace("k", "1", "\"u\":1,\"a\":5"))), Code::conflict);
  EXPECT_EQ(body("k", "1"), body_of("1", "\"u\":5,\"a\":5"));
  EXPECT_FALSE(run(remove("k", "3")).error);
  EXPECT_FALSE(run(replace("k", "1", "\"u\":1,\"a\":5")).error);
}

// The index tells long texts apart by Murmur3, which can be run backwards.
TEST_F(UniqueValuesTest, LongUniqueValuesAreToldApartWhateverTheirHash) {
  schema_->unique_keys = {{path_of("/u")}};
  const auto hash_of = [](std::string_view text) {
    const auto hash = murmur3_x64_128(text, 0);
    return std::string(hash.begin(), hash.end());
  };
  const std::string begin(value::kMaxTermText, 'a');
  const std::string text = begin + std::string(32, 'b');
  std::string twin;
  for (int i = 0;; ++i) {
    const std::string blocks = begin + fmt::format("{:016}", i);
    twin = blocks + value::last_block(blocks, hash_of(text));
    if (std::ranges::all_of(twin, [](char c) { return c > 0; })) break;
  }
  ASSERT_EQ(hash_of(text), hash_of(twin));
  const auto member = [](std::string_view of) {
    std::string json = "\"u\":";
    value::append_json_string(json, of);
    return json;
  };
  EXPECT_FALSE(run(create("k", "1", member(text))).error);
  EXPECT_FALSE(run(create("k", "2", member(twin))).error);
  EXPECT_EQ(code_of(run(create("k", "3", member(twin)))), Code::conflict);
}

TEST_F(UniqueValuesTest, AMissingUniqueValueCountsAsNull) {
  schema_->unique_keys = {{path_of("/u")}};
  EXPECT_FALSE(run(create("k", "1")).error);
  EXPECT_EQ(code_of(run(create("k", "2"))), Code::conflict);
  EXPECT_EQ(code_of(run(create("k", "2", "\"u\":null"))), Code::conflict);
  EXPECT_FALSE(run(replace("k", "1", "\"u\":null")).error);
  EXPECT_EQ(code_of(run(create("k", "2"))), Code::conflict);
  EXPECT_FALSE(run(replace("k", "1", "\"u\":1")).error);
  EXPECT_FALSE(run(create("k", "2")).error);
  EXPECT_EQ(code_of(run(replace("k", "1", "\"u\":null"))), Code::conflict);
  EXPECT_FALSE(run(create("k", "5", "\"u\":[1]")).error);
  EXPECT_FALSE(run(create("k", "6", "\"u\":[2]")).error);
  EXPECT_EQ(code_of(run(create("k", "7", "\"u\":[2]"))), Code::conflict);
}

// Holds for items that have the member.
class HasMember final : public value::Condition {
 public:
  explicit HasMember(std::string name) : name_(std::move(name)) {}
  bool holds(const value::Node& item) const override { return item.find(name_) != nullptr; }

 private:
  const std::string name_;
};

TEST_F(UniqueValuesTest, ItemsThatAConditionLeavesOutClaimNoUniqueValue) {
  schema_->unique_keys = {{path_of("/v")}, {path_of("/u")}};
  schema_->unique_conditions = {std::make_shared<HasMember>("v"),
                                std::make_shared<HasMember>("open")};
  ASSERT_FALSE(run(create("k", "1", "\"u\":1,\"open\":1")).error);
  EXPECT_FALSE(run(create("k", "2", "\"u\":1")).error);
  EXPECT_FALSE(run(create("k", "3", "\"u\":1")).error);
  EXPECT_EQ(code_of(run(create("k", "4", "\"u\":1,\"open\":2"))), Code::conflict);
  // An item that comes to satisfy it claims its value; one that does so no longer lets go of it.
  EXPECT_EQ(code_of(run(replace("k", "2", "\"u\":1,\"open\":1"))), Code::conflict);
  EXPECT_FALSE(run(replace("k", "1", "\"u\":1")).error);
  EXPECT_FALSE(run(replace("k", "2", "\"u\":1,\"open\":1")).error);
  EXPECT_EQ(code_of(run(replace("k", "1", "\"u\":1,\"open\":1"))), Code::conflict);
  EXPECT_FALSE(run(remove("k", "3")).error) << "of what it did not hold nothing is taken";
  EXPECT_EQ(code_of(run(create("k", "3", "\"u\":1,\"open\":1"))), Code::conflict);
  EXPECT_FALSE(run(remove("k", "2")).error);
  EXPECT_FALSE(run(create("k", "3", "\"u\":1,\"open\":1")).error);
  EXPECT_FALSE(run(create("k", "5", "\"v\":null")).error);
  EXPECT_EQ(code_of(run(create("k", "6", "\"v\":null"))), Code::conflict);
  expect_consistent();
}

TEST_F(UniqueValuesTest, ValuesCanBeSwappedWithinATransaction) {
  schema_->unique_keys = {{path_of("/u")}};
  ASSERT_FALSE(
      commit(*partition_, all_of(create("k", "1", "\"u\":1"), create("k", "2", "\"u\":2"))).error);
  EXPECT_FALSE(
      commit(*partition_, all_of(replace("k", "1", "\"u\":0"), replace("k", "2", "\"u\":1"),
                                 replace("k", "1", "\"u\":2")))
          .error);
  EXPECT_EQ(code_of(run(create("k", "3", "\"u\":1"))), Code::conflict);
  EXPECT_EQ(code_of(run(create("k", "3", "\"u\":2"))), Code::conflict);
  EXPECT_FALSE(run(create("k", "3", "\"u\":0")).error);
}

TEST_F(UniqueValuesTest, AnExpiredHolderGivesItsValueUpForGood) {
  schema_->unique_keys = {{path_of("/u")}};
  schema_->default_life_ms = 10'000;
  ASSERT_FALSE(run(create("k", "old", "\"u\":1")).error);
  clock_.advance_ms(9'000);
  EXPECT_EQ(code_of(run(create("k", "new", "\"u\":1"))), Code::conflict);
  clock_.advance_ms(1'000);
  ASSERT_FALSE(run(create("k", "new", "\"u\":1")).error);
  EXPECT_EQ(partition_->read("k", "old").value(), std::nullopt) << "evicted, not only hidden";
  expect_consistent();
  // The old one cannot come back with the value, neither by being written nor by the clock.
  EXPECT_EQ(code_of(run(create("k", "old", "\"u\":1"))), Code::conflict);
  EXPECT_FALSE(run(create("k", "old", "\"u\":2")).error);
  expect_consistent();
}

TEST_F(UniqueValuesTest, AnExpiredItemThatIsWrittenAgainKeepsItsValue) {
  schema_->unique_keys = {{path_of("/u")}};
  schema_->default_life_ms = 10'000;
  ASSERT_FALSE(run(create("k", "a", "\"u\":1")).error);
  clock_.advance_ms(20'000);
  ASSERT_FALSE(run(create("k", "a", "\"u\":1")).error);
  EXPECT_EQ(code_of(run(create("k", "b", "\"u\":1"))), Code::conflict);
  expect_consistent();
}

}  // namespace
}  // namespace orrery::partition

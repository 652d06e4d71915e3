// The shapes and definitions that a partition remembers: with the items that need them, through
// restarts, splits and failed commits, and no more than it may.
#include "partition/index_ledger.h"

#include <fmt/format.h>

#include "partition/partition_fixture.h"
#include "value/spatial.h"

namespace orrery::partition {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class IndexLedgerTest : public PartitionTest {
 protected:
  void SetUp() override { partition_ = open(); }

  void reopen() {
    partition_.reset();
    shared_.reset();  // the writer's job may hold the last reference for a moment
    shared_ = std::make_unique<Shared>(limits_, clock_);
    partition_ = open();
  }
  // The rows of the items that have one of the shape terms.
  std::vector<std::string> rows_of(const std::vector<std::string>& shapes) const {
    std::vector<std::string> rows;
    for (const auto& [term, key] : partition_->all_terms().value()) {
      if (std::ranges::find(shapes, term) != shapes.end()) rows.push_back(key.row);
    }
    std::ranges::sort(rows);
    return rows;
  }
  ShapesWithout without(std::string_view path, uint32_t version = 1) const {
    return partition_->shapes_without(version, value::term_path(path_of(path)));
  }

  std::shared_ptr<Partition> partition_;
};

TEST_F(IndexLedgerTest, ShapesFindTheItemsThatLackAPath) {
  ASSERT_FALSE(commit(*partition_, create("k", "a", R"("n":1)")).error);
  ASSERT_FALSE(commit(*partition_, create("k", "b", R"("m":[{"n":1}])")).error);
  ASSERT_FALSE(commit(*partition_, create("l", "c", R"("m":2)")).error);
  ASSERT_FALSE(commit(*partition_, create("l", "d", R"("n":null,"m":2)")).error);
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(rows_of(without("/n").lacking), ElementsAre("b", "c"));
    EXPECT_THAT(rows_of(without("/m").lacking), ElementsAre("a"));
    EXPECT_THAT(rows_of(without("/m/n").lacking), ElementsAre("a", "b", "c", "d"));
    EXPECT_THAT(without("/id").lacking, IsEmpty());
    EXPECT_THAT(without("/nowhere").lacking, SizeIs(3));
    EXPECT_FALSE(without("/n").others);
    EXPECT_THAT(without("/n", 2).lacking, IsEmpty()) << "no item has terms of this version";
    reopen();
  }
  ASSERT_FALSE(commit(*partition_, replace("l", "c", R"("n":5)")).error);
  ASSERT_FALSE(commit(*partition_, remove("k", "b")).error);
  EXPECT_THAT(rows_of(without("/n").lacking), IsEmpty());
  EXPECT_EQ(sorted_terms(*partition_), expected_terms(*partition_, schema_->index));
}

TEST_F(IndexLedgerTest, ShapesBeyondTheLimitAreTheOthersForGood) {
  std::vector<Write> many;
  for (size_t i = 0; i < kMaxShapes + 20; ++i) {
    many.push_back(create("k", std::to_string(i), fmt::format("\"p{}\":1", i)));
  }
  ASSERT_FALSE(commit(*partition_, std::move(many)).error);
  const auto check = [&] {
    const ShapesWithout shapes = without("/p0");
    EXPECT_THAT(shapes.lacking, SizeIs(kMaxShapes - 1));
    EXPECT_TRUE(shapes.others);
    return rows_of({shapes.others.value_or("")});
  };
  EXPECT_THAT(check(), SizeIs(20));
  reopen();
  EXPECT_THAT(check(), SizeIs(20));
  // One that was refused stays so, also when its item is written again, and its term goes with it.
  ASSERT_FALSE(commit(*partition_, remove("k", "0")).error);
  ASSERT_FALSE(commit(*partition_, replace("k", "1010", "\"p1010\":2")).error);
  ASSERT_FALSE(commit(*partition_, create("k", "new", "\"p1010\":2")).error);
  ASSERT_FALSE(commit(*partition_, replace("k", "1011", "\"p5\":2")).error);
  ASSERT_FALSE(commit(*partition_, remove("k", "1012")).error);
  EXPECT_THAT(check(), SizeIs(19));
  // An item that is too large for a shape.
  std::string wide = "\"p0\":1";
  for (size_t i = 0; i < value::kMaxShapePaths; ++i) wide += fmt::format(",\"w{}\":1", i);
  ASSERT_FALSE(commit(*partition_, create("k", "wide", wide)).error);
  EXPECT_THAT(check(), SizeIs(20));
}

TEST_F(IndexLedgerTest, WhatWasNotCommittedIsNotRemembered) {
  // Of a transaction that fails,
  EXPECT_TRUE(commit(*partition_, all_of(create("k", "a", "\"n\":1"), remove("k", "b"))).error);
  EXPECT_THAT(without("/none").lacking, IsEmpty());
  // and of a commit that does.
  fault::arm("partition.commit", fault::Action::error);
  EXPECT_EQ(code_of(commit(*partition_, create("k", "a", "\"n\":1"))), Code::read_only);
  fault::disarm_all();
  clock_.advance_ms(2'000);
  ASSERT_FALSE(commit(*partition_, create("k", "b", "\"m\":1")).error);
  EXPECT_THAT(without("/none").lacking, SizeIs(1));
  ASSERT_FALSE(commit(*partition_, create("k", "a", "\"n\":1")).error);
  EXPECT_THAT(without("/none").lacking, SizeIs(2));
  reopen();
  EXPECT_THAT(without("/none").lacking, SizeIs(2));
  ASSERT_FALSE(commit(*partition_, remove("k", "a")).error);
  EXPECT_EQ(sorted_terms(*partition_), expected_terms(*partition_, schema_->index));
}

TEST_F(IndexLedgerTest, TermsOfOlderVersionsAreTakenAwayExactly) {
  schema_->index = policy_of({{"/*", true}, {"/x/*", false}});
  ASSERT_FALSE(commit(*partition_, create("k", "a", R"("n":1,"x":{"y":2})")).error);
  ASSERT_FALSE(commit(*partition_, create("k", "b", R"("n":1,"x":{"y":2})")).error);
  reopen();
  schema_ = std::make_shared<Schema>(*schema_);
  schema_->index = policy_of({{"/*", false}, {"/x/*", true}});
  schema_->index_version = 2;
  const Outcome outcome = commit(*partition_, replace("k", "a", R"("n":1,"x":{"y":2})"));
  ASSERT_FALSE(outcome.error);
  EXPECT_EQ(outcome.written[0].terms_removed, 2U) << "/id and /n";
  EXPECT_EQ(outcome.written[0].terms_added, 2U) << "/x and /x/y";
  EXPECT_THAT(rows_of(without("/n", 2).lacking), ElementsAre("a"));
  ASSERT_FALSE(commit(*partition_, remove("k", "b")).error);
  EXPECT_EQ(sorted_terms(*partition_), expected_terms(*partition_, schema_->index));
}

TEST_F(IndexLedgerTest, CompositeAndSpatialTermsComeAndGoWithTheirIndexes) {
  const std::string place = R"("p":{"type":"Point","coordinates":[13.4,52.5]})";
  const std::string members = R"("a":1,"b":"x",)" + place;
  const auto with = [&](uint32_t version, std::vector<value::CompositeIndex> composites,
                        bool spatial) {
    value::IndexDefinition definition = value::IndexPolicy::everything().definition();
    definition.composites = std::move(composites);
    if (spatial) definition.spatial = {value::parse_index_path("/p/?").value()};
    schema_ = std::make_shared<Schema>();
    schema_->index = value::IndexPolicy(std::move(definition));
    schema_->index_version = version;
  };
  const auto count = [&](char lead) {
    return std::ranges::count_if(partition_->all_terms().value(),
                                 [&](const auto& entry) { return entry.first.starts_with(lead); });
  };
  const value::CompositeIndex one{
      .parts = {{.path = path_of("/a")}, {.path = path_of("/b"), .descending = true}}};
  const value::CompositeIndex other{.parts = {{.path = path_of("/b")}, {.path = path_of("/none")}}};
  with(1, {one, other}, true);
  const Outcome created = commit(*partition_, create("k", "a", members));
  ASSERT_FALSE(created.error);
  // id, a, b; p, its type, its coordinates and both numbers; two composites and a cell.
  EXPECT_EQ(created.written[0].terms_added, 3U + 5U + 3U);
  ASSERT_FALSE(commit(*partition_, create("k", "b", "\"a\":2")).error);
  EXPECT_EQ(count(value::kCompositeLead), 4) << "two for each item, whatever it has";
  EXPECT_EQ(count(value::kSpatialLead), 1);
  EXPECT_EQ(commit(*partition_, replace("k", "b", "\"a\":3")).written[0].terms_added, 2U);
  EXPECT_EQ(sorted_terms(*partition_), expected_terms(*partition_, schema_->index));
  reopen();
  with(2, {other}, false);
  EXPECT_EQ(commit(*partition_, replace("k", "a", members)).written[0].terms_removed, 2U);
  ASSERT_FALSE(commit(*partition_, replace("k", "b", "\"a\":3")).error);
  EXPECT_EQ(count(value::kCompositeLead), 2);
  EXPECT_EQ(count(value::kSpatialLead), 0);
  EXPECT_EQ(sorted_terms(*partition_), expected_terms(*partition_, schema_->index));
  with(3, {one}, true);
  ASSERT_FALSE(commit(*partition_, replace("k", "a", members)).error);
  ASSERT_FALSE(commit(*partition_, remove("k", "b")).error);
  EXPECT_EQ(sorted_terms(*partition_), expected_terms(*partition_, schema_->index));
}

TEST_F(IndexLedgerTest, ChildrenOfASplitTakeItAlong) {
  for (const char* key : {"a", "b", "c", "d"}) {
    ASSERT_FALSE(commit(*partition_, create(key, "1", fmt::format("\"only{}\":1", key))).error);
  }
  const Cut cut = partition_->begin_split(kPlainKeys, "c").value();
  Partition::Children children;
  ASSERT_TRUE(partition_->finish_split(cut, {.range = 8, .volume_name = "left"},
                                       {.range = 9, .volume_name = "right"},
                                       [&](const Partition::Children& made) -> Status {
                                         children = made;
                                         return {};
                                       }));
  for (const auto& child : {children.first, children.second}) {
    EXPECT_THAT(child->shapes_without(1, value::term_path(path_of("/onlya"))).lacking, SizeIs(3));
    ASSERT_TRUE(child->trim());
    EXPECT_THAT(child->shapes_without(1, value::term_path(path_of("/onlya"))).lacking, SizeIs(3));
  }
  ASSERT_FALSE(commit(*children.first, replace("a", "1", "\"n\":1")).error);
  EXPECT_EQ(sorted_terms(*children.first), expected_terms(*children.first, schema_->index));
}

TEST(IndexDefinition, ReadsBackAndDamageIsRefused) {
  const value::IndexDefinition definition = {
      .rules = {{.path = value::parse_index_path("/a/[]/\"b c\"/?").value(), .include = true},
                {.path = value::parse_index_path("/*").value(), .include = false}},
      .always = {path_of("/id"), path_of("/\"odd key\"/x")},
      .composites = {{.parts = {{.path = path_of("/a/b")},
                                {.path = path_of("/c"), .descending = true}}}},
      .spatial = {value::parse_index_path("/place/*").value()},
      .order = value::ValueOrder::typed};
  const std::string good = encode_definition(definition);
  EXPECT_EQ(decode_definition(good).value(), definition);
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_EQ(decode_definition(std::string_view(good).substr(0, size)).error().code,
              Code::corrupt);
  }
  EXPECT_FALSE(decode_definition(good + "x"));
}

TEST(IndexLedger, EntriesOfUnknownFormAreRefused) {
  IndexLedger ledger;
  using Stored = std::vector<std::pair<std::string, std::string>>;
  EXPECT_TRUE(
      ledger.load(Stored{{shape_key(1, 5), ""}, {definition_key(1), std::string(20, '\0')}}));
  EXPECT_EQ(ledger.shapes(1), 1U);
  EXPECT_TRUE(ledger.policy(1));
  for (const auto& [key, bytes] : Stored{{"h", ""},
                                         {shape_key(1, 5) + "x", ""},
                                         {shape_key(1, 5), "x"},
                                         {definition_key(1), ""},
                                         {"d12", std::string(20, '\0')}}) {
    EXPECT_EQ(ledger.load(Stored{{key, bytes}}).error().code, Code::corrupt);
  }
}

}  // namespace
}  // namespace orrery::partition

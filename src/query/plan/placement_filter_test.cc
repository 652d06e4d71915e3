// What WHERE says about the partition key: the ranges of placement keys that a query can touch.
#include "query/plan/placement_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "query/evaluate/evaluate.h"
#include "query/parse/parser.h"
#include "value/hash_twin.h"

namespace orrery::query {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;
using value::KeyPart;
using value::Placement;
using value::Type;

KeyPart text(std::string_view text) {
  return {.type = Type::string, .boolean = false, .number = 0, .text = std::string(text)};
}
KeyPart number(double number) {
  return {.type = Type::number, .boolean = false, .number = number, .text = ""};
}
KeyPart boolean(bool boolean) {
  return {.type = Type::boolean, .boolean = boolean, .number = 0, .text = ""};
}
KeyPart null() {
  return {.type = Type::null, .boolean = false, .number = 0, .text = ""};
}
KeyPart missing() {
  return {};
}

class PlacementFilterTest : public testing::Test {
 protected:
  PlacementFilterTest() { use(Placement::hash_v2, {"/key"}); }

  void use(Placement placement, std::initializer_list<std::string_view> paths) {
    key_ = {.placement = placement, .paths = {}};
    for (const std::string_view path : paths)
      key_.paths.push_back(*value::parse_property_path(path));
  }

  std::vector<PlacementRange> ranges(std::string_view query) const {
    const auto parsed = parse_query(query);
    EXPECT_TRUE(parsed) << query;
    return touched_ranges(*parsed, key_, parameters_);
  }
  std::vector<PlacementRange> where(std::string_view condition) const {
    return ranges("SELECT * FROM c WHERE " + std::string(condition));
  }

  // A whole key, or the first of its levels.
  PlacementRange at(const value::PartitionKey& key) const {
    const value::KeyScope scope = value::place_prefix(key_, key);
    return {.min = scope.min, .max = scope.max};
  }
  static PlacementRange everything() {
    return {.min = "", .max = std::string(value::placement_max())};
  }

  value::KeyDefinition key_;
  Parameters parameters_;
};

TEST_F(PlacementFilterTest, WithoutWhereEverythingIsTouched) {
  EXPECT_THAT(ranges("SELECT * FROM c"), ElementsAre(everything()));
  EXPECT_TRUE(everything().is_everything());
  EXPECT_FALSE(everything().is_point());
}

TEST_F(PlacementFilterTest, WithoutFromNothingIsTouched) {
  EXPECT_THAT(ranges("SELECT VALUE 1"), IsEmpty());
}

TEST_F(PlacementFilterTest, EqualityIsAPoint) {
  const auto found = where("c.key = 'a'");
  ASSERT_THAT(found, ElementsAre(at({text("a")})));
  EXPECT_TRUE(found[0].is_point());
  EXPECT_THAT(where("'a' = c.key"), ElementsAre(at({text("a")})));
  EXPECT_THAT(where("c[\"key\"] = 'a'"), ElementsAre(at({text("a")})));
}

TEST_F(PlacementFilterTest, TypesMatter) {
  EXPECT_THAT(where("c.key = 1"), ElementsAre(at({number(1)})));
  EXPECT_THAT(where("c.key = '1'"), ElementsAre(at({text("1")})));
  EXPECT_NE(where("c.key = 1"), where("c.key = '1'"));
  EXPECT_THAT(where("c.key = null"), ElementsAre(at({null()})));
  EXPECT_THAT(where("c.key = true"), ElementsAre(at({boolean(true)})));
  EXPECT_THAT(where("c.key = -1.5"), ElementsAre(at({number(-1.5)})));
}

TEST_F(PlacementFilterTest, MinusZeroIsZero) {
  EXPECT_THAT(where("c.key = -0"), ElementsAre(at({number(0)})));
}

TEST_F(PlacementFilterTest, NothingEqualsUndefined) {
  EXPECT_THAT(where("c.key = undefined"), IsEmpty());
}

TEST_F(PlacementFilterTest, ArraysAndObjectsCountAsMissing) {
  EXPECT_THAT(where("c.key = []"), ElementsAre(at({missing()})));
  EXPECT_THAT(where("c.key IN ({}, [1])"), ElementsAre(at({missing()})));
}

TEST_F(PlacementFilterTest, InIsAPointForEach) {
  EXPECT_THAT(where("c.key IN ('a', 1, null)"),
              UnorderedElementsAre(at({text("a")}), at({number(1)}), at({null()})));
  EXPECT_THAT(where("c.key IN ('a', 'a')"), ElementsAre(at({text("a")})));
  EXPECT_THAT(where("c.key NOT IN ('a')"), ElementsAre(everything()));
  EXPECT_THAT(where("NOT (c.key NOT IN ('a'))"), ElementsAre(at({text("a")})));
}

TEST_F(PlacementFilterTest, RangesAreSorted) {
  const auto found = where("c.key IN (1, 2, 3, 4, 5, 6, 7, 8, 9)");
  ASSERT_THAT(found, SizeIs(9));
  for (size_t i = 1; i < found.size(); ++i) EXPECT_LE(found[i - 1].max, found[i].min);
}

TEST_F(PlacementFilterTest, AndNarrows) {
  EXPECT_THAT(where("c.key = 'a' AND c.size > 3"), ElementsAre(at({text("a")})));
  EXPECT_THAT(where("c.key IN (1, 2) AND c.key IN (2, 3)"), ElementsAre(at({number(2)})));
}

TEST_F(PlacementFilterTest, ContradictionsAreEmpty) {
  EXPECT_THAT(where("c.key = 1 AND c.key = 2"), IsEmpty());
  EXPECT_THAT(where("c.key = 1 AND c.key = '1'"), IsEmpty());
  EXPECT_THAT(where("ARRAY_CONTAINS([1, 2], c.key) AND c.key = 4"), IsEmpty());
}

TEST_F(PlacementFilterTest, OrWidens) {
  EXPECT_THAT(where("c.key = 1 OR c.key = 2"),
              UnorderedElementsAre(at({number(1)}), at({number(2)})));
  EXPECT_THAT(where("c.key = 1 OR c.size = 2"), ElementsAre(everything()));
  EXPECT_THAT(where("(c.key = 1 AND c.size = 2) OR false"), ElementsAre(at({number(1)})));
}

TEST_F(PlacementFilterTest, NotTurnsThemAround) {
  EXPECT_THAT(where("NOT (c.key != 1 OR c.size = 2)"), ElementsAre(at({number(1)})));
  EXPECT_THAT(where("NOT (c.key = 1)"), ElementsAre(everything()));
  EXPECT_THAT(where("NOT (c.key != 1 AND c.key != 2)"),
              UnorderedElementsAre(at({number(1)}), at({number(2)})));
}

TEST_F(PlacementFilterTest, AKeyByItselfIsABoolean) {
  EXPECT_THAT(where("c.key"), ElementsAre(at({boolean(true)})));
  EXPECT_THAT(where("NOT c.key"), ElementsAre(at({boolean(false)})));
}

TEST_F(PlacementFilterTest, Constants) {
  EXPECT_THAT(where("true"), ElementsAre(everything()));
  EXPECT_THAT(where("false"), IsEmpty());
  EXPECT_THAT(where("1 = 2"), IsEmpty());
  EXPECT_THAT(where("1 = 1 AND c.key = 3"), ElementsAre(at({number(3)})));
  EXPECT_THAT(where("5"), IsEmpty());
}

TEST_F(PlacementFilterTest, TypeChecks) {
  EXPECT_THAT(where("NOT IS_DEFINED(c.key)"), ElementsAre(at({missing()})));
  EXPECT_THAT(where("IS_DEFINED(c.key) = false"), ElementsAre(at({missing()})));
  EXPECT_THAT(where("IS_DEFINED(c.key)"), ElementsAre(everything()));
  EXPECT_THAT(where("is_null(c.key)"), ElementsAre(at({null()})));
  EXPECT_THAT(where("NOT IS_NULL(c.key)"), ElementsAre(everything()));
  for (const char* text : {"IS_BOOL(c.key)", "IS_BOOLEAN(c.key)"}) {
    EXPECT_THAT(where(text), UnorderedElementsAre(at({boolean(false)}), at({boolean(true)})));
  }
  EXPECT_THAT(where("IS_STRING(c.key)"), ElementsAre(everything()));
}

TEST_F(PlacementFilterTest, ListsThatAreSearched) {
  EXPECT_THAT(where("ARRAY_CONTAINS(['a', 'b'], c.key)"),
              UnorderedElementsAre(at({text("a")}), at({text("b")})));
  EXPECT_THAT(where("ARRAY_CONTAINS(c.key, 'a')"), ElementsAre(everything()));
  EXPECT_THAT(where("ARRAY_CONTAINS(c.list, c.key)"), ElementsAre(everything()));
}

TEST_F(PlacementFilterTest, LikeWithoutWildcardsIsEquality) {
  EXPECT_THAT(where("c.key LIKE 'a'"), ElementsAre(at({text("a")})));
  EXPECT_THAT(where("c.key LIKE 'a!%' ESCAPE '!'"), ElementsAre(at({text("a%")})));
  EXPECT_THAT(where("c.key LIKE 'a%'"), ElementsAre(everything()));
  EXPECT_THAT(where("c.key NOT LIKE 'a'"), ElementsAre(everything()));
}

TEST_F(PlacementFilterTest, AbsoluteValues) {
  EXPECT_THAT(where("ABS(c.key) = 2"), UnorderedElementsAre(at({number(2)}), at({number(-2)})));
  EXPECT_THAT(where("ABS(c.key) = 0"), ElementsAre(at({number(0)})));
  EXPECT_THAT(where("ABS(c.key) = -1"), IsEmpty());
}

TEST_F(PlacementFilterTest, Parameters) {
  parameters_["@key"] = value::Value::make_string("a");
  parameters_["@list"] =
      value::Value::make_array({value::Value::make_number(1), value::Value::make_string("1")});
  EXPECT_THAT(where("c.key = @key"), ElementsAre(at({text("a")})));
  EXPECT_THAT(where("ARRAY_CONTAINS(@list, c.key)"),
              UnorderedElementsAre(at({number(1)}), at({text("1")})));
  EXPECT_THAT(where("c.key = @other"), ElementsAre(everything()));
}

TEST_F(PlacementFilterTest, WhatIsNotUnderstoodLeavesEverything) {
  for (const char* condition :
       {"c.key != 1", "c.key > 1", "c.key BETWEEN 1 AND 2", "UPPER(c.key) = 'A'", "c.key = c.id",
        "(c.key ?? 1) = 1", "(c.a ? true : false)", "c.other = 1", "c.key.x = 1", "c.key[0] = 1",
        "EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t.key = 1)", "c.key + 1 = 2", "udf.f(c.key)",
        "d.key = 1"}) {
    EXPECT_THAT(where(condition), ElementsAre(everything())) << condition;
  }
}

TEST_F(PlacementFilterTest, AnyAliasOfTheContainer) {
  EXPECT_THAT(ranges("SELECT * FROM root r WHERE r.key = 1"), ElementsAre(at({number(1)})));
  EXPECT_THAT(ranges("SELECT * FROM Families AS f WHERE f.key = 1"), ElementsAre(at({number(1)})));
  EXPECT_THAT(ranges("SELECT VALUE t FROM c JOIN t IN c.tags WHERE c.key = 1 AND t = 2"),
              ElementsAre(at({number(1)})));
  EXPECT_THAT(ranges("SELECT VALUE t FROM c JOIN t IN c.tags WHERE t.key = 1"),
              ElementsAre(everything()));
  EXPECT_THAT(ranges("SELECT VALUE t FROM t IN c.tags WHERE t.key = 1"), ElementsAre(everything()));
}

TEST_F(PlacementFilterTest, NestedPaths) {
  use(Placement::hash_v2, {"/address/zip code"});
  EXPECT_THAT(where("c.address['zip code'] = 1"), ElementsAre(at({number(1)})));
  EXPECT_THAT(where("c.address = 1"), ElementsAre(everything()));
  EXPECT_THAT(ranges("SELECT * FROM c.address a WHERE a['zip code'] = 1"),
              ElementsAre(at({number(1)})));
  EXPECT_THAT(ranges("SELECT * FROM c.address WHERE address['zip code'] = 1"),
              ElementsAre(at({number(1)})));
}

TEST_F(PlacementFilterTest, OnlyTheOuterWhereCounts) {
  EXPECT_THAT(ranges("SELECT (SELECT VALUE 1 FROM c WHERE c.key = 42) FROM c WHERE c.key = 'a'"),
              ElementsAre(at({text("a")})));
}

TEST_F(PlacementFilterTest, ASubqueryAsTheOnlySource) {
  EXPECT_THAT(ranges("SELECT COUNT(1) FROM (SELECT DISTINCT c.x FROM c WHERE c.key = 1)"),
              ElementsAre(at({number(1)})));
}

TEST_F(PlacementFilterTest, FixedContainersHaveNoKeyToFilter) {
  use(Placement::hash_v2, {});
  EXPECT_THAT(where("c.key = 1"), ElementsAre(everything()));
  EXPECT_THAT(where("false"), IsEmpty());
}

TEST_F(PlacementFilterTest, HashingNeedsAllPaths) {
  use(Placement::hash_v2, {"/a", "/b"});
  EXPECT_THAT(where("c.a = 1"), ElementsAre(everything()));
  EXPECT_THAT(where("c.b = true AND c.a = null"), ElementsAre(at({null(), boolean(true)})));
}

TEST_F(PlacementFilterTest, FirstVersionOfHashes) {
  use(Placement::hash_v1, {"/key"});
  const auto found = where("c.key = 'a'");
  EXPECT_THAT(found, ElementsAre(at({text("a")})));
  EXPECT_TRUE(found[0].is_point());
}

TEST_F(PlacementFilterTest, LevelsOfAHierarchy) {
  use(Placement::multi_hash, {"/tenant", "/user", "/session"});
  EXPECT_THAT(where("c.tenant = 't'"), ElementsAre(at({text("t")})));
  EXPECT_FALSE(where("c.tenant = 't'")[0].is_point());
  EXPECT_THAT(where("c.tenant = 't' AND c.user = 'u'"), ElementsAre(at({text("t"), text("u")})));
  EXPECT_THAT(where("c.user = 'u'"), ElementsAre(everything()));
  EXPECT_THAT(where("c.tenant = 't' AND c.session = 's'"), ElementsAre(at({text("t")})));
  const auto whole = where("c.session = 1 AND c.user = 'u' AND c.tenant = 't'");
  ASSERT_THAT(whole, ElementsAre(at({text("t"), text("u"), number(1)})));
  EXPECT_TRUE(whole[0].is_point());
}

TEST_F(PlacementFilterTest, ListsOfLevelsAreMultiplied) {
  use(Placement::multi_hash, {"/tenant", "/user"});
  EXPECT_THAT(where("c.tenant IN (1, 2) AND c.user IN ('a', 'b')"),
              UnorderedElementsAre(at({number(1), text("a")}), at({number(1), text("b")}),
                                   at({number(2), text("a")}), at({number(2), text("b")})));
}

TEST_F(PlacementFilterTest, OverlappingRangesAreMerged) {
  use(Placement::multi_hash, {"/tenant", "/user"});
  EXPECT_THAT(where("c.tenant = 1 OR (c.tenant = 1 AND c.user = 2)"), ElementsAre(at({number(1)})));
}

TEST_F(PlacementFilterTest, OrderedPlacementKnowsComparisons) {
  use(Placement::range, {"/key"});
  const std::string ten = value::place(key_, {number(10)});
  const auto above = where("c.key > 10");
  ASSERT_THAT(above, SizeIs(1));
  EXPECT_GT(above[0].min, ten);
  EXPECT_LE(above[0].min, value::place(key_, {number(10.5)}));
  EXPECT_LE(above[0].max, value::place(key_, {text("")}));
  const auto between = where("c.key BETWEEN 2 AND 3");
  ASSERT_THAT(between, SizeIs(1));
  EXPECT_EQ(between[0].min, value::place(key_, {number(2)}));
  EXPECT_EQ(between[0].max, value::place(key_, {number(3)}) + '\0');
  EXPECT_THAT(where("c.key > 10 AND c.key < 5"), IsEmpty());
  EXPECT_THAT(where("c.key > 10 AND c.key = 5"), IsEmpty());
  EXPECT_THAT(where("c.key > 10 AND c.key = 'x'"), IsEmpty());
  EXPECT_THAT(where("5 < c.key AND c.key = 6"), ElementsAre(at({number(6)})));
  EXPECT_THAT(where("NOT (c.key > 3) AND c.key >= 3"), ElementsAre(at({number(3)})));
}

TEST_F(PlacementFilterTest, OrderedPlacementGoesOnAfterAStretch) {
  use(Placement::range, {"/a", "/b"});
  const auto found = where("c.a BETWEEN 2 AND 3 AND c.b = 4");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].min, value::place(key_, {number(2), number(4)}));
  EXPECT_EQ(found[0].max, value::place(key_, {number(3), number(4)}) + '\0');
  EXPECT_THAT(where("c.a = 2"), ElementsAre(at({number(2)})));
}

TEST_F(PlacementFilterTest, TooManyPairsAreLeftWider) {
  use(Placement::multi_hash, {"/a", "/b"});
  std::string list = "(0";
  for (int i = 1; i < 300; ++i) list += "," + std::to_string(i);
  list += ")";
  const auto found = where("c.a IN " + list + " AND c.b IN " + list);
  EXPECT_THAT(found, SizeIs(300));
  EXPECT_THAT(found, testing::Contains(at({number(7)})));
}

TEST_F(PlacementFilterTest, TooManyRangesBecomeOne) {
  std::string list = "(0";
  for (size_t i = 1; i <= kMaxKeyRanges; ++i) list += "," + std::to_string(i);
  list += ")";
  const auto found = where("c.key IN " + list);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_LE(found[0].min, at({number(5)}).min);
  EXPECT_GE(found[0].max, at({number(5)}).max);
}

TEST_F(PlacementFilterTest, ClientsSeeEffectiveKeys) {
  const KeyPart twin = value::hash_twin(text("alice"));
  parameters_["@twin"] = value::Value::make_string(twin.text);
  const auto found = where("c.key IN ('alice', @twin)");
  EXPECT_THAT(found, UnorderedElementsAre(at({text("alice")}), at({twin})));
  const std::string hash(value::effective_key(key_, found[0].min));
  EXPECT_EQ(hash.size(), 16U);
  EXPECT_THAT(in_effective_keys(found, key_),
              ElementsAre(PlacementRange{.min = hash, .max = hash + '\0'}));
  EXPECT_THAT(in_effective_keys({everything()}, key_), ElementsAre(everything()));

  use(Placement::multi_hash, {"/key", "/b"});
  const PlacementRange prefix = at({text("alice")});
  EXPECT_THAT(in_effective_keys({prefix}, key_), ElementsAre(prefix));
}

// Random conditions over two paths of the key and one other property.
class Conditions {
 public:
  explicit Conditions(uint64_t seed) : random_(seed) {}

  std::string any(int depth) {
    if (depth == 0) return leaf();
    switch (pick(5)) {
      case 0:
        return "(" + any(depth - 1) + " AND " + any(depth - 1) + ")";
      case 1:
        return "(" + any(depth - 1) + " OR " + any(depth - 1) + ")";
      case 2:
        return "(NOT " + any(depth - 1) + ")";
      case 3:
        return "(" + any(depth - 1) + " = " + std::string(pick(2) == 0 ? "true" : "false") + ")";
      default:
        return leaf();
    }
  }

  static const std::vector<std::string>& values() {
    static const std::vector<std::string> all = {"null", "false", "true",  "-1",    "0",    "1",
                                                 "2",    "\"\"",  "\"1\"", "\"a\"", "\"b\""};
    return all;
  }

 private:
  size_t pick(size_t count) { return random_() % count; }
  std::string one(const std::vector<std::string>& list) { return list[pick(list.size())]; }
  std::string path() { return one({"c.a", "c.b", "c['a']", "c.other"}); }
  std::string constant() { return pick(12) == 0 ? one({"[]", "{}", "undefined"}) : one(values()); }

  std::string leaf() {
    switch (pick(8)) {
      case 0:
        return "(" + path() + one({" = ", " != ", " < ", " <= ", " > ", " >= "}) + constant() + ")";
      case 1:
        return "(" + constant() + one({" = ", " != ", " < ", " >= "}) + path() + ")";
      case 2:
        return "(" + path() + one({" IN (", " NOT IN ("}) + constant() + ", " + constant() + "))";
      case 3:
        return one({"IS_DEFINED(", "IS_NULL(", "IS_BOOL(", "IS_NUMBER("}) + path() + ")";
      case 4:
        return "(" + path() + one({" BETWEEN ", " NOT BETWEEN "}) + constant() + " AND " +
               constant() + ")";
      case 5:
        return "(" + path() + one({" LIKE 'a'", " NOT LIKE 'a'", " LIKE '%'"}) + ")";
      case 6:
        return "ARRAY_CONTAINS([" + constant() + ", " + constant() + "], " + path() + ")";
      default:
        return pick(2) == 0 ? path() : "(ABS(" + path() + ") = " + one({"1", "0", "'a'"}) + ")";
    }
  }

  std::mt19937_64 random_;
};

TEST_F(PlacementFilterTest, NoItemThatMatchesIsOutsideOfTheRanges) {
  std::vector<value::JsonDocument> items;
  std::vector<std::string> parts = Conditions::values();
  parts.emplace_back();
  for (const std::string& a : parts) {
    for (const std::string& b : parts) {
      std::string json = R"({"other":1)";
      if (!a.empty()) json += R"(,"a":)" + a;
      if (!b.empty()) json += R"(,"b":)" + b;
      items.push_back(*value::JsonDocument::parse(json + "}"));
    }
  }
  size_t narrowed = 0;
  Conditions conditions(7);
  for (int round = 0; round < 2'000; ++round) {
    const std::string text = "SELECT VALUE 1 FROM c WHERE " + conditions.any(round % 4);
    const auto parsed = parse_query(text);
    ASSERT_TRUE(parsed) << text;
    const auto bound = bind_query(*parsed, parameters_);
    ASSERT_TRUE(bound) << text << bound.error().message;
    std::vector<size_t> matching;
    for (size_t i = 0; i < items.size(); ++i) {
      Context context;
      Frame frame((*bound)->slots, context);
      frame.slots[(*bound)->document_slot.value()] = value::Value::from(items[i].root());
      if (!each_row(**bound, frame, [] { return false; })) matching.push_back(i);
    }
    for (const Placement placement :
         {Placement::hash_v1, Placement::hash_v2, Placement::multi_hash, Placement::range}) {
      use(placement, {"/a", "/b"});
      const auto found = touched_ranges(*parsed, key_, parameters_);
      if (found.empty() || !found[0].is_everything()) ++narrowed;
      for (const size_t i : matching) {
        const std::string at = value::place(key_, *value::extract_key(items[i].root(), key_));
        EXPECT_TRUE(std::ranges::any_of(
            found,
            [&at](const PlacementRange& range) { return range.min <= at && at < range.max; }))
            << text << "\n"
            << items[i].text();
      }
    }
  }
  EXPECT_GT(narrowed, 1'000);
}

}  // namespace
}  // namespace orrery::query

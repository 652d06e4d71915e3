// Plans of indexes: that they have every document that matches, and are in the order of a sort.
#include "api/mongo/documents/index_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/bson/test_ejson.h"
#include "api/mongo/bson/types.h"
#include "api/mongo/match/match.h"

namespace orrery::mongo {
namespace {

using value::Value;

IndexSpec index_of(std::string_view key) {
  return {.name = std::string(key), .key = from_ejson(key), .spec = Value::make_object({})};
}

Definition definition_of_keys(std::initializer_list<std::string_view> keys) {
  Definition definition;
  for (const std::string_view key : keys) definition.indexes.push_back(index_of(key));
  return definition;
}

std::vector<IndexPlan> plans(const Definition& definition, std::string_view filter) {
  catalog::ContainerSpec spec;
  spec.composite_indexes = composites_of(definition);
  return index_plans(definition, spec, from_ejson(filter), nullptr);
}

std::string term_of(const IndexSpec& index, const Value& document) {
  const auto composite = composite_of(index).value();
  const auto bytes = to_bson(document).value();
  const auto parsed = parse_bson(bytes).value();
  std::string term = value::CompositeTerms::prefix(composite);
  value::CompositeTerms::append(term, composite, parsed.root(), value::ValueOrder::typed);
  return term;
}

bool has(const IndexPlan& plan, const std::string& term) {
  return std::ranges::any_of(plan.ranges, [&](const TermRange& range) {
    return range.first <= term && term < range.second;
  });
}

TEST(IndexPlan, FixesTheFirstFieldsAndBoundsTheNext) {
  const Definition definition = definition_of_keys({R"({"a": 1, "b": -1, "c": 1})"});
  const auto bounded = [&](std::string_view filter) {
    const IndexPlan plan = plans(definition, filter).front();
    return std::array{plan.bounded, plan.constant, plan.ranges.size()};
  };
  using Sizes = std::array<size_t, 3>;
  EXPECT_EQ(bounded(R"({})"), (Sizes{0, 0, 1}));
  EXPECT_EQ(bounded(R"({"b": 1})"), (Sizes{0, 0, 1}));
  EXPECT_EQ(bounded(R"({"a": 1})"), (Sizes{1, 1, 1}));
  EXPECT_EQ(bounded(R"({"a": 1, "b": {"$gt": 5, "$lt": 9}})"), (Sizes{2, 1, 1}));
  EXPECT_EQ(bounded(R"({"a": {"$gt": 1}, "b": 5})"), (Sizes{1, 0, 1}));
  EXPECT_EQ(bounded(R"({"a": {"$in": [1, 2]}, "b": {"$in": [3, 4]}})"), (Sizes{2, 0, 4}));
  EXPECT_EQ(bounded(R"({"a": 1, "b": 2, "c": 3})"), (Sizes{3, 3, 1}));
  EXPECT_EQ(bounded(R"({"a": {"$gt": 5, "$lt": 5}})"), (Sizes{1, 0, 0}));
}

TEST(IndexPlan, TellsWhichSortsItGives) {
  const Definition definition = definition_of_keys({R"({"a": 1, "b": -1})"});
  const auto direction = [&](std::string_view filter, std::string_view sort) {
    const auto found = direction_for(plans(definition, filter).front(),
                                     Sort::parse(from_ejson(sort)).value(), true);
    return !found ? "none" : *found ? "backwards" : "forwards";
  };
  EXPECT_STREQ(direction("{}", R"({"a": 1})"), "forwards");
  EXPECT_STREQ(direction("{}", R"({"a": -1})"), "backwards");
  EXPECT_STREQ(direction("{}", R"({"a": -1, "b": 1})"), "backwards");
  EXPECT_STREQ(direction("{}", R"({"a": 1, "b": 1})"), "none");
  EXPECT_STREQ(direction("{}", R"({"b": 1})"), "none");
  EXPECT_STREQ(direction(R"({"a": 5})", R"({"b": 1})"), "backwards");
  EXPECT_STREQ(direction(R"({"a": 5})", R"({"b": -1, "a": 1})"), "forwards");
  EXPECT_STREQ(direction(R"({"a": {"$in": [5, 6]}})", R"({"b": 1})"), "none");
  EXPECT_STREQ(direction("{}", R"({"a": 1, "b": -1, "_id": 1})"), "forwards");
  EXPECT_STREQ(direction("{}", R"({"a": 1, "b": -1, "_id": -1})"), "none");
  EXPECT_STREQ(direction("{}", R"({"a": 1, "_id": 1})"), "none");
}

TEST(IndexPlan, IsOfFieldsThatHaveNoPositions) {
  EXPECT_FALSE(composite_of(index_of(R"({"a.0": 1})")));
  EXPECT_FALSE(composite_of(index_of(R"({"$**": 1})")));
  EXPECT_FALSE(composite_of(index_of(R"({"a": "2dsphere"})")));
  EXPECT_FALSE(composite_of(index_of(R"({"a.b.c.d.e": 1})")));
  EXPECT_TRUE(composite_of(index_of(R"({"a.b": -1, "c": "hashed"})")));
}

TEST(IndexPlan, AWildcardIsOfThePathsBelowIt) {
  EXPECT_EQ(wildcard_prefix(index_of(R"({"$**": 1})")), "");
  EXPECT_EQ(wildcard_prefix(index_of(R"({"a.b.$**": 1})")), "a.b");
  EXPECT_FALSE(wildcard_prefix(index_of(R"({"a": 1})")));
  EXPECT_FALSE(wildcard_prefix(index_of(R"({"$**": 1, "a": 1})")));
  using Paths = std::vector<std::string>;
  const Value filter = from_ejson(R"({"a.b": 1, "$or": [{"c": 2}, {"a": 3}], "a.0": 4, "ab": 5})");
  EXPECT_EQ(paths_below("", filter), (Paths{"a.b", "c", "a", "ab"}));
  EXPECT_EQ(paths_below("a", filter), (Paths{"a.b", "a"}));
}

// Values of every kind that is no array, and none.
std::string random_value(std::mt19937& random) {
  constexpr std::array kValues = {"null",
                                  "1",
                                  "2",
                                  "3",
                                  "1.5",
                                  "-7",
                                  R"({"$numberDecimal": "1.5"})",
                                  R"({"$numberDouble": "NaN"})",
                                  R"("x")",
                                  R"("xy")",
                                  R"("")",
                                  "true",
                                  "false",
                                  R"({"$date": 5})",
                                  R"({"p": 1})",
                                  R"({"$minKey": 1})",
                                  R"({"$maxKey": 1})",
                                  ""};
  return kValues[random() % kValues.size()];
}

std::string random_document(std::mt19937& random) {
  std::string text;
  for (const std::string_view name : {"a", "b"}) {
    const std::string value = random_value(random);
    if (value.empty()) continue;
    text += text.empty() ? "{" : ", ";
    text.append("\"").append(name).append("\": ").append(value);
  }
  return text.empty() ? "{}" : text + "}";
}

std::string random_condition(std::mt19937& random) {
  constexpr std::array kOperators = {"$eq", "$gt", "$gte", "$lt", "$lte"};
  std::string value;
  while (value.empty()) value = random_value(random);
  std::string other;
  while (other.empty()) other = random_value(random);
  if (random() % 4 == 0) return R"({"$in": [)" + value + ", " + other + "]}";
  return std::string(R"({")") + kOperators[random() % kOperators.size()] + R"(": )" + value + "}";
}

TEST(IndexPlan, HasEveryDocumentThatMatches) {
  std::mt19937 random(17);
  const Definition definition =
      definition_of_keys({R"({"a": 1})", R"({"a": 1, "b": -1})", R"({"b": -1, "a": 1})"});
  std::vector<Value> documents;
  for (int i = 0; i < 300; ++i) documents.push_back(from_ejson(random_document(random)));
  Budget budget;
  Evaluation evaluation(budget);
  for (int i = 0; i < 300; ++i) {
    std::string filter = R"({"a": )" + random_condition(random);
    if (random() % 2 == 0) filter += R"(, "b": )" + random_condition(random);
    filter += "}";
    const Matcher matcher = Matcher::parse(from_ejson(filter)).value();
    for (const IndexPlan& plan : plans(definition, filter)) {
      for (const Value& document : documents) {
        if (!matcher.match(document, evaluation)->is_match) continue;
        EXPECT_TRUE(has(plan, term_of(*plan.index, document)))
            << filter << " " << plan.index->name << " " << to_ejson(document);
      }
    }
  }
}

TEST(IndexPlan, EntriesAreInTheOrderOfTheSort) {
  std::mt19937 random(5);
  for (const std::string_view key : {R"({"a": 1})", R"({"a": -1, "b": 1})"}) {
    const IndexSpec index = index_of(key);
    const Sort sort = Sort::parse(index.key).value();
    for (int i = 0; i < 3000; ++i) {
      const Value one = from_ejson(random_document(random));
      const Value other = from_ejson(random_document(random));
      EXPECT_EQ(term_of(index, one) <=> term_of(index, other), sort.compare_documents(one, other))
          << key << " " << to_ejson(one) << " " << to_ejson(other);
    }
  }
}

}  // namespace
}  // namespace orrery::mongo

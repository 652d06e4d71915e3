// Updates of documents, in Extended JSON.
#include "api/mongo/update/update.h"

#include <gtest/gtest.h>

#include "api/mongo/bson/test_ejson.h"
#include "api/mongo/bson/types.h"

namespace orrery::mongo {
namespace {

struct Given {
  std::string_view array_filters = "";
  std::optional<size_t> position = std::nullopt;
  bool is_insert = false;
  std::string_view constants = "";
};

// The new document, or the number of the error.
std::string updated(std::string_view document, std::string_view update, const Given& given = {}) {
  UpdateOptions options;
  if (!given.array_filters.empty()) {
    options.array_filters =
        from_ejson(std::string(R"({"f": )") + std::string(given.array_filters) + "}").find("f");
  }
  if (!given.constants.empty()) options.constants = from_ejson(given.constants);
  const Answer<Update> parsed = Update::parse(
      from_ejson(std::string(R"({"u": )") + std::string(update) + "}").find("u"), options);
  if (!parsed) return std::to_string(parsed.error().code);
  Budget budget;
  Evaluation evaluation(budget);
  evaluation.now = make_date(1'700'000'000'123);
  const Answer<Update::Outcome> outcome = parsed->apply(
      {.document = from_ejson(document), .position = given.position, .is_insert = given.is_insert},
      evaluation);
  if (!outcome) return std::to_string(outcome.error().code);
  EXPECT_EQ(outcome->is_changed, to_ejson(outcome->document) != to_ejson(from_ejson(document)));
  return to_ejson(outcome->document);
}

std::string upserted(std::string_view filter, std::string_view update) {
  const Answer<Update> parsed = Update::parse(from_ejson(update));
  if (!parsed) return std::to_string(parsed.error().code);
  Budget budget;
  Evaluation evaluation(budget);
  const Answer<Value> document = parsed->upsert(from_ejson(filter), evaluation);
  return document ? to_ejson(*document) : std::to_string(document.error().code);
}

std::string as_is(std::string_view json) {
  return to_ejson(from_ejson(json));
}

TEST(Update, Replacement) {
  EXPECT_EQ(updated(R"({"_id": 1, "a": 1})", R"({"b": 2})"), as_is(R"({"_id": 1, "b": 2})"));
  EXPECT_EQ(updated(R"({"_id": 1, "a": 1})", R"({"b": 2, "_id": {"$numberDouble": "1.0"}})"),
            as_is(R"({"_id": 1, "b": 2})"));
  EXPECT_EQ(updated(R"({"_id": 1})", R"({"_id": 2})"), "66");
  EXPECT_EQ(updated(R"({"_id": 1})", R"({"a": 1, "$set": {"b": 1}})"), "52");
}

TEST(Update, SetAndUnset) {
  EXPECT_EQ(updated(R"({"_id": 1, "a": {"b": 1}})", R"({"$set": {"a.b": 2, "c.d": 3}})"),
            as_is(R"({"_id": 1, "a": {"b": 2}, "c": {"d": 3}})"));
  EXPECT_EQ(updated(R"({"a": [1, 2]})", R"({"$set": {"a.1": 5, "a.4": 9}})"),
            as_is(R"({"a": [1, 5, null, null, 9]})"));
  EXPECT_EQ(updated(R"({})", R"({"$set": {"z": 1, "b": 1, "10": 1, "9": 1}})"),
            as_is(R"({"9": 1, "10": 1, "b": 1, "z": 1})"));
  EXPECT_EQ(updated(R"({"a": {"b": 1, "c": 2}})", R"({"$unset": {"a.b": "", "x.y": ""}})"),
            as_is(R"({"a": {"c": 2}})"));
  EXPECT_EQ(updated(R"({"a": [1, 2]})", R"({"$unset": {"a.0": ""}})"),
            as_is(R"({"a": [null, 2]})"));
  EXPECT_EQ(updated(R"({"a": 1})", R"({"$unset": {"a.b": ""}})"), as_is(R"({"a": 1})"));
  EXPECT_EQ(updated(R"({"a": 1})", R"({"$set": {"a.b": 1}})"), "28");
  EXPECT_EQ(updated(R"({"a": [1]})", R"({"$set": {"a.b": 1}})"), "28");
  EXPECT_EQ(updated(R"({"a": null})", R"({"$set": {"a.b": 1}})"), "28");
  EXPECT_EQ(updated(R"({"a": []})", R"({"$set": {"a.9999999": 1}})"), "2");
}

TEST(Update, SeveralPathsIntoOneObject) {
  EXPECT_EQ(updated(R"({"a": {"x": 1, "y": 2, "z": {"k": 1}}, "b": 1})",
                    R"({"$set": {"a.y": 5, "a.w": 6, "a.z.l": 7}, "$unset": {"a.x": 1, "b": 1},
                        "$inc": {"a.z.k": 1}})"),
            as_is(R"({"a": {"y": 5, "z": {"k": 2, "l": 7}, "w": 6}})"));
  EXPECT_EQ(updated(R"({"a": [{"x": 1}]})", R"({"$set": {"a.0.x": 2, "a.0.y": 3, "a.1": 4}})"),
            as_is(R"({"a": [{"x": 2, "y": 3}, 4]})"));
  EXPECT_EQ(updated(R"({"b": 1})", R"({"$set": {"a.x": 1, "a.y": 2}, "$rename": {"b": "ab"}})"),
            as_is(R"({"a": {"x": 1, "y": 2}, "ab": 1})"));
  EXPECT_EQ(updated(R"({"a": 1})", R"({"$set": {"a.x": 1, "a.y": 2}})"), "28");
}

TEST(Update, TheIdStays) {
  EXPECT_EQ(updated(R"({"_id": 1})", R"({"$set": {"_id": {"$numberDouble": "1.0"}}})"),
            as_is(R"({"_id": 1})"));
  EXPECT_EQ(updated(R"({"_id": 1})", R"({"$set": {"_id": 2}})"), "66");
  EXPECT_EQ(updated(R"({"_id": 1})", R"({"$unset": {"_id": 1}})"), "66");
  EXPECT_EQ(updated(R"({"_id": {"a": 1}})", R"({"$set": {"_id.a": 2}})"), "66");
}

TEST(Update, Arithmetic) {
  EXPECT_EQ(updated(R"({"a": 2})", R"({"$inc": {"a": 1, "b": 5}})"), as_is(R"({"a": 3, "b": 5})"));
  EXPECT_EQ(updated(R"({"a": 2147483647})", R"({"$inc": {"a": 1}})"),
            as_is(R"({"a": {"$numberLong": "2147483648"}})"));
  EXPECT_EQ(updated(R"({"a": {"$numberLong": "9223372036854775807"}})", R"({"$inc": {"a": 1}})"),
            "2");
  EXPECT_EQ(updated(R"({"a": 2})", R"({"$mul": {"a": 1.5, "b": {"$numberLong": "4"}}})"),
            as_is(R"({"a": {"$numberDouble": "3.0"}, "b": {"$numberLong": "0"}})"));
  EXPECT_EQ(updated(R"({"a": "x"})", R"({"$inc": {"a": 1}})"), "14");
  EXPECT_EQ(updated(R"({"a": 1})", R"({"$inc": {"a": "x"}})"), "14");
  EXPECT_EQ(updated(R"({"a": 5, "b": 5})", R"({"$min": {"a": 3, "b": 7, "c": 1}})"),
            as_is(R"({"a": 3, "b": 5, "c": 1})"));
  EXPECT_EQ(updated(R"({"a": 5, "b": 5})", R"({"$max": {"a": 3, "b": "x"}})"),
            as_is(R"({"a": 5, "b": "x"})"));
  EXPECT_EQ(updated(R"({"a": 13})",
                    R"({"$bit": {"a": {"and": 10, "or": 1}, "b": {"xor": {"$numberLong": "5"}}}})"),
            as_is(R"({"a": 9, "b": {"$numberLong": "5"}})"));
  EXPECT_EQ(updated(R"({"a": 1.5})", R"({"$bit": {"a": {"and": 10}}})"), "2");
}

TEST(Update, Dates) {
  EXPECT_EQ(
      updated(R"({})", R"({"$currentDate": {"a": true, "b": {"$type": "timestamp"}}})"),
      as_is(
          R"({"a": {"$date": {"$numberLong": "1700000000123"}}, "b": {"$timestamp": {"t": 1700000000, "i": 1}}})"));
  EXPECT_EQ(updated(R"({})", R"({"$currentDate": {"a": {"$type": "x"}}})"), "2");
}

TEST(Update, Rename) {
  EXPECT_EQ(updated(R"({"a": 1, "b": 2})", R"({"$rename": {"a": "c.d"}})"),
            as_is(R"({"b": 2, "c": {"d": 1}})"));
  EXPECT_EQ(updated(R"({"a": 1, "b": 2})", R"({"$rename": {"a": "b"}})"), as_is(R"({"b": 1})"));
  EXPECT_EQ(updated(R"({"b": 2})", R"({"$rename": {"a": "b"}})"), as_is(R"({"b": 2})"));
  EXPECT_EQ(updated(R"({"a": [{"b": 1}]})", R"({"$rename": {"a.0.b": "c"}})"), "2");
  EXPECT_EQ(updated(R"({"a": 1})", R"({"$rename": {"a": "a"}})"), "2");
  EXPECT_EQ(updated(R"({"a": 1})", R"({"$rename": {"a": "a.b"}})"), "2");
  EXPECT_EQ(updated(R"({"a": 1})", R"({"$rename": {"a.b": "c"}})"), "28");
}

TEST(Update, Push) {
  EXPECT_EQ(updated(R"({"a": [1]})", R"({"$push": {"a": 2, "b": 3}})"),
            as_is(R"({"a": [1, 2], "b": [3]})"));
  EXPECT_EQ(updated(R"({"a": [5, 1]})",
                    R"({"$push": {"a": {"$each": [3, 4], "$sort": -1, "$slice": 3}}})"),
            as_is(R"({"a": [5, 4, 3]})"));
  EXPECT_EQ(updated(R"({"a": [1, 2]})", R"({"$push": {"a": {"$each": [9], "$position": -1}}})"),
            as_is(R"({"a": [1, 9, 2]})"));
  EXPECT_EQ(updated(R"({"a": [{"x": {"y": 2}}, {"x": {"y": 1}}, {}]})",
                    R"({"$push": {"a": {"$each": [], "$sort": {"x.y": 1}}}})"),
            as_is(R"({"a": [{}, {"x": {"y": 1}}, {"x": {"y": 2}}]})"));
  EXPECT_EQ(updated(R"({"a": [1, 2, 3]})", R"({"$push": {"a": {"$each": [], "$slice": -2}}})"),
            as_is(R"({"a": [2, 3]})"));
  EXPECT_EQ(updated(R"({"a": 1})", R"({"$push": {"a": 1}})"), "2");
  EXPECT_EQ(updated(R"({"a": []})", R"({"$push": {"a": {"$each": [], "$nope": 1}}})"), "2");
  EXPECT_EQ(updated(R"({"a": []})", R"({"$push": {"a": {"$each": 1}}})"), "2");
}

TEST(Update, SetsAndRemovals) {
  EXPECT_EQ(updated(R"({"a": [1, 2]})",
                    R"({"$addToSet": {"a": {"$each": [{"$numberDouble": "2.0"}, 3, 3]}}})"),
            as_is(R"({"a": [1, 2, 3]})"));
  EXPECT_EQ(updated(R"({"a": [1]})", R"({"$addToSet": {"a": [1]}})"), as_is(R"({"a": [1, [1]]})"));
  EXPECT_EQ(updated(R"({"a": [1, 2, 3]})", R"({"$pop": {"a": 1, "b": 1}})"),
            as_is(R"({"a": [1, 2]})"));
  EXPECT_EQ(updated(R"({"a": [1, 2, 3]})", R"({"$pop": {"a": -1}})"), as_is(R"({"a": [2, 3]})"));
  EXPECT_EQ(updated(R"({"a": [1]})", R"({"$pop": {"a": 2}})"), "9");
  EXPECT_EQ(updated(R"({"a": 1})", R"({"$pop": {"a": 1}})"), "14");
  EXPECT_EQ(updated(R"({"a": [1, 5, 9]})", R"({"$pull": {"a": {"$gte": 5}}})"),
            as_is(R"({"a": [1]})"));
  EXPECT_EQ(updated(R"({"a": [{"x": 1, "y": 2}, {"x": 2}]})", R"({"$pull": {"a": {"x": 1}}})"),
            as_is(R"({"a": [{"x": 2}]})"));
  EXPECT_EQ(updated(R"({"a": [1, [1]]})", R"({"$pull": {"a": 1}})"), as_is(R"({"a": [[1]]})"));
  EXPECT_EQ(updated(R"({"a": [1, 2, 1, "x"]})", R"({"$pullAll": {"a": [1, "x"]}})"),
            as_is(R"({"a": [2]})"));
  EXPECT_EQ(updated(R"({"a": 1})", R"({"$pull": {"a": 1}})"), "2");
}

TEST(Update, PositionsAndArrayFilters) {
  EXPECT_EQ(updated(R"({"a": [1, 2]})", R"({"$set": {"a.$": 9}})", {.position = 1}),
            as_is(R"({"a": [1, 9]})"));
  EXPECT_EQ(updated(R"({"a": [1, 2]})", R"({"$set": {"a.$": 9}})"), "2");
  EXPECT_EQ(updated(R"({"a": [{"b": 1}, {}]})", R"({"$inc": {"a.$[].b": 1}})"),
            as_is(R"({"a": [{"b": 2}, {"b": 1}]})"));
  EXPECT_EQ(updated(R"({"a": [1, 5, 9]})", R"({"$set": {"a.$[x]": 0}})",
                    {.array_filters = R"([{"x": {"$gt": 4}}])"}),
            as_is(R"({"a": [1, 0, 0]})"));
  EXPECT_EQ(
      updated(R"({"a": [{"k": 1, "b": [1, 2]}, {"k": 2, "b": [1, 2]}]})",
              R"({"$set": {"a.$[x].b.$[y]": 0}})", {.array_filters = R"([{"x.k": 2}, {"y": 1}])"}),
      as_is(R"({"a": [{"k": 1, "b": [1, 2]}, {"k": 2, "b": [0, 2]}]})"));
  EXPECT_EQ(updated(R"({"a": [1]})", R"({"$set": {"a.$[x]": 0}})"), "2");
  EXPECT_EQ(updated(R"({"a": [1]})", R"({"$set": {"b": 0}})", {.array_filters = R"([{"x": 1}])"}),
            "9");
  EXPECT_EQ(updated(R"({"a": [1]})", R"({"$set": {"a.$[x]": 0}})",
                    {.array_filters = R"([{"x": 1}, {"x": 2}])"}),
            "9");
  EXPECT_EQ(updated(R"({"a": 1})", R"({"$set": {"a.$[]": 0}})"), "2");
  EXPECT_EQ(updated(R"({})", R"({"$set": {"a.$[]": 0}})"), "2");
  EXPECT_EQ(updated(R"({})", R"({"$set": {"$.a": 0}})"), "2");
  EXPECT_EQ(updated(R"({})", R"({"$set": {"a.$.b.$": 0}})"), "2");
}

TEST(Update, PathsMayNotConflict) {
  EXPECT_EQ(updated("{}", R"({"$set": {"a": 1, "a.b": 1}})"), "40");
  EXPECT_EQ(updated("{}", R"({"$set": {"a.b": 1}, "$inc": {"a.b": 1}})"), "40");
  EXPECT_EQ(updated("{}", R"({"$rename": {"a": "b"}, "$set": {"b": 1}})"), "40");
  EXPECT_EQ(updated("{}", R"({"$rename": {"a": "b"}, "$set": {"a": 1}})"), "40");
  EXPECT_EQ(updated(R"({"a": []})", R"({"$set": {"a.$[].b": 1, "a.0.c": 1}})"), "40");
  EXPECT_EQ(updated("{}", R"({"$set": {"ab": 1, "a": 1, "a1": 1}})"),
            as_is(R"({"a": 1, "a1": 1, "ab": 1})"));
}

TEST(Update, MalformedSpecifications) {
  EXPECT_EQ(updated("{}", R"({"$nope": {"a": 1}})"), "9");
  EXPECT_EQ(updated("{}", R"({"$set": 1})"), "9");
  EXPECT_EQ(updated("{}", R"({"$set": {"": 1}})"), "56");
  EXPECT_EQ(updated("{}", R"({"$set": {"a..b": 1}})"), "56");
  EXPECT_EQ(updated("{}", R"({"$set": {"$a": 1}})"), "52");
  EXPECT_EQ(updated("{}", "5"), "9");
  EXPECT_EQ(updated(R"({"a": 1})", R"({"$set": {}})"), as_is(R"({"a": 1})"));
}

TEST(Update, Upserts) {
  EXPECT_EQ(upserted(R"({"b": 1})", R"({"$set": {"a": 2, "_id": 5}, "$setOnInsert": {"c": 3}})"),
            as_is(R"({"_id": 5, "b": 1, "a": 2, "c": 3})"));
  EXPECT_EQ(upserted(R"({"_id": 5, "x": 1})", R"({"y": 2})"), as_is(R"({"_id": 5, "y": 2})"));
  EXPECT_EQ(upserted(R"({"_id": 5})", R"({"$set": {"_id": 6}})"), "66");
  EXPECT_EQ(upserted(R"({"_id": [1]})", R"({"$set": {"a": 6}})"), "53");
  EXPECT_EQ(upserted(R"({"a.b": 1})", R"({"$inc": {"a.b": 1}})"), as_is(R"({"a": {"b": 2}})"));
  EXPECT_EQ(updated(R"({"a": 1})", R"({"$setOnInsert": {"b": 1}})"), as_is(R"({"a": 1})"));
}

TEST(Update, Pipelines) {
  EXPECT_EQ(updated(R"({"_id": 1, "a": 2})",
                    R"([{"$set": {"b": {"$add": ["$a", 1]}}}, {"$unset": "a"}])"),
            as_is(R"({"_id": 1, "b": 3})"));
  EXPECT_EQ(updated(R"({"_id": 1, "a": 2})", R"([{"$replaceWith": {"x": "$a"}}])"),
            as_is(R"({"_id": 1, "x": 2})"));
  EXPECT_EQ(updated(R"({"_id": 1, "a": 2})", R"([{"$set": {"_id": 2}}])"), "66");
  EXPECT_EQ(updated(R"({"_id": 1})", R"([{"$set": {"a": "$$k"}}])", {.constants = R"({"k": 7})"}),
            as_is(R"({"_id": 1, "a": 7})"));
  EXPECT_NE(updated(R"({"_id": 1})", R"([{"$match": {"a": 1}}])"), as_is(R"({"_id": 1})"));
  EXPECT_EQ(updated(R"({"_id": 1})", R"({"$set": {"a": 1}})", {.constants = R"({"k": 7})"}),
            "51198");
}

TEST(DescribeUpdate, TellsWhatChanged) {
  const UpdateDescription description = describe_update(
      from_ejson(R"({"_id": 1, "a": {"b": 1, "c": 2}, "d": [1, 2, 3], "e": 1, "f": 1})"),
      from_ejson(
          R"({"_id": 1, "a": {"b": 5, "c": 2}, "d": [1, 9], "f": {"$numberDouble": "1.0"}, "g": {"h": 1}})"));
  EXPECT_EQ(to_ejson(Value::make_object(description.updated)),
            as_is(R"({"a.b": 5, "d.1": 9, "f": {"$numberDouble": "1.0"}, "g": {"h": 1}})"));
  EXPECT_EQ(description.removed, std::vector<std::string>{"e"});
  ASSERT_EQ(description.truncated.size(), 1);
  EXPECT_EQ(description.truncated[0].path, "d");
  EXPECT_EQ(description.truncated[0].new_size, 2);
}

}  // namespace
}  // namespace orrery::mongo

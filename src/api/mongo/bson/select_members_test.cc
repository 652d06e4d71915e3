// Documents with some of their members.
#include "api/mongo/bson/select_members.h"

#include <gtest/gtest.h>

#include <vector>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/bson/test_ejson.h"

namespace orrery::mongo {
namespace {

constexpr std::string_view kEveryType =
    R"({"real": {"$numberDouble": "1.5"}, "text": "x", "list": [1, 2], "object": {"a": 1},
        "bytes": {"$binary": {"base64": "AQID", "subType": "00"}}, "null": null,
        "id": {"$oid": "0102030405060708090a0b0c"}, "yes": true, "date": {"$date": 5},
        "pattern": {"$regularExpression": {"pattern": "a", "options": "i"}}, "int": 7,
        "long": {"$numberLong": "8"}, "decimal": {"$numberDecimal": "1.25"},
        "time": {"$timestamp": {"t": 1, "i": 2}}, "first": {"$minKey": 1}, "last": {"$maxKey": 1}})";

std::string selected(std::string_view bson, const std::vector<std::string>& names) {
  MemberSelector selector(names);
  const auto document = selector.select(bson);
  return document ? to_ejson(*document) : "none";
}

TEST(SelectMembers, PassesOverEveryType) {
  const std::string bson = to_bson(from_ejson(kEveryType)).value();
  const auto all = from_bson(bson).value();
  for (const auto& [name, member] : all.members()) {
    const value::Value one =
        value::Value::make_object({{value::Value::make_string(std::string(name)), member}});
    EXPECT_EQ(selected(bson, {std::string(name)}), to_ejson(one));
  }
  EXPECT_EQ(selected(bson, {"int", "text", "missing"}), R"({"text":"x","int":{"$numberInt":"7"}})");
  EXPECT_EQ(selected(bson, {}), "{}");
}

TEST(SelectMembers, RefusesWhatIsCutAnywhere) {
  const std::string bson = to_bson(from_ejson(kEveryType)).value();
  for (size_t size = 0; size + 1 < bson.size(); ++size) {
    EXPECT_EQ(selected(std::string_view(bson).substr(0, size), {"missing"}), "none") << size;
  }
}

}  // namespace
}  // namespace orrery::mongo

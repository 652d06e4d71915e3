// Items of another face as JSON: every type, names that are taken, and ids that name one row each.
#include "api/cosmos/foreign/foreign_item.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "value/json.h"
#include "value/test_codec.h"

namespace orrery::cosmos {
namespace {

using value::TestCodec;
using value::Type;
using value::Value;

Value object(std::vector<std::pair<std::string, Value>> members) {
  std::vector<Value::Field> fields;
  for (auto& [name, value] : members) {
    fields.push_back({Value::make_string(name), std::move(value)});
  }
  return Value::make_object(std::move(fields));
}

class ForeignItemTest : public testing::Test {
 protected:
  ForeignItemTest() {
    auto container = std::make_shared<catalog::Container>();
    container->database = 1;
    container->number = 2;
    auto schema = std::make_shared<partition::Schema>();
    schema->codec = std::make_shared<TestCodec>();
    routing_.container = std::move(container);
    routing_.schema = std::move(schema);
  }

  // Without the system's properties, which follow.
  std::string shown(std::string_view row, const Value& value) {
    partition::Item item;
    item.version = {.lsn = 7, .time_s = 1'700'000'000};
    item.body = TestCodec::encode(value);
    auto json = foreign_item_json(routing_, row, item);
    EXPECT_TRUE(json) << json.error().message;
    if (!json) return "";
    EXPECT_TRUE(value::JsonDocument::parse(*json)) << *json;
    const size_t system = json->rfind(",\"_rid\":");
    EXPECT_NE(system, std::string::npos) << *json;
    return json->substr(0, system) + "}";
  }

  cluster::Routing routing_;
};

TEST_F(ForeignItemTest, LosesNoValue) {
  const std::string guid("\x6f\x96\x19\xff\x8b\x86\xd0\x11\xb4\x2d\x00\xcf\x4f\xc9\x64\xff", 16);
  const std::vector<std::pair<Value, std::string>> rows = {
      {Value::make_null(), "null"},
      {Value::make_bool(true), "true"},
      {Value::make_number(1.5), "1.5"},
      {Value::make_number(std::nan("")), R"("NaN")"},
      {Value::make_number(std::numeric_limits<double>::infinity()), R"("Infinity")"},
      {Value::make_number(-std::numeric_limits<double>::infinity()), R"("-Infinity")"},
      {Value::make_integer(5, value::NumberKind::int32), "5"},
      {Value::make_integer(9'007'199'254'740'993), "9007199254740993"},
      {Value::make_integer(std::numeric_limits<int64_t>::min()), "-9223372036854775808"},
      {Value::make_string("a\"b\n"), R"("a\"b\n")"},
      {Value::make_string("\xFF"), "\"\xEF\xBF\xBD\""},
      {Value::make_date({1'700'000'000'123, 0}), R"("2023-11-14T22:13:20.123Z")"},
      {Value::make_date({1'700'000'000'123, 4567}), R"("2023-11-14T22:13:20.1234567Z")"},
      {Value::make_bytes(Type::guid, guid), R"("6f9619ff-8b86-d011-b42d-00cf4fc964ff")"},
      {Value::make_bytes(Type::object_id, std::string(12, '\x0A')),
       R"("0a0a0a0a0a0a0a0a0a0a0a0a")"},
      {Value::make_bytes(Type::binary, {"\x00\x01\xFE", 3}), R"("AAH+")"},
      {Value::make_bytes(Type::binary, {"\x00\x01\xFE", 3}, 4), R"({"base64":"AAH+","subtype":4})"},
      {Value::make_timestamp(UINT64_MAX), "18446744073709551615"},
      {Value::make_bytes(Type::regex, {"^a\0i", 4}), R"("/^a/i")"},
      {Value::make_min_key(), R"("MinKey")"},
      {Value::make_max_key(), R"("MaxKey")"},
      {Value::make_array({}), "[]"},
      {object({}), "{}"},
      {Value::make_array({Value::make_integer(1), object({{"id", Value::make_null()}})}),
       R"([1,{"id":null}])"},
  };
  for (const auto& [value, expected] : rows) {
    EXPECT_EQ(shown("r", object({{"v", value}})), R"({"id":"r","v":)" + expected + "}");
  }
}

TEST_F(ForeignItemTest, NamesThatAreTakenAreMoved) {
  const Value one = Value::make_number(1);
  EXPECT_EQ(shown("r", object({{"id", one}, {"_ts", one}, {"$id", one}, {"$price", one}})),
            R"({"id":"r","$id":1,"$_ts":1,"$$id":1,"$price":1})");
  EXPECT_EQ(shown_path(value::parse_property_path("/id/b").value()), "/$id/b");
  EXPECT_EQ(shown_path(value::parse_property_path("/a/id").value()), "/a/id");
}

TEST_F(ForeignItemTest, SystemPropertiesAreThoseOfAnOwnItem) {
  partition::Item item;
  item.version = {.lsn = 7, .time_s = 1'700'000'000};
  item.origin = {.range = 3, .number = 9};
  item.body = TestCodec::encode(object({}));
  const auto json = foreign_item_json(routing_, "r", item).value();
  const auto document = value::JsonDocument::parse(json).value();
  for (const char* name : {"_rid", "_self", "_etag", "_attachments"}) {
    ASSERT_NE(document.root().find(name), nullptr) << name;
    EXPECT_EQ(document.root().find(name)->type, Type::string) << name;
  }
  EXPECT_EQ(document.root().find("_ts")->number, 1'700'000'000);
}

TEST_F(ForeignItemTest, WhatCannotBeReadIsAnError) {
  partition::Item item;
  item.body = "not of this encoding";
  EXPECT_EQ(foreign_item_json(routing_, "r", item).error().code, Code::corrupt);
  auto schema = std::make_shared<partition::Schema>();
  schema->codec = value::unknown_codec("other");
  routing_.schema = std::move(schema);
  EXPECT_EQ(foreign_item_json(routing_, "r", item).error().code, Code::unsupported);
}

TEST(ForeignItemId, EachNamesOneRow) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"a b", "a b"},
      {"\xC3\xA9", "\xC3\xA9"},
      {"", "hex:"},
      {"a/b", "hex:612F62"},
      {std::string("a\0", 2), "hex:6100"},
      {"\xFF", "hex:FF"},
      {"hex:61", "hex:6865783A3631"},
  };
  for (const auto& [row, id] : rows) {
    EXPECT_EQ(shown_item_id(row), id);
    EXPECT_EQ(row_of_shown_id(id), row);
  }
  // Other spellings name nothing.
  for (const char* id : {"", "a/b", "hex:6", "hex:61", "hex:612f62", "hex:zz"}) {
    EXPECT_EQ(row_of_shown_id(id), std::nullopt) << id;
  }
}

}  // namespace
}  // namespace orrery::cosmos

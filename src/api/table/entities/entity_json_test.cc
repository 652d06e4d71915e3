// Entities as JSON and as they are stored: types, refusals, merges, and the codec.
#include "api/table/entities/entity_json.h"

#include <gtest/gtest.h>

#include "api/table/entities/entity_codec.h"
#include "value/value.h"

namespace orrery::table {
namespace {

std::string shown(std::string_view stored, Metadata level = Metadata::minimal,
                  std::vector<std::string> select = {}) {
  std::string json;
  const EntityShape shape{.level = level, .select = select, .base = "http://h/acct", .table = "t"};
  EXPECT_TRUE(append_entity_json(json, stored, shape, false));
  return json;
}

std::string stored(std::string_view json) {
  auto entity = parse_entity(json, nullptr);
  EXPECT_TRUE(entity) << entity.error().message;
  return entity ? entity->stored : std::string();
}

ErrorCode refusal(std::string_view json) {
  auto entity = parse_entity(json, nullptr);
  EXPECT_FALSE(entity) << json;
  return entity ? ErrorCode::internal_error : entity.error().code;
}

constexpr std::string_view kKeys = R"("PartitionKey":"a","RowKey":"1")";

std::string with(std::string_view members) {
  return "{" + std::string(kKeys) + "," + std::string(members) + "}";
}

TEST(EntityJson, UnitsOfUtf16AreCounted) {
  EXPECT_EQ(utf16_units(""), 0U);
  // One, two, three and four bytes of UTF-8; also where stretches meet.
  for (const size_t times : {1U, 31U, 32U, 127U, 128U, 300U}) {
    std::string text;
    for (size_t i = 0; i < times; ++i) text += "a\u00e9\u20ac\U0001F600";
    EXPECT_EQ(utf16_units(text), times * 5) << times;
  }
  EXPECT_EQ(utf16_units(std::string(1'000, '\xF0')), 2'000U);
  EXPECT_EQ(utf16_units(std::string(1'000, '\x80')), 0U);
}

TEST(EntityJson, EveryTypeComesBack) {
  const std::string members =
      R"("text":"Ä\"\u0001","yes":true,"int":-5,"half":1.5,"whole@odata.type":"Edm.Double","whole":5.0,)"
      R"("nan@odata.type":"Edm.Double","nan":"NaN","down@odata.type":"Edm.Double","down":"-Infinity",)"
      R"("big@odata.type":"Edm.Int64","big":"9223372036854775807",)"
      R"("date@odata.type":"Edm.DateTime","date":"2026-11-15T17:13:05.1979943Z",)"
      R"("guid@odata.type":"Edm.Guid","guid":"6f9619ff-8b86-d011-b42d-00cf4fc964ff",)"
      R"("bytes@odata.type":"Edm.Binary","bytes":"AAH+/w==")";
  const std::string json = shown(stored(with(members)));
  EXPECT_TRUE(json.ends_with(members + "}")) << json;
  EXPECT_NE(json.find(R"("Timestamp":"1970-01-01T00:00:00.0000000Z")"), std::string::npos);
}

TEST(EntityJson, TypesAreStatedBeforeOrBehindOrFarAway) {
  EXPECT_EQ(shown(stored(with(R"("n":"5","x":1,"n@odata.type":"Edm.Int64")")), Metadata::none,
                  {"n", "x"}),
            R"({"n":"5","x":1})");
  EXPECT_EQ(
      shown(stored(with(
                R"("b@odata.type":"Edm.Boolean","b":"true","i@odata.type":"Edm.Int32","i":"7")")),
            Metadata::none, {"b", "i"}),
      R"({"b":true,"i":7})");
}

TEST(EntityJson, WhatAClientMayNotSetIsDropped) {
  EXPECT_EQ(
      shown(stored(with(R"("Timestamp":"2000-01-01T00:00:00Z","odata.etag":"x","none":null)")),
            Metadata::none),
      R"({"PartitionKey":"a","RowKey":"1","Timestamp":"1970-01-01T00:00:00.0000000Z"})");
}

TEST(EntityJson, Refusals) {
  EXPECT_EQ(refusal("[]"), ErrorCode::invalid_input);
  EXPECT_EQ(refusal(R"({"PartitionKey":"a"})"), ErrorCode::properties_need_value);
  EXPECT_EQ(refusal(R"({"PartitionKey":"a/b","RowKey":""})"), ErrorCode::invalid_input);
  EXPECT_EQ(refusal(with(R"("a-b":1)")), ErrorCode::property_name_invalid);
  EXPECT_EQ(refusal(with(R"("d":1e400)")), ErrorCode::invalid_input);
  EXPECT_EQ(refusal(with(R"("d":"1e400","d@odata.type":"Edm.Double")")), ErrorCode::invalid_input);
  EXPECT_EQ(refusal(with(R"("i":3000000000,"i@odata.type":"Edm.Int32")")),
            ErrorCode::invalid_input);
  EXPECT_EQ(refusal(with(R"("x":1,"x@odata.type":"Edm.Stream")")), ErrorCode::invalid_input);
  EXPECT_EQ(refusal(with(R"("d":null,"d@odata.type":"Edm.DateTime")")), ErrorCode::invalid_input);
  EXPECT_EQ(refusal(with(R"("g":"123","g@odata.type":"Edm.Guid")")), ErrorCode::invalid_input);
}

TEST(EntityJson, MergeKeepsWhatIsNotNamed) {
  auto merged =
      merge_entities(stored(with(R"("x":1,"y":"old")")), stored(with(R"("y":2,"z":true)")));
  ASSERT_TRUE(merged);
  EXPECT_EQ(shown(*merged, Metadata::none, {"x", "y", "z"}), R"({"x":1,"y":2,"z":true})");
}

TEST(EntityJson, LinksQuoteAndEncodeKeys) {
  std::string link;
  append_key_predicate(link, "O'Neil", "a b");
  EXPECT_EQ(link, "PartitionKey='O''Neil',RowKey='a%20b'");
  link.clear();
  append_key_predicate(link, "key-0001", "");
  EXPECT_EQ(link, "PartitionKey='key-0001',RowKey=''");
}

TEST(EntityCodec, ReadsWhatIsStoredAndWritesItBack) {
  std::string body = stored(with(
      R"("n@odata.type":"Edm.Int64","n":"9007199254740993","g@odata.type":"Edm.Guid","g":"6f9619ff-8b86-d011-b42d-00cf4fc964ff")"));
  set_timestamp(body, 17'000'000'000'000'001);
  auto document = entity_codec()->parse(body);
  ASSERT_TRUE(document);
  const value::Value all = value::Value::from(document->root());
  EXPECT_EQ(all.size(), 5U);
  EXPECT_EQ(all.find("n").integer(), 9007199254740993);
  EXPECT_EQ(all.find("Timestamp").date(), (value::Date{1'700'000'000'000, 1}));
  std::string again;
  EXPECT_TRUE(entity_codec()->append(again, all, SIZE_MAX));
  EXPECT_EQ(again, body);
}

TEST(EntityCodec, CutBodiesAreErrors) {
  const std::string body = stored(with(R"("x":"text","n":1)"));
  for (size_t size = 0; size < body.size(); ++size) {
    EXPECT_FALSE(entity_codec()->parse(std::string_view(body).substr(0, size))) << size;
  }
  EXPECT_FALSE(entity_codec()->parse(body + "x"));
}

}  // namespace
}  // namespace orrery::table

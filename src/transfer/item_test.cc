// Items on their way into a container, and when two say the same.
#include "transfer/item.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "value/json.h"
#include "value/path.h"

namespace orrery::transfer {
namespace {

using testing::HasSubstr;

value::KeyDefinition key_of(std::initializer_list<const char*> paths) {
  value::KeyDefinition key;
  for (const char* path : paths) key.paths.push_back(*value::parse_property_path(path));
  if (paths.size() > 1) key.placement = value::Placement::multi_hash;
  return key;
}

TEST(ItemTest, AnItemHasItsKeyAndNoneOfWhatAServerAdds) {
  const auto item = prepare_item(
      R"( {"id":"1", "_rid":"x","_ts":5, "city":"Oslo","in":{"_ts":1}} )", key_of({"/city"}));
  ASSERT_TRUE(item) << item.error().message;
  EXPECT_EQ(item->id, "1");
  EXPECT_EQ(item->body, R"({"id":"1","city":"Oslo","in":{"_ts":1}})");
  EXPECT_EQ(item->key_json, R"(["Oslo"])");
  EXPECT_EQ(item->key_hex.size(), 32U);
  EXPECT_EQ(prepare_item(R"({"id":"1"})", key_of({"/city"}))->key_json, "[{}]");
  EXPECT_EQ(prepare_item(R"({"id":"1","a":null,"b":2.5})", key_of({"/a", "/b"}))->key_json,
            "[null,2.5]");
  EXPECT_EQ(prepare_item(R"({"id":"1"})", key_of({}))->key_json, "");
}

TEST(ItemTest, WhatCannotBeAnItemIsRefusedInWords) {
  const auto why = [](std::string_view json) {
    const auto refused = prepare_item(json, key_of({"/city"}));
    return refused ? std::string() : refused.error().message;
  };
  EXPECT_THAT(why("{"), HasSubstr("not JSON"));
  EXPECT_THAT(why("\"text\""), HasSubstr("not a JSON object"));
  EXPECT_THAT(why("{}"), HasSubstr("no id"));
  EXPECT_THAT(why(R"({"id":7})"), HasSubstr("its id is 7"));
  EXPECT_THAT(why(R"({"id":"1","city":[1]})"), HasSubstr("array"));
  EXPECT_THAT(why(R"({"id":"1","t":")" + std::string(2 << 20, 'x') + "\"}"),
              HasSubstr("at most 2097152"));
}

TEST(ItemTest, AnIdFromASeedIsAlwaysTheSame) {
  const auto one = prepare_item("{}", key_of({}), "a.csv:1");
  const auto same = prepare_item(R"({"x":1})", key_of({}), "a.csv:1");
  const auto other = prepare_item("{}", key_of({}), "a.csv:2");
  ASSERT_TRUE(one && same && other);
  EXPECT_EQ(one->id.size(), 36U);
  EXPECT_EQ(one->id, same->id);
  EXPECT_NE(one->id, other->id);
  EXPECT_EQ(one->body, R"({"id":")" + one->id + "\"}");
  EXPECT_EQ(same->body, R"({"id":")" + one->id + "\",\"x\":1}");
}

TEST(ItemTest, ItemsThatSayTheSameHaveTheSameHash) {
  const auto hash = [](std::string_view json) {
    return content_hash(value::JsonDocument::parse(json)->root());
  };
  EXPECT_EQ(hash(R"({"id":"1","n":1.0,"o":{"a":1,"b":[1,2]},"_ts":5})"),
            hash(R"({"o":{"b":[1,2],"a":1e0},"n":1,"id":"\u0031","_etag":"x"})"));
  for (const char* other :
       {R"({"id":"1","n":2})", R"({"id":"1","n":"1"})", R"({"id":"1"})", R"({"id":"1","n":[1]})",
        R"({"id":"1","n":1,"m":null})", R"({"id":"1","o":{"_ts":1},"n":1})"}) {
    EXPECT_NE(hash(R"({"id":"1","n":1})"), hash(other)) << other;
  }
  EXPECT_NE(hash(R"({"a":[[1],2]})"), hash(R"({"a":[1,[2]]})"));
}

}  // namespace
}  // namespace orrery::transfer

// Items as clients send them: what is refused, what is left out, what is read from them, and the
// text that is stored.
#include "api/cosmos/items/item_body.h"

#include <gtest/gtest.h>

#include "api/cosmos/wire/etag.h"
#include "api/cosmos/wire/rid.h"
#include "value/json.h"

namespace orrery::cosmos {
namespace {

value::KeyDefinition key_at(std::initializer_list<std::string_view> names,
                            value::Placement placement = value::Placement::hash_v2) {
  value::KeyDefinition definition{.placement = placement, .paths = {}};
  for (std::string_view name : names) {
    definition.paths.push_back(value::Path{.steps = {{.name = std::string(name)}}});
  }
  return definition;
}

Result<IncomingItem> parse(std::string_view body, const Limits& limits = {}) {
  return parse_item(body, key_at({"pk"}), limits);
}

void expect_refused(std::string_view body, std::string_view why, Code code = Code::invalid,
                    const Limits& limits = {}) {
  auto item = parse(body, limits);
  ASSERT_FALSE(item.has_value()) << body;
  EXPECT_EQ(item.error().code, code) << body;
  EXPECT_NE(item.error().message.find(why), std::string::npos) << item.error().message;
}

TEST(ItemBody, ReadsIdKeyAndTimeToLive) {
  auto item = parse(R"( { "pk" : "a" , "id" : "one" , "n" : [ 1.50 , { "x" : null } ] } )");
  ASSERT_TRUE(item.has_value()) << item.error().message;
  EXPECT_EQ(item->id, "one");
  EXPECT_EQ(value::to_json(item->key), R"(["a"])");
  EXPECT_EQ(item->body, R"({"pk":"a","id":"one","n":[1.50,{"x":null}]})");
  EXPECT_FALSE(item->ttl_s.has_value());
  EXPECT_EQ(parse(R"({"id":"1","ttl":60})")->ttl_s, 60);
  EXPECT_EQ(parse(R"({"id":"1","ttl":-1})")->ttl_s, -1);
  EXPECT_EQ(parse(R"({"id":"1","ttl":2147483647})")->ttl_s, 2147483647);
  EXPECT_FALSE(parse(R"({"id":"1"})")->ttl_s.has_value());
}

TEST(ItemBody, KeysAreOfAnyTypeAndLevel) {
  EXPECT_EQ(value::to_json(parse(R"({"id":"1","pk":5})")->key), "[5]");
  EXPECT_EQ(value::to_json(parse(R"({"id":"1","pk":null})")->key), "[null]");
  EXPECT_EQ(value::to_json(parse(R"({"id":"1"})")->key), "[{}]");
  auto two = parse_item(R"({"id":"1","a":true,"b":"x"})",
                        key_at({"a", "b"}, value::Placement::multi_hash), {});
  EXPECT_EQ(value::to_json(two->key), R"([true,"x"])");
  expect_refused(R"({"id":"1","pk":[]})", "partition key");
  EXPECT_EQ(parse(R"({"id":"1","pk":{"a":1}})")->key, parse(R"({"id":"1"})")->key);
  expect_refused(R"({"id":"1","pk":["a"]})", "partition key");
}

TEST(ItemBody, LeavesOutWhatIsTheSystems) {
  auto item =
      parse(R"({"_rid":"r","id":"1","_self":1,"a\u0062":"\u00e9","_etag":{},"_ts":[],"_lsn":3,)"
            R"("_attachments":null,"_mine":{"_rid":"kept"},"pk":"a"})");
  ASSERT_TRUE(item.has_value()) << item.error().message;
  EXPECT_EQ(item->body, R"({"id":"1","a\u0062":"\u00e9","_mine":{"_rid":"kept"},"pk":"a"})");
  // However the name is spelled.
  EXPECT_EQ(parse(R"({"id":"1","\u005frid":"x"})")->body, R"({"id":"1"})");
}

TEST(ItemBody, RefusesWhatIsNoItem) {
  expect_refused("", "JSON");
  expect_refused("{", "JSON");
  expect_refused("[]", "object");
  expect_refused("\"x\"", "object");
  expect_refused("{}", "'id'");
  expect_refused(R"({"id":5})", "'id'");
  expect_refused(R"({"id":null})", "'id'");
  expect_refused(R"({"id":""})", "empty");
  expect_refused(R"({"id":"1","id":"2"})", "JSON");
  for (const char* bad : {"a/b", R"(a\\b)", "a#b"}) {
    expect_refused(R"({"id":")" + std::string(bad) + "\"}", "may not contain");
  }
  for (const char* ttl : {"null", "0", "-2", "1.5", "\"60\"", "true", "2147483648", "1e300"}) {
    expect_refused(R"({"id":"1","ttl":)" + std::string(ttl) + "}", "ttl");
  }
}

TEST(ItemBody, BoundsAreSettings) {
  Limits limits;
  limits.item_bytes = 300;
  EXPECT_TRUE(parse(R"({"id":"1","pad":")" + std::string(280, 'x') + "\"}", limits));
  expect_refused(R"({"id":"1","pad":")" + std::string(290, 'x') + "\"}", "300", Code::too_large,
                 limits);
  limits = {};
  limits.item_id_characters = 3;
  EXPECT_TRUE(parse(R"({"id":"字字字"})", limits));
  expect_refused(R"({"id":"abcd"})", "3", Code::invalid, limits);
  limits = {};
  limits.partition_key_bytes = 4;
  EXPECT_TRUE(parse(R"({"id":"1","pk":"abcd"})", limits));
  expect_refused(R"({"id":"1","pk":"abcde"})", "4", Code::invalid, limits);
}

TEST(ItemBody, LongKeysAreAlikeInBothVersions) {
  const auto body = [](size_t size) {
    return R"({"id":"1","pk":")" + std::string(size, 'x') + "\"}";
  };
  for (const value::Placement placement : {value::Placement::hash_v1, value::Placement::hash_v2}) {
    EXPECT_TRUE(parse_item(body(2048), key_at({"pk"}, placement), {}));
    EXPECT_FALSE(parse_item(body(2049), key_at({"pk"}, placement), {}));
  }
}

TEST(ItemBody, StoredTextHasTheSystemsPropertiesAtItsEnd) {
  const ItemFinisher finisher(1, 2);
  const partition::Version version{.lsn = 7, .time_s = 1'700'000'000, .range = 3};
  const partition::Origin origin{.range = 3, .number = 5};
  const std::string text = finisher.finish(R"({"id":"1","n":1})", version, origin);
  EXPECT_TRUE(text.starts_with(R"({"id":"1","n":1,"_rid":")")) << text;
  auto document = value::JsonDocument::parse(text);
  ASSERT_TRUE(document.has_value()) << text;
  EXPECT_EQ(document->text(), text) << "minified, so a read sends it as it is";
  const value::Node& root = document->root();
  EXPECT_EQ(root.count, 7U);
  auto rid = parse_rid(root.find("_rid")->text);
  ASSERT_TRUE(rid.has_value());
  EXPECT_EQ(rid->kind, RidKind::item);
  EXPECT_EQ(root.find("_self")->text,
            container_self(1, 2) + "docs/" + std::string(root.find("_rid")->text) + "/");
  EXPECT_EQ(root.find("_etag")->text, "\"" + etag_text(version) + "\"");
  EXPECT_EQ(root.find("_attachments")->text, "attachments/");
  EXPECT_EQ(root.find("_ts")->number, 1'700'000'000);
  // A replaced item keeps where it comes from, and so its resource id.
  const partition::Version later{.lsn = 9, .time_s = 1'700'000'001, .range = 4};
  auto again = value::JsonDocument::parse(finisher.finish(R"({"id":"1"})", later, origin));
  EXPECT_EQ(again->root().find("_rid")->text, root.find("_rid")->text);
  EXPECT_NE(again->root().find("_etag")->text, root.find("_etag")->text);
}

TEST(ItemBody, StoredTextComesBackAsTheSameItem) {
  const ItemFinisher finisher(1, 2);
  const std::string stored = finisher.finish(R"({"id":"1","pk":"a"})", {7, 1, 3}, {3, 5});
  EXPECT_EQ(parse(stored)->body, R"({"id":"1","pk":"a"})");
}

TEST(ItemBody, EtagConditions) {
  const partition::Version version{.lsn = 7, .time_s = 1'700'000'000, .range = 3};
  const std::string etag = etag_text(version);
  EXPECT_EQ(parse_etag_condition("\"" + etag + "\""), version);
  EXPECT_EQ(parse_etag_condition(etag), version);
  EXPECT_EQ(parse_etag_condition("W/\"" + etag + "\""), version);
  EXPECT_EQ(parse_etag_condition("*"), std::nullopt);
  EXPECT_EQ(parse_etag_condition("\"*\""), std::nullopt);
  for (std::string_view foreign : {"", "\"", "\"\"", "nonsense", "W/", "\"0\""}) {
    auto never = parse_etag_condition(foreign);
    ASSERT_TRUE(never.has_value()) << foreign;
    EXPECT_NE(*never, version);
  }
}

TEST(ItemBody, WhatTheFinisherAddsIsWhatItSays) {
  const ItemFinisher finisher(5, 9);
  const partition::Version version{.lsn = 99, .time_s = 1'700'000'000, .range = 4, .step = 2};
  const partition::Origin origin{.range = 4, .number = 31};
  const auto whole = value::JsonDocument::parse(finisher.finish(R"({"id":"1"})", version, origin));
  ASSERT_TRUE(whole);
  std::vector<value::Value> added;
  finisher.each_added(version, origin,
                      [&](const value::Value& value) { added.push_back(value.to_owned()); });
  ASSERT_EQ(added.size(), finisher.added_names().size());
  ASSERT_EQ(whole->root().count, added.size() + 1);
  for (size_t i = 0; i < added.size(); ++i) {
    const std::string_view name = finisher.added_names()[i];
    EXPECT_TRUE(is_system_property(name));
    EXPECT_EQ(value::Value::from(whole->root().find(name)), added[i]) << name;
  }
}

TEST(ItemBody, AStrippedItemIsTheBodyThatIsStored) {
  for (std::string_view text :
       {R"({"id":"1","pk":2})", R"({"_rid":"x","id":"1","_ts":5,"pk":{"_ts":1},"_etag":"e"})",
        R"({"id":"1","_lsn":7,"_attachments":"a","_self":"s","pk":"_rid","_more":1})"}) {
    const auto document = value::JsonDocument::parse(text).value();
    const auto item = check_item(document, key_at({"id"}), {});
    ASSERT_TRUE(item) << item.error().message;
    const StrippedItem stripped(document.root());
    const auto stored = value::JsonDocument::parse(item->body).value();
    ASSERT_EQ(stripped.root().count, stored.root().count);
    const value::Node* ours = stripped.root().first;
    for (const value::Node* node = stored.root().first; node != nullptr; node = node->next) {
      ASSERT_NE(ours, nullptr);
      EXPECT_EQ(ours->name, node->name);
      EXPECT_EQ(ours->raw, node->raw);
      ours = ours->next;
    }
    EXPECT_EQ(ours, nullptr);
  }
}

}  // namespace
}  // namespace orrery::cosmos

// Catalog records: what is written comes back, and what is damaged is refused.
#include "catalog/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace orrery::catalog {
namespace {

value::Path path_of(std::string_view text) {
  return value::parse_property_path(text).value();
}

value::IndexRule rule_of(std::string_view text, bool include) {
  return {.path = value::parse_index_path(text).value(), .include = include};
}

Container full_container() {
  Container container;
  container.database = 3;
  container.number = 4'000'000'000;
  container.index_version = 7;
  container.indexed_version = 5;
  container.changed_s = 1'700'000'001;
  container.revision = 9;
  container.throughput = Throughput{.units = 20'000, .autoscale = true};
  ContainerSpec& spec = container.spec;
  spec.name = "näme \"with\" \\ quotes\n";
  spec.key.placement = value::Placement::multi_hash;
  spec.key.paths = {path_of("/tenant"), path_of("/\"user name\"/id")};
  spec.index_rules = {rule_of("/*", true), rule_of("/secret/?", false), rule_of("/a/[]/b/*", true)};
  spec.always_indexed = {path_of("/_id")};
  spec.composite_indexes = {
      {.parts = {{.path = path_of("/a")}, {.path = path_of("/b c/d"), .descending = true}}},
      {.parts = {{.path = path_of("/x"), .descending = true},
                 {.path = path_of("/y")},
                 {.path = path_of("/z")}}}};
  spec.spatial_indexes = {value::parse_index_path("/place/*").value()};
  spec.encoding = "stone";
  spec.value_order = value::ValueOrder::typed;
  spec.unique_keys = {
      {path_of("/email")}, {path_of("/a"), path_of("/b/c")}, {value::Path(), path_of("/retired")}};
  spec.unique_conditions = {"", "\"open\""};
  spec.default_life_ms = -1;
  spec.history_s = 3'600;
  spec.face_json = R"({"indexingPolicy":{"x":"\u00e9"}})";
  auto map = std::make_shared<PartitionMap>();
  map->version = 5;
  map->next_id = 9;
  map->ranges = {{.id = 7,
                  .min = "",
                  .max = std::string("\x1F\x00\xFF", 3),
                  .parents = {0, 2},
                  .volume_name = "c4000000000-p7"},
                 {.id = 8,
                  .min = std::string("\x1F\x00\xFF", 3),
                  .max = "\xFF",
                  .parents = {0, 2},
                  .volume_name = "c4000000000-p8"}};
  map->splits = {{.why = {.at_s = 1'790'000'000, .cause = SplitCause::storage},
                  .parent = 0,
                  .left = 1,
                  .right = 2},
                 {.why = {.at_s = 1'790'000'100, .cause = SplitCause::throughput},
                  .parent = 2,
                  .left = 7,
                  .right = 8}};
  container.map = std::move(map);
  return container;
}

void expect_same(const Container& a, const Container& b) {
  EXPECT_EQ(a.database, b.database);
  EXPECT_EQ(a.number, b.number);
  EXPECT_EQ(a.index_version, b.index_version);
  EXPECT_EQ(a.indexed_version, b.indexed_version);
  EXPECT_EQ(a.changed_s, b.changed_s);
  EXPECT_EQ(a.revision, b.revision);
  EXPECT_EQ(a.throughput, b.throughput);
  EXPECT_EQ(a.spec.name, b.spec.name);
  EXPECT_EQ(a.spec.key, b.spec.key);
  EXPECT_EQ(a.spec.indexed, b.spec.indexed);
  EXPECT_EQ(a.spec.default_life_ms, b.spec.default_life_ms);
  EXPECT_EQ(a.spec.history_s, b.spec.history_s);
  EXPECT_EQ(a.spec.always_indexed, b.spec.always_indexed);
  EXPECT_EQ(a.spec.unique_keys, b.spec.unique_keys);
  EXPECT_EQ(a.spec.unique_conditions, b.spec.unique_conditions);
  EXPECT_EQ(a.spec.face_json, b.spec.face_json);
  EXPECT_EQ(a.spec.encoding, b.spec.encoding);
  EXPECT_EQ(index_definition(a.spec), index_definition(b.spec));
  ASSERT_EQ(a.spec.index_rules.size(), b.spec.index_rules.size());
  for (size_t i = 0; i < a.spec.index_rules.size(); ++i) {
    EXPECT_EQ(a.spec.index_rules[i].path, b.spec.index_rules[i].path);
    EXPECT_EQ(a.spec.index_rules[i].include, b.spec.index_rules[i].include);
  }
  EXPECT_EQ(a.map->version, b.map->version);
  EXPECT_EQ(a.map->next_id, b.map->next_id);
  ASSERT_EQ(a.map->ranges.size(), b.map->ranges.size());
  for (size_t i = 0; i < a.map->ranges.size(); ++i) {
    EXPECT_EQ(a.map->ranges[i].id, b.map->ranges[i].id);
    EXPECT_EQ(a.map->ranges[i].min, b.map->ranges[i].min);
    EXPECT_EQ(a.map->ranges[i].max, b.map->ranges[i].max);
    EXPECT_EQ(a.map->ranges[i].parents, b.map->ranges[i].parents);
    EXPECT_EQ(a.map->ranges[i].volume_name, b.map->ranges[i].volume_name);
  }
  ASSERT_EQ(a.map->splits.size(), b.map->splits.size());
  for (size_t i = 0; i < a.map->splits.size(); ++i) {
    EXPECT_EQ(a.map->splits[i].why.at_s, b.map->splits[i].why.at_s);
    EXPECT_EQ(a.map->splits[i].why.cause, b.map->splits[i].why.cause);
    EXPECT_EQ(a.map->splits[i].parent, b.map->splits[i].parent);
    EXPECT_EQ(a.map->splits[i].left, b.map->splits[i].left);
    EXPECT_EQ(a.map->splits[i].right, b.map->splits[i].right);
  }
}

TEST(Codec, ADatabaseComesBack) {
  Database database{.number = 4'294'967'295,
                    .face = "f",
                    .name = "d\xC3\xA9",
                    .changed_s = 1,
                    .revision = 5,
                    .throughput = Throughput{.units = 400, .autoscale = false}};
  for (bool shared : {true, false}) {
    if (!shared) database.throughput.reset();
    auto back = decode_database(encode(database));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->number, database.number);
    EXPECT_EQ(back->face, database.face);
    EXPECT_EQ(back->name, database.name);
    EXPECT_EQ(back->changed_s, database.changed_s);
    EXPECT_EQ(back->revision, database.revision);
    EXPECT_EQ(back->throughput, database.throughput);
  }
}

TEST(Codec, AContainerComesBackWithEverythingSet) {
  const Container container = full_container();
  auto back = decode_container(encode(container));
  ASSERT_TRUE(back) << back.error().message;
  expect_same(container, *back);
}

TEST(Codec, AContainerComesBackWithNothingOptional) {
  Container container = full_container();
  container.throughput.reset();
  container.spec.default_life_ms.reset();
  container.spec.key = {};
  container.spec.indexed = false;
  container.spec.index_rules.clear();
  container.spec.always_indexed.clear();
  container.spec.unique_keys.clear();
  container.spec.face_json.clear();
  auto back = decode_container(encode(container));
  ASSERT_TRUE(back) << back.error().message;
  expect_same(container, *back);
}

TEST(Codec, EveryPlacementComesBack) {
  for (auto placement : {value::Placement::hash_v1, value::Placement::hash_v2,
                         value::Placement::multi_hash, value::Placement::range}) {
    Container container = full_container();
    container.spec.key.placement = placement;
    auto back = decode_container(encode(container));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->spec.key.placement, placement);
  }
}

// A record with one piece of its text replaced.
std::string damaged(std::string text, std::string_view what, std::string_view by) {
  size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

TEST(Codec, DamagedContainersAreRefused) {
  const std::string good = encode(full_container());
  ASSERT_TRUE(decode_container(good));
  const std::vector<std::pair<std::string, std::string>> damages = {
      {R"("number":4000000000)", R"("number":-1)"},
      {R"("number":4000000000)", R"("number":4294967296)"},
      {R"("number":4000000000)", R"("number":1.5)"},
      {R"("number":4000000000)", R"("number":1e300)"},
      {R"("number":4000000000)", R"("number":"4")"},
      {R"("number":4000000000)", R"("numbre":4)"},
      {R"("changed":1700000001)", R"("changed":-5)"},
      {R"("placement":"multihash")", R"("placement":"md5")"},
      {R"("/tenant")", R"("tenant")"},
      {R"("/tenant")", R"(17)"},
      {R"("path":"/*")", R"("path":"*")"},
      {R"("include":true)", R"("include":1)"},
      {R"("lifeMs":-1)", R"("lifeMs":-2)"},
      {R"("lifeMs":-1)", R"("lifeMs":1e17)"},
      {R"("uniqueKeys":[["/email"])", R"("uniqueKeys":["/email")"},
      {R"("throughput":{)", R"("throughput":7,"t":{)"},
      {R"("units":20000)", R"("units":-20000)"},
      {R"("version":5)", R"("version":0)"},
      {R"("map":{)", R"("pam":{)"},
      {R"("id":8)", R"("id":9)"},
      {R"("min":"1F00FF")", R"("min":"1F00F")"},
      {R"("parents":[0,2])", R"("parents":[0,"2"])"},
      {R"("parents":[0,2])", R"("parents":{})"},
      {R"("volume":"c4)", R"("volumes":"c4)"},
  };
  for (const auto& [what, by] : damages) {
    auto back = decode_container(damaged(good, what, by));
    ASSERT_FALSE(back) << what << " -> " << by;
    EXPECT_EQ(back.error().code, Code::corrupt);
  }
}

TEST(Codec, EveryTruncationIsRefused) {
  const std::string container = encode(full_container());
  for (size_t size = 0; size < container.size(); ++size) {
    ASSERT_FALSE(decode_container(container.substr(0, size))) << size;
  }
  const std::string database = encode(Database{1, "f", "d", 0, 5, {}});
  for (size_t size = 0; size < database.size(); ++size) {
    ASSERT_FALSE(decode_database(database.substr(0, size))) << size;
  }
  EXPECT_FALSE(decode_database("[]"));
  EXPECT_FALSE(decode_container("7"));
}

TEST(CatalogCodec, KeepsAResource) {
  Resource before;
  before.number = 7;
  before.parent = 3;
  before.kind = 255;
  before.name = "reader \"1\"";
  before.changed_s = 1'700'000'000;
  before.revision = 6;
  before.body = R"("body":"function () {}")";
  auto after = decode_resource(encode(before));
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(after->number, before.number);
  EXPECT_EQ(after->parent, before.parent);
  EXPECT_EQ(after->kind, before.kind);
  EXPECT_EQ(after->name, before.name);
  EXPECT_EQ(after->changed_s, before.changed_s);
  EXPECT_EQ(after->revision, before.revision);
  EXPECT_EQ(after->body, before.body);
  for (const char* text : {"", "{}", R"({"number":1,"parent":1,"kind":256})"}) {
    auto damaged = decode_resource(text);
    ASSERT_FALSE(damaged) << text;
    EXPECT_EQ(damaged.error().code, Code::corrupt);
  }
}

}  // namespace
}  // namespace orrery::catalog

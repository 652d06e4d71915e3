// Databases, containers and partition key ranges as they are returned.
#include "api/cosmos/wire/resource_json.h"

#include <gtest/gtest.h>

#include "api/cosmos/operation.h"
#include "value/json.h"

namespace orrery::cosmos {
namespace {

catalog::Container container() {
  catalog::Container made;
  made.database = 1;
  made.number = 2;
  made.spec.name = "or\"ders";
  made.spec.face_json = R"("partitionKey":{"paths":["/a"]})";
  made.changed_s = 1700000000;
  made.revision = 1;
  auto map = std::make_shared<catalog::PartitionMap>();
  map->ranges.push_back({.id = 1, .min = "", .max = "\x1F", .parents = {0}, .volume_name = "a"});
  map->ranges.push_back(
      {.id = 2, .min = "\x1F", .max = "\xFF", .parents = {0}, .volume_name = "b"});
  made.map = std::move(map);
  return made;
}

TEST(ResourceJson, Database) {
  catalog::Database database;
  database.number = 1;
  database.face = kFaceName;
  database.name = "shop";
  database.changed_s = 1700000000;
  database.revision = 2;
  EXPECT_EQ(
      database_json(database),
      R"({"id":"shop","_rid":"AAAAAQ==","_ts":1700000000,"_self":"dbs/AAAAAQ==/",)"
      R"("_etag":"\"00000000-0000-0002-0000-00006553f100\"","_colls":"colls/","_users":"users/"})");
}

TEST(ResourceJson, Container) {
  catalog::Database database;
  database.number = 1;
  database.face = kFaceName;
  EXPECT_EQ(
      container_json(database, container()),
      R"({"id":"or\"ders","partitionKey":{"paths":["/a"]},"_rid":"AAAAAYAAAAI=","_ts":1700000000,)"
      R"("_self":"dbs/AAAAAQ==/colls/AAAAAYAAAAI=/","_etag":"\"00000000-0000-0001-0000-00006553f100\"",)"
      R"("_docs":"docs/",)"
      R"("_sprocs":"sprocs/","_triggers":"triggers/","_udfs":"udfs/","_conflicts":"conflicts/"})");
}

TEST(ResourceJson, PartitionRanges) {
  const std::string text = pkranges_json(
      container(), [](const catalog::PartitionRange& range) { return uint64_t{range.id} * 10; });
  auto document = value::JsonDocument::parse(text);
  ASSERT_TRUE(document.has_value()) << text;
  EXPECT_EQ(document->root().find("_rid")->text, "AAAAAYAAAAI=");
  EXPECT_EQ(document->root().find("_count")->number, 2);
  const value::Node* first = document->root().find("PartitionKeyRanges")->first;
  EXPECT_EQ(first->find("id")->text, "1");
  EXPECT_EQ(first->find("minInclusive")->text, "");
  EXPECT_EQ(first->find("maxExclusive")->text, "1F");
  EXPECT_EQ(first->find("parents")->raw, "[\"0\"]");
  EXPECT_EQ(first->find("throughputFraction")->number, 0.5);
  EXPECT_EQ(first->find("lsn")->number, 10);
  EXPECT_EQ(first->find("status")->text, "online");
  EXPECT_EQ(first->next->find("minInclusive")->text, "1F");
  EXPECT_EQ(first->next->find("maxExclusive")->text, "FF");
}

}  // namespace
}  // namespace orrery::cosmos

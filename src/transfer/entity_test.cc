// Entities on their way into a table: what is sent of them, why not, and when two say the same.
#include "transfer/entity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace orrery::transfer {
namespace {

using testing::HasSubstr;

TEST(Entity, IsPreparedWithoutWhatTheServerAdds) {
  auto entity = prepare_entity(R"({"odata.etag":"W/\"x\"","PartitionKey":"p","RowKey":"r",)"
                               R"("Timestamp":"2024-01-01T00:00:00Z","_ts":1,)"
                               R"("n":"5","n@odata.type":"Edm.Int64"})");
  ASSERT_TRUE(entity) << entity.error().message;
  EXPECT_EQ(entity->partition_key, "p");
  EXPECT_EQ(entity->row_key, "r");
  EXPECT_EQ(entity->body,
            R"({"PartitionKey":"p","RowKey":"r","_ts":1,"n":"5","n@odata.type":"Edm.Int64"})");
}

TEST(Entity, SaysWhyItIsNone) {
  EXPECT_THAT(prepare_entity("{").error().message, HasSubstr("not JSON"));
  EXPECT_THAT(prepare_entity("[1]").error().message, HasSubstr("not a JSON object"));
  EXPECT_THAT(prepare_entity(R"({"PartitionKey":"p"})").error().message, HasSubstr("no RowKey"));
  EXPECT_THAT(prepare_entity(R"({"PartitionKey":5,"RowKey":"r"})").error().message,
              HasSubstr("PartitionKey is 5, which is not a string"));
}

TEST(Entity, IsEqualByTypesAndValues) {
  EXPECT_TRUE(entities_are_equal(
      R"({"a":1,"d":"5.0","d@odata.type":"Edm.Double","Timestamp":"x","odata.etag":"y"})",
      R"({"d":5.0,"a":1})"));
  EXPECT_TRUE(
      entities_are_equal(R"({"t":"2024-01-01T00:00:00.1200000Z","t@odata.type":"Edm.DateTime"})",
                         R"({"t":"2024-01-01T00:00:00.12Z","t@odata.type":"Edm.DateTime"})"));
  EXPECT_TRUE(entities_are_equal(R"({"g":"ABCD","g@odata.type":"Edm.Guid"})",
                                 R"({"g":"abcd","g@odata.type":"Edm.Guid"})"));
  EXPECT_TRUE(
      entities_are_equal(R"({"a":1,"gone":null})", R"({"a":1,"a@odata.type":"Edm.Int32"})"));
  // The same digits of another type are another value.
  EXPECT_FALSE(entities_are_equal(R"({"a":5})", R"({"a":5.0})"));
  EXPECT_FALSE(entities_are_equal(R"({"a":"5"})", R"({"a":"5","a@odata.type":"Edm.Int64"})"));
  EXPECT_FALSE(entities_are_equal(R"({"a":"9007199254740993","a@odata.type":"Edm.Int64"})",
                                  R"({"a":"9007199254740992","a@odata.type":"Edm.Int64"})"));
  EXPECT_FALSE(entities_are_equal(R"({"a":"X"})", R"({"a":"x"})"));
  EXPECT_FALSE(entities_are_equal("not json", "not json"));
}

}  // namespace
}  // namespace orrery::transfer

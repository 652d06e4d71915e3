// Resource ids: their bytes, that they read back, and that each has one spelling only.
#include "api/cosmos/wire/rid.h"

#include <gtest/gtest.h>

namespace orrery::cosmos {
namespace {

TEST(Rid, WritesTheBytesOfEachForm) {
  EXPECT_EQ(database_rid(1), "AAAAAQ==");
  EXPECT_EQ(container_rid(1, 1), "AAAAAYAAAAE=");
  EXPECT_EQ(item_rid(1, 1, 0, 1), "AAAAAYAAAAEAAAAAAAABAA==");
  EXPECT_EQ(pkrange_rid(1, 1, 0), "AAAAAYAAAAEAAAAAAAAAUA==");
}

TEST(Rid, WritesSlashAsDash) {
  EXPECT_EQ(database_rid(0xFFFFFFFF), "-----w==");
  auto rid = parse_rid("-----w==");
  ASSERT_TRUE(rid.has_value());
  EXPECT_EQ(rid->database, 0xFFFFFFFFU);
  EXPECT_FALSE(parse_rid("/////w==").has_value());
}

TEST(Rid, ReadsBackWhatItWrites) {
  for (const uint32_t database : {1U, 255U, 0x7FFFFFFFU, 0xFFFFFFFFU}) {
    auto rid = parse_rid(database_rid(database));
    ASSERT_TRUE(rid.has_value());
    EXPECT_EQ(rid->kind, RidKind::database);
    EXPECT_EQ(rid->database, database);
    for (const uint32_t container : {0U, 1U, 0x7FFFFFFFU}) {
      rid = parse_rid(container_rid(database, container));
      ASSERT_TRUE(rid.has_value());
      EXPECT_EQ(rid->kind, RidKind::container);
      EXPECT_EQ(rid->database, database);
      EXPECT_EQ(rid->container, container);
      for (const uint32_t range : {0U, 7U, (1U << kRidRangeBits) - 1}) {
        const uint64_t number = (uint64_t{1} << kRidNumberBits) - 1;
        rid = parse_rid(item_rid(database, container, range, number));
        ASSERT_TRUE(rid.has_value());
        EXPECT_EQ(rid->kind, RidKind::item);
        EXPECT_EQ(rid->range_id(), range);
        EXPECT_EQ(rid->item_number(), number);
        rid = parse_rid(pkrange_rid(database, container, range));
        ASSERT_TRUE(rid.has_value());
        EXPECT_EQ(rid->kind, RidKind::partition_range);
        EXPECT_EQ(rid->range_id(), range);
      }
    }
  }
}

TEST(Rid, OfferNamesItsOwner) {
  const std::string of_database = database_offer_rid(77);
  const std::string of_container = container_offer_rid(77);
  EXPECT_EQ(of_database.size(), 4U);
  EXPECT_NE(of_database, of_container);
  auto rid = parse_rid(of_container);
  ASSERT_TRUE(rid.has_value());
  EXPECT_EQ(rid->kind, RidKind::offer);
  EXPECT_TRUE(offer_owner(*rid).is_container);
  EXPECT_EQ(offer_owner(*rid).number, 77U);
  rid = parse_rid(of_database);
  ASSERT_TRUE(rid.has_value());
  EXPECT_FALSE(offer_owner(*rid).is_container);
  EXPECT_EQ(offer_owner(*rid).number, 77U);
}

TEST(Rid, Selfs) {
  EXPECT_EQ(database_self(1), "dbs/AAAAAQ==/");
  EXPECT_EQ(container_self(1, 1), "dbs/AAAAAQ==/colls/AAAAAYAAAAE=/");
  std::string self;
  append_item_self(self, 1, 1, 0, 1);
  EXPECT_EQ(self, "dbs/AAAAAQ==/colls/AAAAAYAAAAE=/docs/AAAAAYAAAAEAAAAAAAABAA==/");
}

TEST(Rid, RecognisesTheOtherKinds) {
  auto rid = parse_rid("AAAAAQAAAAI=");  // second number without the high bit
  ASSERT_TRUE(rid.has_value());
  EXPECT_EQ(rid->kind, RidKind::user);
  rid = parse_rid("AAAAAYAAAAEAAAAAAAABgA==");
  ASSERT_TRUE(rid.has_value());
  EXPECT_EQ(rid->kind, RidKind::stored_procedure);
}

TEST(Rid, RefusesWhatIsNone) {
  for (const char* text : {"", "A", "AAAA=", "AAAAAQ=", "AAAAAA==", "AAAAAR==", "database",
                           "AAAA!Q==", "====", "AAAAAQAAAAEAAAAAAAABAAAAAAAAAAAAAAAA",
                           "AAAAAYAAAAEAAAAAAAAB8A==", "orders--", "A==="}) {
    EXPECT_FALSE(parse_rid(text).has_value()) << text;
  }
}

TEST(Rid, NamesUsersPermissionsScriptsAndEncryptionKeys) {
  struct Row {
    RidKind kind;
    uint32_t owner;
    size_t bytes;
  };
  for (const Row& row :
       {Row{RidKind::user, 1, 8}, Row{RidKind::permission, 7, 16},
        Row{RidKind::stored_procedure, 3, 16}, Row{RidKind::trigger, 3, 16},
        Row{RidKind::user_function, 3, 16}, Row{RidKind::client_encryption_key, 0, 16}}) {
    for (const uint32_t number : {9U, 0x7FFFFFFFU}) {
      const std::string text = resource_rid(row.kind, 1, row.owner, number);
      EXPECT_EQ(text.size(), (row.bytes + 2) / 3 * 4);
      auto rid = parse_rid(text);
      ASSERT_TRUE(rid) << text;
      EXPECT_EQ(rid->kind, row.kind);
      EXPECT_EQ(rid->database, 1U);
      EXPECT_EQ(rid->number(), number);
      if (row.kind != RidKind::user) EXPECT_EQ(rid->container, row.owner);
    }
  }
  EXPECT_EQ(resource_rid(RidKind::user, 1, 1, 2), "AAAAAQAAAAI=");
  EXPECT_EQ(resource_rid(RidKind::stored_procedure, 1, 1, 2), "AAAAAYAAAAEAAAAAAAACgA==");
  EXPECT_EQ(resource_rid(RidKind::client_encryption_key, 1, 1, 2), "AAAAAQAAAAAAAAAAAAACIA==");
  const std::string attachment = attachment_rid("AAAAAYAAAAEAAAAAAAABAA==", 9);
  auto attached = parse_rid(attachment);
  ASSERT_TRUE(attached) << attachment;
  EXPECT_EQ(attached->kind, RidKind::attachment);
  EXPECT_EQ(attached->number(), 9U);
  EXPECT_EQ(attached->item_number(), 1U) << "of its item";
  auto huge = parse_rid("AAAAAYAAAAH-AAAAAAACgA==");
  ASSERT_TRUE(huge);
  EXPECT_EQ(huge->number(), 0U);
}

TEST(Rid, AgeOfAnItem) {
  const auto item = [](uint64_t lsn, std::string_view rest) {
    return R"({"id":"x","_rid":"mine","a":{"b":1,"_rid":"other"},"_rid":")" +
           item_rid(1, 2, 3, lsn) + R"(","_self":"dbs/",)" + std::string(rest) + "}";
  };
  ItemAge age;
  uint64_t before = 0;
  for (const uint64_t lsn :
       {1ULL, 2ULL, 63ULL, 64ULL, 255ULL, 256ULL, 65'536ULL, (1ULL << 36) - 1}) {
    for (const char* rest : {"\"_ts\":5", "\"_ts\":123456"}) {
      EXPECT_EQ(age(item(lsn, rest)), parse_rid(item_rid(1, 2, 3, lsn))->child) << lsn;
    }
    EXPECT_GT(age(item(lsn, "\"_ts\":5")), before);
    before = age(item(lsn, "\"_ts\":5"));
  }
  for (const char* none : {"", "{}", R"({"a":1,"_rid":"?"})", R"({"a":1,"_rid":")"}) {
    EXPECT_EQ(age(none), 0U) << none;
  }
}

}  // namespace
}  // namespace orrery::cosmos

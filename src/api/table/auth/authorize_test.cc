// Requests signed with a key: what the vendor's clients sign is accepted, and whatever differs in
// one part is not.
#include "api/table/auth/authorize.h"

#include <gtest/gtest.h>

#include "api/table/auth/test_accounts.h"

namespace orrery::table {
namespace {

constexpr std::string_view kDate = "Mon, 16 Nov 2026 12:00:00 GMT";

RequestFacts request(std::string_view method, std::string_view path, std::string_view query = {}) {
  return {.method = method,
          .path = path,
          .query = query,
          .account = kTestAccount,
          .x_ms_date = kDate,
          .peer = "127.0.0.1:4711",
          .now_s = kTestNow};
}

ErrorCode refusal_of(const TableResult<Grant>& grant) {
  EXPECT_FALSE(grant.has_value());
  return grant ? ErrorCode::internal_error : grant.error().code;
}

TEST(TableAuthorize, TakesWhatTheSdkSigns) {
  // Made by @azure/data-tables 13.
  const TestAccounts accounts;
  RequestFacts get =
      request("GET", "/devstoreaccount1/Orders(PartitionKey='a''b',RowKey='r%201%2F%C3%A9')");
  get.authorization = "SharedKeyLite devstoreaccount1:bXzR696+4jVYDyoRbRshuG6566tK6dOocxUyHD3ahwg=";
  auto grant = authorize(get, accounts);
  ASSERT_TRUE(grant.has_value()) << grant.error().message;
  EXPECT_TRUE(grant->allows(Operation::delete_table, "orders"));
  EXPECT_TRUE(grant->keys().whole());

  RequestFacts acl = request("GET", "/devstoreaccount1/Orders", "comp=acl");
  acl.authorization = "SharedKeyLite devstoreaccount1:zn5fMhaW1ys6w/gTh4VYIEAjPa0rBKQyeqLosyjzgxQ=";
  EXPECT_TRUE(authorize(acl, accounts));
  acl.query = "timeout=30&comp=acl";  // no other parameter is signed
  EXPECT_TRUE(authorize(acl, accounts));
  acl.query = "comp=stats";
  EXPECT_EQ(refusal_of(authorize(acl, accounts)), ErrorCode::authentication_failed);
}

TEST(TableAuthorize, SharedKeySignsMoreThanLite) {
  const TestAccounts accounts;
  RequestFacts facts = request("POST", "/devstoreaccount1/Tables");
  facts.content_type = "application/json";
  facts.content_md5 = "abc";
  const std::string header = sign(accounts.keys(), Scheme::shared_key, facts);
  facts.authorization = header;
  ASSERT_TRUE(authorize(facts, accounts));
  for (std::string_view RequestFacts::* part :
       {&RequestFacts::method, &RequestFacts::path, &RequestFacts::content_type,
        &RequestFacts::content_md5}) {
    RequestFacts other = facts;
    other.*part = "/x";
    EXPECT_EQ(refusal_of(authorize(other, accounts)), ErrorCode::authentication_failed);
  }
  const std::string lite = sign(accounts.keys(), Scheme::shared_key_lite, facts);
  facts.authorization = lite;
  facts.content_type = "other";
  EXPECT_TRUE(authorize(facts, accounts));
}

TEST(TableAuthorize, ReadsTheDateOfXmsDateOrDate) {
  const TestAccounts accounts;
  RequestFacts facts = request("GET", "/devstoreaccount1/Tables");
  facts.date = "Mon, 16 Nov 2026 11:50:00 GMT";
  std::string header = sign(accounts.keys(), Scheme::shared_key_lite, facts);
  facts.authorization = header;
  EXPECT_TRUE(authorize(facts, accounts));
  facts.x_ms_date = {};
  EXPECT_FALSE(authorize(facts, accounts));
  header = sign(accounts.keys(), Scheme::shared_key_lite, facts);
  facts.authorization = header;
  EXPECT_TRUE(authorize(facts, accounts));

  facts.now_s = kTestNow + kMaxClockSkewS;
  EXPECT_EQ(refusal_of(authorize(facts, accounts)), ErrorCode::authentication_failed);
  facts.now_s = kTestNow;
  for (const std::string_view date : {"", "yesterday"}) {
    facts.date = date;
    header = sign(accounts.keys(), Scheme::shared_key_lite, facts);
    facts.authorization = header;
    EXPECT_EQ(refusal_of(authorize(facts, accounts)), ErrorCode::authentication_failed) << date;
  }
}

TEST(TableAuthorize, APublishedKeyNeedsNoDate) {
  TestAccounts accounts;
  RequestFacts facts = request("GET", "/devstoreaccount1/Tables");
  facts.x_ms_date = {};
  const std::string header = sign(accounts.keys(), Scheme::shared_key_lite, facts);
  facts.authorization = header;
  EXPECT_EQ(refusal_of(authorize(facts, accounts)), ErrorCode::authentication_failed);
  accounts.published = true;
  EXPECT_TRUE(authorize(facts, accounts));
  // One that is there is checked.
  facts.date = "Mon, 16 Nov 2026 10:00:00 GMT";
  const std::string dated = sign(accounts.keys(), Scheme::shared_key_lite, facts);
  facts.authorization = dated;
  EXPECT_FALSE(authorize(facts, accounts));
}

TEST(TableAuthorize, TheSecondaryIsSignedWithOrWithoutItsName) {
  const TestAccounts accounts;
  for (const std::string_view path :
       {"/devstoreaccount1-secondary/Orders", "/devstoreaccount1/Orders"}) {
    for (const std::string_view account : {"devstoreaccount1", "devstoreaccount1-secondary"}) {
      RequestFacts signed_facts = request("GET", path);
      signed_facts.account = account;
      const std::string header = sign(accounts.keys(), Scheme::shared_key, signed_facts);
      RequestFacts facts = request("GET", "/devstoreaccount1-secondary/Orders");
      facts.secondary = true;
      facts.authorization = header;
      auto grant = authorize(facts, accounts);
      ASSERT_TRUE(grant.has_value()) << path << account << grant.error().message;
      EXPECT_TRUE(grant->allows(Operation::query_entities, "orders"));
      const auto write = grant->allows(Operation::insert_entity, "orders");
      ASSERT_FALSE(write);
      EXPECT_EQ(write.error().code, ErrorCode::insufficient_account_permissions);
    }
  }
}

TEST(TableAuthorize, ASlashAtTheEndOfThePathNeedNotBeSigned) {
  const TestAccounts accounts;
  RequestFacts facts = request("POST", "/devstoreaccount1/$batch");
  const std::string header = sign(accounts.keys(), Scheme::shared_key_lite, facts);
  facts.authorization = header;
  facts.path = "/devstoreaccount1/$batch/";
  EXPECT_TRUE(authorize(facts, accounts));
  facts.path = "/devstoreaccount1/$batch//";
  EXPECT_FALSE(authorize(facts, accounts));
}

TEST(TableAuthorize, AReadOnlyKeyReads) {
  TestAccounts accounts;
  auto read_only = account::KeyRing::create(
      {.primary = "cmVhZA==", .secondary = {}, .primary_readonly = {}, .secondary_readonly = {}});
  ASSERT_TRUE(read_only);
  RequestFacts facts = request("GET", "/devstoreaccount1/Orders");
  const std::string header = sign(*read_only, Scheme::shared_key, facts);
  facts.authorization = header;
  auto grant = authorize(facts, accounts);
  ASSERT_TRUE(grant);
  EXPECT_TRUE(grant->allows(Operation::query_entities, "orders"));
  EXPECT_FALSE(grant->allows(Operation::upsert_entity, "orders"));
  EXPECT_EQ(grant->kind(), "read-only key");
}

TEST(TableAuthorize, RefusesWhatIsNoSignature) {
  const TestAccounts accounts;
  RequestFacts facts = request("GET", "/devstoreaccount1/Tables");
  EXPECT_EQ(refusal_of(authorize(facts, accounts)), ErrorCode::authentication_failed);
  for (const std::string_view header :
       {"x", "SharedKey", "SharedKey ", "SharedKey a", "SharedKey a:", "SharedKey :a",
        "sharedkeylite devstoreaccount1:AAAA"}) {
    facts.authorization = header;
    EXPECT_EQ(refusal_of(authorize(facts, accounts)), ErrorCode::invalid_authentication_info)
        << header;
  }
  for (const std::string_view header :
       {"Bearer token", "SharedKey devstoreaccount1:AAAA", "SharedKey other:AAAA"}) {
    facts.authorization = header;
    EXPECT_EQ(refusal_of(authorize(facts, accounts)), ErrorCode::authentication_failed) << header;
  }
  facts.account = "other";
  EXPECT_EQ(refusal_of(authorize(facts, accounts)), ErrorCode::authentication_failed);
}

}  // namespace
}  // namespace orrery::table

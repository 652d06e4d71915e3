// Shared access signatures: those of the vendor's client are accepted, their terms are kept, and no
// term can be taken off.
#include "api/table/auth/shared_access.h"

#include <gtest/gtest.h>

#include <array>

#include "api/table/auth/test_accounts.h"
#include "base/bytes.h"

namespace orrery::table {
namespace {

// Made by @azure/data-tables 13.
constexpr std::string_view kAccountSas =
    "sv=2019-02-02&ss=t&srt=sco&spr=https%2Chttp&st=2026-11-16T11%3A00%3A00Z&se=2026-11-16T13%3A00%"
    "3A00Z&sip=127.0.0.1-127.0.0.9&sp=rwdlau&sig=8ClHN92vLJ5N9i3qs7bVH6xQ6SCAkypNx%2FdST6OVB6I%3D";
constexpr std::string_view kTableSas =
    "sv=2019-02-02&st=2026-11-16T11%3A00%3A00Z&se=2026-11-16T13%3A00%3A00Z&sp=raud&sig="
    "AzvdKTOYf4P%2FUs%2FVMgUSXPr9tT9rDWEjmJsD6RAXIGo%3D&tn=Orders&srk=1&spk=a%20b&epk=m&erk=z";
constexpr std::string_view kPolicySas =
    "sv=2019-02-02&si=policy%201&sig=bG1C0FXKJ2GYyUagenOvzKvc3C4squ7v3LhpCEB97e4%3D&tn=Orders";

RequestFacts request(std::string_view query) {
  return {.method = "GET",
          .path = "/devstoreaccount1/Orders()",
          .query = query,
          .account = kTestAccount,
          .table = "Orders",
          .peer = "127.0.0.1:4711",
          .now_s = kTestNow};
}

ErrorCode refused(const TableResult<Grant>& grant) {
  EXPECT_FALSE(grant.has_value());
  return grant ? ErrorCode::internal_error : grant.error().code;
}
ErrorCode refused(const TableStatus& status) {
  EXPECT_FALSE(status.has_value());
  return status ? ErrorCode::internal_error : status.error().code;
}

std::string query_of(SharedAccess terms, const account::KeyRing& keys) {
  const std::string payload = terms.for_account()
                                  ? account_string_to_sign(terms, kTestAccount)
                                  : table_string_to_sign(terms, kTestAccount, terms.table);
  const std::array<std::pair<std::string_view, std::string*>, 15> fields = {
      {{"sv", &terms.version},
       {"ss", &terms.services},
       {"srt", &terms.resource_types},
       {"sp", &terms.permissions},
       {"st", &terms.start},
       {"se", &terms.expiry},
       {"sip", &terms.addresses},
       {"spr", &terms.protocols},
       {"ses", &terms.encryption_scope},
       {"tn", &terms.table},
       {"si", &terms.identifier},
       {"spk", &terms.first_partition},
       {"srk", &terms.first_row},
       {"epk", &terms.last_partition},
       {"erk", &terms.last_row}}};
  std::string out = "sig=" + percent_encode(keys.signature_of(payload));
  for (const auto& [name, value] : fields) {
    if (!value->empty()) out += "&" + std::string(name) + "=" + percent_encode(*value);
  }
  return out;
}

SharedAccess table_terms() {
  return {.version = "2019-02-02",
          .permissions = "raud",
          .expiry = "2026-11-16T13:00:00Z",
          .table = "Orders"};
}

TEST(TableSharedAccess, TakesAnAccountSignatureOfTheSdk) {
  const TestAccounts accounts;
  auto grant = authorize(request(kAccountSas), accounts);
  ASSERT_TRUE(grant.has_value()) << grant.error().message;
  EXPECT_TRUE(grant->allows(Operation::query_tables, ""));
  EXPECT_TRUE(grant->allows(Operation::create_table, "other"));
  EXPECT_TRUE(grant->allows(Operation::upsert_entity, "any"));
  EXPECT_TRUE(grant->allows(Operation::get_service_stats, ""));
  // Policies are for account keys.
  EXPECT_EQ(refused(grant->allows(Operation::get_access_policies, "orders")),
            ErrorCode::authorization_permission_mismatch);
  EXPECT_EQ(refused(grant->allows(Operation::set_access_policies, "orders")),
            ErrorCode::authorization_permission_mismatch);
}

TEST(TableSharedAccess, TakesATableSignatureOfTheSdkAndItsRange) {
  const TestAccounts accounts;
  auto grant = authorize(request(kTableSas), accounts);
  ASSERT_TRUE(grant.has_value()) << grant.error().message;
  EXPECT_TRUE(grant->allows(Operation::insert_entity, "oRDERS"));
  EXPECT_EQ(refused(grant->allows(Operation::insert_entity, "others")),
            ErrorCode::authentication_failed);
  EXPECT_EQ(refused(grant->allows(Operation::delete_table, "orders")),
            ErrorCode::authorization_permission_mismatch);
  EXPECT_EQ(refused(grant->allows(Operation::query_tables, "")), ErrorCode::authentication_failed);

  EXPECT_TRUE(grant->allows_keys("a b", "1"));
  EXPECT_TRUE(grant->allows_keys("a c", ""));
  EXPECT_TRUE(grant->allows_keys("m", "z"));
  EXPECT_EQ(refused(grant->allows_keys("a b", "0")), ErrorCode::authorization_failure);
  EXPECT_FALSE(grant->allows_keys("a", "2"));
  EXPECT_FALSE(grant->allows_keys("m", "za"));
  EXPECT_FALSE(grant->allows_keys("n", ""));
}

TEST(TableSharedAccess, NoTermCanBeTakenOffOrChanged) {
  const TestAccounts accounts;
  for (const std::string_view sas : {kAccountSas, kTableSas, kPolicySas}) {
    std::string_view rest = sas;
    while (!rest.empty()) {
      const size_t end = rest.find('&');
      const std::string_view parameter = rest.substr(0, end);
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
      std::string without(sas);
      without.replace(without.find(parameter), parameter.size(), "x=y");
      if (parameter != "tn=Orders") {  // the address names the table as well
        EXPECT_FALSE(authorize(request(without), accounts)) << parameter;
      }
      const std::string changed = std::string(sas) + "&" + std::string(parameter);
      EXPECT_EQ(refused(authorize(request(changed), accounts)), ErrorCode::authentication_failed)
          << "twice: " << parameter;
    }
  }
}

TEST(TableSharedAccess, IsValidFromItsStartToItsExpiry) {
  const TestAccounts accounts;
  RequestFacts facts = request(kTableSas);
  facts.now_s = kTestNow - 3'600;
  EXPECT_TRUE(authorize(facts, accounts));
  facts.now_s = kTestNow - 3'601;
  EXPECT_EQ(refused(authorize(facts, accounts)), ErrorCode::authentication_failed);
  facts.now_s = kTestNow + 3'599;
  EXPECT_TRUE(authorize(facts, accounts));
  facts.now_s = kTestNow + 3'600;
  EXPECT_EQ(refused(authorize(facts, accounts)), ErrorCode::authentication_failed);
}

TEST(TableSharedAccess, IsBoundToAddressAndProtocol) {
  const TestAccounts accounts;
  RequestFacts facts = request(kAccountSas);
  facts.peer = "127.0.0.10:1";
  EXPECT_EQ(refused(authorize(facts, accounts)), ErrorCode::authorization_source_ip_mismatch);

  SharedAccess terms = table_terms();
  terms.protocols = "https";
  const std::string query = query_of(terms, accounts.keys());
  facts = request(query);
  EXPECT_EQ(refused(authorize(facts, accounts)), ErrorCode::authorization_protocol_mismatch);
  facts.tls = true;
  EXPECT_TRUE(authorize(facts, accounts));

  EXPECT_TRUE(address_allowed("10.0.0.1", "10.0.0.1"));
  EXPECT_TRUE(address_allowed("10.0.0.1-10.0.1.0", "10.0.0.200:80"));
  EXPECT_TRUE(address_allowed("10.0.0.1", "[::ffff:10.0.0.1]:80"));
  EXPECT_TRUE(address_allowed("::1", "[::1]:80"));
  EXPECT_FALSE(address_allowed("10.0.0.1", "10.0.0.2"));
  EXPECT_FALSE(address_allowed("10.0.0.1-", "10.0.0.1"));
  EXPECT_FALSE(address_allowed("everywhere", "10.0.0.1"));
  EXPECT_FALSE(address_allowed("10.0.0.1", "unknown"));
  EXPECT_FALSE(address_allowed("10.0.0.1", "["));
}

TEST(TableSharedAccess, AStoredPolicyGivesTheTerms) {
  TestAccounts accounts;
  EXPECT_EQ(refused(authorize(request(kPolicySas), accounts)), ErrorCode::authentication_failed);
  AccessPolicy& policy = accounts.policies["policy 1"];
  policy = {.id = "policy 1", .start = "", .expiry = "2026-11-16T13:00:00Z", .permissions = "r"};
  auto grant = authorize(request(kPolicySas), accounts);
  ASSERT_TRUE(grant.has_value()) << grant.error().message;
  EXPECT_TRUE(grant->allows(Operation::query_entities, "orders"));
  EXPECT_FALSE(grant->allows(Operation::insert_entity, "orders"));
  policy.permissions = "ra";
  EXPECT_TRUE(authorize(request(kPolicySas), accounts)->allows(Operation::insert_entity, "orders"));
  policy.expiry = "2026-11-16T11:00:00Z";
  EXPECT_EQ(refused(authorize(request(kPolicySas), accounts)), ErrorCode::authentication_failed);
  policy.expiry = "";
  EXPECT_EQ(refused(authorize(request(kPolicySas), accounts)), ErrorCode::authentication_failed);

  // What the policy leaves open may be in the signature, and nothing may be in both.
  SharedAccess terms = table_terms();
  terms.identifier = "policy 1";
  terms.permissions = "";
  std::string query = query_of(terms, accounts.keys());
  EXPECT_TRUE(authorize(request(query), accounts));
  terms.permissions = "raud";
  query = query_of(terms, accounts.keys());
  EXPECT_EQ(refused(authorize(request(query), accounts)), ErrorCode::authentication_failed);
}

TEST(TableSharedAccess, EveryVersionIsTaken) {
  const TestAccounts accounts;
  for (const char* version : {"2012-02-12", "2013-08-15", "2015-02-21", "2015-04-05", "2018-11-09",
                              "2020-12-06", "2026-02-06", "2099-01-01"}) {
    SharedAccess terms = table_terms();
    terms.version = version;
    std::string query = query_of(terms, accounts.keys());
    EXPECT_TRUE(authorize(request(query), accounts)) << version;
    terms.services = "bqtf";
    terms.resource_types = "o";
    query = query_of(terms, accounts.keys());
    EXPECT_TRUE(authorize(request(query), accounts)) << version;
  }
  SharedAccess terms = table_terms();
  terms.version = "new";
  const std::string query = query_of(terms, accounts.keys());
  EXPECT_EQ(refused(authorize(request(query), accounts)), ErrorCode::authentication_failed);

  terms = table_terms();
  EXPECT_EQ(table_string_to_sign(terms, "acct", "Orders"),
            "raud\n\n2026-11-16T13:00:00Z\n/table/acct/orders\n\n\n\n2019-02-02\n\n\n\n");
  terms.version = "2013-08-15";
  EXPECT_EQ(table_string_to_sign(terms, "acct", "Orders"),
            "raud\n\n2026-11-16T13:00:00Z\n/acct/orders\n\n2013-08-15\n\n\n\n");
  terms.version = "2020-12-06";
  EXPECT_EQ(account_string_to_sign(terms, "acct"),
            "acct\nraud\n\n\n\n2026-11-16T13:00:00Z\n\n\n2020-12-06\n\n");
}

TEST(TableSharedAccess, AnAccountSignatureIsForItsServicesAndResources) {
  const TestAccounts accounts;
  SharedAccess terms = table_terms();
  terms.services = "bq";
  terms.resource_types = "sco";
  std::string query = query_of(terms, accounts.keys());
  EXPECT_EQ(refused(authorize(request(query), accounts)),
            ErrorCode::authorization_service_mismatch);
  terms.services = "t";
  terms.resource_types = "o";
  terms.permissions = "ral";
  query = query_of(terms, accounts.keys());
  auto grant = authorize(request(query), accounts);
  ASSERT_TRUE(grant);
  EXPECT_TRUE(grant->allows(Operation::query_entities, "orders"));
  EXPECT_EQ(refused(grant->allows(Operation::query_tables, "")),
            ErrorCode::authorization_resource_type_mismatch);
  EXPECT_EQ(refused(grant->allows(Operation::update_entity, "orders")),
            ErrorCode::authorization_permission_mismatch);
}

TEST(TableSharedAccess, AnUpsertNeedsAddAndUpdate) {
  const TestAccounts accounts;
  for (const bool for_account : {false, true}) {
    for (const char* permissions : {"a", "u", "au"}) {
      SharedAccess terms = table_terms();
      terms.permissions = permissions;
      if (for_account) terms.services = "t";
      if (for_account) terms.resource_types = "o";
      const std::string query = query_of(terms, accounts.keys());
      const auto grant = authorize(request(query), accounts);
      ASSERT_TRUE(grant);
      EXPECT_EQ(grant->allows(Operation::upsert_entity, "orders").has_value(),
                terms.permissions == "au")
          << permissions;
    }
  }
}

TEST(TableSharedAccess, ARowBoundNeedsItsPartition) {
  const TestAccounts accounts;
  SharedAccess terms = table_terms();
  terms.first_row = "1";
  std::string query = query_of(terms, accounts.keys());
  EXPECT_EQ(refused(authorize(request(query), accounts)), ErrorCode::authentication_failed);
  terms.first_partition = "p";
  terms.last_partition = "p";
  query = query_of(terms, accounts.keys());
  auto grant = authorize(request(query), accounts);
  ASSERT_TRUE(grant);
  EXPECT_TRUE(grant->allows_keys("p", "zzz"));
  EXPECT_FALSE(grant->allows_keys("p", "0"));
  EXPECT_FALSE(grant->allows_keys("p\x01", ""));
}

}  // namespace
}  // namespace orrery::table

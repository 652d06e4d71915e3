// Roles: what actions are called, what assignments add up to, and files that are refused.
#include "api/cosmos/auth/roles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "api/cosmos/auth/entra.h"
#include "value/json.h"

namespace orrery::cosmos {
namespace {

using account::Bearer;
using ::testing::HasSubstr;

constexpr std::string_view kPrefix = "Microsoft.DocumentDB/databaseAccounts/";

Result<Roles> parse_roles(std::string_view text) {
  auto document = value::JsonDocument::parse(text);
  EXPECT_TRUE(document) << text;
  return Roles::parse(document->root());
}

Actions action_named(std::string_view name) {
  auto parsed = parse_action(std::string(kPrefix) + std::string(name));
  EXPECT_TRUE(parsed) << name;
  return parsed ? *parsed : Actions{0};
}

TEST(Roles, ActionsHaveTheVendorsNames) {
  EXPECT_EQ(action_named("readMetadata"), action::kReadMetadata);
  EXPECT_EQ(action_named("sqlDatabases/containers/items/read"), action::kRead);
  EXPECT_EQ(action_named("SQLDATABASES/containers/items/Delete"), action::kDelete);
  EXPECT_EQ(action_named("sqlDatabases/containers/items/*"), action::kItems);
  EXPECT_EQ(action_named("sqlDatabases/containers/*") | action::kReadMetadata,
            action::kContributor);
  EXPECT_EQ(action_names(action::kRead | action::kReadMetadata),
            std::string(kPrefix) + "readMetadata, " + std::string(kPrefix) +
                "sqlDatabases/containers/items/read");
  for (const char* unknown : {"", "*", "readMetadata", "Microsoft.DocumentDB/databaseAccounts/*",
                              "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/*",
                              "Microsoft.DocumentDB/databaseAccounts/"}) {
    EXPECT_FALSE(parse_action(unknown)) << unknown;
  }
}

TEST(Roles, AssignmentsAddUp) {
  auto roles = parse_roles(R"({
    "roles": [{"name":"deleter","id":"d-1","actions":
      ["Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/items/delete"]}],
    "assignments": [
      {"principal":"ada","role":"00000000-0000-0000-0000-000000000001","scope":"/dbs/shop"},
      {"principal":"ada","role":"deleter","scope":"/dbs/shop/colls/orders"},
      {"principal":"staff","role":"d-1","scope":"/"},
      {"principal":"bob","role":"Cosmos DB Built-in Data Contributor",
       "scope":"/subscriptions/s/resourceGroups/r/providers/Microsoft.DocumentDB/databaseAccounts/a/dbs/shop"},
      {"principal":"eve","role":"00000000-0000-0000-0000-000000000002",
       "scope":"/subscriptions/s/resourceGroups/r/providers/Microsoft.DocumentDB/databaseAccounts/a"}]})");
  ASSERT_TRUE(roles) << roles.error().message;
  const Bearer ada{.id = "ada", .groups = {}};
  const Bearer ada_of_staff{.id = "ada", .groups = {"none", "staff"}};
  EXPECT_EQ(roles->rights(ada, "shop", "orders"), action::kReader | action::kDelete);
  EXPECT_EQ(roles->rights(ada, "shop", "carts"), action::kReader);
  EXPECT_EQ(roles->rights(ada, "shop", ""), action::kReader);
  EXPECT_EQ(roles->rights(ada, "Shop", "orders"), 0);
  EXPECT_EQ(roles->rights(ada, "", ""), 0);
  EXPECT_EQ(roles->rights_anywhere(ada), action::kReader | action::kDelete);
  EXPECT_EQ(roles->rights(ada_of_staff, "", ""), action::kDelete);
  EXPECT_EQ(roles->rights(ada_of_staff, "shop", "carts"), action::kReader | action::kDelete);
  EXPECT_EQ(roles->rights({.id = "bob", .groups = {}}, "shop", "x"), action::kContributor);
  EXPECT_EQ(roles->rights({.id = "bob", .groups = {}}, "other", "x"), 0);
  EXPECT_EQ(roles->rights({.id = "eve", .groups = {}}, "other", "x"), action::kContributor);
  EXPECT_EQ(roles->rights_anywhere({.id = "nobody", .groups = {}}), 0);
}

TEST(Roles, SayWhatIsWrong) {
  const std::string reader = R"("role":"00000000-0000-0000-0000-000000000001")";
  for (
      const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
          {R"({"roles":{}})", "not an array"},
          {R"({"roles":[5]})", "not an object"},
          {R"({"roles":[{"name":"a"}]})", "no array \"actions\""},
          {R"({"roles":[{"name":"a","actions":["read"]}]})", "not an action"},
          {R"({"roles":[{"name":"a","actions":[5]}]})", "not an action"},
          {R"({"roles":[{"actions":["Microsoft.DocumentDB/databaseAccounts/readMetadata"]}]})",
           "neither"},
          {R"({"roles":[{"name":"00000000-0000-0000-0000-000000000001","actions":["Microsoft.DocumentDB/databaseAccounts/readMetadata"]}]})",
           "two roles"},
          {R"({"roles":[{"name":"a","actions":["x"],"notDataActions":[]}]})", "notDataActions"},
          {R"({"assignments":5})", "not an array"},
          {R"({"assignments":[{)" + reader + R"(,"scope":"/"}]})", "no \"principal\""},
          {R"({"assignments":[{"principal":"p","role":"owner","scope":"/"}]})", "no \"role\""},
          {R"({"assignments":[{"principal":"p",)" + reader + "}]}", "scope"},
          {R"({"assignments":[{"principal":"p",)" + reader + R"(,"scope":"dbs/x"}]})", "scope"},
          {R"({"assignments":[{"principal":"p",)" + reader + R"(,"scope":"/dbs/"}]})", "scope"},
          {R"({"assignments":[{"principal":"p",)" + reader + R"(,"scope":"/dbs/x/"}]})", "scope"},
          {R"({"assignments":[{"principal":"p",)" + reader + R"(,"scope":"/dbs/x/colls/"}]})",
           "scope"},
          {R"({"assignments":[{"principal":"p",)" + reader +
               R"(,"scope":"/dbs/x/colls/y/docs/z"}]})",
           "scope"}}) {
    auto roles = parse_roles(text);
    ASSERT_FALSE(roles) << text;
    EXPECT_THAT(roles.error().message, HasSubstr(words)) << text;
  }
}

TEST(EntraFile, NamesIssuerAudienceAndKeys) {
  auto file = parse_entra_file(
      R"({"issuer":"https://i","issuers":["https://j"],"audiences":["a"],"keys":"jwks.json"})");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->issuers, (std::vector<std::string>{"https://i", "https://j"}));
  EXPECT_EQ(file->keys, "jwks.json");
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
           {"", "not JSON"},
           {"[]", "not a JSON object"},
           {R"({"audiences":["a"],"keys":"k"})", "issuer"},
           {R"({"issuer":"i","keys":"k"})", "audiences"},
           {R"({"issuer":"i","audiences":[],"keys":"k"})", "audiences"},
           {R"({"issuer":"i","audiences":[5],"keys":"k"})", "audiences"},
           {R"({"issuer":"i","audiences":["a"]})", "one of"},
           {R"({"issuer":"i","audiences":["a"],"keys":"k","discovery":"d"})", "one of"},
           {R"({"issuer":"i","audiences":["a"],"keys":"k","asignments":[]})", "asignments"}}) {
    auto refused = parse_entra_file(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_THAT(refused.error().message, HasSubstr(words)) << text;
  }
}

TEST(EntraFile, ADiscoveryDocumentIsOfAnIssuerThatIsNamed) {
  const std::vector<std::string> issuers = {"https://i"};
  EXPECT_EQ(*keys_place_of(R"({"issuer":"https://i","jwks_uri":"https://i/keys"})", issuers),
            "https://i/keys");
  for (const char* text : {"", "[]", R"({"issuer":"https://i"})",
                           R"({"issuer":"https://evil","jwks_uri":"https://evil/keys"})"}) {
    EXPECT_FALSE(keys_place_of(text, issuers)) << text;
  }
}

}  // namespace
}  // namespace orrery::cosmos

// Which paths are about users, permissions and scripts, and which definitions of them are taken.
#include "api/cosmos/resources/resource_kinds.h"

#include <gtest/gtest.h>

#include <set>

namespace orrery::cosmos {
namespace {

std::string_view kind_at(std::string_view path) {
  const ResourceKind* kind = kind_of(address_of(path).value());
  return kind == nullptr ? "" : kind->segment;
}

TEST(ResourceKinds, KnowsThePaths) {
  EXPECT_EQ(kind_at("/dbs/d/users"), "users");
  EXPECT_EQ(kind_at("/dbs/d/users/u"), "users");
  EXPECT_EQ(kind_at("/dbs/d/users/u/permissions"), "permissions");
  EXPECT_EQ(kind_at("/dbs/d/users/u/permissions/p"), "permissions");
  EXPECT_EQ(kind_at("/dbs/d/colls/c/sprocs/p"), "sprocs");
  EXPECT_EQ(kind_at("/dbs/d/colls/c/triggers"), "triggers");
  EXPECT_EQ(kind_at("/dbs/d/colls/c/udfs/f"), "udfs");
  for (const char* path : {"/", "/dbs", "/dbs/users", "/dbs/d/colls", "/dbs/d/permissions",
                           "/dbs/d/colls/c/users", "/dbs/d/colls/c/docs/users", "/offers/users",
                           "/dbs/d/users/u/permissions/p/x", "/a/b/users"}) {
    EXPECT_EQ(kind_at(path), "") << path;
  }
}

TEST(ResourceKinds, NumbersAreUnique) {
  std::set<std::string_view> seen;
  for (int number = 0; number <= UINT8_MAX; ++number) {
    const ResourceKind* kind = kind_of(static_cast<uint8_t>(number));
    if (kind != nullptr) EXPECT_TRUE(seen.insert(kind->segment).second) << kind->segment;
  }
  EXPECT_EQ(kind_of(kUserKind)->segment, "users");
  EXPECT_EQ(kind_of(kPermissionKind)->segment, "permissions");
}

TEST(ResourceKinds, ChecksScripts) {
  const auto members = [](uint8_t kind, std::string_view body) {
    auto parsed = parse_resource(*kind_of(kind), body);
    return parsed ? parsed->members : "error: " + parsed.error().message;
  };
  EXPECT_EQ(members(kProcedureKind, R"({"id":"p","body":"f","x":1})"), R"("body":"f")");
  EXPECT_EQ(members(kFunctionKind, R"({"body":"\n","id":"f"})"), R"("body":"\n")");
  EXPECT_TRUE(members(kProcedureKind, R"({"id":"p"})").starts_with("error"));
  EXPECT_TRUE(members(kProcedureKind, R"({"id":"p","body":1})").starts_with("error"));
  EXPECT_EQ(members(kTriggerKind,
                    R"({"id":"t","triggerOperation":"all","body":"f","triggerType":"PRE"})"),
            R"("body":"f","triggerType":"PRE","triggerOperation":"all")");
  for (const char* body : {R"({"id":"t","body":"f","triggerType":"Pre"})",
                           R"({"id":"t","body":"f","triggerOperation":"All"})",
                           R"({"id":"t","body":"f","triggerType":"x","triggerOperation":"All"})",
                           R"({"id":"t","body":"f","triggerType":"Pre","triggerOperation":"x"})"}) {
    EXPECT_TRUE(members(kTriggerKind, body).starts_with("error")) << body;
  }
}

TEST(ResourceKinds, KeepsWhatADefinitionSays) {
  auto user = parse_resource(*kind_of(kUserKind), R"({"id":"ann","_rid":"x","other":1})");
  ASSERT_TRUE(user) << user.error().message;
  EXPECT_EQ(user->name, "ann");
  EXPECT_EQ(user->members, "");
  auto permission = parse_resource(
      *kind_of(kPermissionKind),
      R"({"id":"p","permissionMode":"all","resource":"dbs/d/colls/c","resourcePartitionKey":["a", 1]})");
  ASSERT_TRUE(permission) << permission.error().message;
  EXPECT_EQ(permission->members,
            R"("permissionMode":"all","resource":"dbs/d/colls/c","resourcePartitionKey":["a",1])");
}

TEST(ResourceKinds, RefusesBadDefinitions) {
  for (const char* body : {"", "[]", "{}", R"({"id":1})", R"({"id":"a/b"})", R"({"id":""})"}) {
    EXPECT_FALSE(parse_resource(*kind_of(kUserKind), body)) << body;
  }
  for (
      const char* body :
      {R"({"id":"p"})", R"({"id":"p","permissionMode":"Write","resource":"dbs/d/colls/c"})",
       R"({"id":"p","permissionMode":"Read"})",
       R"({"id":"p","permissionMode":"Read","resource":1})",
       R"({"id":"p","permissionMode":"Read","resource":"dbs/d/colls/c","resourcePartitionKey":"a"})"}) {
    auto parsed = parse_resource(*kind_of(kPermissionKind), body);
    ASSERT_FALSE(parsed) << body;
    EXPECT_EQ(parsed.error().code, Code::invalid);
  }
}

}  // namespace
}  // namespace orrery::cosmos

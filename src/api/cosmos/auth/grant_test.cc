// Operation × grant: what each kind of permission lets one do, operation by operation.
#include "api/cosmos/auth/grant.h"

#include <gtest/gtest.h>

#include <tuple>

namespace orrery::cosmos {
namespace {

Grant grant(std::string_view definition) {
  auto parsed = parse_grant(definition);
  EXPECT_TRUE(parsed) << definition << ": " << parsed.error().message;
  return parsed.value_or(Grant{});
}

// One letter a grant, in this order; `+` may, `-` may not.
const std::array kGrants = {
    R"("permissionMode":"All","resource":"dbs/d/colls/c")",
    R"("permissionMode":"Read","resource":"dbs/d/colls/c/")",
    R"("permissionMode":"All","resource":"dbs/d/colls/c","resourcePartitionKey":["a"])",
    R"("permissionMode":"Read","resource":"dbs/d/colls/c","resourcePartitionKey":["a"])",
    R"("permissionMode":"All","resource":"dbs/d/colls/c/docs/1","resourcePartitionKey":["a"])",
    R"("permissionMode":"Read","resource":"dbs/d/colls/c/docs/1")",
    R"("permissionMode":"All","resource":"dbs/d/colls/c/sprocs/p")",
    R"("permissionMode":"Read","resource":"dbs/d/colls/c/udfs/f")",
};

enum Flavour { plain, query, plan, batch, bulk };
struct Row {
  const char* method;
  const char* path;
  const char* key;
  Flavour flavour;
  const char* expected;
};

TEST(Grant, OperationByOperation) {
  const Row rows[] = {
      // the account, and what is outside of the container
      {"GET", "/", "", plain, "++++++++"},
      {"POST", "/", "", plain, "--------"},
      {"GET", "/dbs", "", plain, "--------"},
      {"POST", "/dbs", "", plain, "--------"},
      {"POST", "/dbs", "", query, "--------"},
      {"GET", "/dbs/d", "", plain, "--------"},
      {"DELETE", "/dbs/d", "", plain, "--------"},
      {"GET", "/dbs/d/colls", "", plain, "--------"},
      {"POST", "/dbs/d/colls", "", plain, "--------"},
      {"GET", "/dbs/d/users", "", plain, "--------"},
      {"POST", "/dbs/d/users", "", plain, "--------"},
      {"GET", "/dbs/d/users/u/permissions/p", "", plain, "--------"},
      {"GET", "/offers", "", plain, "--------"},
      {"POST", "/offers", "", query, "--------"},
      {"PUT", "/offers/x", "", plain, "--------"},
      {"GET", "/dbs/d/colls/other", "", plain, "--------"},
      {"GET", "/dbs/d/colls/other/docs/1", R"(["a"])", plain, "--------"},
      // the container itself
      {"GET", "/dbs/d/colls/c", "", plain, "++++++++"},
      {"PUT", "/dbs/d/colls/c", "", plain, "--------"},
      {"DELETE", "/dbs/d/colls/c", "", plain, "--------"},
      {"GET", "/dbs/d/colls/c/pkranges", "", plain, "++++++++"},
      // an item that is granted by all that grant items
      {"GET", "/dbs/d/colls/c/docs/1", R"(["a"])", plain, "++++++--"},
      {"HEAD", "/dbs/d/colls/c/docs/1", R"(["a"])", plain, "++++++--"},
      {"PUT", "/dbs/d/colls/c/docs/1", R"(["a"])", plain, "+-+-+---"},
      {"PATCH", "/dbs/d/colls/c/docs/1", R"(["a"])", plain, "+-+-+---"},
      {"DELETE", "/dbs/d/colls/c/docs/1", R"(["a"])", plain, "+-+-+---"},
      // another key, no key, another item, by resource id
      {"GET", "/dbs/d/colls/c/docs/1", R"(["b"])", plain, "++---+--"},
      {"GET", "/dbs/d/colls/c/docs/1", "", plain, "++---+--"},
      {"DELETE", "/dbs/d/colls/c/docs/1", R"(["b"])", plain, "+-------"},
      {"GET", "/dbs/d/colls/c/docs/2", R"(["a"])", plain, "++++----"},
      {"GET", "/dbs/AAAAAQ==/colls/AAAAAYAAAAE=/docs/AAAAAYAAAAEAAAAAAAABAA==", R"(["a"])", plain,
       "++------"},
      // feeds, queries, plans
      {"GET", "/dbs/d/colls/c/docs", R"(["a"])", plain, "++++----"},
      {"GET", "/dbs/d/colls/c/docs", "", plain, "++------"},
      {"POST", "/dbs/d/colls/c/docs", R"(["a"])", query, "++++----"},
      {"POST", "/dbs/d/colls/c/docs", R"(["b"])", query, "++------"},
      {"POST", "/dbs/d/colls/c/docs", "", query, "++------"},
      {"POST", "/dbs/d/colls/c/docs", "", plan, "++++----"},
      // creates, batches, bulk
      {"POST", "/dbs/d/colls/c/docs", R"(["a"])", plain, "+-+-----"},
      {"POST", "/dbs/d/colls/c/docs", R"(["b"])", plain, "+-------"},
      {"POST", "/dbs/d/colls/c/docs", "", plain, "+-------"},
      {"POST", "/dbs/d/colls/c/docs", R"(["a"])", batch, "+-+-----"},
      {"POST", "/dbs/d/colls/c/docs", R"(["b"])", batch, "+-------"},
      {"POST", "/dbs/d/colls/c/docs", R"(["a"])", bulk, "+-------"},
      {"POST", "/dbs/d/colls/c/operations/partitionkeydelete", R"(["a"])", plain, "+-+-----"},
      {"POST", "/dbs/d/colls/c/operations/partitionkeydelete", R"(["b"])", plain, "+-------"},
      // scripts
      {"GET", "/dbs/d/colls/c/sprocs", "", plain, "++++----"},
      {"GET", "/dbs/d/colls/c/sprocs/p", "", plain, "++++--+-"},
      {"GET", "/dbs/d/colls/c/sprocs/q", "", plain, "++++----"},
      {"POST", "/dbs/d/colls/c/sprocs", "", plain, "+-------"},
      {"PUT", "/dbs/d/colls/c/sprocs/p", "", plain, "+-----+-"},
      {"DELETE", "/dbs/d/colls/c/sprocs/p", "", plain, "+-----+-"},
      {"POST", "/dbs/d/colls/c/sprocs/p", R"(["a"])", plain, "+-+---+-"},
      {"POST", "/dbs/d/colls/c/sprocs/p", R"(["b"])", plain, "+-----+-"},
      {"GET", "/dbs/d/colls/c/udfs/f", "", plain, "++++---+"},
      {"PUT", "/dbs/d/colls/c/udfs/f", "", plain, "+-------"},
      {"GET", "/dbs/d/colls/c/triggers/f", "", plain, "++++----"},
      // what is not known
      {"GET", "/dbs/d/colls/c/conflicts", "", plain, "--------"},
      {"GET", "/dbs/d/colls/c/docs/1/attachments", R"(["a"])", plain, "--------"},
  };
  for (const Row& row : rows) {
    const ResourceAddress address = address_of(row.path).value();
    RequestHeaders headers;
    headers.partition_key = row.key;
    if (row.flavour == plan) headers.is_query_plan = "True";
    if (row.flavour == batch || row.flavour == bulk) headers.is_batch = "True";
    if (row.flavour == batch) headers.batch_atomic = "True";
    const bool in_container = address.by_rid || (address.count >= 4 && address.container() == "c" &&
                                                 address.segments[2] == "colls");
    std::string got;
    for (const char* definition : kGrants) {
      auto allowed =
          check_grant(grant(definition), {.method = row.method,
                                          .address = address,
                                          .headers = headers,
                                          .query = row.flavour == query || row.flavour == plan,
                                          .in_container = in_container});
      got += allowed ? '+' : '-';
      if (!allowed) EXPECT_EQ(allowed.error().code, Code::forbidden);
    }
    EXPECT_EQ(got, row.expected) << row.method << ' ' << row.path << ' ' << row.key;
  }
}

TEST(Grant, APrefixOfAKeyCoversWhatIsBelowIt) {
  const Grant tenant = grant(
      R"({"permissionMode":"All","resource":"dbs/d/colls/c","resourcePartitionKey":["acme",7]})");
  const ResourceAddress address = address_of("/dbs/d/colls/c/docs").value();
  for (const auto& [key, allowed] :
       std::initializer_list<std::pair<const char*, bool>>{{R"(["acme",7])", true},
                                                           {R"(["acme",7,"x"])", true},
                                                           {R"(["acme"])", false},
                                                           {R"(["acme","7"])", false},
                                                           {R"([])", false},
                                                           {R"(nonsense)", false}}) {
    RequestHeaders headers;
    headers.partition_key = key;
    EXPECT_EQ(check_grant(tenant, {.method = "POST",
                                   .address = address,
                                   .headers = headers,
                                   .query = false,
                                   .in_container = true})
                  .has_value(),
              allowed)
        << key;
  }
}

TEST(Grant, AnIdThatReadsLikeAResourceIdIsNotTheItemWithThatResourceId) {
  const char* by_id = "/dbs/d/colls/c/docs/AQAAAIAAAAEAAAAAAAABAA==";
  const char* by_rid = "/dbs/AQAAAA==/colls/AQAAAIAAAAE=/docs/AQAAAIAAAAEAAAAAAAABAA==";
  ASSERT_TRUE(address_of(by_rid)->by_rid);
  for (const auto& [granted, asked, allowed] :
       {std::tuple(by_id, by_id, true), std::tuple(by_rid, by_rid, true),
        std::tuple(by_id, by_rid, false), std::tuple(by_rid, by_id, false)}) {
    const Grant item =
        grant(R"("permissionMode":"All","resource":")" + std::string(granted + 1) + '"');
    const ResourceAddress address = address_of(asked).value();
    const RequestHeaders headers;
    EXPECT_EQ(check_grant(item, {.method = "GET",
                                 .address = address,
                                 .headers = headers,
                                 .query = false,
                                 .in_container = true})
                  .has_value(),
              allowed)
        << granted << " " << asked;
  }
}

TEST(Grant, RefusesWhatCannotBeGranted) {
  for (const char* link : {"", "/", "dbs/d", "dbs/d/colls", "dbs/d/users/u", "dbs/d/colls/c/docs",
                           "dbs/d/colls/c/pkranges/0", "offers/x", "x/d/colls/c", "dbs//colls/c"}) {
    auto parsed = parse_grant(R"("permissionMode":"All","resource":")" + std::string(link) + "\"");
    ASSERT_FALSE(parsed) << link;
    EXPECT_EQ(parsed.error().code, Code::invalid);
  }
  for (const char* text :
       {R"("resource":"dbs/d/colls/c")", R"("permissionMode":"All")",
        R"("permissionMode":"All","resource":"dbs/d/colls/c","resourcePartitionKey":[[1]])"}) {
    EXPECT_FALSE(parse_grant(text)) << text;
  }
}

TEST(Grant, TakesNamesEncodedOrNot) {
  for (const char* link : {"dbs/d/colls/a%20b", "dbs/d/colls/a b"}) {
    EXPECT_EQ(grant(R"("permissionMode":"All","resource":")" + std::string(link) + "\"")
                  .resource.container(),
              "a b");
  }
  EXPECT_EQ(grant(R"("permissionMode":"All","resource":"dbs/d/colls/100%")").resource.container(),
            "100%");
}

TEST(Grant, TellsTheSameSubject) {
  const Grant one = grant(R"("permissionMode":"All","resource":"dbs/d/colls/c")");
  EXPECT_TRUE(one.same_subject(grant(R"("permissionMode":"Read","resource":"/dbs/d/colls/c/")")));
  EXPECT_FALSE(one.same_subject(grant(R"("permissionMode":"All","resource":"dbs/d/colls/d")")));
  EXPECT_FALSE(one.same_subject(
      grant(R"("permissionMode":"All","resource":"dbs/d/colls/c","resourcePartitionKey":["a"])")));
}

}  // namespace
}  // namespace orrery::cosmos

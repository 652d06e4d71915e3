// Which resource a path names, and what of it is signed.
#include "api/cosmos/wire/resource_address.h"

#include <gtest/gtest.h>

namespace orrery::cosmos {
namespace {

ResourceAddress address(std::string_view path) {
  auto made = address_of(path);
  EXPECT_TRUE(made.has_value()) << path;
  return made.value_or(ResourceAddress{});
}

TEST(Address, TellsTypeAndLink) {
  struct Row {
    const char* path;
    const char* type;
    const char* link;
  };
  for (const Row& row : {
           Row{"/", "", ""},
           Row{"", "", ""},
           Row{"/dbs", "dbs", ""},
           Row{"/dbs/", "dbs", ""},
           Row{"/dbs/shop", "dbs", "dbs/shop"},
           Row{"//dbs/shop/", "dbs", "dbs/shop"},
           Row{"/dbs/shop/colls", "colls", "dbs/shop"},
           Row{"/dbs/shop/colls/Orders", "colls", "dbs/shop/colls/Orders"},
           Row{"/dbs/shop/colls/orders/docs", "docs", "dbs/shop/colls/orders"},
           Row{"/dbs/shop/colls/orders/docs?x=1", "docs", "dbs/shop/colls/orders"},
           Row{"/dbs/shop/colls/orders/docs/who?me", "docs", "dbs/shop/colls/orders/docs/who?me"},
           Row{"/dbs/shop/colls/orders/docs/?", "docs", "dbs/shop/colls/orders/docs/?"},
           Row{"/dbs/shop/colls/orders/docs/1?x=/y", "docs", "dbs/shop/colls/orders/docs/1"},
           Row{"/dbs/docs/colls/c/docs?x=1", "docs", "dbs/docs/colls/c"},
           Row{"/dbs/docs/colls/docs/docs/a?b", "docs", "dbs/docs/colls/docs/docs/a?b"},
           Row{"/dbs/a/colls/c?x=/docs/1", "colls", "dbs/a/colls/c"},
           Row{"/dbs/a/colls/docs/docs?x=1", "docs", "dbs/a/colls/docs"},
           Row{"/dbs/shop/colls/orders/docs/a%20b", "docs", "dbs/shop/colls/orders/docs/a b"},
           Row{"/dbs/shop/colls/orders/sprocs/p", "sprocs", "dbs/shop/colls/orders/sprocs/p"},
           Row{"/dbs/shop/colls/orders/pkranges", "pkranges", "dbs/shop/colls/orders"},
           Row{"/offers", "offers", ""},
           Row{"/offers/AbCd", "offers", "abcd"},
           // By resource id: the id alone, in lower case.
           Row{"/dbs/AAAAAQ==", "dbs", "aaaaaq=="},
           Row{"/dbs/AAAAAQ%3D%3D/colls", "colls", "aaaaaq=="},
           Row{"/dbs/AAAAAQ==/colls/AAAAAYAAAAE=/pkranges", "pkranges", "aaaaayaaaae="},
           Row{"/dbs/AAAAAQ==/colls/AAAAAYAAAAE=/docs/AAAAAYAAAAEAAAAAAAABAA==", "docs",
               "aaaaayaaaaeaaaaaaaabaa=="},
           // Eight letters, and no resource id.
           Row{"/dbs/database", "dbs", "dbs/database"},
       }) {
    const ResourceAddress at = address(row.path);
    EXPECT_EQ(at.resource_type, row.type) << row.path;
    EXPECT_EQ(at.resource_link, row.link) << row.path;
  }
}

TEST(Address, GivesTheParts) {
  const ResourceAddress at = address("/dbs/a%2Fb/colls/c/docs/d");
  EXPECT_EQ(at.count, 6U);
  EXPECT_EQ(at.database(), "a/b");
  EXPECT_EQ(at.container(), "c");
  EXPECT_EQ(at.child(), "d");
  EXPECT_FALSE(at.is_feed());
  EXPECT_FALSE(at.by_rid);
  EXPECT_TRUE(address("/dbs/x/colls").is_feed());
  EXPECT_EQ(address("/dbs/x/colls").container(), "");
  EXPECT_TRUE(address("/dbs/AAAAAQ==/colls").by_rid);
}

TEST(Address, RefusesMalformedPaths) {
  for (const char* path : {"/dbs//colls", "/dbs/%zz", "/dbs/%4", "/a/b/c/d/e/f/g/h/i"}) {
    EXPECT_FALSE(address_of(path).has_value()) << path;
  }
}

// By a second form, where clients do not agree on what to sign.
TEST(Address, TellsTheOtherForm) {
  EXPECT_FALSE(address("/dbs/shop/colls/orders/docs/1").has_other);
  const ResourceAddress escaped = address("/dbs/shop/colls/a%20b/docs");
  EXPECT_TRUE(escaped.has_other);
  EXPECT_EQ(escaped.other_type, "docs");
  EXPECT_EQ(escaped.other_link, "dbs/shop/colls/a%20b");
  const ResourceAddress by_rid = address("/dbs/AAAAAQ==/colls");
  EXPECT_EQ(by_rid.other_type, "colls");
  EXPECT_EQ(by_rid.other_link, "dbs/AAAAAQ==");
  const ResourceAddress key = address("/dbs/shop/colls/orders/operations/partitionkeydelete");
  EXPECT_EQ(key.resource_type, "colls");
  EXPECT_EQ(key.resource_link, "dbs/shop/colls/orders");
  EXPECT_EQ(key.other_type, "partitionkey");
  EXPECT_EQ(key.other_link, "dbs/shop/colls/orders");
}

// As Java's client asks, and as .NET's does.
TEST(Address, OfAddressesIsSignedAsTheFeedTheyAreFor) {
  for (const std::string_view path : {"/addresses/", "//addresses/"}) {
    const auto address =
        address_of(std::string(path) +
                   "?$resolveFor=dbs%2FAAAADQ%3D%3D%2Fcolls%2FAAAADYAAAA4%3D%2Fdocs"
                   "&$filter=protocol%20eq%20rntbd&$partitionKeyRangeIds=0,1");
    ASSERT_TRUE(address);
    EXPECT_TRUE(asks_for_addresses(*address));
    EXPECT_EQ(address->resource_type, "docs");
    EXPECT_EQ(address->resource_link, "aaaadyaaaa4=");
  }
  const auto databases = address_of("/addresses/?$resolveFor=dbs");
  ASSERT_TRUE(databases);
  EXPECT_EQ(databases->resource_type, "dbs");
  EXPECT_EQ(databases->resource_link, "");
  EXPECT_EQ(query_option("/addresses/?$a=1&%24b=2%2C3", "$b"), "2,3");
  EXPECT_EQ(query_option("/addresses/", "$b"), "");
}

TEST(Address, OfAddressesOfNothingIsRefused) {
  for (const std::string_view query :
       {"", "?$resolveFor=", "?$resolveFor=addresses", "?$resolveFor=dbs%2Fx",
        "?$resolveFor=offers", "?$resolveFor=addresses%3F$resolveFor=dbs"}) {
    EXPECT_FALSE(address_of("/addresses/" + std::string(query))) << query;
  }
}

// A call that is refused has no address, so that its answer repeats none of what was sent.
TEST(Address, IsEmptyAfterAnError) {
  for (const std::string_view path : {"/addresses/?$resolveFor=x", "/dbs/a//b", "/dbs/%zz"}) {
    ResourceAddress address;
    EXPECT_FALSE(take_apart(path, address));
    EXPECT_EQ(address.count, 0U) << path;
    EXPECT_EQ(address.segments[0], "") << path;
  }
}

}  // namespace
}  // namespace orrery::cosmos

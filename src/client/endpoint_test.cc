// Addresses of accounts, as people write them.
#include "client/endpoint.h"

#include <gtest/gtest.h>

namespace orrery::client {
namespace {

TEST(EndpointTest, AnAddressHasAHostAndUpToTwoNames) {
  const auto whole = parse_account_url("https://shop.example.com:8081/my%20db/orders");
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->host, "shop.example.com");
  EXPECT_EQ(whole->port, 8081);
  EXPECT_EQ(whole->database, "my db");
  EXPECT_EQ(whole->container, "orders");
  const auto bare = parse_account_url("https://shop.example.com");
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->port, 443);
  EXPECT_EQ(bare->database + bare->container, "");
  const auto six = parse_account_url("https://[::1]:8081/db");
  ASSERT_TRUE(six);
  EXPECT_EQ(six->host, "::1");
  EXPECT_EQ(six->database, "db");
}

TEST(EndpointTest, WhatIsNotSuchAnAddressIsRefusedWithTheForm) {
  for (const char* text : {"http://plain.example.com/db/c", "https://", "https://h/a/b/c",
                           "https://user:password@h/a/b", "https://h/a/b?q=1", "https://h/%zz/b"}) {
    const auto refused = parse_account_url(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_NE(refused.error().message.find("https://HOST"), std::string::npos);
  }
}

TEST(EndpointTest, AConnectionStringIsAnEndpointWithItsKey) {
  const auto found =
      parse_connection_string("AccountEndpoint=https://a.example.com:443/;AccountKey=a2V5==;");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->where(), "a.example.com:443");
  EXPECT_EQ(found->key, "a2V5==");
  EXPECT_FALSE(parse_connection_string("AccountKey=a2V5;"));
  EXPECT_FALSE(parse_connection_string("AccountEndpoint=https://a.example.com;"));
}

}  // namespace
}  // namespace orrery::client

// What counts as this machine, and what only looks like it.
#include "net/loopback.h"

#include <gtest/gtest.h>

namespace orrery::net {
namespace {

TEST(Loopback, AddressesAndNamesOfThisMachine) {
  for (const char* host : {"127.0.0.1", "127.0.0.1:8081", "127.255.1.2:1", "localhost",
                           "LocalHost:8081", "localhost.", "localhost.:8081", "app.localhost:3000",
                           "::1", "[::1]", "[::1]:8081", "[::ffff:127.0.0.1]:1"}) {
    EXPECT_TRUE(is_loopback(host)) << host;
  }
}

TEST(Loopback, WhatOnlyLooksLikeIt) {
  for (const char* host : {"",
                           ":8081",
                           "0.0.0.0",
                           "::",
                           "10.0.0.1:8081",
                           "128.0.0.1",
                           "127.0.0.1.example.com",
                           "127.example.com:8081",
                           "127.1",
                           "0127.0.0.1",
                           "2130706433",
                           "localhost.example.com",
                           "notlocalhost",
                           ".localhost",
                           "[::1",
                           "[127.0.0.1.example.com]",
                           "[::2]",
                           "[::ffff:10.0.0.1]",
                           "example.com:127.0.0.1",
                           "localhost@example.com"}) {
    EXPECT_FALSE(is_loopback(host)) << host;
  }
}

}  // namespace
}  // namespace orrery::net

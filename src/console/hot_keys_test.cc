// The keys that are asked for most are found in bounded memory, and forgotten in time.
#include "console/hot_keys.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace orrery::console {
namespace {

constexpr std::string_view kItems = "/dbs/shop/colls/orders/docs";

TEST(HotKeys, TellsThePartOfEachKey) {
  HotKeys keys;
  for (int i = 0; i < 60; ++i) keys.note(kItems, R"(["US"])", 1.0, 0);
  for (int i = 0; i < 40; ++i) keys.note("/dbs/shop/colls/orders/docs/x?y", R"(["DE"])", 1.0, 0);
  keys.note("/dbs/shop/colls/other/docs", R"(["US"])", 1.0, 0);
  const HotKeyList list = keys.of("shop", "orders", 0);
  ASSERT_EQ(list.keys.size(), 2);
  EXPECT_EQ(list.sampled, 100);
  EXPECT_EQ(list.keys[0].key, R"(["US"])");
  EXPECT_DOUBLE_EQ(list.keys[0].part, 0.6);
  EXPECT_DOUBLE_EQ(list.keys[1].part, 0.4);
  EXPECT_TRUE(keys.of("shop", "nothing", 0).keys.empty());
}

TEST(HotKeys, CountsWhatIsChargedAndWhatRefusedRequestsWouldBe) {
  HotKeys keys;
  constexpr int64_t kBegan = 1'000'000;
  for (int i = 0; i < 90; ++i) keys.note(kItems, R"(["many"])", 1.0, kBegan);
  for (int i = 0; i < 10; ++i) keys.note(kItems, R"(["dear"])", 31.0, kBegan);
  // 4 each, as the 100 that were served.
  for (int i = 0; i < 50; ++i) keys.note(kItems, R"(["many"])", std::nullopt, kBegan);
  const HotKeyList list = keys.of("shop", "orders", kBegan + 5'000);
  EXPECT_EQ(list.sampled, 150);
  ASSERT_EQ(list.keys.size(), 2U);
  EXPECT_EQ(list.keys[0].key, R"(["dear"])") << "310 of 600, with a fifteenth of the requests";
  EXPECT_NEAR(list.keys[0].part, 310.0 / 600, 1e-9);
  EXPECT_NEAR(list.keys[0].units_per_s, 310 * HotKeys::kSampled / 5.0, 1e-6);
}

TEST(HotKeys, RatesAreTheSameHoweverLongItWatches) {
  for (const int64_t long_ms : {5'000, 10'000, 19'000, 95'000}) {
    HotKeys keys;
    for (int64_t ms = 0; ms < long_ms; ms += 100) keys.note(kItems, "[1]", 2.0, ms);
    EXPECT_NEAR(keys.of("shop", "orders", long_ms).keys[0].units_per_s, 20 * HotKeys::kSampled, 1)
        << long_ms;
  }
}

TEST(HotKeys, AHotOneIsFoundAmongAnyNumberOfOthers) {
  HotKeys keys;
  for (int i = 0; i < 20'000; ++i) {
    keys.note(kItems, i % 5 == 0 ? std::string("[\"hot\"]") : fmt::format("[\"{}\"]", i), 1.0, 0);
  }
  const HotKeyList list = keys.of("shop", "orders", 0);
  EXPECT_LE(list.keys.size(), HotKeys::kKeys);
  EXPECT_EQ(list.keys[0].key, "[\"hot\"]");
  EXPECT_NEAR(list.keys[0].part, 0.2, 0.03);
}

TEST(HotKeys, ForgetsWhatIsNotAskedForAnyMore) {
  HotKeys keys;
  for (int i = 0; i < 100; ++i) keys.note(kItems, "[1]", 1.0, 0);
  EXPECT_EQ(keys.of("shop", "orders", HotKeys::kHalfLifeMs).sampled, 50);
  for (int i = 0; i < 100; ++i) keys.note(kItems, "[2]", 1.0, 3 * HotKeys::kHalfLifeMs);
  EXPECT_EQ(keys.of("shop", "orders", 3 * HotKeys::kHalfLifeMs).keys[0].key, "[2]");
  EXPECT_TRUE(keys.of("shop", "orders", 1'000 * HotKeys::kHalfLifeMs).keys.empty());
}

TEST(HotKeys, ContainersAreBoundedAndTheBusyOnesStay) {
  HotKeys keys;
  for (int i = 0; i < 10; ++i) keys.note(kItems, "[1]", 1.0, 0);
  for (size_t i = 0; i < 4 * HotKeys::kContainersMax; ++i) {
    keys.note(fmt::format("/dbs/d/colls/c{}/docs", i), "[1]", 1.0, 0);
  }
  EXPECT_EQ(keys.of("shop", "orders", 0).sampled, 10);
  // Of containers that are equally busy, any may go.
  size_t kept = 0;
  for (size_t i = 0; i < 4 * HotKeys::kContainersMax; ++i) {
    if (!keys.of("d", fmt::format("c{}", i), 0).keys.empty()) ++kept;
  }
  EXPECT_EQ(kept, HotKeys::kContainersMax - 1);
}

TEST(HotKeys, PassesOverWhatIsNoItemOrNoKey) {
  HotKeys keys;
  for (const char* target : {"/", "", "/dbs", "/dbs/shop", "/dbs/shop/colls/orders",
                             "/dbs/shop/colls/orders/sprocs/x", "/dbs/%zz/colls/orders/docs",
                             "//////", "/dbs//colls//docs", "/colls/orders/dbs/shop/docs"}) {
    keys.note(target, "[1]", 1.0, 0);
  }
  keys.note(kItems, "", 1.0, 0);
  keys.note(kItems, std::string(HotKeys::kKeyBytesMax + 1, 'x'), 1.0, 0);
  EXPECT_TRUE(keys.of("shop", "orders", 0).keys.empty());
  keys.note("/dbs/a%20b/colls/%C3%A9/docs/1", "[1]", 1.0, 0);
  EXPECT_EQ(keys.of("a b", "\xC3\xA9", 0).sampled, 1);
}

// Sends so many requests a second for some seconds, and tells how many of them were looked at.
int taken_of(HotKeys& keys, ManualClock& clock, int per_s, int seconds, uint32_t& stood_for) {
  int taken = 0;
  for (int i = 0; i < per_s * seconds; ++i) {
    if (i % (per_s / 10) == 0) clock.advance_ms(100);
    if (const uint32_t stands_for = keys.take(clock); stands_for > 0) {
      ++taken;
      stood_for += stands_for;
    }
  }
  return taken;
}

TEST(HotKeys, LooksAtOneOfSoMany) {
  HotKeys keys;
  ManualClock clock;
  uint32_t stood_for = 0;
  EXPECT_EQ(taken_of(keys, clock, 80, 10, stood_for), 100);
  EXPECT_EQ(stood_for, 800);
}

TEST(HotKeys, LooksAtFewerUnderLoadAndAtMoreAfterIt) {
  HotKeys keys;
  ManualClock clock;
  uint32_t stood_for = 0;
  const int taken = taken_of(keys, clock, 50'000, 10, stood_for);
  constexpr int kLeast = 500'000 / static_cast<int>(HotKeys::kSampledLeast);
  EXPECT_GE(taken, kLeast);
  EXPECT_LE(taken, kLeast + kLeast / 10);
  EXPECT_NEAR(stood_for, 500'000, HotKeys::kSampledLeast) << "as many as there were";
  stood_for = 0;
  EXPECT_GE(taken_of(keys, clock, 80, 10, stood_for), 60) << "of 100";
}

TEST(HotKeys, CountsWhatARequestStandsFor) {
  HotKeys keys;
  for (int i = 0; i < 10; ++i) keys.note(kItems, "[1]", 1.0, 0, 8);
  for (int i = 0; i < 10; ++i) keys.note(kItems, "[2]", 1.0, 0, 32);
  const HotKeyList list = keys.of("shop", "orders", 0);
  EXPECT_EQ(list.sampled, 20);
  ASSERT_EQ(list.keys.size(), 2U);
  EXPECT_EQ(list.keys[0].key, "[2]");
  EXPECT_DOUBLE_EQ(list.keys[0].part, 0.8);
}

}  // namespace
}  // namespace orrery::console

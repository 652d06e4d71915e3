// Feeds as text, and lists by name in pages.
#include "api/cosmos/wire/feed_json.h"

#include <gtest/gtest.h>

#include "value/json.h"

namespace orrery::cosmos {
namespace {

using Names = std::vector<std::string>;

Result<NamedPage<std::string>> page(const Names& all, std::string_view size,
                                    std::string_view continuation) {
  static const Continuations continuations{account::Secret("secret")};
  RequestHeaders headers;
  headers.max_item_count = size;
  headers.continuation = continuation;
  return page_of_names(headers, continuations, all,
                       [](const std::string& one) -> std::string_view { return one; });
}

TEST(FeedJson, EmptyAndFull) {
  std::string json = feed_head("rid==", "Documents");
  finish_feed(json, 0);
  EXPECT_EQ(json, R"({"_rid":"rid==","Documents":[],"_count":0})");
  json = feed_head("", "Offers");
  append_feed_element(json, "{}");
  append_feed_element(json, R"({"a":[]})");
  finish_feed(json, 2);
  EXPECT_EQ(json, R"({"_rid":"","Offers":[{},{"a":[]}],"_count":2})");
}

TEST(FeedJson, PagesOfNamesCoverAllOnce) {
  const Names all = {"a", "b", "c", "d", "e"};
  for (const char* size : {"1", "2", "4", "5", "6", "-1", ""}) {
    Names seen;
    std::string continuation;
    do {
      auto one = page(all, size, continuation);
      ASSERT_TRUE(one.has_value()) << one.error().message;
      ASSERT_FALSE(one->resources.empty());
      seen.insert(seen.end(), one->resources.begin(), one->resources.end());
      continuation = one->continuation;
    } while (!continuation.empty());
    EXPECT_EQ(seen, all) << size;
  }
}

TEST(FeedJson, ThePageAfterANameThatIsGoneGoesOnAfterIt) {
  auto first = page({"a", "c", "e"}, "2", "");
  ASSERT_FALSE(first->continuation.empty());
  auto second = page({"a", "b", "d", "e"}, "5", first->continuation);
  EXPECT_EQ(second->resources, (Names{"d", "e"}));
  auto none = page({"a"}, "5", first->continuation);
  EXPECT_TRUE(none->resources.empty());
  EXPECT_TRUE(none->continuation.empty());
}

TEST(FeedJson, AnEmptyListHasOneEmptyPage) {
  auto one = page({}, "", "");
  ASSERT_TRUE(one.has_value());
  EXPECT_TRUE(one->resources.empty());
  EXPECT_TRUE(one->continuation.empty());
}

TEST(FeedJson, SizesAndContinuationsThatMakeNoSense) {
  for (const char* size : {"0", "-2", "x", "1.5", "99999999999999999999", "5 "}) {
    EXPECT_FALSE(page({"a"}, size, "").has_value()) << size;
  }
  EXPECT_FALSE(page({"a"}, "1", "nonsense").has_value());
  EXPECT_EQ(page_size("5000", 100, 1000).value(), 1000U);
  EXPECT_EQ(page_size("-1", 100, 1000).value(), 100U);
  EXPECT_EQ(page_size("", 100, 1000).value(), 100U);
}

}  // namespace
}  // namespace orrery::cosmos

// Cursors over ranges that are split and merged.
#include "client/feed.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace orrery::client {
namespace {

KeyRange range(std::string id, std::string min, std::string max) {
  return {.id = std::move(id), .min = std::move(min), .max = std::move(max), .parents = {}};
}

TEST(FeedTest, ChildrenGoOnWhereTheParentWas) {
  const FeedCursor gone{.range = range("1", "10", "20"), .continuation = "here"};
  const auto children = children_of(gone, {range("0", "", "10"), range("3", "10", "18"),
                                           range("4", "18", "20"), range("2", "20", "FF")});
  ASSERT_TRUE(children) << children.error().message;
  ASSERT_EQ(children->size(), 2U);
  EXPECT_EQ((*children)[0].range.id, "3");
  EXPECT_EQ((*children)[1].range.id, "4");
  EXPECT_EQ((*children)[0].continuation, "here");
  EXPECT_EQ((*children)[1].continuation, "here");
}

TEST(FeedTest, RangesThatDoNotCoverTheOldOneAreAnError) {
  const FeedCursor gone{.range = range("1", "10", "20"), .continuation = ""};
  EXPECT_FALSE(children_of(gone, {range("0", "", "10"), range("3", "10", "18")}));
  EXPECT_FALSE(children_of(gone, {range("0", "12", "18"), range("3", "18", "20")}));
  EXPECT_FALSE(children_of(gone, {}));
}

TEST(FeedTest, WhatWasMergedIsReadInPart) {
  const FeedCursor gone{.range = range("1", "10", "20"), .continuation = "here"};
  const auto children = children_of(gone, {range("5", "", "18"), range("6", "18", "FF")});
  ASSERT_TRUE(children) << children.error().message;
  ASSERT_EQ(children->size(), 2U);
  EXPECT_EQ((*children)[0].range.id, "5");
  EXPECT_EQ((*children)[0].range.min, "10");
  EXPECT_EQ((*children)[0].range.max, "18");
  EXPECT_TRUE((*children)[0].is_part);
  EXPECT_EQ((*children)[1].range.max, "20");
  EXPECT_TRUE((*children)[1].is_part);
  const FeedSpec spec{
      .name = {"db", "c"}, .kind = FeedKind::changes, .query = {}, .parameters_json = {}};
  std::map<std::string, std::string> headers;
  const Request request = feed_request(Endpoint{}, spec, (*children)[0]);
  for (const auto& [name, value] : request.headers) headers[name] = value;
  EXPECT_EQ(headers["x-ms-start-epk"], "10");
  EXPECT_EQ(headers["x-ms-end-epk"], "18");
}

TEST(FeedTest, APageOfChangesAlwaysSaysWhereToGoOn) {
  const FeedSpec spec{
      .name = {"db", "c"}, .kind = FeedKind::changes, .query = {}, .parameters_json = {}};
  const FeedCursor cursor{.range = range("0", "", "FF"), .continuation = "\"7\""};
  Response nothing;
  nothing.status = 304;
  const auto none = feed_page(spec, cursor, nothing, "there");
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_TRUE(none->is_end);
  EXPECT_EQ(none->continuation, "\"7\"");
  EXPECT_EQ(none->first(), nullptr);
  Response some;
  some.status = 200;
  some.headers = {{"etag", "\"9\""}};
  some.body = R"({"Documents":[{"id":"a"},{"id":"b"}]})";
  const auto two = feed_page(spec, cursor, some, "there");
  ASSERT_TRUE(two) << two.error().message;
  EXPECT_FALSE(two->is_end);
  EXPECT_EQ(two->continuation, "\"9\"");
  EXPECT_EQ(two->count(), 2U);
  Response gone;
  gone.status = 410;
  const auto moved = feed_page(spec, cursor, gone, "there");
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, Code::moved);
}

}  // namespace
}  // namespace orrery::client

// Records out of a container: where a reader may go on, and in which order they come over a split.
#include "transfer/feed_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/test_account.h"
#include "value/json.h"

namespace orrery::transfer {
namespace {

using client::reply;
using client::SeenRequest;
using client::TestAccount;
using testing::HasSubstr;
using Pull = RecordSource::Pull;

constexpr const char* kFeedOneRange = R"({"PartitionKeyRanges":[
    {"id":"0","minInclusive":"","maxExclusive":"FF","parents":[]}]})";
constexpr const char* kTwoRanges = R"({"PartitionKeyRanges":[
    {"id":"1","minInclusive":"","maxExclusive":"20","parents":["0"]},
    {"id":"2","minInclusive":"20","maxExclusive":"FF","parents":["0"]}]})";

std::unique_ptr<FeedSource> open(client::Client& client, client::FeedKind kind) {
  auto source = FeedSource::open(client,
                                 {.name = {.database = "d", .container = "c"},
                                  .kind = kind,
                                  .query = {},
                                  .parameters_json = {}},
                                 std::nullopt);
  EXPECT_TRUE(source) << source.error().message;
  return std::move(*source);
}

Pull next(FeedSource& source, Record& record) {
  while (true) {
    const auto pulled = source.pull(record);
    EXPECT_TRUE(pulled) << pulled.error().message;
    if (!pulled || *pulled != Pull::wait) return pulled ? *pulled : Pull::end;
    source.turn(20);
  }
}

TEST(FeedSourceTest, GoesOnBetweenPagesAlone) {
  TestAccount account([](const SeenRequest& request) {
    if (request.target.ends_with("/pkranges")) return reply(200, kFeedOneRange);
    if (request.header("x-ms-continuation").empty()) {
      return reply(200, R"({"Documents":[{"id":"a"},{"id":"b"}]})", {{"x-ms-continuation", "two"}});
    }
    return reply(200, R"({"Documents":[{"id":"c"}]})");
  });
  auto client = client::Client::open(account.endpoint());
  auto source = open(**client, client::FeedKind::items);
  Record record;
  ASSERT_EQ(next(*source, record), Pull::record);
  source->passed(record.mark);
  EXPECT_FALSE(source->is_settled());
  EXPECT_THAT(source->position_json(), HasSubstr(R"("continuation":"")"));
  ASSERT_EQ(next(*source, record), Pull::record);
  source->passed(record.mark);
  EXPECT_TRUE(source->is_settled());
  const std::string position = source->position_json();
  EXPECT_THAT(position, HasSubstr(R"("continuation":"two")"));

  auto again = open(**client, client::FeedKind::items);
  ASSERT_TRUE(again->resume(value::JsonDocument::parse(position)->root()));
  ASSERT_EQ(next(*again, record), Pull::record);
  EXPECT_EQ(record.text, R"({"id":"c"})");
  again->passed(record.mark);
  EXPECT_EQ(next(*again, record), Pull::end);
}

TEST(FeedSourceTest, ChangesOfARangeThatWasSplitComeBeforeItsChildrens) {
  bool is_split = false;
  TestAccount account([&](const SeenRequest& request) {
    if (request.target.ends_with("/pkranges"))
      return reply(200, is_split ? kTwoRanges : kFeedOneRange);
    const std::string range = request.header("x-ms-documentdb-partitionkeyrangeid");
    const std::string from = request.header("if-none-match");
    if (range == "0" && is_split) return reply(410, "{}", {{"x-ms-substatus", "1002"}});
    if (range == "0") {
      is_split = true;
      return reply(200, R"({"Documents":[{"id":"old"}]})", {{"etag", "\"1\""}});
    }
    if (from == "\"1\"") {
      return reply(200, R"({"Documents":[{"id":"new"}]})", {{"etag", "\"2\""}});
    }
    return reply(304, "", {{"etag", from}});
  });
  auto client = client::Client::open(account.endpoint());
  auto source = open(**client, client::FeedKind::changes);
  source->end();
  Record record;
  ASSERT_EQ(next(*source, record), Pull::record);
  EXPECT_EQ(record.text, R"({"id":"old"})");
  const Mark old = record.mark;
  // The children have answered by now; theirs wait until the parent's page is done.
  for (int i = 0; i < 50; ++i) {
    source->turn(20);
    ASSERT_EQ(*source->pull(record), Pull::wait);
  }
  EXPECT_THAT(source->position_json(), HasSubstr(R"("id":"0")"));
  source->passed(old);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(next(*source, record), Pull::record);
    EXPECT_EQ(record.text, R"({"id":"new"})");
    source->passed(record.mark);
  }
  EXPECT_EQ(next(*source, record), Pull::end);
  EXPECT_THAT(source->position_json(), HasSubstr(R"("id":"2")"));
}

}  // namespace
}  // namespace orrery::transfer

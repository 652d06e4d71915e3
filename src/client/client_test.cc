// The client against a server that answers as it is told.
#include "client/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/feed.h"
#include "client/test_account.h"

namespace orrery::client {
namespace {

using testing::HasSubstr;

Request documents() {
  return container_request({.database = "d b", .container = "c"}, "GET", "docs");
}

TEST(ClientTest, SignsByNameAndDate) {
  TestAccount account([](const SeenRequest&) { return reply(200, "{}", {{"X-Thing", "7"}}); });
  auto client = Client::open(account.endpoint());
  ASSERT_TRUE(client) << client.error().message;
  const auto answer = (*client)->call(documents());
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->header("x-thing"), "7");
  const auto seen = account.seen();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].target, "/dbs/d%20b/colls/c/docs");
  EXPECT_THAT(seen[0].header("authorization"), testing::StartsWith("type%3Dmaster%26ver%3D1.0"));
  EXPECT_THAT(seen[0].header("x-ms-date"), HasSubstr("GMT"));
}

TEST(ClientTest, SendsTheTargetAsItIs) {
  TestAccount account([](const SeenRequest&) { return reply(200, "{}"); });
  auto client = Client::open(account.endpoint());
  ASSERT_TRUE(client);
  Request request;
  request.method = "GET";
  request.target = "/a/../%C3%A9?database=table%3Atables&x=%e2%82%AC";
  ASSERT_TRUE((*client)->call(request));
  ASSERT_EQ(account.seen().size(), 1U);
  EXPECT_EQ(account.seen()[0].target, request.target);
  request.target = "/a b";
  EXPECT_FALSE((*client)->call(request));
}

TEST(ClientTest, WaitsAndSendsAgainWhatIsThrottledOrNotServedNow) {
  int asked = 0;
  TestAccount account([&](const SeenRequest&) {
    ++asked;
    if (asked == 1) return reply(429, "{}", {{"x-ms-retry-after-ms", "3"}});
    if (asked == 2) return reply(503);
    if (asked == 3) return reply(449);
    return reply(200, "{}", {{"x-ms-request-charge", "2.5"}});
  });
  auto client = Client::open(account.endpoint());
  ASSERT_TRUE(client);
  const auto answer = (*client)->call(documents());
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ((*client)->counts().requests, 4U);
  EXPECT_EQ((*client)->counts().throttled, 1U);
  EXPECT_EQ((*client)->counts().repeated, 2U);
  EXPECT_EQ((*client)->counts().charge, 2.5);
}

TEST(ClientTest, GivesUpWhenPatienceEndsAndSaysWhatTheServerSaid) {
  TestAccount account([&](const SeenRequest&) {
    return reply(429, R"({"message":"slow down\r\nactivity"})", {{"x-ms-retry-after-ms", "40"}});
  });
  ClientOptions options;
  options.throttled_ms = 100;
  auto client = Client::open(account.endpoint(), options);
  ASSERT_TRUE(client);
  const auto answer = succeeded((*client)->call(documents()), "there");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::throttled);
  EXPECT_EQ(answer.error().message, "there answered 429: slow down");
  EXPECT_GE(account.seen().size(), 2U);
}

TEST(ClientTest, ManyRequestsAreUnderWayAtOnceAndAllEnd) {
  TestAccount account([](const SeenRequest& request) { return reply(200, request.target); });
  ClientOptions options;
  options.connections = 8;
  auto client = Client::open(account.endpoint(), options);
  ASSERT_TRUE(client);
  size_t done = 0;
  for (int i = 0; i < 200; ++i) {
    Request request = documents();
    request.target += "?n=" + std::to_string(i);
    (*client)->submit(request, [&, target = request.target](Result<Response> answer) {
      ASSERT_TRUE(answer) << answer.error().message;
      EXPECT_EQ(answer->body, target);
      // From inside of a completion too.
      if (++done == 200) (*client)->submit(documents(), [&](const Result<Response>&) { ++done; });
    });
  }
  EXPECT_EQ((*client)->pending(), 200U);
  EXPECT_TRUE((*client)->finish());
  EXPECT_EQ(done, 201U);
  EXPECT_EQ((*client)->pending(), 0U);
}

TEST(ClientTest, AServerThatComesBackIsFoundAgain) {
  TestAccount account([](const SeenRequest&) { return reply(200); });
  auto client = Client::open(account.endpoint());
  ASSERT_TRUE(client);
  ASSERT_TRUE((*client)->call(documents()));
  account.stop();
  bool answered = false;
  (*client)->submit(documents(), [&](const Result<Response>& answer) {
    EXPECT_TRUE(answer);
    answered = true;
  });
  while ((*client)->counts().repeated < 2) (*client)->turn(20);
  EXPECT_FALSE(answered);
  account.start(account.port());
  EXPECT_TRUE((*client)->finish());
  EXPECT_TRUE(answered);
}

TEST(ClientTest, AServerThatIsNotThereIsSaidAtOnce) {
  TestAccount account([](const SeenRequest&) { return reply(200); });
  account.stop();
  auto client = Client::open(account.endpoint());
  ASSERT_TRUE(client);
  const auto answer = (*client)->call(documents());
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message,
              HasSubstr("no server answers on 127.0.0.1:" + std::to_string(account.port())));
  EXPECT_EQ((*client)->counts().repeated, 0U);
}

TEST(ClientTest, NothingIsSentToWhoHasAnotherCertificate) {
  TestAccount account([](const SeenRequest&) { return reply(200); });
  TestAccount other([](const SeenRequest&) { return reply(200); });
  Endpoint endpoint = account.endpoint();
  endpoint.port = other.port();
  auto client = Client::open(endpoint);
  ASSERT_TRUE(client);
  const auto refused = (*client)->call(documents());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unauthorized);
  EXPECT_EQ(other.seen().size(), 0U);
  endpoint.insecure = true;
  auto careless = Client::open(endpoint);
  EXPECT_TRUE((*careless)->call(documents()));
}

TEST(ClientTest, AnAnswerThatIsTooLargeIsAnError) {
  TestAccount account([](const SeenRequest&) { return reply(200, std::string(5'000, 'x')); });
  ClientOptions options;
  options.answer_bytes_max = 4'000;
  auto client = Client::open(account.endpoint(), options);
  const auto answer = (*client)->call(documents());
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("too large"));
}

TEST(ClientTest, RequestsUnderWayMayOutliveTheirClient) {
  TestAccount account(
      [](const SeenRequest&) { return reply(429, "", {{"x-ms-retry-after-ms", "60000"}}); });
  auto client = Client::open(account.endpoint());
  (*client)->submit(documents(), [](const Result<Response>&) { FAIL(); });
  (*client)->submit(documents(), [](const Result<Response>&) { FAIL(); });
  while ((*client)->counts().throttled == 0) (*client)->turn(20);
  client->reset();
}

TEST(ClientTest, AReaderFollowsRangesThatAreSplit) {
  bool is_split = false;
  TestAccount account([&](const SeenRequest& request) {
    if (request.target.ends_with("/pkranges")) {
      return reply(200, is_split ? R"({"PartitionKeyRanges":[
                                 {"id":"2","minInclusive":"20","maxExclusive":"FF","parents":["0"]},
                                 {"id":"1","minInclusive":"","maxExclusive":"20","parents":["0"]}]})"
                                 : R"({"PartitionKeyRanges":[
                                 {"id":"0","minInclusive":"","maxExclusive":"FF","parents":[]}]})");
    }
    const std::string range = request.header("x-ms-documentdb-partitionkeyrangeid");
    if (range == "0" && is_split) return reply(410, "{}", {{"x-ms-substatus", "1002"}});
    if (range == "0") {
      is_split = true;
      return reply(200, R"({"Documents":[{"id":"first"}]})",
                   {{"x-ms-continuation", "after-first"}});
    }
    EXPECT_EQ(request.header("x-ms-continuation"), "after-first");
    return reply(200, R"({"Documents":[{"id":"of )" + range + R"("}]})");
  });
  auto client = Client::open(account.endpoint());
  auto reader = FeedReader::open(**client, {.name = {.database = "d", .container = "c"},
                                            .kind = FeedKind::items,
                                            .query = {},
                                            .parameters_json = {}});
  ASSERT_TRUE(reader) << reader.error().message;
  std::vector<std::string> ids;
  while (true) {
    auto page = reader->next();
    ASSERT_TRUE(page) << page.error().message;
    if (!*page) break;
    for (const auto* one = (*page)->first(); one != nullptr; one = one->next) {
      ids.emplace_back(one->find("id")->text);
    }
  }
  EXPECT_THAT(ids, testing::ElementsAre("first", "of 1", "of 2"));
}

}  // namespace
}  // namespace orrery::client

// Bodies of batches: what is read out of them, what is refused, and how results are written.
#include "api/cosmos/wire/batch_body.h"
#include "api/cosmos/wire/etag.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace orrery::cosmos {
namespace {

using testing::HasSubstr;

TEST(BatchBody, ReadsEveryKindOfOperation) {
  auto batch = parse_batch(R"([
    {"operationType":"Create","resourceBody":{"id":"1"}, "partitionKey":"[\"a\"]"},
    {"operationType":"Upsert","resourceBody":{"id":"2"}, "ifNoneMatch":"*"},
    {"operationType":"Replace","id":"3","resourceBody":{"id":"3"}, "ifMatch":"\"e\""},
    {"operationType":"Read","id":"4","partitionKey":["b",1]},
    {"operationType":"Delete","id":"5"},
    {"operationType":"Patch","id":"6","resourceBody":{"operations":[]},"minimalReturnPreference":true}
  ])",
                           Limits{});
  ASSERT_TRUE(batch) << batch.error().message;
  const auto& all = batch->operations;
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[0].request.verb, ItemVerb::create);
  EXPECT_EQ(all[0].request.body, R"({"id":"1"})");
  EXPECT_EQ(all[0].request.key, R"(["a"])");
  EXPECT_EQ(all[1].request.verb, ItemVerb::upsert);
  EXPECT_EQ(all[1].request.if_none_match, "*");
  EXPECT_EQ(all[2].request.verb, ItemVerb::replace);
  EXPECT_EQ(all[2].request.id, "3");
  EXPECT_EQ(all[2].request.if_match, "\"e\"");
  EXPECT_EQ(all[3].request.verb, ItemVerb::read);
  EXPECT_EQ(all[3].request.key, R"(["b",1])");
  EXPECT_EQ(all[4].request.verb, ItemVerb::remove);
  EXPECT_EQ(all[4].request.key, "");
  EXPECT_EQ(all[5].request.verb, ItemVerb::patch);
  EXPECT_TRUE(all[5].minimal);
  EXPECT_FALSE(all[4].minimal);
}

TEST(BatchBody, RefusesWhatIsNone) {
  for (std::string_view bad :
       {"", "{", "{}", "[]", "null", "[5]", "[{}]", R"([{"operationType":5}])",
        R"([{"operationType":"create"}])", R"([{"operationType":"Read"}])",
        R"([{"operationType":"Read","id":""}])", R"([{"operationType":"Create"}])",
        R"([{"operationType":"Delete","id":"1","ifMatch":1}])"}) {
    auto batch = parse_batch(bad, Limits{});
    ASSERT_FALSE(batch) << bad;
    EXPECT_EQ(batch.error().code, Code::invalid) << bad;
  }
}

TEST(BatchBody, HasLimits) {
  Limits limits;
  limits.batch_operations = 2;
  limits.batch_bytes = 256;
  const std::string one = R"({"operationType":"Read","id":"1"})";
  EXPECT_TRUE(parse_batch("[" + one + "," + one + "]", limits));
  auto many = parse_batch("[" + one + "," + one + "," + one + "]", limits);
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().code, Code::invalid);
  EXPECT_THAT(many.error().message, HasSubstr("the most is 2"));
  auto large = parse_batch("[" + one + std::string(256, ' ') + "]", limits);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, Code::too_large);
}

TEST(BatchBody, WritesResults) {
  BatchResult done;
  done.status = 201;
  done.charge = 4.95;
  done.version = partition::Version{.lsn = 1, .time_s = 2, .range = 3};
  done.body = R"({"id":"1"})";
  EXPECT_EQ(batch_status({done, done}), 200);
  const std::string etag = etag_text(*done.version);
  EXPECT_EQ(batch_json({done}), R"([{"statusCode":201,"requestCharge":4.95,"eTag":"\")" + etag +
                                    R"(\"","resourceBody":{"id":"1"}}])");

  const BatchResult failed = failed_result(
      {.code = Code::throttled, .message = "slow \"down\" \xFF", .retry_after_ms = 7}, 1);
  EXPECT_EQ(batch_status({done, failed}), 207);
  const std::string json = batch_json({failed, skipped_result()});
  EXPECT_THAT(json, HasSubstr(R"({"statusCode":429,"requestCharge":1,"subStatusCode":3200,)"
                              R"("retryAfterMilliseconds":7,"message":"slow \"down\" )"));
  EXPECT_THAT(json, HasSubstr(R"({"statusCode":424,"requestCharge":0,)"));
  EXPECT_TRUE(value::JsonDocument::parse(json));
}

}  // namespace
}  // namespace orrery::cosmos

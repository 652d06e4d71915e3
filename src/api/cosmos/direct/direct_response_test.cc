// Answers over HTTP, and the tokens that they become; paths of addresses.
#include "api/cosmos/direct/direct_response.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <string>

#include "api/cosmos/direct/replica_path.h"
#include "api/cosmos/direct/token_ids.h"
#include "base/bytes.h"

namespace orrery::cosmos::direct {
namespace {

namespace answer_token = response_token;

struct Decoded {
  explicit Decoded(std::string_view bytes) {
    const size_t head = load_u32_le(bytes.data());
    status = load_u32_le(bytes.data() + 4);
    activity_id = bytes.substr(8, kActivityIdBytes);
    TokenReader reader(bytes.substr(kFrameHeadBytes, head - kFrameHeadBytes));
    Token one;
    while (reader.next(one) == TokenReader::Outcome::token) {
      numbers[one.id] = static_cast<int64_t>(one.number);
      texts[one.id] = one.bytes;
    }
    EXPECT_EQ(reader.next(one), TokenReader::Outcome::end);
    if (bytes.size() > head) {
      EXPECT_EQ(load_u32_le(bytes.data() + head), bytes.size() - head - 4);
      payload = bytes.substr(head + 4);
    }
  }

  uint32_t status = 0;
  std::string activity_id;
  std::map<uint16_t, int64_t> numbers;
  std::map<uint16_t, std::string> texts;
  std::string payload;
};

Decoded answer(const DirectRequest& request, int status, std::string headers, std::string body) {
  net::Response response;
  response.status = status;
  response.headers = std::move(headers);
  response.body = std::move(body);
  std::string bytes;
  append_response(bytes, request, response);
  return Decoded(bytes);
}

TEST(DirectResponse, HeadersBecomeTokens) {
  DirectRequest request;
  request.transport_id = 9;
  request.activity_id.fill('x');
  const Decoded got = answer(request, 200,
                             "x-ms-session-token: 3:-1#41\r\nlsn: 41\r\n"
                             "x-ms-documentdb-partitionkeyrangeid: 3\r\n"
                             "x-ms-content-path: AAAAAYAAAAI=\r\n"
                             "x-ms-alt-content-path: dbs/shop/colls/orders\r\n"
                             "x-ms-request-charge: 2.5\r\netag: \"7\"\r\nx-ms-item-count: 1\r\n"
                             "content-type: application/json\r\n",
                             "{}");
  EXPECT_EQ(got.status, 200U);
  EXPECT_EQ(got.activity_id, std::string(kActivityIdBytes, 'x'));
  EXPECT_EQ(got.payload, "{}");
  EXPECT_EQ(got.numbers.at(answer_token::kPayloadPresent), 1);
  EXPECT_EQ(got.numbers.at(answer_token::kTransportRequestId), 9);
  EXPECT_EQ(got.texts.at(answer_token::kSessionToken), "-1#41");
  EXPECT_EQ(got.texts.at(answer_token::kRangeId), "3");
  for (const uint16_t lsn :
       {answer_token::kLsn, answer_token::kLocalLsn, answer_token::kQuorumAckedLsn,
        answer_token::kQuorumAckedLocalLsn, answer_token::kGlobalCommittedLsn,
        answer_token::kItemLsn, answer_token::kItemLocalLsn}) {
    EXPECT_EQ(got.numbers.at(lsn), 41) << lsn;
  }
  EXPECT_EQ(got.numbers.at(answer_token::kReplicaSetSize), 1);
  EXPECT_EQ(got.numbers.at(answer_token::kReadRegions), 0);
  EXPECT_EQ(got.texts.at(answer_token::kOwnerId), "AAAAAYAAAAI=");
  EXPECT_EQ(got.texts.at(answer_token::kOwnerFullName), "dbs/shop/colls/orders");
  EXPECT_EQ(std::bit_cast<double>(load_u64_le(got.texts.at(answer_token::kCharge).data())), 2.5);
  EXPECT_EQ(got.texts.at(answer_token::kEtag), "\"7\"");
  EXPECT_EQ(got.numbers.at(answer_token::kItemCount), 1);
  EXPECT_FALSE(got.numbers.contains(answer_token::kSubstatus));
}

TEST(DirectResponse, WithoutBodyHasNoPayload) {
  const DirectRequest request;
  const Decoded got = answer(request, 204, "", "");
  EXPECT_EQ(got.numbers.at(answer_token::kPayloadPresent), 0);
  EXPECT_EQ(got.payload, "");
  // Reads of databases are repeated until a client gives up when there is none.
  EXPECT_GT(got.numbers.at(answer_token::kLsn), 0);
}

TEST(DirectResponse, BarrierHasReachedWhatItAsksFor) {
  DirectRequest request;
  request.wants_body = false;
  request.target_lsn = 77;
  const Decoded got = answer(request, 200, "etag: \"1\"\r\n", "{\"id\":\"orders\"}");
  EXPECT_EQ(got.numbers.at(answer_token::kLsn), 77);
  EXPECT_EQ(got.numbers.at(answer_token::kGlobalCommittedLsn), 77);
  EXPECT_EQ(got.payload, "");
}

TEST(DirectResponse, OfSeveralRangesTheFirstIsTold) {
  const DirectRequest request;
  const Decoded got = answer(request, 200,
                             "x-ms-session-token: 3:-1#41,4:-1#9\r\nlsn: 41\r\n"
                             "x-ms-documentdb-partitionkeyrangeid: 3\r\n",
                             "{}");
  EXPECT_EQ(got.texts.at(answer_token::kSessionToken), "-1#41");
}

TEST(DirectResponse, GoneRangeIsToldInTheWordsOfTheRequest) {
  DirectRequest request;
  EXPECT_EQ(
      answer(request, 410, "x-ms-substatus: 1002\r\n", "{}").numbers.at(answer_token::kSubstatus),
      1007);
  request.names_range = true;
  EXPECT_EQ(
      answer(request, 410, "x-ms-substatus: 1002\r\n", "{}").numbers.at(answer_token::kSubstatus),
      1002);
  // Another 1002: the replica is behind the session.
  request.names_range = false;
  EXPECT_EQ(
      answer(request, 404, "x-ms-substatus: 1002\r\n", "{}").numbers.at(answer_token::kSubstatus),
      1002);
}

TEST(DirectResponse, ContinuationThatNoTokenHoldsIsNoLastPage) {
  DirectRequest request;
  const std::string longest(65'535, 'c');
  const Decoded whole = answer(request, 200, "x-ms-continuation: " + longest + "\r\n", "[]");
  EXPECT_EQ(whole.status, 200U);
  EXPECT_EQ(whole.texts.at(answer_token::kContinuation), longest);
  const Decoded refused = answer(request, 200, "x-ms-continuation: " + longest + "c\r\n", "[]");
  EXPECT_EQ(refused.status, 400U);
  EXPECT_NE(refused.payload.find("65,535"), std::string::npos);
}

TEST(DirectResponse, ThrottlingSaysWhenToComeBack) {
  const DirectRequest request;
  const Decoded got =
      answer(request, 429, "x-ms-substatus: 3200\r\nx-ms-retry-after-ms: 12\r\n", "{}");
  EXPECT_EQ(got.numbers.at(answer_token::kRetryAfterMs), 12);
  EXPECT_EQ(got.numbers.at(answer_token::kSubstatus), 3200);
}

TEST(DirectResponse, ContextHasWhatClientsNeed) {
  std::string bytes;
  append_context_answer(bytes, std::string(kActivityIdBytes, 'x'));
  const Decoded got(bytes);
  EXPECT_EQ(got.status, 200U);
  EXPECT_EQ(got.numbers.at(context_token::kProtocolVersion), 1);
  EXPECT_EQ(got.texts.at(context_token::kServerAgent), "Orrery");
  EXPECT_NE(got.texts.at(context_token::kServerVersion), "");
}

TEST(ReplicaPath, ComesBackAsItWent) {
  const std::string text = replica_path({.container = 0xABCDEF, .range = 17}, true);
  EXPECT_TRUE(text.ends_with("s"));
  const auto path = parse_replica_path(text);
  ASSERT_TRUE(path);
  EXPECT_EQ(path->container, 0xABCDEFU);
  EXPECT_EQ(path->range, 17U);
  EXPECT_FALSE(parse_replica_path(""));
  EXPECT_FALSE(parse_replica_path("/"));
  EXPECT_FALSE(parse_replica_path(text.substr(0, 60)));
  EXPECT_FALSE(parse_replica_path("/apps/1/services/2/partitions/3/replicas/4p"));
}

}  // namespace
}  // namespace orrery::cosmos::direct

// Tokens of requests, and the requests over HTTP that they become.
#include "api/cosmos/direct/direct_request.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "api/cosmos/direct/token_ids.h"

namespace orrery::cosmos::direct {
namespace {

namespace token = request_token;

const std::string kActivity(kActivityIdBytes, '\x11');

// A request out of the tokens that `add` writes.
struct Made {
  Made(uint16_t resource, uint16_t operation, const std::function<void(FrameWriter&)>& add) {
    FrameWriter writer(bytes, static_cast<uint32_t>(operation) << 16 | resource, kActivity);
    writer.add_u32(token::kTransportRequestId, 42);
    add(writer);
    writer.end();
    RequestFrame frame;
    EXPECT_EQ(read_frame(bytes, {.head_bytes_max = 100'000}, frame).outcome,
              FrameProgress::Outcome::whole);
    status = request.read(frame);
  }
  std::string_view header(std::string_view name) const { return request.http.header(name); }

  std::string bytes;
  DirectRequest request;
  Status status;
};

void in_container(FrameWriter& writer) {
  writer.add_bytes(token::kResourceId, std::string("\0\0\0\1\x80\0\0\2", 8));
  writer.add_text(token::kDatabaseName, "shop");
  writer.add_text(token::kContainerName, "orders");
}

TEST(DirectRequest, ReadOfAnItem) {
  const Made made(resource::kItem, operation::kRead, [](FrameWriter& writer) {
    in_container(writer);
    writer.add_text(token::kItemName, "1");
    writer.add_text(token::kPartitionKey, R"(["a"])");
    writer.add_text(token::kAuthorization, "type%3dmaster");
    writer.add_text8(token::kDate, "Mon, 16 Nov 2026 12:00:00 GMT");
    writer.add_text(token::kSessionToken, "0:-1#4");
    writer.add_text(token::kMatch, "\"7\"");
    writer.add_text(token::kReplicaPath, "/apps/1");
    writer.add_byte(token::kConsistency, 3);
  });
  ASSERT_TRUE(made.status);
  EXPECT_EQ(made.request.http.method, "GET");
  EXPECT_EQ(made.request.http.target, "/dbs/shop/colls/orders/docs/1");
  EXPECT_EQ(made.header("x-ms-documentdb-partitionkey"), R"(["a"])");
  EXPECT_EQ(made.header("authorization"), "type%3dmaster");
  EXPECT_EQ(made.header("x-ms-date"), "Mon, 16 Nov 2026 12:00:00 GMT");
  EXPECT_EQ(made.header("x-ms-session-token"), "0:-1#4");
  EXPECT_EQ(made.header("if-none-match"), "\"7\"");
  EXPECT_EQ(made.header("if-match"), "");
  EXPECT_EQ(made.header("x-ms-consistency-level"), "Eventual");
  EXPECT_EQ(made.header("x-ms-activity-id"), "11111111-1111-1111-1111-111111111111");
  EXPECT_EQ(made.request.replica_path, "/apps/1");
  EXPECT_EQ(made.request.transport_id, 42U);
  EXPECT_FALSE(made.request.names_range);
}

TEST(DirectRequest, EachOperationOnItemsHasItsMethodAndPath) {
  struct Expected {
    uint16_t operation;
    std::string_view method;
    std::string_view target;
    std::string_view header;
  };
  const std::string_view feed = "/dbs/shop/colls/orders/docs";
  const std::string_view one = "/dbs/shop/colls/orders/docs/1";
  for (const Expected& expected : {
           Expected{operation::kCreate, "POST", feed, ""},
           Expected{operation::kUpsert, "POST", feed, "x-ms-documentdb-is-upsert"},
           Expected{operation::kBatch, "POST", feed, "x-ms-cosmos-is-batch-request"},
           Expected{operation::kQuery, "POST", feed, "x-ms-documentdb-isquery"},
           Expected{operation::kSqlQuery, "POST", feed, "x-ms-documentdb-isquery"},
           Expected{operation::kQueryPlan, "POST", feed, "x-ms-cosmos-is-query-plan-request"},
           Expected{operation::kReadFeed, "GET", feed, ""},
           Expected{operation::kRead, "GET", one, ""},
           Expected{operation::kReplace, "PUT", one, ""},
           Expected{operation::kPatch, "PATCH", one, ""},
           Expected{operation::kDelete, "DELETE", one, ""},
       }) {
    const Made made(resource::kItem, expected.operation, [](FrameWriter& writer) {
      in_container(writer);
      writer.add_text(token::kItemName, "1");
      writer.add_text(token::kMatch, "\"7\"");
    });
    ASSERT_TRUE(made.status) << expected.operation;
    EXPECT_EQ(made.request.http.method, expected.method);
    EXPECT_EQ(made.request.http.target, expected.target);
    if (!expected.header.empty()) {
      EXPECT_EQ(made.header(expected.header), "true");
    }
    const bool reads = expected.method == "GET";
    EXPECT_EQ(made.header("if-match"), reads ? "" : "\"7\"");
  }
}

TEST(DirectRequest, OtherResourcesHaveTheirPaths) {
  const auto target_of = [](uint16_t resource, uint16_t operation, uint16_t name_token) {
    const Made made(resource, operation, [&](FrameWriter& writer) {
      in_container(writer);
      if (name_token != 0) writer.add_text(name_token, "x");
    });
    EXPECT_TRUE(made.status);
    return std::string(made.request.http.target);
  };
  EXPECT_EQ(target_of(resource::kDatabase, operation::kRead, 0), "/dbs/shop");
  EXPECT_EQ(target_of(resource::kDatabase, operation::kReadFeed, 0), "/dbs");
  EXPECT_EQ(target_of(resource::kDatabase, operation::kHeadFeed, 0), "/dbs");
  EXPECT_EQ(target_of(resource::kContainer, operation::kReadFeed, 0), "/dbs/shop/colls");
  EXPECT_EQ(target_of(resource::kContainer, operation::kHead, 0), "/dbs/shop/colls/orders");
  EXPECT_EQ(target_of(resource::kUser, operation::kRead, token::kUserName), "/dbs/shop/users/x");
  EXPECT_EQ(target_of(resource::kPermission, operation::kReadFeed, token::kUserName),
            "/dbs/shop/users/x/permissions");
  EXPECT_EQ(target_of(resource::kProcedure, operation::kExecute, token::kProcedureName),
            "/dbs/shop/colls/orders/sprocs/x");
  EXPECT_EQ(target_of(resource::kConflict, operation::kReadFeed, 0),
            "/dbs/shop/colls/orders/conflicts");
  EXPECT_EQ(target_of(resource::kTrigger, operation::kRead, token::kTriggerName),
            "/dbs/shop/colls/orders/triggers/x");
  EXPECT_EQ(target_of(resource::kFunction, operation::kRead, token::kFunctionName),
            "/dbs/shop/colls/orders/udfs/x");
  EXPECT_EQ(target_of(resource::kRange, operation::kReadFeed, 0),
            "/dbs/shop/colls/orders/pkranges");
  EXPECT_EQ(target_of(resource::kAccount, operation::kRead, 0), "/");
}

TEST(DirectRequest, NamesAreEscapedInThePath) {
  const Made made(resource::kItem, operation::kRead, [](FrameWriter& writer) {
    in_container(writer);
    writer.add_text(token::kItemName, "a b/c?d%ü");
  });
  ASSERT_TRUE(made.status);
  EXPECT_EQ(made.request.http.target, "/dbs/shop/colls/orders/docs/a%20b%2Fc%3Fd%25%C3%BC");
}

TEST(DirectRequest, ResourceIdNamesWhatHasNoNames) {
  const std::string id("\0\0\0\1\x80\0\0\2\0\0\0\0\0\0\1\0", 16);
  const Made item(resource::kItem, operation::kRead,
                  [&](FrameWriter& writer) { writer.add_bytes(token::kResourceId, id); });
  ASSERT_TRUE(item.status);
  EXPECT_EQ(item.request.http.target,
            "/dbs/AAAAAQ==/colls/AAAAAYAAAAI=/docs/AAAAAYAAAAIAAAAAAAABAA==");
  const Made feed(resource::kItem, operation::kReadFeed, [&](FrameWriter& writer) {
    writer.add_bytes(token::kResourceId, id.substr(0, 8));
  });
  ASSERT_TRUE(feed.status);
  EXPECT_EQ(feed.request.http.target, "/dbs/AAAAAQ==/colls/AAAAAYAAAAI=/docs");
  const Made short_id(resource::kItem, operation::kRead, [&](FrameWriter& writer) {
    writer.add_bytes(token::kResourceId, id.substr(0, 8));
  });
  EXPECT_FALSE(short_id.status);
}

TEST(DirectRequest, NumbersAndFlagsBecomeText) {
  const Made made(resource::kItem, operation::kQuery, [](FrameWriter& writer) {
    in_container(writer);
    writer.add_u32(token::kPageSize, 0xFFFFFFFF);
    writer.add_u32(token::kContinuationLimitKb, 4);
    writer.add_byte(token::kPopulateQueryMetrics, 1);
    writer.add_byte(token::kBatchAtomic, 0);
    writer.add_byte(token::kReturnPreference, 1);
    writer.add_byte(token::kIndexingDirective, 2);
    writer.add_text(token::kRangeId, "3");
    writer.add_bytes(token::kStartEpk, "05");
  });
  ASSERT_TRUE(made.status);
  EXPECT_EQ(made.header("x-ms-max-item-count"), "-1");
  EXPECT_EQ(made.header("x-ms-documentdb-responsecontinuationtokenlimitinkb"), "4");
  EXPECT_EQ(made.header("x-ms-documentdb-populatequerymetrics"), "true");
  EXPECT_EQ(made.header("x-ms-cosmos-batch-atomic"), "false");
  EXPECT_EQ(made.header("prefer"), "return=minimal");
  EXPECT_EQ(made.header("x-ms-indexing-directive"), "Exclude");
  EXPECT_EQ(made.header("x-ms-documentdb-partitionkeyrangeid"), "3");
  EXPECT_EQ(made.header("x-ms-start-epk"), "05");
  EXPECT_TRUE(made.request.names_range);
}

// The gateway's rule would refuse it: it is stronger than the account's.
TEST(DirectRequest, StrongReadsOfTheCatalogAreTakenAsTheyAre) {
  const Made made(resource::kDatabase, operation::kRead, [](FrameWriter& writer) {
    writer.add_text(token::kDatabaseName, "shop");
    writer.add_byte(token::kConsistency, 0);
  });
  ASSERT_TRUE(made.status);
  EXPECT_EQ(made.header("x-ms-consistency-level"), "");
}

TEST(DirectRequest, WhatIsWrongStillHasTheIdOfItsAnswer) {
  const auto refused = [](uint16_t resource, uint16_t operation,
                          const std::function<void(FrameWriter&)>& add) {
    const Made made(resource, operation, add);
    EXPECT_FALSE(made.status);
    EXPECT_EQ(made.request.transport_id, 42U);
  };
  refused(resource::kItem, 0x7777, in_container);
  refused(0x7777, operation::kRead, in_container);
  refused(resource::kItem, operation::kRead, in_container);  // no item is named
  refused(resource::kItem, operation::kCreate, [](FrameWriter& writer) {
    in_container(writer);
    writer.add_byte(token::kPartitionKey, 1);
  });
  refused(resource::kItem, operation::kCreate, [](FrameWriter& writer) {
    in_container(writer);
    writer.add_byte(token::kConsistency, 9);
  });
}

TEST(DirectRequest, UnknownTokensAreSkipped) {
  const Made made(resource::kItem, operation::kReadFeed, [](FrameWriter& writer) {
    writer.add_text(0x00FE, "?");
    writer.add_u32(0xFFFF, 1);
    in_container(writer);
  });
  EXPECT_TRUE(made.status);
}

// One object is used for many requests.
TEST(DirectRequest, NothingIsLeftOfTheRequestBefore) {
  Made made(resource::kItem, operation::kRead, [](FrameWriter& writer) {
    in_container(writer);
    writer.add_text(token::kItemName, "1");
    writer.add_text(token::kRangeId, "3");
    writer.add_i64(token::kTargetLsn, 9);
  });
  const Made next(resource::kDatabase, operation::kReadFeed, [](FrameWriter&) {});
  RequestFrame frame;
  read_frame(next.bytes, {.head_bytes_max = 1000}, frame);
  ASSERT_TRUE(made.request.read(frame));
  EXPECT_EQ(made.request.http.target, "/dbs");
  EXPECT_EQ(made.request.http.headers.size(), next.request.http.headers.size());
  EXPECT_FALSE(made.request.names_range);
  EXPECT_EQ(made.request.target_lsn, 0);
}

}  // namespace
}  // namespace orrery::cosmos::direct

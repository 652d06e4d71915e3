// Requests of the Table protocol, and what an answer to a transaction says.
#include "client/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace orrery::client {
namespace {

using testing::HasSubstr;

Endpoint tables() {
  Endpoint endpoint;
  endpoint.host = "here";
  endpoint.port = 1;
  endpoint.table_account = "shop";
  return endpoint;
}

Response answered(std::string body) {
  return {.status = 202, .headers = {}, .body = std::move(body)};
}

TEST(Table, KeysAreQuotedAndEncoded) {
  EXPECT_EQ(entity_path("orders", "it's", "a b"),
            "orders(PartitionKey=%27it%27%27s%27,RowKey=%27a%20b%27)");
  EXPECT_EQ(table_request(tables(), "GET", "orders()").target, "/shop/orders()");
}

TEST(Table, APartSaysWhereItsEntityIs) {
  const TransactionPart part = upsert_part(tables(), "orders", "p", "r", R"({"a":1})");
  EXPECT_THAT(part.text, HasSubstr("PUT https://here:1/shop/orders(PartitionKey="));
  EXPECT_EQ(part.text.substr(part.body_at), "{\"a\":1}\r\n");
  const std::array<std::string_view, 2> parts = {part.text, part.text};
  const Request request = transaction_request(tables(), parts);
  EXPECT_EQ(request.target, "/shop/$batch");
  EXPECT_THAT(request.body, HasSubstr(part.text + part.text));
}

TEST(Table, ATransactionIsDoneOrNot) {
  const std::string one =
      "--c\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n\r\n";
  auto done = transaction_failure(answered(one + one + "--c--\r\n"), 2);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_FALSE(*done);
  EXPECT_FALSE(transaction_failure(answered(one + "--c--\r\n"), 2));
  auto failed = transaction_failure(
      answered(
          "--c\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 409 Conflict\r\na: b\r\n\r\n"
          R"({"odata.error":{"code":"X","message":{"lang":"en","value":"3:It: is\nRequestId:7"}}})"
          "\r\n--c--\r\n"),
      2);
  ASSERT_TRUE(failed && *failed);
  EXPECT_EQ((*failed)->status, 409);
  EXPECT_EQ((*failed)->message, "It: is");
}

}  // namespace
}  // namespace orrery::client

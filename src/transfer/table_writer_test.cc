// The writer of tables against a server that refuses and is busy as it is told.
#include "transfer/table_writer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "client/test_account.h"

namespace orrery::transfer {
namespace {

using client::reply;
using client::SeenRequest;
using client::TestAccount;

class TableWriterTest : public testing::Test {
 protected:
  // What a transaction of these RowKeys comes to: a status, or 0 for "done".
  using Told = std::function<int(const std::set<std::string>& rows)>;

  void start(Told told, WriteMode mode = WriteMode::upsert) {
    told_ = std::move(told);
    account_ = std::make_unique<TestAccount>(
        [this](const SeenRequest& request) { return answer(request); });
    client::Endpoint endpoint = account_->endpoint();
    endpoint.table_account = "shop";
    auto client = client::Client::open(std::move(endpoint));
    ASSERT_TRUE(client) << client.error().message;
    client_ = std::move(*client);
    auto writer = into_table(*client_, "t", mode, 10)(
        [this](uint64_t ticket, Outcome outcome, std::string_view, const std::string& reason) {
          EXPECT_TRUE(outcomes_.emplace(ticket, outcome).second) << "told twice";
          if (!reason.empty()) reasons_.push_back(reason);
        });
    ASSERT_TRUE(writer);
    writer_ = std::move(*writer);
  }

  std::optional<net::Response> answer(const SeenRequest& request) {
    EXPECT_TRUE(request.header("authorization").starts_with("SharedKeyLite shop:"));
    if (request.method == "GET") {
      return reply(200, R"({"odata.etag":"x","PartitionKey":"p0","RowKey":"same","n":1})");
    }
    EXPECT_EQ(request.target, "/shop/$batch");
    std::set<std::string> rows;
    std::set<std::string> partitions;
    const auto collect = [&](std::string_view name, std::set<std::string>& into) {
      const std::string begin = fmt::format("\"{}\":\"", name);
      for (size_t at = request.body.find(begin); at != std::string::npos;
           at = request.body.find(begin, at + 1)) {
        const size_t from = at + begin.size();
        into.insert(request.body.substr(from, request.body.find('"', from) - from));
      }
    };
    collect("RowKey", rows);
    collect("PartitionKey", partitions);
    EXPECT_EQ(partitions.size(), 1U) << "a transaction has one PartitionKey";
    largest_ = std::max(largest_, rows.size());
    ++transactions_;
    const int status = told_(rows);
    if (status >= 500) return reply(status, "{}");
    std::string parts;
    if (status != 0) {
      parts = fmt::format("--c\r\n\r\nHTTP/1.1 {} No\r\n\r\n{}\r\n--c--\r\n", status,
                          R"({"odata.error":{"message":{"value":"0:told\nRequestId:1"}}})");
    } else {
      for (size_t i = 0; i < rows.size(); ++i) parts += "--c\r\n\r\nHTTP/1.1 204 Done\r\n\r\n";
      written_.insert(rows.begin(), rows.end());
    }
    return reply(202, parts);
  }

  void put(const std::string& partition, const std::string& row) {
    ASSERT_TRUE(
        writer_->take(fmt::format(R"({{"PartitionKey":"{}","RowKey":"{}","n":1}})", partition, row),
                      {}, ++ticket_));
  }

  void finish() {
    while (!writer_->is_idle()) {
      writer_->flush();
      const auto turned = writer_->turn(20);
      ASSERT_TRUE(turned) << turned.error().message;
    }
  }

  Told told_;
  size_t largest_ = 0;
  size_t transactions_ = 0;
  std::set<std::string> written_;
  std::unique_ptr<TestAccount> account_;
  std::unique_ptr<client::Client> client_;
  std::unique_ptr<GroupWriter> writer_;
  uint64_t ticket_ = 0;
  std::map<uint64_t, Outcome> outcomes_;
  std::vector<std::string> reasons_;
};

TEST_F(TableWriterTest, EntitiesGoInTransactionsOfOnePartitionKey) {
  start([](const std::set<std::string>&) { return 0; });
  for (int i = 0; i < 1'000; ++i) put(fmt::format("p{}", i % 3), fmt::format("r{}", i));
  finish();
  EXPECT_EQ(written_.size(), 1'000U);
  EXPECT_EQ(outcomes_.size(), 1'000U);
  EXPECT_EQ(largest_, 100U);
  EXPECT_LT(transactions_, 40U);
}

TEST_F(TableWriterTest, OneThatIsRefusedIsFoundAmongTheOthers) {
  start([](const std::set<std::string>& rows) { return rows.contains("bad") ? 400 : 0; });
  for (int i = 0; i < 20; ++i) put("p", fmt::format("r{}", i));
  put("p", "bad");
  finish();
  EXPECT_EQ(written_.size(), 20U);
  EXPECT_EQ(outcomes_[21], Outcome::rejected);
  EXPECT_THAT(reasons_, testing::ElementsAre("the server refuses it with 400: told"));
}

TEST_F(TableWriterTest, WhatTheServerCannotDoNowIsRepeatedTogether) {
  start([this](const std::set<std::string>&) { return transactions_ == 1 ? 500 : 0; });
  for (int i = 0; i < 50; ++i) put("p", fmt::format("r{}", i));
  finish();
  EXPECT_EQ(written_.size(), 50U);
  EXPECT_LT(transactions_, 50U);
}

TEST_F(TableWriterTest, AnInsertThatIsThereAlreadyIsComparedWithIt) {
  start([](const std::set<std::string>& rows) { return rows.contains("new") ? 0 : 409; },
        WriteMode::create);
  put("p0", "same");
  put("p0", "other");
  put("p1", "new");
  finish();
  EXPECT_EQ(outcomes_[1], Outcome::present);
  EXPECT_EQ(outcomes_[2], Outcome::rejected);
  EXPECT_EQ(outcomes_[3], Outcome::written);
}

TEST_F(TableWriterTest, ATableThatIsGoneEndsIt) {
  start([](const std::set<std::string>&) { return 404; });
  put("p", "r");
  Status turned;
  while (turned && !writer_->is_idle()) {
    writer_->flush();
    turned = writer_->turn(20);
  }
  ASSERT_FALSE(turned);
  EXPECT_THAT(turned.error().message, testing::HasSubstr("404 to a transaction of table t: told"));
}

}  // namespace
}  // namespace orrery::transfer

// The writer against a server that throttles, splits and refuses as it is told.
#include "transfer/bulk_writer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "client/test_account.h"
#include "value/json.h"
#include "value/path.h"

namespace orrery::transfer {
namespace {

using client::reply;
using client::SeenRequest;
using client::TestAccount;

constexpr const char* kOneRange = R"({"PartitionKeyRanges":[
    {"id":"0","minInclusive":"","maxExclusive":"FF","parents":[]}]})";

class BulkWriterTest : public testing::Test {
 protected:
  // What an operation on the item with this id comes to: a status, or 0 for "done".
  using Status = std::function<int(const std::string& id, const std::string& range)>;

  void start(Status status, WriteMode mode = WriteMode::upsert, size_t requests_max = 100) {
    status_ = std::move(status);
    account_ = std::make_unique<TestAccount>(
        [this](const SeenRequest& request) { return answer(request); });
    auto client = client::Client::open(account_->endpoint());
    ASSERT_TRUE(client) << client.error().message;
    client_ = std::move(*client);
    client::ContainerInfo container;
    container.name = {.database = "d", .container = "c"};
    container.key.paths.push_back(*value::parse_property_path("/pk"));
    key_ = container.key;
    auto writer = BulkWriter::open(
        *client_, std::move(container), mode, requests_max,
        [this](uint64_t ticket, Outcome outcome, std::string_view, const std::string& reason) {
          EXPECT_TRUE(outcomes_.emplace(ticket, outcome).second) << "told twice";
          if (!reason.empty()) reasons_.push_back(reason);
        });
    ASSERT_TRUE(writer) << writer.error().message;
    writer_ = std::move(*writer);
  }

  std::optional<net::Response> answer(const SeenRequest& request) {
    if (request.target.ends_with("/pkranges")) return reply(200, ranges_);
    if (request.method == "GET") return reply(200, R"({"id":"x","pk":"k","n":1,"_ts":5})");
    const std::string range = request.header("x-ms-documentdb-partitionkeyrangeid");
    if (gone_.contains(range)) return reply(410, "{}", {{"x-ms-substatus", "1002"}});
    auto body = value::JsonDocument::parse(request.body);
    if (!body) return reply(400);
    largest_ = std::max<size_t>(largest_, body->root().count);
    std::string out = "[";
    for (const auto* one = body->root().first; one != nullptr; one = one->next) {
      const value::Node* item = one->find("resourceBody");
      const std::string id((item == nullptr ? one : item)->find("id")->text);
      const int status = status_(id, range);
      if (status == 0) written_.push_back(item == nullptr ? "-" + id : std::string(item->raw));
      if (out.size() > 1) out += ',';
      out += fmt::format("{{\"statusCode\":{},\"retryAfterMilliseconds\":1,\"message\":\"told\"}}",
                         status == 0 ? 201 : status);
    }
    return reply(207, out + "]");
  }

  void put(const std::string& id, int n) {
    auto item = prepare_item(fmt::format(R"({{"id":"{}","pk":"{}","n":{}}})", id, id, n), key_);
    ASSERT_TRUE(item);
    writer_->put(std::move(*item), ++ticket_);
  }

  void finish() {
    while (!writer_->is_idle()) {
      writer_->flush();
      const auto turned = writer_->turn(20);
      ASSERT_TRUE(turned) << turned.error().message;
    }
  }

  size_t count(Outcome outcome) const {
    size_t found = 0;
    for (const auto& [ticket, one] : outcomes_) found += one == outcome ? 1 : 0;
    return found;
  }

  Status status_;
  std::string ranges_ = kOneRange;
  std::set<std::string> gone_;
  std::vector<std::string> written_;
  size_t largest_ = 0;
  std::unique_ptr<TestAccount> account_;
  std::unique_ptr<client::Client> client_;
  value::KeyDefinition key_;
  std::unique_ptr<BulkWriter> writer_;
  uint64_t ticket_ = 0;
  std::map<uint64_t, Outcome> outcomes_;
  std::vector<std::string> reasons_;
};

TEST_F(BulkWriterTest, EveryOperationIsToldOnce) {
  start([](const std::string&, const std::string&) { return 0; });
  for (int i = 0; i < 1'000; ++i) put("i" + std::to_string(i), i);
  writer_->remove("gone", R"(["gone"])", "00", ++ticket_);
  finish();
  EXPECT_EQ(count(Outcome::written), 1'001U);
  EXPECT_EQ(written_.size(), 1'001U);
  EXPECT_EQ(largest_, 100U);
}

TEST_F(BulkWriterTest, ThrottledOperationsAreRepeatedInSmallerRequests) {
  std::map<std::string, int> asked;
  size_t budget = 5;
  start([&](const std::string& id, const std::string&) {
    ++asked[id];
    if (budget == 0) {
      budget = 5;
      return 429;
    }
    --budget;
    return 0;
  });
  for (int i = 0; i < 300; ++i) put("i" + std::to_string(i), i);
  finish();
  EXPECT_EQ(count(Outcome::written), 300U);
  EXPECT_GT(writer_->counts().throttled, 0U);
  EXPECT_EQ(asked.size(), 300U);
}

TEST_F(BulkWriterTest, WhatAServerCannotDoNowIsRepeated) {
  std::map<std::string, int> asked;
  start([&](const std::string& id, const std::string&) { return ++asked[id] == 1 ? 449 : 0; });
  for (int i = 0; i < 50; ++i) put("i" + std::to_string(i), i);
  finish();
  EXPECT_EQ(count(Outcome::written), 50U);
}

TEST_F(BulkWriterTest, RangesThatAreGoneAreReadAgain) {
  std::set<std::string> used;
  start([&](const std::string&, const std::string& range) {
    used.insert(range);
    return 0;
  });
  gone_.insert("0");
  ranges_ = R"({"PartitionKeyRanges":[
      {"id":"1","minInclusive":"","maxExclusive":"20","parents":["0"]},
      {"id":"2","minInclusive":"20","maxExclusive":"FF","parents":["0"]}]})";
  for (int i = 0; i < 500; ++i) put("i" + std::to_string(i), i);
  finish();
  EXPECT_EQ(count(Outcome::written), 500U);
  EXPECT_THAT(used, testing::ElementsAre("1", "2"));
}

TEST_F(BulkWriterTest, WritesOfOneItemKeepTheirOrder) {
  std::map<std::string, int> asked;
  // Some are refused for now, so that those behind them could overtake.
  start([&](const std::string& id, const std::string&) { return ++asked[id] % 3 == 1 ? 429 : 0; });
  for (int i = 0; i < 400; ++i) put("i" + std::to_string(i % 4), i);
  finish();
  EXPECT_EQ(count(Outcome::written), 400U);
  std::map<std::string, double> last;
  for (const std::string& text : written_) {
    auto item = value::JsonDocument::parse(text);
    const std::string id(item->root().find("id")->text);
    const double n = item->root().find("n")->number;
    if (last.contains(id)) {
      EXPECT_LT(last[id], n);
    }
    last[id] = n;
  }
}

TEST_F(BulkWriterTest, ARefusedItemIsRejectedWithTheServersWords) {
  start([](const std::string& id, const std::string&) { return id == "bad" ? 400 : 0; });
  put("good", 1);
  put("bad", 2);
  finish();
  EXPECT_EQ(outcomes_[1], Outcome::written);
  EXPECT_EQ(outcomes_[2], Outcome::rejected);
  EXPECT_THAT(reasons_, testing::ElementsAre("the server refuses it with 400: told"));
}

TEST_F(BulkWriterTest, ACreateThatIsThereAlreadyIsComparedWithIt) {
  start([](const std::string&, const std::string&) { return 409; }, WriteMode::create);
  for (const int n : {1, 2}) {
    auto item = prepare_item(fmt::format(R"({{"id":"x","pk":"k","n":{}}})", n), key_);
    writer_->put(std::move(*item), ++ticket_);
  }
  finish();
  EXPECT_EQ(outcomes_[1], Outcome::present);
  EXPECT_EQ(outcomes_[2], Outcome::rejected);
}

TEST_F(BulkWriterTest, AWriterThatIsGoneIsToldNothing) {
  start([](const std::string&, const std::string&) { return 0; });
  for (int i = 0; i < 300; ++i) put("i" + std::to_string(i), i);
  writer_->flush();
  ASSERT_TRUE(writer_->turn(0));
  const size_t told = outcomes_.size();
  writer_.reset();
  EXPECT_TRUE(client_->finish());
  EXPECT_EQ(outcomes_.size(), told);
}

}  // namespace
}  // namespace orrery::transfer

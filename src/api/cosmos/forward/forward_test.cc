// Requests that a node without any partition takes. Both nodes of these tests are faces over the
// same engine: one is told that everything is at the other. What the network does in between is the
// test's to say.
#include "api/cosmos/forward/forward.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "account/account.h"
#include "api/cosmos/auth/authorization.h"
#include "api/cosmos/service.h"
#include "api/cosmos/wire/resource_address.h"
#include "cluster/engine_fixture.h"
#include "net/http_date.h"

namespace orrery::cosmos {
namespace {

using peer::ForwardAnswer;
using testing::HasSubstr;
using SentHeaders = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kClusterKey = "Zmlyc3QgZmlyc3QgZmlyc3QgZmlyc3Q=";

class ForwardedAnswer final : public net::ResponseSink {
 public:
  bool is_gone() const override { return client_is_gone.load(); }
  std::atomic<bool> client_is_gone{false};
  void send(net::Response&& response) noexcept override { promise_.set_value(std::move(response)); }
  void abandon() noexcept override {
    net::Response response;
    response.status = 500;
    send(std::move(response));
  }
  std::future<net::Response> future() { return promise_.get_future(); }

 private:
  std::promise<net::Response> promise_;
};

class TestPlacement final : public cluster::Placement {
 public:
  std::optional<std::string> address_of(const cluster::Slot& /*slot*/) const override {
    return elsewhere.load() ? std::optional<std::string>("owner:1") : std::nullopt;
  }
  std::optional<std::string> coordinator_address() const override {
    return elsewhere.load() ? std::optional<std::string>("coordinator:1") : std::nullopt;
  }
  bool has_node(const std::string& /*address*/) const override { return !is_gone.load(); }
  uint64_t catalog_lsn() const override { return lsn.load(); }
  Status wait_for_catalog(uint64_t wanted,
                          std::chrono::steady_clock::time_point deadline) override {
    waited_for = wanted;
    if (is_behind_for_ever) {
      std::this_thread::sleep_until(deadline);
      return fail(Code::overloaded, "it does not come");
    }
    lsn = wanted;
    return {};
  }

  std::atomic<bool> elsewhere{false};
  std::atomic<bool> is_gone{false};  // the node that has it
  std::atomic<uint64_t> lsn{1};
  std::atomic<uint64_t> waited_for{0};
  std::atomic<bool> is_behind_for_ever{false};
};

// Hands requests over to the other node, unless the test has something else in store for the next.
class TestLink final : public peer::ForwardLink {
 public:
  using Fate = std::function<std::optional<Result<ForwardAnswer>>(peer::IncomingRequest&)>;

  explicit TestLink(face::Forwarder& other) : other_(other) {}
  void forward(const std::string& address, const peer::OutgoingRequest& request,
               std::chrono::milliseconds deadline, std::stop_token stop,
               peer::ForwardDone done) override {
    addresses.push_back(address);
    if (on_forward) return on_forward(std::move(stop), std::move(done));
    peer::IncomingRequest sent;
    sent.face = request.face;
    sent.method = request.method;
    sent.target = request.target;
    for (const auto& [name, value] : request.headers) sent.headers.emplace_back(name, value);
    sent.body = request.body;
    sent.tls = request.tls;
    sent.client = request.client;
    sent.principal = request.principal;
    sent.request_id = request.request_id;
    sent.catalog_lsn = request.catalog_lsn;
    sent.sending = request.sending;
    sent.sent_before = request.sent_before;
    sent.deadline = std::chrono::steady_clock::now() + deadline;
    if (!fates.empty()) {
      const Fate fate = std::move(fates.front());
      fates.pop_front();
      if (auto answer = fate(sent)) return done(std::move(*answer));
    }
    other_.receive(std::move(sent), std::move(done));
  }

  std::deque<Fate> fates;
  std::function<void(std::stop_token, peer::ForwardDone)> on_forward;
  std::vector<std::string> addresses;

 private:
  face::Forwarder& other_;
};

std::optional<Result<ForwardAnswer>> sent_back(peer::IncomingRequest& /*request*/) {
  ForwardAnswer answer;
  answer.moved = true;
  answer.catalog_lsn = 77;
  return answer;
}

std::optional<Result<ForwardAnswer>> not_sent(peer::IncomingRequest& /*request*/) {
  return fail(Code::overloaded, "cannot reach owner:1");
}

std::optional<Result<ForwardAnswer>> lost(peer::IncomingRequest& /*request*/) {
  return fail(Code::internal, "no answer from owner:1");
}

class ForwardTest : public cluster::EngineTest {
 protected:
  void SetUp() override {
    open();
    scripts_ = std::make_unique<script::Host>(engine_->limits());
    lanes_ = std::make_unique<face::Lanes>(engine_->limits(), clock_, scripts_->workers_max());
    account_ = account::Account::open({kClusterKey, "", "", ""}, std::string(32, 's'), {}).value();
    owner_forwarder_ = std::make_unique<face::Forwarder>(owner_);
    forwarder_ = std::make_unique<face::Forwarder>(placement_);
    link_ = std::make_unique<TestLink>(*owner_forwarder_);
    forwarder_->set_link(*link_);
    owner_forwarder_->set_link(*link_);
    owner_service_ = make(*owner_forwarder_);
    owner_forwarder_->add_face(*owner_service_);
    service_ = make(*forwarder_);
    ASSERT_EQ(ask("POST", "/dbs", {}, R"({"id":"db"})").status, 201);
    ASSERT_EQ(ask("POST", "/dbs/db/colls", {},
                  R"({"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}})")
                  .status,
              201);
    link_->addresses.clear();
    placement_.elsewhere = true;
  }
  void TearDown() override {
    lanes_->stop();
    forwarder_->stop();
    owner_forwarder_->stop();
    service_.reset();
    owner_service_.reset();
    lanes_.reset();
  }

  std::unique_ptr<Service> make(face::Forwarder& forwarder) {
    return std::make_unique<Service>(face::Context{.engine = *engine_,
                                                   .scripts = *scripts_,
                                                   .account = *account_,
                                                   .lanes = *lanes_,
                                                   .clock = clock_,
                                                   .forwarder = &forwarder},
                                     ServiceOptions{});
  }

  net::Response ask(std::string_view method, std::string_view target,
                    const SentHeaders& headers = {}, std::string_view body = "",
                    const char* key = kClusterKey) {
    const std::string date = net::http_date(clock_.now_s());
    const ResourceAddress address = address_of(target).value();
    const auto keys = account::KeyRing::create({key, "", "", ""}).value();
    const std::string signature =
        sign(keys, method, address.resource_type, address.resource_link, date);
    net::Request request;
    request.method = method;
    request.target = target;
    request.body = body;
    request.headers = {
        {"x-ms-date", date}, {"authorization", signature}, {"x-ms-version", "2020-07-15"}};
    for (const auto& [name, value] : headers) request.headers.push_back({name, value});
    auto sink = std::make_shared<ForwardedAnswer>();
    sink->client_is_gone = client_is_gone_;
    auto answer = sink->future();
    service_->handle(request, net::Responder(std::move(sink)));
    return answer.get();
  }
  net::Response create(std::string_view id) {
    return ask("POST", "/dbs/db/colls/c/docs", kOfA,
               R"({"id":")" + std::string(id) + R"(","pk":"a"})");
  }
  net::Response read(std::string_view id) {
    return ask("GET", "/dbs/db/colls/c/docs/" + std::string(id), kOfA);
  }

  const SentHeaders kOfA = {{"x-ms-documentdb-partitionkey", R"(["a"])"}};
  bool client_is_gone_ = false;  // of the next request
  TestPlacement placement_;
  TestPlacement owner_;
  std::unique_ptr<script::Host> scripts_;
  std::unique_ptr<face::Lanes> lanes_;
  std::unique_ptr<account::Account> account_;
  std::unique_ptr<face::Forwarder> owner_forwarder_;
  std::unique_ptr<face::Forwarder> forwarder_;
  std::unique_ptr<TestLink> link_;
  std::unique_ptr<Service> owner_service_;
  std::unique_ptr<Service> service_;
};

TEST_F(ForwardTest, ARequestAboutOnePartitionGoesToItsOwnerWhole) {
  auto created = create("1");
  EXPECT_EQ(created.status, 201) << created.body;
  EXPECT_THAT(created.headers, HasSubstr("x-ms-session-token: "));
  EXPECT_EQ(read("1").status, 200);
  EXPECT_EQ(read("2").status, 404);
  EXPECT_EQ(ask("PATCH", "/dbs/db/colls/c/docs/1", kOfA,
                R"({"operations":[{"op":"add","path":"/x","value":1}]})")
                .status,
            200);
  SentHeaders query = kOfA;
  query.emplace_back("x-ms-documentdb-isquery", "True");
  query.emplace_back("content-type", "application/query+json");
  auto rows = ask("POST", "/dbs/db/colls/c/docs", query, R"({"query":"SELECT VALUE c.x FROM c"})");
  EXPECT_EQ(rows.status, 200);
  EXPECT_THAT(rows.body, HasSubstr("\"Documents\":[1]"));
  EXPECT_EQ(ask("GET", "/dbs/db/colls/c/docs", {}).status, 200);
  EXPECT_EQ(ask("GET", "/dbs/db/colls/c/docs", {{"a-im", "Incremental Feed"}}).status, 200);
  EXPECT_EQ(ask("DELETE", "/dbs/db/colls/c/docs/1", kOfA).status, 204);
  EXPECT_EQ(link_->addresses, std::vector<std::string>(8, "owner:1"));
}

TEST_F(ForwardTest, WhatTheCatalogHasIsReadHereAndChangedAtItsOwner) {
  EXPECT_EQ(ask("GET", "/dbs/db").status, 200);
  EXPECT_EQ(ask("GET", "/dbs/db/colls/c").status, 200);
  EXPECT_EQ(ask("GET", "/dbs/db/colls/c/pkranges").status, 200);
  EXPECT_THAT(link_->addresses, testing::IsEmpty());
  owner_.lsn = 5;
  EXPECT_EQ(ask("POST", "/dbs", {}, R"({"id":"db2"})").status, 201);
  EXPECT_EQ(placement_.waited_for, 5U);
  EXPECT_EQ(
      ask("POST", "/dbs/db/colls/c/udfs", {}, R"({"id":"u","body":"function u() {}"})").status,
      201);
  EXPECT_EQ(ask("DELETE", "/dbs/db2").status, 204);
  EXPECT_EQ(link_->addresses, std::vector<std::string>(3, "coordinator:1"));
}

TEST_F(ForwardTest, SaysNotFoundOnlyAfterAskingTheCatalogsOwner) {
  auto none = ask("GET", "/dbs/none");
  EXPECT_EQ(none.status, 404);
  EXPECT_EQ(ask("GET", "/dbs/db/colls/none/docs/1", kOfA).status, 404);
  EXPECT_EQ(link_->addresses, std::vector<std::string>(2, "coordinator:1"));
}

TEST_F(ForwardTest, AuthorizesBeforeItSends) {
  EXPECT_EQ(ask("GET", "/dbs/db/colls/c/docs/1", kOfA, "", "b3RoZXIgb3RoZXIgb3RoZXI=").status, 401);
  EXPECT_THAT(link_->addresses, testing::IsEmpty());
  // The owner runs what comes as authorized, and authorizes what does not.
  link_->fates.push_back([](peer::IncomingRequest& request) {
    EXPECT_EQ(request.principal, "key");
    std::erase_if(request.headers, [](const auto& one) { return one.first == "authorization"; });
    return std::nullopt;
  });
  EXPECT_EQ(create("1").status, 201);
  link_->fates.push_back([](peer::IncomingRequest& request) {
    request.principal.clear();
    std::erase_if(request.headers, [](const auto& one) { return one.first == "authorization"; });
    return std::nullopt;
  });
  EXPECT_EQ(read("1").status, 401);
}

TEST_F(ForwardTest, RepeatsWhatWasSentBackOrNotSent) {
  link_->fates = {sent_back, not_sent, sent_back};
  EXPECT_EQ(create("1").status, 201);
  EXPECT_EQ(link_->addresses.size(), 4U);
  EXPECT_EQ(placement_.waited_for, 77U);
}

TEST_F(ForwardTest, RunsItHereWhenItIsHereByThen) {
  link_->fates.push_back([this](peer::IncomingRequest& request) {
    placement_.elsewhere = false;
    return sent_back(request);
  });
  EXPECT_EQ(create("1").status, 201);
  EXPECT_EQ(link_->addresses.size(), 1U);
}

// Received and run, and its answer does not come back.
TEST_F(ForwardTest, AWriteWhoseAnswerWasLostIsRunOnceAndAnswered) {
  const auto run_and_lost = [this](peer::IncomingRequest& request) {
    std::promise<void> run;
    owner_forwarder_->receive(request, [&](const Result<ForwardAnswer>& answer) {
      EXPECT_TRUE(answer && answer->status == 201);
      run.set_value();
    });
    run.get_future().wait();
    return lost(request);
  };
  // Then it cannot be reached for a while.
  link_->fates = {run_and_lost, not_sent, lost};
  EXPECT_EQ(create("1").status, 201) << "a second run would be a conflict";
  EXPECT_EQ(link_->addresses.size(), 4U);
  link_->fates = {};
  EXPECT_EQ(create("1").status, 409) << "another request is another write";
}

TEST_F(ForwardTest, WaitsForNoAnswerOfANodeThatIsGone) {
  ASSERT_EQ(create("1").status, 201);
  // Silent until nobody waits any more.
  link_->on_forward = [this](const std::stop_token& stop, peer::ForwardDone done) {
    placement_.is_gone = true;
    std::thread([this, stop, done = std::move(done)]() mutable {
      while (!stop.stop_requested()) std::this_thread::yield();
      link_->on_forward = nullptr;
      done(fail(Code::internal, "cancelled"));
    }).detach();
  };
  EXPECT_EQ(create("2").status, 408);
  placement_.is_gone = false;
  EXPECT_EQ(read("1").status, 200);
}

TEST_F(ForwardTest, RepeatsReadsAndNotWritesThatWereLost) {
  ASSERT_EQ(create("1").status, 201);
  link_->addresses.clear();
  link_->fates = {lost, lost};
  EXPECT_EQ(read("1").status, 200);
  EXPECT_EQ(link_->addresses.size(), 3U);
  link_->addresses.clear();
  link_->fates = {lost};
  auto unknown = create("2");
  EXPECT_EQ(unknown.status, 408);
  EXPECT_THAT(unknown.body, HasSubstr("may be done or not"));
  // The owner was asked whether it was run, and was started too recently to know.
  EXPECT_THAT(unknown.body, HasSubstr("does not remember"));
  EXPECT_EQ(link_->addresses.size(), 2U);
  EXPECT_EQ(read("2").status, 404);
}

TEST_F(ForwardTest, GivesUpAfterSoManyTries) {
  for (int i = 0; i < face::kForwardTriesMax; ++i) link_->fates.emplace_back(not_sent);
  auto refused = create("1");
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, HasSubstr("owner:1"));
  EXPECT_EQ(link_->addresses.size(), static_cast<size_t>(face::kForwardTriesMax));
}

TEST_F(ForwardTest, TellsTheOwnerThatTheClientHasGone) {
  link_->on_forward = [](const std::stop_token& stop, peer::ForwardDone done) {
    // A stop callback would do; the network has one.
    std::thread([stop, done = std::move(done)]() mutable {
      while (!stop.stop_requested()) std::this_thread::yield();
      done(fail(Code::internal, "cancelled"));
    }).detach();
  };
  client_is_gone_ = true;
  EXPECT_EQ(create("1").status, 408);
}

TEST_F(ForwardTest, ANodeThatIsNotTheOwnerSendsBack) {
  owner_.elsewhere = true;
  link_->fates.push_back([](peer::IncomingRequest&) { return std::nullopt; });
  link_->fates.push_back([this](peer::IncomingRequest&) {
    owner_.elsewhere = false;
    return std::nullopt;
  });
  EXPECT_EQ(create("1").status, 201);
  // The one that is not the owner forwards nothing.
  EXPECT_EQ(link_->addresses.size(), 2U);
}

TEST_F(ForwardTest, AnOwnerWaitsForTheCatalogThatTheSenderKnows) {
  placement_.lsn = 9;
  EXPECT_EQ(create("1").status, 201);
  EXPECT_EQ(owner_.waited_for, 9U);
}

TEST_F(ForwardTest, ANodeThatStopsAsksNobodyAgain) {
  forwarder_->stop();
  link_->fates = {lost, lost, lost};
  EXPECT_EQ(create("1").status, 408);
  EXPECT_EQ(link_->addresses.size(), 1U);
}

// As one that others have taken for dead does: it hears of no change any more.
TEST_F(ForwardTest, ANodeStopsWithoutTheCatalogThatItWaitsFor) {
  owner_.is_behind_for_ever = true;
  constexpr int kRequests = 40;
  std::atomic<int> ran{0};
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < kRequests; ++i) {
    owner_forwarder_->later(std::chrono::milliseconds(0), 9, [&] { ++ran; });
  }
  while (owner_.waited_for != 9U) std::this_thread::yield();
  owner_forwarder_->stop();
  EXPECT_EQ(ran, kRequests);
  // All of them, one after another, would take ten times as long.
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
}

}  // namespace
}  // namespace orrery::cosmos

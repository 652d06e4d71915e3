// One client must not hurt the others: memory for bodies and answers is bounded over all of them,
// slow transfers end, and no connection keeps its loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "net/server.h"
#include "net/test_client.h"
#include "net/test_handler.h"
#include "net/test_server.h"

namespace orrery::net {
namespace {

using std::chrono::milliseconds;

HttpTestOptions one_loop() {
  HttpTestOptions options;
  options.port = 0;
  options.threads = 1;
  return options;
}

std::unique_ptr<HttpTestServer> start_sharing(const HttpTestOptions& options, Handler& handler) {
  auto started = HttpTestServer::start(options, handler);
  EXPECT_TRUE(started.has_value()) << started.error().message;
  return std::move(*started);
}

std::string post(std::string_view target, size_t length, std::string_view headers = "") {
  return "POST " + std::string(target) + " HTTP/1.1\r\nHost: h\r\n" + std::string(headers) +
         "Content-Length: " + std::to_string(length) + "\r\n\r\n";
}

TEST(ServerBodies, AreNotGatheredForWhomTheHeadRefuses) {
  TestHandler handler;
  const auto server = start_sharing(one_loop(), handler);
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<TestClient>(server->port()));
    clients.back()->send(post("/refused", 4'000'000) + std::string(10'000, 'x'));
  }
  for (const auto& client : clients) {
    const Reply reply = client->receive();
    EXPECT_EQ(reply.status, 401);
    EXPECT_TRUE(reply.has("Connection: close"));
    EXPECT_TRUE(client->at_end());
  }
  EXPECT_EQ(server->counters().request_buffer_bytes, 0U);
  EXPECT_EQ(handler.heads_seen(), 20U);
  EXPECT_EQ(handler.requests_seen(), 0U);
}

TEST(ServerBodies, InChunksAreNotGatheredEither) {
  TestHandler handler;
  const auto server = start_sharing(one_loop(), handler);
  TestClient client(server->port());
  client.send("POST /refused HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n100000\r\n");
  client.send(std::string(100'000, 'x'));
  EXPECT_EQ(client.receive().status, 401);
  EXPECT_EQ(handler.requests_seen(), 0U);
}

TEST(ServerBodies, SmallOnesOfRefusedRequestsLeaveTheConnection) {
  TestHandler handler;
  const auto server = start_sharing(one_loop(), handler);
  TestClient client(server->port());
  client.send(post("/refused", 5) + "ab");
  EXPECT_TRUE(eventually([&] { return server->counters().connections_open == 1; }));
  EXPECT_EQ(client.ask("cde").status, 401);
  EXPECT_EQ(client.ask(get("/echo")).status, 200);
  EXPECT_EQ(handler.heads_seen(), 0U);
}

TEST(ServerBodies, AreAskedForOnlyWhenTheHeadPassed) {
  TestHandler handler;
  const auto server = start_sharing(one_loop(), handler);
  {
    TestClient client(server->port());
    EXPECT_EQ(client.ask(post("/refused", 5, "Expect: 100-continue\r\n")).status, 401);
    EXPECT_TRUE(client.at_end());
  }
  TestClient client(server->port());
  EXPECT_EQ(client.ask(post("/echo", 5, "Expect: 100-continue\r\n")).status, 100);
  EXPECT_EQ(client.ask("hello").body, "POST /echo hello");
  EXPECT_EQ(client.ask(post("/echo", 50'000, "Expect: 100-continue\r\n")).status, 100);
  EXPECT_EQ(client.ask(std::string(50'000, 'x')).status, 200);
  EXPECT_EQ(handler.heads_seen(), 3U);
}

TEST(ServerBodies, WaitForMemoryInTurn) {
  TestHandler handler;
  HttpTestOptions options = one_loop();
  options.request_buffer_bytes = 4'000'000;  // 3 MB of it for bodies
  const auto server = start_sharing(options, handler);
  TestClient first(server->port());
  first.send(post("/echo", 2'500'000));
  ASSERT_TRUE(eventually([&] { return server->counters().request_buffer_bytes > 2'400'000; }));
  const uint64_t held = server->counters().request_buffer_bytes;
  TestClient second(server->port());
  std::thread sender([&] { second.send(post("/echo", 2'000'000) + std::string(2'000'000, 'b')); });
  ASSERT_TRUE(eventually([&] { return handler.heads_seen() == 2; }));
  // Others are not held up: those that need no more than every connection has.
  TestClient third(server->port());
  EXPECT_EQ(third.ask(post("/echo", 5) + "small").body, "POST /echo small");
  EXPECT_EQ(server->counters().request_buffer_bytes, held);
  EXPECT_EQ(handler.requests_seen(), 1U);
  EXPECT_EQ(first.ask(std::string(2'500'000, 'a')).body.size(), 2'500'000U + 11);
  EXPECT_EQ(second.receive().body.size(), 2'000'000U + 11);
  sender.join();
  EXPECT_TRUE(eventually([&] { return server->counters().request_buffer_bytes == 0; }));
}

TEST(ServerBodies, ThatWaitTooLongAreTold) {
  TestHandler handler;
  HttpTestOptions options = one_loop();
  options.request_buffer_bytes = 4'000'000;
  options.buffer_timeout = milliseconds(50);
  const auto server = start_sharing(options, handler);
  TestClient first(server->port());
  first.send(post("/echo", 2'500'000));
  ASSERT_TRUE(eventually([&] { return server->counters().request_buffer_bytes > 2'400'000; }));
  {
    TestClient second(server->port());
    const Reply reply = second.ask(post("/echo", 2'000'000) + std::string(100'000, 'b'));
    EXPECT_EQ(reply.status, 503);
    EXPECT_TRUE(reply.has("Retry-After: 1"));
  }
  EXPECT_EQ(first.ask(std::string(2'500'000, 'a')).status, 200);
  TestClient third(server->port());
  EXPECT_EQ(third.ask(post("/echo", 2'000'000) + std::string(2'000'000, 'c')).status, 200);
}

TEST(ServerBodies, OfClientsThatLeaveFreeTheirMemory) {
  TestHandler handler;
  HttpTestOptions options = one_loop();
  options.request_buffer_bytes = 4'000'000;
  const auto server = start_sharing(options, handler);
  {
    TestClient first(server->port());
    TestClient second(server->port());
    first.send(post("/echo", 2'500'000));
    ASSERT_TRUE(eventually([&] { return handler.heads_seen() == 1; }));
    second.send(post("/echo", 2'500'000));
    ASSERT_TRUE(eventually([&] { return handler.heads_seen() == 2; }));
  }
  EXPECT_TRUE(eventually([&] { return server->counters().request_buffer_bytes == 0; }));
}

TEST(ServerBodies, DrippingDoesNotBuyTime) {
  TestHandler handler;
  HttpTestOptions options = one_loop();
  options.body_timeout = milliseconds(200);
  const auto server = start_sharing(options, handler);
  TestClient client(server->port());
  client.send(post("/echo", 10'000));
  std::atomic<bool> answered{false};
  std::thread dripper([&] {
    for (int i = 0; i < 2'000 && !answered; ++i) {
      std::this_thread::sleep_for(milliseconds(5));
      client.send("a");
    }
  });
  EXPECT_EQ(client.receive().status, 408);
  answered = true;
  dripper.join();
}

TEST(ServerHeads, LargeOnesAreBoundedTogether) {
  TestHandler handler;
  HttpTestOptions options = one_loop();
  options.request_buffer_bytes = 128 * 1024;  // 32 KB of it for heads
  const auto server = start_sharing(options, handler);
  const std::string head = "GET /echo HTTP/1.1\r\nHost: h\r\nX: " + std::string(20'000, 'x');
  TestClient first(server->port());
  first.send(head + std::string(20'000, 'x'));
  ASSERT_TRUE(eventually([&] { return server->counters().request_buffer_bytes >= 32 * 1024; }));
  TestClient second(server->port());
  EXPECT_EQ(second.ask(head).status, 503);
  EXPECT_EQ(first.ask("\r\n\r\n").status, 200);
  TestClient third(server->port());
  EXPECT_EQ(third.ask(head + "\r\n\r\n").status, 200);
}

TEST(ServerAnswers, ThatNobodyTakesAreBoundedTogether) {
  TestHandler handler;
  HttpTestOptions options = one_loop();
  options.response_buffer_bytes = 25'000'000;  // two and a half of these answers
  const auto server = start_sharing(options, handler);
  std::vector<std::unique_ptr<TestClient>> silent;
  for (int i = 0; i < 6; ++i) {
    silent.push_back(std::make_unique<TestClient>(server->port(), 4096));
    silent.back()->send(get("/large"));
  }
  EXPECT_TRUE(eventually([&] { return server->counters().slow_readers == 4; }));
  EXPECT_TRUE(eventually([&] { return server->counters().connections_open == 2; }));
  // Whoever reads gets all of its answer.
  TestClient reader(server->port());
  EXPECT_EQ(reader.ask(get("/large")).body.size(), 10'000'000U);
}

TEST(ServerAnswers, TakingThemInDripsDoesNotBuyTime) {
  TestHandler handler;
  HttpTestOptions options = one_loop();
  options.write_timeout = milliseconds(300);
  options.transfer_rate_min = 1'000'000'000;
  const auto server = start_sharing(options, handler);
  TestClient client(server->port(), 4096);
  client.send(get("/large"));
  size_t taken = 0;
  while (taken < 10'000'000 && server->counters().slow_readers == 0) {
    taken += client.take(64 * 1024);
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_EQ(server->counters().slow_readers, 1U);
}

// A handler that stops the loop's thread until told otherwise, and notes the order of requests.
class OrderHandler : public Handler {
 public:
  void handle(const Request& request, Responder responder) override {
    std::unique_lock lock(mutex_);
    if (request.target == "/stop") {
      stopped_ = true;
      changed_.notify_all();
      changed_.wait(lock, [this] { return !stopped_; });
    } else {
      order_.emplace_back(request.target);
    }
    responder.send(Response{});
  }
  void wait_until_stopped() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopped_; });
  }
  void go_on() {
    const std::lock_guard lock(mutex_);
    stopped_ = false;
    changed_.notify_all();
  }
  std::vector<std::string> order() {
    const std::lock_guard lock(mutex_);
    return order_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  std::vector<std::string> order_;
};

TEST(ServerTurns, APipelineDoesNotKeepItsLoop) {
  constexpr size_t kBefore = 200;
  constexpr size_t kAfter = 1'000;
  OrderHandler handler;
  const auto server = start_sharing(one_loop(), handler);
  TestClient many(server->port());
  TestClient one(server->port());
  EXPECT_EQ(one.ask(get("/first")).status, 200);  // so that it is the loop's before that is stopped
  std::string pipeline;
  for (size_t i = 0; i < kBefore; ++i) pipeline += get("/many");
  pipeline += get("/stop");
  for (size_t i = 0; i < kAfter; ++i) pipeline += get("/many");
  many.send(pipeline);
  handler.wait_until_stopped();
  one.send(get("/one"));
  handler.go_on();
  EXPECT_EQ(one.receive().status, 200);
  for (size_t i = 0; i < kBefore + 1 + kAfter; ++i) ASSERT_EQ(many.receive().status, 200);
  const std::vector<std::string> order = handler.order();
  const auto place = std::ranges::find(order, "/one") - order.begin();
  EXPECT_LT(place, 1 + kBefore + 50) << "it waited for the pipeline of another connection";
}

}  // namespace
}  // namespace orrery::net

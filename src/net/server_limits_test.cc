// Time limits, the connection limit, running out of descriptors, starting and stopping.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/log.h"
#include "net/server.h"
#include "net/test_client.h"
#include "net/test_handler.h"
#include "net/test_server.h"

namespace orrery::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

HttpTestOptions any_port() {
  HttpTestOptions options;
  options.port = 0;
  options.threads = 2;
  return options;
}

std::unique_ptr<HttpTestServer> start(const HttpTestOptions& options, Handler& handler) {
  auto started = HttpTestServer::start(options, handler);
  EXPECT_TRUE(started.has_value()) << started.error().message;
  return std::move(*started);
}

TEST(ServerLimits, SlowHeadersTimeOut) {
  TestHandler handler;
  HttpTestOptions options = any_port();
  options.head_timeout = milliseconds(100);
  const auto server = start(options, handler);
  TestClient client(server->port());
  EXPECT_EQ(client.ask(get("/echo")).status, 200);
  // Bytes keep coming, but never the end: each byte must not buy more time.
  std::thread dripper([&] {
    client.send("GET / HTTP/1.1\r\nHost: h\r\n");
    for (int i = 0; i < 10; ++i) {
      std::this_thread::sleep_for(milliseconds(30));
      client.send("a");
    }
  });
  const Reply reply = client.receive();
  EXPECT_EQ(reply.status, 408);
  dripper.join();
  EXPECT_TRUE(client.at_end());
  EXPECT_EQ(server->counters().bad_requests, 1U);
}

TEST(ServerLimits, SilentBodiesTimeOut) {
  TestHandler handler;
  HttpTestOptions options = any_port();
  options.body_timeout = milliseconds(50);
  const auto server = start(options, handler);
  TestClient client(server->port());
  EXPECT_EQ(client.ask("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc").status,
            408);
  EXPECT_TRUE(client.at_end());
}

TEST(ServerLimits, IdleConnectionsAreClosed) {
  TestHandler handler;
  HttpTestOptions options = any_port();
  options.idle_timeout = milliseconds(50);
  const auto server = start(options, handler);
  TestClient silent(server->port());
  EXPECT_TRUE(silent.at_end());
  TestClient client(server->port());
  EXPECT_EQ(client.ask(get("/echo")).status, 200);
  EXPECT_TRUE(client.at_end());
  EXPECT_EQ(server->counters().bad_requests, 0U);
}

TEST(ServerLimits, AnswersBeingPreparedDoNotTimeOut) {
  TestHandler handler;
  HttpTestOptions options = any_port();
  options.idle_timeout = options.head_timeout = options.body_timeout = options.write_timeout =
      milliseconds(40);
  const auto server = start(options, handler);
  TestClient client(server->port());
  client.send(get("/held"));
  Responder responder = handler.take_held();
  std::this_thread::sleep_for(milliseconds(200));
  responder.send(Response{});
  EXPECT_EQ(client.receive().status, 200);
}

TEST(ServerLimits, ClientsThatTakeNothingAreClosed) {
  TestHandler handler;
  HttpTestOptions options = any_port();
  options.write_timeout = milliseconds(100);
  const auto server = start(options, handler);
  TestClient client(server->port(), 4096);
  client.send(get("/large"));
  EXPECT_TRUE(eventually([&] {
    return server->counters().connections_accepted == 1 && server->counters().connections_open == 0;
  }));
}

TEST(ServerLimits, ConnectionsOverTheLimitAreTold) {
  TestHandler handler;
  HttpTestOptions options = any_port();
  options.connections_max = 2;
  const auto server = start(options, handler);
  TestClient first(server->port());
  TestClient second(server->port());
  EXPECT_EQ(first.ask(get("/echo")).status, 200);
  EXPECT_EQ(second.ask(get("/echo")).status, 200);
  {
    TestClient third(server->port());
    const Reply reply = third.ask(get("/echo"));
    EXPECT_EQ(reply.status, 503);
    EXPECT_TRUE(reply.has("Connection: close"));
    EXPECT_TRUE(third.at_end());
  }
  const ServerCounters counters = server->counters();
  EXPECT_EQ(counters.connections_refused, 1U);
  EXPECT_EQ(counters.connections_accepted, 2U);
  EXPECT_EQ(counters.connections_open, 2U);
  EXPECT_EQ(counters.bad_requests, 0U);
  first.close();
  EXPECT_TRUE(eventually([&] { return server->counters().connections_open == 1; }));
  TestClient fourth(server->port());
  EXPECT_EQ(fourth.ask(get("/echo")).status, 200);
}

TEST(ServerLimits, WaitsWhenOutOfDescriptors) {
  TestHandler handler;
  const auto server = start(any_port(), handler);
  // UBSan looks at an object's type for the first time through a pipe, so the logger and the event
  // loop, which will be used while there are no descriptors, must have been used before.
  log::error("running out of descriptors on purpose", {{"error", "none yet"}});
  TestClient earlier(server->port());
  EXPECT_EQ(earlier.ask(get("/echo")).status, 200);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);  // the lowest free descriptor
  ::close(next);
  // Room for the client's own socket, and none for the server's end of it.
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(next) + 1;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
  TestClient client(server->port());
  EXPECT_TRUE(eventually([&] { return server->counters().accept_pauses >= 2; }));
  EXPECT_LT(server->counters().accept_pauses, 20U);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(client.ask(get("/echo")).status, 200);
}

TEST(ServerStart, SaysThatThePortIsInUse) {
  TestHandler handler;
  const auto server = start(any_port(), handler);
  HttpTestOptions options = any_port();
  options.port = server->port();
  const auto second = HttpTestServer::start(options, handler);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().message, "port " + std::to_string(server->port()) +
                                        " is in use: another server? choose with --port");
}

TEST(ServerStart, SaysThatAnAddressIsNone) {
  TestHandler handler;
  HttpTestOptions options = any_port();
  options.address = "localhost.example";
  EXPECT_FALSE(HttpTestServer::start(options, handler).has_value());
}

TEST(ServerStart, ListensOnIPv6) {
  TestHandler handler;
  HttpTestOptions options = any_port();
  options.address = "::1";
  const auto server = HttpTestServer::start(options, handler);
  if (!server) GTEST_SKIP() << "no IPv6 here: " << server.error().message;
  EXPECT_NE((*server)->port(), 0);
}

TEST(ServerStop, FinishesWhatItAccepted) {
  TestHandler handler;
  const auto server = start(any_port(), handler);
  TestClient idle(server->port());
  EXPECT_EQ(idle.ask(get("/echo")).status, 200);
  TestClient busy(server->port());
  busy.send(get("/held") + get("/echo/second"));
  Responder responder = handler.take_held();
  const uint16_t port = server->port();
  std::thread stopper([&] { server->stop(milliseconds(20'000)); });
  EXPECT_TRUE(idle.at_end());  // so the stop is under way
  EXPECT_FALSE(TestClient(port).connected());
  Response response;
  response.body = "finished";
  responder.send(std::move(response));
  EXPECT_EQ(busy.receive().body, "finished");
  const Reply last = busy.receive();
  EXPECT_EQ(last.body, "GET /echo/second ");
  EXPECT_TRUE(last.has("Connection: close"));
  EXPECT_TRUE(busy.at_end());
  busy.close();
  const auto before = steady_clock::now();
  stopper.join();
  EXPECT_LT(steady_clock::now() - before, milliseconds(10'000));
}

TEST(ServerStop, GivesUpAfterTheGrace) {
  TestHandler handler;
  auto server = start(any_port(), handler);
  TestClient client(server->port());
  client.send(get("/held"));
  Responder responder = handler.take_held();
  server->stop(milliseconds(30));
  EXPECT_TRUE(client.at_end());
  server.reset();
  responder.send(Response{});  // to a server that is gone: goes nowhere
}

TEST(ServerStop, IsQuickWhenIdle) {
  TestHandler handler;
  const auto server = start(any_port(), handler);
  TestClient fresh(server->port());
  EXPECT_TRUE(eventually([&] { return server->counters().connections_open == 1; }));
  const auto before = steady_clock::now();
  server->stop(milliseconds(20'000));
  EXPECT_LT(steady_clock::now() - before, milliseconds(5'000));
  server->stop(milliseconds(20'000));  // again: nothing to do
}

}  // namespace
}  // namespace orrery::net

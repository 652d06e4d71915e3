// The server over real sockets: what a client sees of requests and responses. Time limits, bounds
// on connections and stopping are in server_limits_test.cc, TLS in tls_test.cc.
#include "net/server.h"
#include "base/fault.h"

#include <gtest/gtest.h>

#include "net/test_client.h"
#include "net/test_handler.h"
#include "net/test_server.h"

namespace orrery::net {
namespace {

class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    HttpTestOptions options;
    options.port = 0;
    options.threads = 2;
    options.header_bytes_max = 4096;
    options.body_bytes_max = 100'000;
    auto started = HttpTestServer::start(options, handler_);
    EXPECT_TRUE(started.has_value());
    server_ = std::move(*started);
  }

  TestHandler handler_;
  std::unique_ptr<HttpTestServer> server_;
};

TEST_F(ServerTest, KeepsConnectionsAlive) {
  TestClient client(server_->port());
  for (int i = 0; i < 3; ++i) {
    const Reply reply = client.ask(get("/echo/" + std::to_string(i)));
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, "GET /echo/" + std::to_string(i) + " ");
    EXPECT_TRUE(reply.head.starts_with("HTTP/1.1 200 OK\r\n"));
    EXPECT_TRUE(reply.has("\r\nDate: ") && reply.has(" GMT\r\n"));
    EXPECT_FALSE(reply.has("Connection:"));
  }
  const ServerCounters counters = server_->counters();
  EXPECT_EQ(counters.requests, 3U);
  EXPECT_EQ(counters.connections_accepted, 1U);
  EXPECT_EQ(counters.connections_open, 1U);
  client.close();
  EXPECT_TRUE(eventually([&] { return server_->counters().connections_open == 0; }));
}

TEST_F(ServerTest, ClosesWhenAskedTo) {
  for (const std::string& request : {get("/echo", "Connection: close\r\n"), get("/close"),
                                     std::string("GET /echo HTTP/1.0\r\n\r\n")}) {
    TestClient client(server_->port());
    const Reply reply = client.ask(request);
    EXPECT_EQ(reply.status, 200);
    EXPECT_TRUE(reply.has("Connection: close\r\n"));
    EXPECT_TRUE(client.at_end());
  }
}

TEST_F(ServerTest, KeepsHttp10AliveWhenAskedTo) {
  TestClient client(server_->port());
  for (int i = 0; i < 2; ++i) {
    const Reply reply = client.ask("GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_EQ(reply.status, 200);
    EXPECT_TRUE(reply.has("Connection: keep-alive\r\n"));
  }
}

TEST_F(ServerTest, AnswersPipelinedRequestsInOrder) {
  std::string requests;
  for (int i = 0; i < 100; ++i) {
    // Some are answered later by another thread, and those after them must wait for it.
    requests += i % 10 == 3 ? "POST /deferred HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n" +
                                  std::to_string(i + 100).substr(1)
                            : get("/echo/" + std::to_string(i));
  }
  TestClient client(server_->port());
  client.send(requests);
  for (int i = 0; i < 100; ++i) {
    const Reply reply = client.receive();
    ASSERT_EQ(reply.status, 200) << i;
    if (i % 10 == 3) {
      EXPECT_EQ(reply.body, "late " + std::to_string(i + 100).substr(1));
    } else {
      EXPECT_EQ(reply.body, "GET /echo/" + std::to_string(i) + " ");
    }
  }
}

TEST_F(ServerTest, AnswersAllPipelinedAfterHalfClose) {
  TestClient client(server_->port());
  client.send(get("/echo/1") + get("/deferred") + get("/echo/2"));
  client.half_close();
  EXPECT_EQ(client.receive().body, "GET /echo/1 ");
  EXPECT_EQ(client.receive().body, "late ");
  EXPECT_EQ(client.receive().body, "GET /echo/2 ");
  EXPECT_TRUE(client.at_end());
}

TEST_F(ServerTest, TakesOneByteAtATime) {
  TestClient client(server_->port());
  const std::string request =
      "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n"
      "0\r\n\r\n" +
      get("/echo/second");
  for (const char c : request) client.send(std::string_view(&c, 1));
  EXPECT_EQ(client.receive().body, "POST /echo abcde");
  EXPECT_EQ(client.receive().body, "GET /echo/second ");
}

TEST_F(ServerTest, TakesLargeBodies) {
  TestClient client(server_->port());
  const std::string body(100'000, 'b');
  for (int i = 0; i < 2; ++i) {
    const Reply reply =
        client.ask("PUT /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n" + body);
    EXPECT_EQ(reply.body, "PUT /echo " + body);
  }
}

TEST_F(ServerTest, SaysContinue) {
  TestClient client(server_->port());
  const Reply go = client.ask(
      "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(go.head, "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(client.ask("body").body, "POST /echo body");
  // No need to say it when the body is there already; and each request is asked anew.
  EXPECT_EQ(client
                .ask("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: "
                     "100-continue\r\n\r\nbody")
                .body,
            "POST /echo body");
  const Reply refused = client.ask(
      "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 100001\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(refused.status, 413);
}

TEST_F(ServerTest, HeadHasLengthAndNoBody) {
  TestClient client(server_->port());
  client.send("HEAD /echo HTTP/1.1\r\nHost: h\r\n\r\n");
  const Reply reply = client.receive(false);
  EXPECT_EQ(reply.status, 200);
  EXPECT_TRUE(reply.has("Content-Length: 11\r\n"));
  EXPECT_EQ(client.ask(get("/echo")).body, "GET /echo ");
}

TEST_F(ServerTest, SomeStatusesHaveNoBody) {
  TestClient client(server_->port());
  for (const char* status : {"204", "304"}) {
    const Reply reply = client.ask(get(std::string("/status/") + status));
    EXPECT_EQ(std::to_string(reply.status), status);
    EXPECT_FALSE(reply.has("Content-Length"));
  }
  const Reply reply = client.ask(get("/status/449"));
  EXPECT_TRUE(reply.head.starts_with("HTTP/1.1 449 Retry With\r\n"));
  EXPECT_EQ(reply.body, "x");
}

TEST_F(ServerTest, MemoryThatRunsOutEndsAConnectionAndNotTheServer) {
  TestClient unlucky(server_->port());
  TestClient other(server_->port());
  EXPECT_EQ(unlucky.ask(get("/echo")).status, 200);
  EXPECT_EQ(other.ask(get("/echo")).status, 200);
  fault::arm("loop.events", fault::Action::memory);
  EXPECT_EQ(unlucky.ask(get("/echo")).status, 0) << "it was closed";
  EXPECT_EQ(other.ask(get("/echo")).status, 200);
  EXPECT_EQ(server_->counters().failures, 1U);
  fault::disarm_all();
  // The same when a connection is to be accepted: it is taken a little later.
  fault::arm("loop.events", fault::Action::memory);
  TestClient late(server_->port());
  EXPECT_EQ(late.ask(get("/echo")).status, 200);
  fault::disarm_all();
}

TEST_F(ServerTest, AnswersForHandlersThatDoNot) {
  TestClient client(server_->port());
  EXPECT_EQ(client.ask(get("/unsent")).status, 500);
  EXPECT_EQ(client.ask(get("/throws")).status, 500);
  client.send(get("/held"));
  {
    const Responder dropped = handler_.take_held();
  }
  EXPECT_EQ(client.receive().status, 500);
  client.send(get("/held"));
  {
    Responder overwritten = handler_.take_held();
    overwritten = Responder(nullptr);
    EXPECT_EQ(client.receive().status, 500);
  }
  EXPECT_EQ(client.ask(get("/echo")).status, 200);
}

TEST_F(ServerTest, RefusesMalformedRequests) {
  const std::string requests[] = {
      "hello\r\n\r\n",
      "GET / HTTP/1.1\n\n",
      "GET / HTTP/1.1\r\nHost : h\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\n folded\r\n\r\n",
      "GET / HTTP/1.1\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
  };
  for (const std::string& request : requests) {
    TestClient client(server_->port());
    // What came before in the same segment is answered; what follows is not looked at.
    client.send(get("/echo") + request + get("/echo"));
    EXPECT_EQ(client.receive().status, 200) << request;
    const Reply reply = client.receive();
    EXPECT_EQ(reply.status, 400) << request;
    EXPECT_TRUE(reply.body.starts_with(R"({"code":"BadRequest","message":")")) << reply.body;
    EXPECT_TRUE(reply.has("Connection: close\r\n"));
    EXPECT_TRUE(client.at_end()) << request;
  }
  EXPECT_EQ(server_->counters().bad_requests, std::size(requests));
}

TEST_F(ServerTest, BoundsHeadsAndBodies) {
  {
    TestClient client(server_->port());
    EXPECT_EQ(client.ask(get("/" + std::string(5000, 'x'))).status, 431);
    EXPECT_TRUE(client.at_end());
  }
  {
    // The client sends its whole body before it reads, and still gets the answer.
    TestClient client(server_->port());
    const Reply reply =
        client.ask("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3000000\r\n\r\n" +
                   std::string(3'000'000, 'x'));
    EXPECT_EQ(reply.status, 413);
    EXPECT_TRUE(client.at_end());
  }
  {
    TestClient client(server_->port());
    const Reply reply =
        client.ask("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n" +
                   std::string(0xffff, 'x') + "\r\nffff\r\n");
    EXPECT_EQ(reply.status, 413);
  }
}

TEST_F(ServerTest, ClientMayLeaveWhileItsAnswerIsPrepared) {
  std::optional<Responder> held;
  {
    TestClient client(server_->port());
    client.send(get("/held"));
    held.emplace(handler_.take_held());
  }
  held->send(Response{});
  EXPECT_TRUE(eventually([&] { return server_->counters().connections_open == 0; }));
  TestClient client(server_->port());
  EXPECT_EQ(client.ask(get("/echo")).status, 200);
}

TEST_F(ServerTest, ClientMayLeaveInTheMiddleOfARequestOrAResponse) {
  {
    TestClient client(server_->port());
    client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc");
  }
  {
    TestClient client(server_->port());
    client.send(get("/large"));
  }
  EXPECT_TRUE(eventually([&] {
    return server_->counters().connections_accepted == 2 &&
           server_->counters().connections_open == 0;
  }));
}

TEST_F(ServerTest, WritesLargeResponsesToSlowReaders) {
  TestClient client(server_->port(), 4096);
  client.send(get("/echo/1") + get("/large") + get("/deferred") + get("/large/2") + get("/echo/2"));
  EXPECT_EQ(client.receive().body, "GET /echo/1 ");
  for (int i = 0; i < 2; ++i) {
    const Reply reply = client.receive();
    ASSERT_EQ(reply.body.size(), 10'000'000U);
    EXPECT_EQ(reply.body.find_first_not_of('L'), reply.body.size() - 1);
    if (i == 0) EXPECT_EQ(client.receive().body, "late ");
  }
  EXPECT_EQ(client.receive().body, "GET /echo/2 ");
}

TEST_F(ServerTest, TellsTheHandlerWhoAsks) {
  TestClient client(server_->port());
  EXPECT_TRUE(client.ask(get("/peer")).body.starts_with("127.0.0.1:"));
}

TEST_F(ServerTest, ManyClientsAtOnce) {
  std::vector<std::thread> clients;
  std::atomic<int> answered = 0;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&] {
      TestClient client(server_->port());
      for (int j = 0; j < 50; ++j) {
        if (client.ask(get(j % 5 == 0 ? "/deferred" : "/echo")).status == 200) ++answered;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(answered, 400);
}

TEST(Response, ValuesCannotBreakOutOfTheirLine) {
  Response response;
  response.add("note", "a\r\nSet-Cookie: b\tc");
  EXPECT_EQ(response.headers, "note: a  Set-Cookie: b\tc\r\n");
}

}  // namespace
}  // namespace orrery::net

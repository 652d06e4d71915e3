// What a WebSocket must not do to others, and what it must survive: slow readers, large messages,
// floods, late answers, vanished peers, and the end of the server.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "net/test_server.h"
#include "net/test_websocket.h"

namespace orrery::net {
namespace {

using std::chrono::milliseconds;

class WebSocketSharingTest : public testing::Test {
 protected:
  void start() {
    options_.threads = 1;
    auto started = HttpTestServer::start(options_, handler_);
    ASSERT_TRUE(started.has_value()) << started.error().message;
    server_ = std::move(*started);
  }
  Sockets& sockets() { return handler_.sockets; }

  SocketHandler handler_;
  HttpTestOptions options_;
  std::unique_ptr<HttpTestServer> server_;
};

TEST_F(WebSocketSharingTest, SendersWaitForSlowReaders) {
  start();
  WebSocketClient client(server_->port(), 4096);
  ASSERT_TRUE(client.open());
  client.text("stream 200");  // 20 MB, five times the queue
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(client.receive_frame().payload.size(), 100'000U);
  }
  EXPECT_EQ(sockets().refused_sends, 0U);
  EXPECT_LT(sockets().unsent_most, 500'000U);
  client.text("still here");
  EXPECT_EQ(client.receive_text(), "still here");
}

TEST_F(WebSocketSharingTest, CutsReadersThatAreTooSlowForTheirSenders) {
  start();
  WebSocketClient client(server_->port(), 4096);
  ASSERT_TRUE(client.open());
  client.text("flood 500");  // 50 MB at once
  EXPECT_TRUE(eventually([&] { return server_->counters().slow_readers == 1; }));
  EXPECT_TRUE(eventually([&] { return sockets().closed == 1; }));
  EXPECT_GT(sockets().refused_sends, 400U);
  EXPECT_EQ(server_->counters().connections_open, 0U);
}

TEST_F(WebSocketSharingTest, CutsThemWhenTheSenderIsAnotherThread) {
  start();
  WebSocketClient client(server_->port(), 4096);
  ASSERT_TRUE(client.open());
  client.text("hold");
  const std::shared_ptr<WebSocket> socket = sockets().take_held();
  size_t unsent_most = 0;
  while (socket->send(MessageKind::binary, std::string(100'000, 'x'))) {
    unsent_most = std::max(unsent_most, socket->unsent_bytes());
  }
  EXPECT_TRUE(socket->is_gone());
  EXPECT_GT(unsent_most, 0U) << "it could see that the peer is slow";
  EXPECT_LT(unsent_most, 4'500'000U);
  EXPECT_TRUE(eventually([&] { return server_->counters().slow_readers == 1; }));
}

TEST_F(WebSocketSharingTest, CutsReadersThatTakeNothing) {
  options_.write_timeout = milliseconds(100);
  start();
  WebSocketClient client(server_->port(), 4096);
  ASSERT_TRUE(client.open());
  client.text("stream 200");
  EXPECT_TRUE(eventually([&] { return server_->counters().slow_readers == 1; }));
  EXPECT_TRUE(eventually([&] { return sockets().closed == 1; }));
}

TEST_F(WebSocketSharingTest, PingsOfAPeerThatReadsNothingDoNotPileUp) {
  options_.write_timeout = milliseconds(300);
  start();
  WebSocketClient client(server_->port(), 4096);
  ASSERT_TRUE(client.open());
  std::string pings;
  for (int i = 0; i < 1000; ++i) pings += frame(kPing, std::string(125, 'p'));
  // Until the server does not take any more, and cuts it.
  std::thread sender([&] {
    while (server_->counters().slow_readers == 0) client.send(pings);
  });
  EXPECT_TRUE(eventually([&] { return server_->counters().slow_readers == 1; }));
  client.half_close();
  sender.join();
}

TEST_F(WebSocketSharingTest, MessagesOfOtherThreadsArriveInOrder) {
  start();
  WebSocketClient client(server_->port());
  ASSERT_TRUE(client.open());
  client.text("hold");
  const std::shared_ptr<WebSocket> socket = sockets().take_held();
  std::thread sender([&] {
    for (int i = 0; i < 500; ++i) socket->send(MessageKind::text, std::to_string(i));
    socket->close(close_code::kNormal, "done");
    EXPECT_FALSE(socket->send(MessageKind::text, "after the close"));
  });
  for (int i = 0; i < 500; ++i) ASSERT_EQ(client.receive_text(), std::to_string(i));
  EXPECT_EQ(client.receive_frame().code(), close_code::kNormal);
  sender.join();
  client.send(frame(kClose, close_payload(1000)));
  EXPECT_TRUE(client.at_end());
}

TEST_F(WebSocketSharingTest, LateAnswersMayFindNobody) {
  start();
  std::shared_ptr<WebSocket> socket;
  {
    WebSocketClient client(server_->port());
    ASSERT_TRUE(client.open());
    client.text("hold");
    socket = sockets().take_held();
    client.reset();
  }
  EXPECT_TRUE(eventually([&] { return sockets().closed == 1; }));
  EXPECT_EQ(sockets().closed_code, close_code::kAbnormal);
  EXPECT_TRUE(socket->is_gone());
  EXPECT_FALSE(socket->send(MessageKind::text, "nobody"));
  socket->close(close_code::kNormal, "");
  socket->resume();
  WebSocketClient client(server_->port());
  ASSERT_TRUE(client.open());
  client.text("hold");
  socket = sockets().take_held();
  server_.reset();
  EXPECT_FALSE(socket->send(MessageKind::text, "to a server that is gone"));
}

TEST_F(WebSocketSharingTest, HandlersCanPause) {
  start();
  WebSocketClient client(server_->port());
  ASSERT_TRUE(client.open());
  client.send(frame(kText, "pause") + frame(kText, "next"));
  const std::shared_ptr<WebSocket> socket = sockets().take_held();
  socket->send(MessageKind::text, "meanwhile");
  EXPECT_EQ(client.receive_text(), "meanwhile");
  EXPECT_EQ(sockets().messages, 1U);
  socket->resume();
  EXPECT_EQ(client.receive_text(), "next");
}

TEST_F(WebSocketSharingTest, AFloodDoesNotHoldUpOthers) {
  constexpr size_t kBefore = 100;
  constexpr size_t kAfter = 5'000;
  start();
  TestClient http(server_->port());
  EXPECT_EQ(http.ask(get("/echo")).status, 200);  // so that the loop has it
  WebSocketClient flood(server_->port());
  ASSERT_TRUE(flood.open());
  std::string frames;
  for (size_t i = 0; i < kBefore; ++i) frames += frame(kText, "x");
  frames += frame(kText, "stop");
  for (size_t i = 0; i < kAfter; ++i) frames += frame(kPing, "x") + frame(kText, "x");
  std::thread sender([&] { flood.send(frames); });
  sockets().wait_until_stopped();
  http.send(get("/messages"));
  sockets().go_on();
  EXPECT_LT(std::atoi(http.receive().body.c_str()), static_cast<int>(kBefore + 1 + 50));
  for (size_t i = 0; i < kBefore + 1 + 2 * kAfter; ++i)
    ASSERT_LT(flood.receive_frame().opcode, 99U);
  sender.join();
}

TEST_F(WebSocketSharingTest, LargeMessagesWaitForMemory) {
  options_.request_buffer_bytes = 4'000'000;  // 3 MB for bodies and messages
  start();
  WebSocketClient first(server_->port());
  WebSocketClient second(server_->port());
  ASSERT_TRUE(first.open());
  ASSERT_TRUE(second.open());
  const std::string whole = frame(kText, std::string(2'000'000, 'a'));
  first.send(whole.substr(0, 100'000));
  ASSERT_TRUE(eventually([&] { return server_->counters().request_buffer_bytes > 1'900'000; }));
  // In fragments, which takes memory for the largest message; and a ping that waits with them.
  std::thread sender([&] {
    second.send(frame(kText, std::string(1'000'000, 'b'), {.last = false}) + frame(kPing, "") +
                frame(kContinuation, "c"));
  });
  // Small ones do not wait.
  WebSocketClient third(server_->port());
  ASSERT_TRUE(third.open());
  third.text("small");
  EXPECT_EQ(third.receive_text(), "small");
  EXPECT_EQ(sockets().messages, 1U);
  first.send(whole.substr(100'000));
  EXPECT_EQ(first.receive_text().size(), 2'000'000U);
  EXPECT_EQ(second.receive_frame().opcode, kPong);
  EXPECT_EQ(second.receive_text().size(), 1'000'001U);
  sender.join();
  EXPECT_TRUE(eventually([&] { return server_->counters().request_buffer_bytes == 0; }));
}

TEST_F(WebSocketSharingTest, ThoseThatWaitTooLongAreTold) {
  options_.request_buffer_bytes = 4'000'000;
  options_.buffer_timeout = milliseconds(50);
  start();
  WebSocketClient first(server_->port());
  ASSERT_TRUE(first.open());
  first.send(frame(kText, std::string(2'000'000, 'a')).substr(0, 100'000));
  ASSERT_TRUE(eventually([&] { return server_->counters().request_buffer_bytes > 1'900'000; }));
  WebSocketClient second(server_->port());
  ASSERT_TRUE(second.open());
  second.send(frame(kText, std::string(2'000'000, 'b')).substr(0, 100'000));
  EXPECT_EQ(second.receive_frame().code(), close_code::kTryLater);
  EXPECT_TRUE(second.at_end());
}

TEST_F(WebSocketSharingTest, PeersThatVanishGiveTheirMemoryBack) {
  start();
  {
    WebSocketClient client(server_->port());
    ASSERT_TRUE(client.open());
    client.text("hold");
    client.send(frame(kText, std::string(2'000'000, 'a')).substr(0, 100'000));
    ASSERT_TRUE(eventually([&] { return server_->counters().request_buffer_bytes > 1'900'000; }));
    client.reset();
  }
  // Even while somebody keeps the socket.
  const std::shared_ptr<WebSocket> socket = sockets().take_held();
  EXPECT_TRUE(eventually([&] { return server_->counters().request_buffer_bytes == 0; }));
}

TEST_F(WebSocketSharingTest, TricklingDoesNotBuyTime) {
  options_.body_timeout = milliseconds(150);
  start();
  WebSocketClient client(server_->port());
  ASSERT_TRUE(client.open());
  const std::string head = frame(kText, std::string(5'000, 'x'), {.last = false}).substr(0, 9);
  client.send(head);
  // Neither do pings between the fragments.
  client.send(std::string(5'000, 'x').substr(1));
  EXPECT_TRUE(eventually([&] {
    client.send(frame(kPing, "") + frame(kContinuation, "x", {.last = false}));
    return server_->counters().bad_requests == 1;
  }));
}

TEST_F(WebSocketSharingTest, StoppingSaysGoodbye) {
  start();
  WebSocketClient idle(server_->port());
  WebSocketClient half(server_->port());
  WebSocketClient held(server_->port());
  ASSERT_TRUE(idle.open());
  ASSERT_TRUE(half.open());
  ASSERT_TRUE(held.open());
  half.send(frame(kText, "first") + frame(kText, "second").substr(0, 4));
  EXPECT_EQ(half.receive_text(), "first");
  held.send(frame(kText, "pause"));
  const std::shared_ptr<WebSocket> socket = sockets().take_held();
  std::thread stopper([&] { server_->stop(milliseconds(20'000)); });
  for (WebSocketClient* client : {&idle, &half, &held}) {
    EXPECT_EQ(client->receive_frame().code(), close_code::kGoingAway);
  }
  EXPECT_FALSE(socket->send(MessageKind::text, "too late"));
  half.send(frame(kText, "second").substr(4));  // is dropped
  for (WebSocketClient* client : {&idle, &half, &held}) {
    client->send(frame(kClose, close_payload(1001)));
    EXPECT_TRUE(client->at_end());
    client->close();
  }
  stopper.join();
  EXPECT_EQ(sockets().closed, 3U);
}

TEST_F(WebSocketSharingTest, StoppingDoesNotWaitForEver) {
  start();
  WebSocketClient client(server_->port());
  ASSERT_TRUE(client.open());
  server_->stop(milliseconds(30));
  EXPECT_EQ(client.receive_frame().code(), close_code::kGoingAway);
  EXPECT_TRUE(client.at_end());
}

TEST_F(WebSocketSharingTest, AnUpgradeThatIsAnsweredWhileStoppingIsClosed) {
  start();
  WebSocketClient busy(server_->port());
  busy.send(get("/held") + upgrade("/socket"));
  Responder responder = handler_.take_held();
  TestClient idle(server_->port());
  EXPECT_EQ(idle.ask(get("/echo")).status, 200);
  std::thread stopper([&] { server_->stop(milliseconds(20'000)); });
  EXPECT_TRUE(idle.at_end());
  responder.send(Response{});
  EXPECT_EQ(busy.receive().status, 200);
  EXPECT_EQ(busy.receive().status, 101);
  EXPECT_EQ(busy.receive_frame().code(), close_code::kGoingAway);
  busy.send(frame(kClose, close_payload(1001)));
  EXPECT_TRUE(busy.at_end());
  busy.close();
  stopper.join();
}

}  // namespace
}  // namespace orrery::net

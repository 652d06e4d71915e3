// WebSocket over real sockets: the handshake, messages and their fragments, control frames,
// closing, and what is refused. Limits that are shared with others are in
// websocket_sharing_test.cc.
#include "net/websocket.h"

#include <gtest/gtest.h>

#include "net/test_certificate.h"
#include "net/test_server.h"
#include "net/test_websocket.h"

namespace orrery::net {
namespace {

using std::chrono::milliseconds;

class WebSocketTest : public testing::Test {
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

TEST_F(WebSocketTest, ShakesHands) {
  start();
  TestClient client(server_->port());
  const Reply reply =
      client.ask(get("/socket",
                     "Upgrade: h2c, WebSocket\r\nConnection: keep-alive, upgrade\r\n"
                     "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                     "Sec-WebSocket-Protocol: other, first\r\nSec-WebSocket-Protocol: second\r\n"
                     "Sec-WebSocket-Extensions: permessage-deflate\r\n"));
  EXPECT_TRUE(reply.head.starts_with("HTTP/1.1 101 Switching Protocols\r\n")) << reply.head;
  EXPECT_TRUE(reply.has("\r\nUpgrade: websocket\r\n"));
  EXPECT_TRUE(reply.has("\r\nConnection: Upgrade\r\n"));
  // The example of RFC 6455, 1.3.
  EXPECT_TRUE(reply.has("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
  EXPECT_TRUE(reply.has("\r\nSec-WebSocket-Protocol: second\r\n")) << "the server's first choice";
  EXPECT_FALSE(reply.has("Extensions"));
  EXPECT_FALSE(reply.has("Content-Length"));
}

TEST_F(WebSocketTest, RefusesOtherHandshakes) {
  start();
  const std::string up = "Upgrade: websocket\r\n";
  const std::string connection = "Connection: Upgrade\r\n";
  const std::string version = "Sec-WebSocket-Version: 13\r\n";
  const std::string key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  TestClient client(server_->port());
  const Reply old =
      client.ask(get("/socket", up + connection + key + "Sec-WebSocket-Version: 8\r\n"));
  EXPECT_EQ(old.status, 426);
  EXPECT_TRUE(old.has("Sec-WebSocket-Version: 13\r\n"));
  const Reply plain = client.ask(get("/socket"));
  EXPECT_EQ(plain.status, 426);
  EXPECT_TRUE(plain.has("Upgrade: websocket\r\n"));
  for (const std::string& headers :
       {up + connection + key, up + version + key, up + connection + version,
        up + connection + version + key + key,
        up + connection + version + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ\r\n",
        up + connection + version + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZR==\r\n",
        up + connection + version + "Sec-WebSocket-Key: dGhlIHNhbX*sZSBub25jZQ==\r\n"}) {
    EXPECT_EQ(client.ask(get("/socket", headers)).status, 400) << headers;
  }
  EXPECT_EQ(client
                .ask("POST /socket HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n" + up + connection +
                     version + key + "\r\n")
                .status,
            400);
  // HTTP goes on after a refusal.
  EXPECT_EQ(client.ask(get("/echo")).status, 200);
  EXPECT_EQ(
      client.ask("GET /socket HTTP/1.0\r\n" + up + connection + version + key + "\r\n").status,
      400);
  EXPECT_TRUE(client.at_end());
}

TEST_F(WebSocketTest, EchoesMessagesOfAllSizes) {
  start();
  WebSocketClient client(server_->port());
  ASSERT_TRUE(client.open());
  for (const size_t size : {0, 1, 125, 126, 4096, 16'384, 65'535, 65'536, 1'000'000}) {
    const std::string message(size, 'm');
    client.text(message);
    const ReceivedFrame text = client.receive_frame();
    EXPECT_EQ(text.opcode, kText);
    EXPECT_EQ(text.payload, message);
    client.send(frame(kBinary, message + "\xff"));
    const ReceivedFrame binary = client.receive_frame();
    EXPECT_EQ(binary.opcode, kBinary);
    EXPECT_EQ(binary.payload, message + "\xff");
  }
  EXPECT_EQ(server_->counters().request_buffer_bytes, 0U);
}

TEST_F(WebSocketTest, TakesOneByteAtATime) {
  start();
  WebSocketClient client(server_->port());
  ASSERT_TRUE(client.open());
  const std::string frames = frame(kText, "hel", {.last = false}) + frame(kPing, "p") +
                             frame(kContinuation, "lo") + frame(kText, std::string(200, 'x'));
  for (const char c : frames) client.send(std::string_view(&c, 1));
  EXPECT_EQ(client.receive_frame().opcode, kPong);
  EXPECT_EQ(client.receive_text(), "hello");
  EXPECT_EQ(client.receive_text(), std::string(200, 'x'));
}

TEST_F(WebSocketTest, FramesMayFollowTheRequestAtOnce) {
  start();
  for (const char* target : {"/socket", "/socket/later"}) {
    WebSocketClient client(server_->port());
    client.send(get("/echo") + upgrade(target) + frame(kText, "one") + frame(kText, "two") +
                frame(kClose, close_payload(1000)));
    EXPECT_EQ(client.receive().status, 200);
    EXPECT_EQ(client.receive().status, 101);
    EXPECT_EQ(client.receive_text(), "one");
    EXPECT_EQ(client.receive_text(), "two");
    EXPECT_EQ(client.receive_frame().code(), 1000);
    EXPECT_TRUE(client.at_end());
  }
}

TEST_F(WebSocketTest, PutsFragmentsTogether) {
  start();
  WebSocketClient client(server_->port());
  ASSERT_TRUE(client.open());
  // A character of three bytes, cut; an empty fragment; control frames in between.
  client.send(frame(kText, "\xe2\x82", {.last = false}) + frame(kPing, "between") +
              frame(kContinuation, "", {.last = false}) + frame(kPong, "unasked") +
              frame(kContinuation, "\xac!"));
  const ReceivedFrame pong = client.receive_frame();
  EXPECT_EQ(pong.opcode, kPong);
  EXPECT_EQ(pong.payload, "between");
  EXPECT_EQ(client.receive_text(), "\xe2\x82\xac!");
}

TEST_F(WebSocketTest, BoundsMessages) {
  handler_.limits.message_bytes_max = 1000;
  start();
  {
    WebSocketClient client(server_->port());
    ASSERT_TRUE(client.open());
    client.text(std::string(1000, 'x'));
    EXPECT_EQ(client.receive_text().size(), 1000U);
    client.text(std::string(1001, 'x'));
    EXPECT_EQ(client.receive_frame().code(), close_code::kTooBig);
    EXPECT_TRUE(client.at_end());
  }
  {
    // All fragments count.
    WebSocketClient client(server_->port());
    ASSERT_TRUE(client.open());
    client.send(frame(kText, std::string(500, 'x'), {.last = false}) +
                frame(kContinuation, std::string(500, 'x'), {.last = false}) +
                frame(kContinuation, "x"));
    EXPECT_EQ(client.receive_frame().code(), close_code::kTooBig);
    EXPECT_TRUE(client.at_end());
  }
  {
    // A length that nobody could mean.
    WebSocketClient client(server_->port());
    ASSERT_TRUE(client.open());
    client.send(std::string("\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff\x01\x02\x03\x04x", 15));
    EXPECT_EQ(client.receive_frame().code(), close_code::kTooBig);
  }
  EXPECT_EQ(sockets().messages, 1U);
  EXPECT_EQ(server_->counters().bad_requests, 3U);
}

TEST_F(WebSocketTest, RefusesWhatIsNotTheProtocol) {
  start();
  const std::string begun = frame(kText, "a", {.last = false});
  const std::string requests[] = {
      frame(kText, "x", {.masked = false}),
      frame(kText, "x", {.reserved = 4}),
      frame(kPing, "x", {.reserved = 1}),
      frame(3, "x"),
      frame(11, "x"),
      frame(kContinuation, "x"),
      begun + frame(kText, "x"),
      begun + frame(kBinary, "x"),
      frame(kPing, std::string(126, 'x')),
      frame(kPing, "x", {.last = false}),
      frame(kClose, "", {.last = false}),
      // Lengths with needless bytes.
      std::string("\x81\xfe\x00\x05\x00\x00\x00\x00hello", 13),
      std::string("\x81\xff\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00hello", 19),
      frame(kClose, "x"),
      frame(kClose, close_payload(0)),
      frame(kClose, close_payload(999)),
      frame(kClose, close_payload(1004)),
      frame(kClose, close_payload(1005)),
      frame(kClose, close_payload(1006)),
      frame(kClose, close_payload(1015)),
      frame(kClose, close_payload(2999)),
      frame(kClose, close_payload(5000)),
  };
  for (const std::string& request : requests) {
    WebSocketClient client(server_->port());
    ASSERT_TRUE(client.open());
    // What is before it is answered; what is after it is not looked at.
    client.send(frame(kText, "before") + request + frame(kText, "after"));
    EXPECT_EQ(client.receive_text(), "before");
    EXPECT_EQ(client.receive_frame().code(), close_code::kProtocolError)
        << testing::PrintToString(request);
    EXPECT_TRUE(client.at_end());
  }
  EXPECT_EQ(sockets().messages, std::size(requests));
}

TEST_F(WebSocketTest, RefusesTextThatIsNotUtf8) {
  start();
  const std::string requests[] = {
      frame(kText, "\xff"),
      frame(kText, "half of one: \xe2\x82"),
      frame(kText, "\xed\xa0\x80"),  // a surrogate
      frame(kText, "\xe2\x82", {.last = false}) + frame(kContinuation, "x"),
      frame(kClose, close_payload(1000, "\xff")),
  };
  for (const std::string& request : requests) {
    WebSocketClient client(server_->port());
    ASSERT_TRUE(client.open());
    client.send(request);
    EXPECT_EQ(client.receive_frame().code(), close_code::kInvalidData);
    EXPECT_TRUE(client.at_end());
  }
  EXPECT_EQ(sockets().messages, 0U);
}

TEST_F(WebSocketTest, AnswersAClose) {
  start();
  for (const int each : {1000, 1001, 1003, 1011, 1014, 3000, 4999}) {
    const auto code = static_cast<uint16_t>(each);
    WebSocketClient client(server_->port());
    ASSERT_TRUE(client.open());
    client.send(frame(kText, "last") + frame(kClose, close_payload(code, "bye")) +
                frame(kText, "after"));
    EXPECT_EQ(client.receive_text(), "last");
    EXPECT_EQ(client.receive_frame().code(), code);
    EXPECT_TRUE(client.at_end());
    client.close();
    EXPECT_TRUE(eventually([&] { return sockets().closed_code == code; }));
  }
  WebSocketClient client(server_->port());
  ASSERT_TRUE(client.open());
  client.send(frame(kClose, ""));
  const ReceivedFrame answer = client.receive_frame();
  EXPECT_EQ(answer.opcode, kClose);
  EXPECT_EQ(answer.payload, "");
  EXPECT_TRUE(client.at_end());
  client.close();
  EXPECT_TRUE(eventually([&] { return sockets().closed_code == close_code::kNoneGiven; }));
}

TEST_F(WebSocketTest, HandlersCanClose) {
  handler_.limits.close_timeout = milliseconds(60);
  options_.idle_timeout = milliseconds(60);  // so that the loop looks often
  start();
  {
    WebSocketClient client(server_->port());
    ASSERT_TRUE(client.open());
    client.send(frame(kText, "close 4001") + frame(kText, "not answered"));
    const ReceivedFrame close = client.receive_frame();
    EXPECT_EQ(close.code(), 4001);
    EXPECT_EQ(close.payload.substr(2), "as asked");
    client.send(frame(kText, "dropped") + frame(kClose, close_payload(4001)));
    EXPECT_TRUE(client.at_end());
  }
  EXPECT_EQ(sockets().messages, 1U);
  {
    WebSocketClient client(server_->port());
    ASSERT_TRUE(client.open());
    client.send(frame(kBinary, "text only"));
    EXPECT_EQ(client.receive_frame().code(), close_code::kUnsupportedData);
    // It never answers: the server does not wait for long.
    EXPECT_TRUE(client.at_end());
  }
}

TEST_F(WebSocketTest, AHandlerThatThrowsClosesItsSocketAlone) {
  start();
  WebSocketClient unlucky(server_->port());
  WebSocketClient other(server_->port());
  ASSERT_TRUE(unlucky.open());
  ASSERT_TRUE(other.open());
  unlucky.text("throw");
  EXPECT_EQ(unlucky.receive_frame().code(), close_code::kServerError);
  EXPECT_TRUE(unlucky.at_end());
  other.text("hello");
  EXPECT_EQ(other.receive_text(), "hello");
}

TEST_F(WebSocketTest, AsksSilentPeersForASignOfLife) {
  handler_.limits.ping_interval = milliseconds(40);
  handler_.limits.pong_timeout = milliseconds(5'000);
  options_.idle_timeout = milliseconds(40);  // HTTP's, which is not for WebSocket
  start();
  WebSocketClient client(server_->port());
  ASSERT_TRUE(client.open());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(client.receive_frame().opcode, kPing);
    client.send(i == 1 ? frame(kPing, "") : frame(kPong, ""));  // whatever it is
    if (i == 1) EXPECT_EQ(client.receive_frame().opcode, kPong);
  }
  EXPECT_EQ(sockets().closed, 0U);
}

TEST_F(WebSocketTest, CutsPeersThatGiveNone) {
  handler_.limits.ping_interval = milliseconds(40);
  handler_.limits.pong_timeout = milliseconds(40);
  options_.idle_timeout = milliseconds(40);
  start();
  WebSocketClient client(server_->port());
  ASSERT_TRUE(client.open());
  EXPECT_EQ(client.receive_frame().opcode, kPing);
  EXPECT_TRUE(client.at_end());
  EXPECT_TRUE(eventually([&] { return sockets().closed_code == close_code::kAbnormal; }));
}

TEST_F(WebSocketTest, WorksOverTls) {
  TestCertificate certificate;
  certificate.make();
  options_.certificate_file = certificate.file();
  options_.private_key_file = certificate.key_file();
  start();
  WebSocketClient client(server_->port());
  ASSERT_TRUE(client.start_tls(certificate.client()));
  client.send(upgrade("/socket") + frame(kText, "at once"));
  EXPECT_EQ(client.receive().status, 101);
  EXPECT_EQ(client.receive_text(), "at once");
  client.text("later");
  EXPECT_EQ(client.receive_text(), "late");
  client.text(std::string(300'000, 'x'));
  EXPECT_EQ(client.receive_text().size(), 300'000U);
  client.text("stream 100");
  for (int i = 0; i < 100; ++i) ASSERT_EQ(client.receive_frame().payload.size(), 100'000U);
  client.send(frame(kClose, close_payload(1000)));
  EXPECT_EQ(client.receive_frame().code(), 1000);
  EXPECT_TRUE(client.at_end());
}

}  // namespace
}  // namespace orrery::net

// Several listeners in one server, each with its own kind of session, TLS setting and limits, over
// real sockets: what they share, what they do not, and that none holds up another.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "net/http_session.h"
#include "net/server.h"
#include "net/test_certificate.h"
#include "net/test_client.h"
#include "net/test_handler.h"
#include "net/test_line_session.h"

namespace orrery::net {
namespace {

using std::chrono::milliseconds;

class ListenersTest : public testing::Test {
 protected:
  ListenersTest() {
    options_.threads = 1;
    lines_spec_.name = "lines";
    lines_spec_.tls = TlsMode::off;
    lines_spec_.sessions = lines_.sessions();
    http_spec_.name = "http";
    http_spec_.sessions = http_sessions(handler_, {});
  }

  void start() {
    auto created = Server::create(options_);
    ASSERT_TRUE(created.has_value()) << created.error().message;
    server_ = std::move(*created);
    http_port_ = listen(http_spec_);
    lines_port_ = listen(lines_spec_);
    ASSERT_TRUE(server_->start().has_value());
  }

  uint16_t listen(const ListenerSpec& spec) {
    const Result<uint16_t> port = server_->listen(spec);
    EXPECT_TRUE(port.has_value()) << port.error().message;
    return port.value_or(0);
  }

  ListenerCounters of_http() const { return server_->listeners()[0].counters; }
  ListenerCounters of_lines() const { return server_->listeners()[1].counters; }

  ServerOptions options_;
  ListenerSpec http_spec_;
  ListenerSpec lines_spec_;
  TestHandler handler_;
  Lines lines_;
  std::unique_ptr<Server> server_;
  uint16_t http_port_ = 0;
  uint16_t lines_port_ = 0;
};

TEST_F(ListenersTest, SpeakTheirOwnProtocols) {
  start();
  TestClient http(http_port_);
  TestClient lines(lines_port_);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(http.ask(get("/echo")).status, 200);
    lines.send("one\ntwo\n");
    EXPECT_EQ(lines.line(), "one");
    EXPECT_EQ(lines.line(), "two");
  }
  lines.send("later\nafter\nquit\n");
  EXPECT_EQ(lines.line(), "late");
  EXPECT_EQ(lines.line(), "after");
  EXPECT_EQ(lines.line(), "quit");
  EXPECT_TRUE(lines.at_end());
  const std::vector<ListenerStatus> status = server_->listeners();
  ASSERT_EQ(status.size(), 2U);
  EXPECT_EQ(status[1].name, "lines");
  EXPECT_EQ(status[1].port, lines_port_);
  EXPECT_EQ(of_http().requests, 3U);
  EXPECT_EQ(of_lines().requests, 9U);
  EXPECT_EQ(server_->counters().requests, 12U);
  EXPECT_EQ(server_->counters().connections_accepted, 2U);
}

TEST_F(ListenersTest, HaveTheirOwnTls) {
  TestCertificate certificate;
  certificate.make();
  options_.certificate_file = certificate.file();
  options_.private_key_file = certificate.key_file();
  options_.threads = 2;
  auto created = Server::create(options_);
  ASSERT_TRUE(created.has_value());
  server_ = std::move(*created);
  const uint16_t off = listen(lines_spec_);
  lines_spec_.tls = TlsMode::on;
  const uint16_t on = listen(lines_spec_);
  lines_spec_.tls = TlsMode::by_first_byte;
  const uint16_t either = listen(lines_spec_);
  ASSERT_TRUE(server_->start().has_value());
  for (const uint16_t port : {off, either}) {
    TestClient plain(port);
    plain.send("hello\n");
    EXPECT_EQ(plain.line(), "hello");
  }
  for (const uint16_t port : {on, either}) {
    TestClient secure(port);
    ASSERT_TRUE(secure.start_tls(certificate.client()));
    secure.send("hello\nlater\nquit\n");
    EXPECT_EQ(secure.line(), "hello by TLS");
    EXPECT_EQ(secure.line(), "late");
    EXPECT_EQ(secure.line(), "quit by TLS");
    EXPECT_TRUE(secure.at_end());
  }
  // Where TLS is off, the byte that begins it is one like any other; where it is told by how a
  // client begins, what follows that byte tells.
  for (const uint16_t port : {off, either}) {
    TestClient plain(port);
    plain.send("\x16hello\n");
    EXPECT_EQ(plain.line(), "\x16hello");
  }
  {
    TestClient slow(either);
    slow.send("\x16");
    slow.send("\x03\n");
    EXPECT_EQ(slow.line(), "\x16\x03");
  }
  {
    // Where it is not, plain text is no handshake.
    TestClient plain(on);
    plain.send("hello\n");
    EXPECT_NE(plain.line(), "hello");
    EXPECT_TRUE(eventually([&] { return server_->listeners()[1].counters.tls_failures == 1; }));
  }
}

TEST_F(ListenersTest, ForTlsAloneNeedACertificate) {
  auto created = Server::create(options_);
  ASSERT_TRUE(created.has_value());
  lines_spec_.tls = TlsMode::on;
  const auto port = (*created)->listen(lines_spec_);
  ASSERT_FALSE(port.has_value());
  EXPECT_NE(port.error().message.find("`lines`"), std::string::npos);
}

TEST_F(ListenersTest, ThatCannotBeHadLeaveTheOthers) {
  start();
  auto created = Server::create(options_);
  ASSERT_TRUE(created.has_value());
  std::unique_ptr<Server> second = std::move(*created);
  lines_spec_.port = lines_port_;
  lines_spec_.port_option = "--lines-port";
  const auto taken = second->listen(lines_spec_);
  ASSERT_FALSE(taken.has_value());
  EXPECT_EQ(taken.error().code, Code::conflict);
  EXPECT_NE(taken.error().message.find("--lines-port"), std::string::npos);
  const auto port = second->listen(http_spec_);
  ASSERT_TRUE(port.has_value());
  ASSERT_TRUE(second->start().has_value());
  EXPECT_EQ(second->listeners().size(), 1U);
  TestClient client(*port);
  EXPECT_EQ(client.ask(get("/echo")).status, 200);
}

TEST_F(ListenersTest, HaveTheirOwnConnections) {
  lines_spec_.limits.connections_max = 1;
  options_.connections_max = 3;
  start();
  TestClient first(lines_port_);
  first.send("first\n");
  EXPECT_EQ(first.line(), "first");
  {
    TestClient second(lines_port_);
    EXPECT_EQ(second.line(), "full");
    EXPECT_TRUE(second.at_end());
  }
  TestClient third(http_port_);
  EXPECT_EQ(third.ask(get("/echo")).status, 200);
  TestClient fourth(http_port_);
  EXPECT_EQ(fourth.ask(get("/echo")).status, 200);
  // As many as the server may have, over all listeners.
  TestClient fifth(http_port_);
  EXPECT_EQ(fifth.receive().status, 503);
  EXPECT_EQ(of_lines().connections_refused, 1U);
  EXPECT_EQ(of_http().connections_refused, 1U);
  EXPECT_EQ(of_lines().connections_open, 1U);
  EXPECT_EQ(of_http().connections_open, 2U);
  first.close();
  EXPECT_TRUE(eventually([&] { return server_->counters().connections_open == 2; }));
  TestClient sixth(http_port_);
  EXPECT_EQ(sixth.ask(get("/echo")).status, 200);
}

TEST_F(ListenersTest, HaveTheirOwnTimeLimits) {
  lines_spec_.limits.idle_timeout = milliseconds(60);
  start();
  TestClient http(http_port_);
  EXPECT_EQ(http.ask(get("/echo")).status, 200);
  TestClient silent(lines_port_);
  EXPECT_TRUE(silent.at_end());
  TestClient client(lines_port_);
  client.send("hello\n");
  EXPECT_EQ(client.line(), "hello");
  EXPECT_TRUE(client.at_end());
  EXPECT_EQ(http.ask(get("/echo")).status, 200);
}

TEST_F(ListenersTest, TricklingDoesNotBuyTime) {
  lines_spec_.limits.head_timeout = milliseconds(150);
  start();
  TestClient client(lines_port_);
  EXPECT_TRUE(eventually([&] {
    client.send("a");
    return lines_.closed == 1;
  }));
}

TEST_F(ListenersTest, TakeOneByteAtATime) {
  start();
  TestClient client(lines_port_);
  for (const char c : std::string_view("one\nlater\n\ntwo\n")) client.send(std::string_view(&c, 1));
  EXPECT_EQ(client.line(), "one");
  EXPECT_EQ(client.line(), "late");
  EXPECT_EQ(client.line(), "");
  EXPECT_EQ(client.line(), "two");
}

TEST_F(ListenersTest, AnswerAllThatCameBeforeAHalfClose) {
  start();
  TestClient client(lines_port_);
  client.send("one\nlater\ntwo\nnot a whole li");
  client.half_close();
  EXPECT_EQ(client.line(), "one");
  EXPECT_EQ(client.line(), "late");
  EXPECT_EQ(client.line(), "two");
  EXPECT_TRUE(client.at_end());
}

TEST_F(ListenersTest, LateAnswersMayFindTheStreamGone) {
  start();
  Lines::Answer answer;
  {
    TestClient client(lines_port_);
    client.send("hold\n");
    answer = lines_.take_held();
  }
  answer("nobody");  // finds out that the peer has gone
  EXPECT_TRUE(eventually([&] { return lines_.closed == 1; }));
  answer("again");
  TestClient client(lines_port_);
  client.send("hold\n");
  answer = lines_.take_held();
  server_.reset();
  answer("to a server that is gone");
  EXPECT_TRUE(client.at_end());
}

TEST_F(ListenersTest, PeersThatVanishAreForgotten) {
  start();
  for (const char* sent : {"", "half a li", "one\n", "one\nhalf"}) {
    TestClient client(lines_port_);
    client.send(sent);
    if (std::string_view(sent).starts_with("one")) EXPECT_EQ(client.line(), "one");
    client.reset();
  }
  EXPECT_TRUE(eventually(
      [&] { return of_lines().connections_accepted == 4 && of_lines().connections_open == 0; }));
  EXPECT_TRUE(eventually([&] { return lines_.closed == 4; }));
}

TEST_F(ListenersTest, AnExceptionEndsOneStream) {
  start();
  TestClient unlucky(lines_port_);
  TestClient other(lines_port_);
  unlucky.send("throw\n");
  EXPECT_TRUE(unlucky.at_end());
  other.send("hello\n");
  EXPECT_EQ(other.line(), "hello");
  EXPECT_EQ(of_lines().failures, 1U);
  EXPECT_EQ(of_http().failures, 0U);
}

TEST_F(ListenersTest, InputThatNobodyReservedIsBounded) {
  options_.request_buffer_bytes = 128 * 1024;  // 32 KB of it for what is not reserved
  start();
  TestClient first(lines_port_);
  first.send(std::string(40'000, 'x'));
  ASSERT_TRUE(eventually([&] { return server_->counters().request_buffer_bytes >= 32 * 1024; }));
  TestClient second(lines_port_);
  second.send(std::string(20'000, 'y'));
  EXPECT_TRUE(eventually([&] { return lines_.closed == 1; }));
  first.send("\n");
  EXPECT_EQ(first.line(), std::string(40'000, 'x'));
  EXPECT_TRUE(eventually([&] { return server_->counters().request_buffer_bytes == 0; }));
}

// The loop is stopped in the middle of a flood; what comes meanwhile on another listener must not
// wait for the flood's end.
TEST_F(ListenersTest, AFloodOnOneDoesNotHoldUpAnother) {
  constexpr size_t kBefore = 100;
  constexpr size_t kAfter = 20'000;
  size_t seen_at_answer = 0;
  class Noting : public Handler {
   public:
    Noting(Lines& lines, size_t& seen) : lines_(lines), seen_(seen) {}
    void handle(const Request& request, Responder responder) override {
      if (request.target == "/one") seen_ = lines_.seen;
      responder.send(Response{});
    }

   private:
    Lines& lines_;
    size_t& seen_;
  } noting(lines_, seen_at_answer);
  http_spec_.sessions = http_sessions(noting, {});
  start();
  TestClient http(http_port_);
  EXPECT_EQ(http.ask(get("/first")).status, 200);  // so that the loop has it
  TestClient flood(lines_port_);
  std::string lines;
  for (size_t i = 0; i < kBefore; ++i) lines += "x\n";
  lines += "stop\n";
  for (size_t i = 0; i < kAfter; ++i) lines += "x\n";
  std::thread sender([&] { flood.send(lines); });
  lines_.wait_until_stopped();
  http.send(get("/one"));
  lines_.go_on();
  EXPECT_EQ(http.receive().status, 200);
  for (size_t i = 0; i < kBefore + 1 + kAfter; ++i) ASSERT_FALSE(flood.line().empty());
  sender.join();
  EXPECT_LT(seen_at_answer, kBefore + 1 + 50);
}

TEST_F(ListenersTest, StopTogetherAndInOrder) {
  options_.threads = 2;
  start();
  TestClient idle(lines_port_);
  idle.send("hello\n");
  EXPECT_EQ(idle.line(), "hello");
  TestClient held(lines_port_);
  held.send("hold\nnext\n");
  Lines::Answer answer = lines_.take_held();
  TestClient half(lines_port_);
  half.send("first\nhalf a l");
  EXPECT_EQ(half.line(), "first");
  TestClient http(http_port_);
  http.send(get("/held"));
  Responder responder = handler_.take_held();
  std::thread stopper([&] { server_->stop(milliseconds(20'000)); });
  EXPECT_TRUE(idle.at_end());  // so the stop is under way
  EXPECT_TRUE(eventually([&] { return lines_.stopping == 3; }));
  EXPECT_FALSE(TestClient(lines_port_).connected());
  EXPECT_FALSE(TestClient(http_port_).connected());
  half.send("ine\n");
  EXPECT_EQ(half.line(), "half a line");
  EXPECT_TRUE(half.at_end());
  answer("held");
  EXPECT_EQ(held.line(), "held");
  EXPECT_EQ(held.line(), "next");
  EXPECT_TRUE(held.at_end());
  responder.send(Response{});
  EXPECT_EQ(http.receive().status, 200);
  EXPECT_TRUE(http.at_end());
  for (TestClient* client : {&held, &half, &http}) client->close();
  stopper.join();
  EXPECT_EQ(server_->counters().connections_open, 0U);
  EXPECT_EQ(lines_.closed, 3U);
}

TEST_F(ListenersTest, StopGivesUpOnWhatIsHalfDone) {
  start();
  TestClient half(lines_port_);
  half.send("first\nhalf a l");
  EXPECT_EQ(half.line(), "first");
  TestClient held(lines_port_);
  held.send("hold\n");
  Lines::Answer answer = lines_.take_held();
  server_->stop(milliseconds(30));
  EXPECT_TRUE(half.at_end());
  EXPECT_TRUE(held.at_end());
  answer("late");
}

}  // namespace
}  // namespace orrery::net

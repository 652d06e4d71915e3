// Sessions of direct mode over real sockets, without TLS, with a handler of the test's.
#include "api/cosmos/direct/direct_session.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/cosmos/direct/token_ids.h"
#include "base/bytes.h"
#include "net/server.h"
#include "net/test_client.h"

namespace orrery::cosmos::direct {
namespace {

const std::string kSessionActivity(kActivityIdBytes, 'a');

// Answers with the item's id; items that begin with "late" when it is told to, "drop" never.
class TestHandler final : public DirectHandler {
 public:
  void handle_direct(const DirectRequest& request, net::Responder responder) override {
    const std::string target(request.http.target);
    if (target.find("drop") != std::string::npos) return;
    const std::lock_guard lock(mutex_);
    if (target.find("late") != std::string::npos) {
      held_.emplace_back(target, std::move(responder));
      changed_.notify_all();
      return;
    }
    responder.send(answer(target, request.http.body.size()));
  }
  std::optional<net::Response> refuse_direct(const DirectRequest& head) override {
    if (head.http.target.find("refused") == std::string::npos) return std::nullopt;
    net::Response response;
    response.status = 401;
    return response;
  }
  void wait_held(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return held_.size() >= count; });
  }
  // The answers that are held back, last one first, from another thread than the loop's.
  void answer_held(size_t count) {
    wait_held(count);
    const std::lock_guard lock(mutex_);
    while (!held_.empty()) {
      auto [target, responder] = std::move(held_.back());
      held_.pop_back();
      responder.send(answer(target, 0));
    }
  }

 private:
  static net::Response answer(const std::string& target, size_t body_bytes) {
    net::Response response;
    response.body = target.substr(target.rfind('/') + 1) + " " + std::to_string(body_bytes);
    return response;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<std::string, net::Responder>> held_;
};

class DirectSessionTest : public testing::Test {
 protected:
  void SetUp() override {
    net::ServerOptions options;
    options.threads = 1;
    auto server = net::Server::create(options);
    ASSERT_TRUE(server);
    server_ = std::move(*server);
    net::ListenerSpec spec;
    spec.tls = net::TlsMode::off;
    spec.sessions =
        direct_sessions(handler_, {.head_bytes_max = 64 * 1024, .payload_bytes_max = 1024 * 1024});
    auto port = server_->listen(std::move(spec));
    ASSERT_TRUE(port);
    port_ = *port;
    ASSERT_TRUE(server_->start());
  }

  static std::string context() {
    std::string bytes;
    FrameWriter frame(bytes, 0, kSessionActivity);
    frame.add_u32(context_token::kProtocolVersion, 1);
    frame.add_text8(context_token::kUserAgent, "test");
    frame.end();
    return bytes;
  }
  static std::string request(uint32_t id, std::string_view item, std::string_view body = {}) {
    std::string bytes;
    FrameWriter frame(bytes, operation::kReplace << 16 | resource::kItem, kSessionActivity);
    frame.add_byte(request_token::kPayloadPresent, body.empty() ? 0 : 1);
    frame.add_text(request_token::kDatabaseName, "shop");
    frame.add_text(request_token::kContainerName, "orders");
    frame.add_text(request_token::kItemName, item);
    frame.add_u32(request_token::kTransportRequestId, id);
    frame.end();
    if (!body.empty()) frame.add_payload(body);
    return bytes;
  }

  struct Answer {
    uint32_t status = 0;
    uint32_t id = 0;
    std::string body;
  };
  // The next frame; status 0: the connection was closed.
  static Answer receive(net::TestClient& client, bool is_context = false) {
    Answer answer;
    std::string bytes = client.bytes(4);
    if (bytes.size() < 4) return answer;
    const size_t head = load_u32_le(bytes.data());
    bytes += client.bytes(head - 4);
    answer.status = load_u32_le(bytes.data() + 4);
    if (is_context) return answer;
    bool has_payload = false;
    TokenReader reader(std::string_view(bytes).substr(kFrameHeadBytes));
    Token token;
    while (reader.next(token) == TokenReader::Outcome::token) {
      if (token.id == response_token::kTransportRequestId) {
        answer.id = static_cast<uint32_t>(token.number);
      }
      if (token.id == response_token::kPayloadPresent) has_payload = token.number == 1;
    }
    if (has_payload) {
      const std::string size = client.bytes(4);
      answer.body = client.bytes(load_u32_le(size.data()));
    }
    return answer;
  }

  TestHandler handler_;
  std::unique_ptr<net::Server> server_;
  uint16_t port_ = 0;
};

TEST_F(DirectSessionTest, ContextComesFirstAndRequestsAreAnswered) {
  net::TestClient client(port_);
  client.send(context());
  EXPECT_EQ(receive(client, true).status, 200U);
  client.send(request(1, "one") + request(2, "two", "12345"));
  const Answer one = receive(client);
  EXPECT_EQ(one.id, 1U);
  EXPECT_EQ(one.body, "one 0");
  const Answer two = receive(client);
  EXPECT_EQ(two.id, 2U);
  EXPECT_EQ(two.body, "two 5");
}

TEST_F(DirectSessionTest, RequestBeforeTheContextIsRefused) {
  net::TestClient client(port_);
  client.send(request(1, "one"));
  EXPECT_EQ(receive(client, true).status, 400U);
}

TEST_F(DirectSessionTest, LateAnswersOvertakeOneAnother) {
  net::TestClient client(port_);
  client.send(context() + request(1, "late1") + request(2, "late2") + request(3, "now"));
  EXPECT_EQ(receive(client, true).status, 200U);
  EXPECT_EQ(receive(client).id, 3U);
  handler_.answer_held(2);
  EXPECT_EQ(receive(client).body, "late2 0");
  EXPECT_EQ(receive(client).body, "late1 0");
}

TEST_F(DirectSessionTest, MoreRequestsThanMayRunWaitForTheOthers) {
  net::TestClient client(port_);
  std::string all = context();
  for (uint32_t i = 0; i < kRequestsMax + 10; ++i) {
    all += request(i, "late" + std::to_string(i));
  }
  client.send(all);
  EXPECT_EQ(receive(client, true).status, 200U);
  std::map<uint32_t, std::string> answers;
  for (const size_t count : {kRequestsMax, size_t{10}}) {
    handler_.answer_held(count);
    for (size_t i = 0; i < count; ++i) {
      const Answer answer = receive(client);
      answers[answer.id] = answer.body;
    }
  }
  ASSERT_EQ(answers.size(), kRequestsMax + 10);
  for (const auto& [id, body] : answers) EXPECT_EQ(body, "late" + std::to_string(id) + " 0");
}

TEST_F(DirectSessionTest, LargePayloadsAreRunOneAtATime) {
  net::TestClient client(port_);
  client.send(context());
  EXPECT_EQ(receive(client, true).status, 200U);
  const std::string large(100'000, 'x');
  client.send(request(1, "late", large) + request(2, "large", large) + request(3, "small"));
  handler_.answer_held(1);
  EXPECT_EQ(receive(client).id, 1U);
  EXPECT_EQ(receive(client).body, "large 100000");
  EXPECT_EQ(receive(client).body, "small 0");
}

TEST_F(DirectSessionTest, LargePayloadIsRefusedBeforeItIsRead) {
  net::TestClient client(port_);
  client.send(context());
  EXPECT_EQ(receive(client, true).status, 200U);
  const std::string whole = request(1, "refused", std::string(100'000, 'x'));
  client.send(std::string_view(whole).substr(0, 300));
  const Answer answer = receive(client);
  EXPECT_EQ(answer.status, 401U);
  EXPECT_EQ(answer.id, 1U);
  EXPECT_EQ(receive(client).status, 0U);
}

TEST_F(DirectSessionTest, RequestThatNobodyAnswersIsAnswered) {
  net::TestClient client(port_);
  client.send(context() + request(1, "late") + request(2, "drop"));
  EXPECT_EQ(receive(client, true).status, 200U);
  const Answer answer = receive(client);
  EXPECT_EQ(answer.status, 500U);
  EXPECT_EQ(answer.id, 2U);
  handler_.answer_held(1);
  EXPECT_EQ(receive(client).id, 1U);
}

TEST_F(DirectSessionTest, WrongTokensAreAnsweredAndTheConnectionGoesOn) {
  net::TestClient client(port_);
  client.send(context() + request(1, "") + request(2, "two"));
  EXPECT_EQ(receive(client, true).status, 200U);
  EXPECT_EQ(receive(client).status, 400U);
  EXPECT_EQ(receive(client).body, "two 0");
}

TEST_F(DirectSessionTest, MalformedFrameEndsTheConnection) {
  net::TestClient client(port_);
  client.send(context() + std::string("\1\0\0\0\0\0\0\0", 8));
  receive(client, true);
  EXPECT_EQ(receive(client).status, 0U);
}

TEST_F(DirectSessionTest, AnswersWhatItHasTakenBeforeItStops) {
  net::TestClient client(port_);
  client.send(context() + request(1, "late"));
  EXPECT_EQ(receive(client, true).status, 200U);
  handler_.wait_held(1);
  std::thread stopping([&] { server_->stop(std::chrono::seconds(20)); });
  handler_.answer_held(1);
  EXPECT_EQ(receive(client).id, 1U);
  EXPECT_EQ(receive(client).status, 0U);
  stopping.join();
}

}  // namespace
}  // namespace orrery::cosmos::direct

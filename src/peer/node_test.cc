// Two nodes in one process, over real sockets and TLS.
#include "peer/node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>
#include <vector>

#include "base/await.h"
#include "base/thread_annotations.h"
#include "peer/test_certificates.h"

namespace orrery::peer {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

// Answers by the kind, and keeps what it was told to keep.
class TestSide final : public Answerer, public ForwardReceiver {
 public:
  void answer(std::string kind, std::string bytes, Done done) override {
    if (kind == "echo") return done(std::move(bytes));
    if (kind == "fail") return done(fail(Code::moved, "not here: " + bytes));
    if (kind == "drop") return;
    MutexLock lock(mutex_);
    kept_.push_back(std::move(done));
    changed_.notify_all();
  }
  void receive(IncomingRequest request, ForwardDone done) override {
    ForwardAnswer answer;
    answer.catalog_lsn = request.catalog_lsn + 1;
    if (request.target == "/moved") {
      answer.moved = true;
      answer.owner = "10.0.0.9:1";
      answer.epoch = 7;
      return done(std::move(answer));
    }
    if (request.target == "/drop") return;
    if (request.target == "/wait") {
      std::thread([this, answer, is_cancelled = request.is_cancelled,
                   done = std::move(done)]() mutable {
        waiting.set_value();
        while (!is_cancelled->load()) std::this_thread::yield();
        done(std::move(answer));
      }).detach();
      return;
    }
    answer.status = 201;
    answer.headers = "x: " + request.headers.at(0).second + "\r\n";
    answer.body = request.face + " " + request.method + " " + request.target + " " + request.body +
                  " " + request.principal + " " + request.request_id + " " + request.client +
                  (request.tls ? " tls" : "");
    done(std::move(answer));
  }
  std::promise<void> waiting;  // a request is until it is cancelled
  void wait_for_kept(size_t count) {
    MutexLock lock(mutex_);
    while (kept_.size() < count) changed_.wait(mutex_);
  }
  void answer_kept() {
    std::vector<Done> kept;
    {
      MutexLock lock(mutex_);
      kept = std::exchange(kept_, {});
    }
    for (Done& done : kept) done(std::string("late"));
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::vector<Done> kept_ ORRERY_GUARDED_BY(mutex_);
};

class PeerNode : public testing::Test {
 protected:
  static std::unique_ptr<Node> open(const NodeOptions& options, TestSide& side) {
    auto node = open_node(options, side, side);
    EXPECT_TRUE(node.has_value()) << node.error().message;
    return node ? std::move(*node) : nullptr;
  }
  static std::string address_of(const Node& node) {
    return "127.0.0.1:" + std::to_string(node.port());
  }
  static Result<std::string> call(Node& from, const std::string& address, const char* kind,
                                  std::string bytes, milliseconds deadline = seconds(60)) {
    auto answer = await<Result<std::string>>(
        [&](auto done) { from.call(address, kind, std::move(bytes), deadline, std::move(done)); });
    if (!answer) return pass(answer.error());
    return std::move(*answer);
  }
  static Result<ForwardAnswer> forward(Node& from, const std::string& address,
                                       const OutgoingRequest& request) {
    auto answer = await<Result<ForwardAnswer>>(
        [&](auto done) { from.forward(address, request, seconds(60), {}, std::move(done)); });
    if (!answer) return pass(answer.error());
    return std::move(*answer);
  }

  TestCa ca_;
  TestSide side_;
  TestSide other_side_;
};

TEST_F(PeerNode, AnswersCallsOfOthersAndPassesTheirErrorsOn) {
  auto one = open(ca_.options("one"), side_);
  auto other = open(ca_.options("other"), other_side_);
  const std::string address = address_of(*other);
  EXPECT_EQ(call(*one, address, "echo", "abc"), "abc");
  EXPECT_EQ(call(*one, address, "echo", std::string(3'000'000, 'x'))->size(), 3'000'000U);
  auto failed = call(*one, address, "fail", "p1");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::moved);
  EXPECT_EQ(failed.error().message, "not here: p1");
  auto dropped = call(*one, address, "drop", "");
  ASSERT_FALSE(dropped);
  EXPECT_EQ(dropped.error().code, Code::internal);
  EXPECT_THAT(dropped.error().message, HasSubstr(address));
  EXPECT_EQ(other->counts().received, 4U);
  EXPECT_EQ(other->counts().received_under_way, 0U);
  EXPECT_EQ(one->counts().sent, 4U);
  EXPECT_EQ(one->counts().sent_under_way, 0U);
}

TEST_F(PeerNode, SendsWholeRequests) {
  auto one = open(ca_.options("one"), side_);
  auto other = open(ca_.options("other"), other_side_);
  OutgoingRequest request;
  request.face = "items";
  request.method = "POST";
  request.target = "/a";
  request.headers = {{"x", "y"}};
  request.body = "{}";
  request.principal = "key";
  request.request_id = "id1";
  request.client = "1.2.3.4:5";
  request.tls = true;
  request.catalog_lsn = 41;
  auto answer = forward(*one, address_of(*other), request);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_FALSE(answer->moved);
  EXPECT_EQ(answer->status, 201U);
  EXPECT_EQ(answer->headers, "x: y\r\n");
  EXPECT_EQ(answer->body, "items POST /a {} key id1 1.2.3.4:5 tls");
  EXPECT_EQ(answer->catalog_lsn, 42U);
  request.target = "/moved";
  answer = forward(*one, address_of(*other), request);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_TRUE(answer->moved);
  EXPECT_EQ(answer->owner, "10.0.0.9:1");
  EXPECT_EQ(answer->epoch, 7U);
  request.target = "/drop";
  answer = forward(*one, address_of(*other), request);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::internal);
}

TEST_F(PeerNode, TellsTheOtherWhenNobodyWantsTheAnswer) {
  auto one = open(ca_.options("one"), side_);
  auto other = open(ca_.options("other"), other_side_);
  OutgoingRequest request;
  request.face = "items";
  request.method = "GET";
  request.target = "/wait";
  request.headers = {{"x", "y"}};
  std::stop_source stop;
  auto answer = std::async(std::launch::async, [&] {
    return *await<Result<ForwardAnswer>>([&](auto done) {
      one->forward(address_of(*other), request, seconds(60), stop.get_token(), std::move(done));
    });
  });
  other_side_.waiting.get_future().wait();
  stop.request_stop();
  EXPECT_EQ(answer.get().error().code, Code::internal);
}

TEST_F(PeerNode, SaysThatNothingWasSentToANodeThatIsNotThere) {
  auto one = open(ca_.options("one"), side_);
  auto other = open(ca_.options("other"), other_side_);
  const std::string address = address_of(*other);
  EXPECT_EQ(call(*one, address, "echo", "abc"), "abc");
  other.reset();
  // The channel learns of it after a moment: a call that was given to it before may have been run.
  for (;;) {
    auto answer = call(*one, address, "echo", "abc");
    ASSERT_FALSE(answer);
    if (answer.error().code == Code::internal) continue;
    EXPECT_EQ(answer.error().code, Code::overloaded);
    EXPECT_THAT(answer.error().message, HasSubstr(address));
    break;
  }
}

TEST_F(PeerNode, RefusesANodeOfAnotherCaOnEitherSide) {
  TestCa other_ca;
  auto one = open(ca_.options("one"), side_);
  auto stranger = open(other_ca.options("stranger"), other_side_);
  EXPECT_EQ(call(*one, address_of(*stranger), "echo", "abc").error().code, Code::overloaded);
  EXPECT_EQ(call(*stranger, address_of(*one), "echo", "abc").error().code, Code::overloaded);
  // One that trusts ours, but was not signed by it.
  NodeOptions options = ca_.options("spy");
  options.certificate_file = other_ca.file("node.pem");
  options.key_file = other_ca.file("node.key");
  auto spy = open(options, other_side_);
  auto answer = call(*spy, address_of(*one), "echo", "abc");
  ASSERT_FALSE(answer);
  EXPECT_EQ(one->counts().received, 0U);
  EXPECT_EQ(stranger->counts().received, 0U);
}

TEST_F(PeerNode, EndsACallAtItsDeadline) {
  auto one = open(ca_.options("one"), side_);
  auto other = open(ca_.options("other"), other_side_);
  auto answer = call(*one, address_of(*other), "keep", "", milliseconds(50));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, answer.error().message.find("reach") == std::string::npos
                                     ? Code::internal
                                     : Code::overloaded);
  other_side_.answer_kept();
}

TEST_F(PeerNode, TakesSoManyCallsAtATime) {
  auto one = open(ca_.options("one"), side_);
  NodeOptions options = ca_.options("other");
  options.calls_max = 2;
  auto other = open(options, other_side_);
  std::vector<std::future<Result<std::string>>> kept;
  for (int i = 0; i < 2; ++i) {
    kept.push_back(
        std::async(std::launch::async, [&] { return call(*one, address_of(*other), "keep", ""); }));
  }
  other_side_.wait_for_kept(2);
  auto refused = call(*one, address_of(*other), "echo", "");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::overloaded);
  EXPECT_THAT(refused.error().message, HasSubstr("node other"));
  other_side_.answer_kept();
  for (auto& one_kept : kept) EXPECT_EQ(one_kept.get(), "late");
  EXPECT_EQ(other->counts().refused, 1U);
}

TEST_F(PeerNode, StopsWithCallsUnderWay) {
  auto one = open(ca_.options("one"), side_);
  auto other = open(ca_.options("other"), other_side_);
  auto kept =
      std::async(std::launch::async, [&] { return call(*one, address_of(*other), "keep", ""); });
  other_side_.wait_for_kept(1);
  one->stop(milliseconds(0));
  EXPECT_EQ(kept.get().error().code, Code::internal);
  EXPECT_EQ(call(*one, address_of(*other), "echo", "").error().code, Code::overloaded);
  other_side_.answer_kept();
}

TEST_F(PeerNode, SaysWhatIsWrongWithItsFilesAndItsAddress) {
  NodeOptions options = ca_.options("one");
  options.ca_file = "/nowhere/ca.pem";
  auto none = open_node(options, side_, side_);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("--cluster-ca /nowhere/ca.pem"));
  auto one = open(ca_.options("one"), side_);
  options = ca_.options("two");
  options.address = address_of(*one);
  none = open_node(options, side_, side_);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr(options.address));
}

}  // namespace
}  // namespace orrery::peer

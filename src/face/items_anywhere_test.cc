// Items of partitions at another node. Both nodes of these tests are over the same engine: one is
// told that every second partition is at the other. What the network does in between is the test's
// to say.
#include "face/items_anywhere.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/engine_fixture.h"
#include "face/face.h"

namespace orrery::face {
namespace {

using partition::Verb;
using peer::ForwardAnswer;

class HalfElsewhere final : public cluster::Placement {
 public:
  explicit HalfElsewhere(bool is_asked) : is_asked_(is_asked) {}
  std::optional<std::string> address_of(const cluster::Slot& slot) const override {
    if (!is_asked_ || slot.range.id % 2 == 0) return std::nullopt;
    return "owner:1";
  }
  std::optional<std::string> coordinator_address() const override {
    return is_asked_ ? std::optional<std::string>("owner:1") : std::nullopt;
  }
  bool has_node(const std::string& /*address*/) const override { return !is_gone.load(); }
  uint64_t catalog_lsn() const override { return is_asked_ ? known.load() : 9; }
  Status wait_for_catalog(uint64_t lsn, std::chrono::steady_clock::time_point) override {
    known = lsn;
    return {};
  }

  std::atomic<bool> is_gone{false};
  std::atomic<uint64_t> known{1};

 private:
  const bool is_asked_;
};

// Hands requests over to the other node, unless the test has something else in store for the next.
class TestLink final : public peer::ForwardLink {
 public:
  // Nothing: it arrives. `lost_answer`: it arrives, and its answer does not.
  enum class Fate : uint8_t { arrives, lost, lost_answer, not_sent, sent_back };

  explicit TestLink(Forwarder& other) : other_(other) {}
  void forward(const std::string& /*address*/, const peer::OutgoingRequest& request,
               std::chrono::milliseconds deadline, std::stop_token /*stop*/,
               peer::ForwardDone done) override {
    ++sent;
    Fate fate = Fate::arrives;
    if (!fates.empty()) {
      fate = fates.front();
      fates.pop_front();
    }
    if (fate == Fate::lost) return done(fail(Code::internal, "no answer"));
    if (fate == Fate::not_sent) return done(fail(Code::overloaded, "cannot reach it"));
    if (fate == Fate::sent_back) {
      ForwardAnswer answer;
      answer.moved = true;
      return done(std::move(answer));
    }
    peer::IncomingRequest arrived;
    arrived.face = request.face;
    arrived.method = request.method;
    arrived.target = request.target;
    arrived.body = request.body;
    arrived.principal = request.principal;
    arrived.sending = request.sending;
    arrived.sent_before = request.sent_before;
    arrived.deadline = std::chrono::steady_clock::now() + deadline;
    if (fate == Fate::lost_answer) {
      return other_.receive(std::move(arrived),
                            [done = std::move(done)](const Result<ForwardAnswer>&) mutable {
                              done(fail(Code::internal, "no answer"));
                            });
    }
    other_.receive(std::move(arrived), std::move(done));
  }

  std::deque<Fate> fates;
  std::atomic<int> sent{0};

 private:
  Forwarder& other_;
};

class TestFace final : public Face {
 public:
  explicit TestFace(ItemsAnywhere& items) : items_(items) {}
  std::string_view name() const override { return "face"; }
  void handle_forwarded(const net::Request& request, const Forwarded& forwarded,
                        net::Responder responder) override {
    items_.answer(request, forwarded, std::move(responder));
  }
  void add_metrics(MetricFamilies& /*all*/) const override {}

 private:
  ItemsAnywhere& items_;
};

class ItemsAnywhereTest : public cluster::EngineTest {
 protected:
  using Fate = TestLink::Fate;

  void SetUp() override {
    open();
    routing_ = make("c", 80'000);
    const auto complete = [](partition::Write&, const cluster::Routing&) { return Status(); };
    owners_.emplace(*engine_, &owner_forwarder_, "face", complete);
    items_.emplace(*engine_, &forwarder_, "face", complete);
    face_.emplace(*owners_);
    owner_forwarder_.set_link(link_);
    owner_forwarder_.add_face(*face_);
    forwarder_.set_link(link_);
  }
  void TearDown() override {
    forwarder_.stop();
    owner_forwarder_.stop();
  }

  // A key of a partition that is elsewhere, or here.
  std::string key(bool is_elsewhere) const {
    for (int i = 0;; ++i) {
      std::string one = "k" + std::to_string(i);
      if (items_->is_elsewhere(*routing_, place(*routing_, one)) == is_elsewhere) return one;
    }
  }
  StoredItems create(const std::string& pk, std::string_view row) {
    return items_->write_and_wait(
        routing_, partition::one(write_of(*routing_, Verb::create, pk, row, "\"n\":1")));
  }

  HalfElsewhere owner_{false};
  HalfElsewhere placement_{true};
  Forwarder owner_forwarder_{owner_};
  Forwarder forwarder_{placement_};
  TestLink link_{owner_forwarder_};
  std::optional<ItemsAnywhere> owners_;
  std::optional<ItemsAnywhere> items_;
  std::optional<TestFace> face_;
  cluster::RoutingPtr routing_;
};

TEST_F(ItemsAnywhereTest, ReadsAndWritesHereAndElsewhere) {
  for (const bool is_elsewhere : {false, true}) {
    const std::string pk = key(is_elsewhere);
    const auto stored = create(pk, "1");
    ASSERT_FALSE(stored.reply.error) << stored.reply.error->message;
    EXPECT_GT(stored.reply.receipt.charge, 0);
    auto read = items_->read(routing_, place(*routing_, pk), "1");
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_TRUE(read->item);
    EXPECT_THAT(read->item->body, testing::HasSubstr("\"n\":1"));
    EXPECT_FALSE(items_->read(routing_, place(*routing_, pk), "2")->item);
    // Refused by the partition, with the same words.
    const auto again = create(pk, "1");
    ASSERT_TRUE(again.reply.error);
    EXPECT_EQ(again.reply.error->code, Code::conflict);
    EXPECT_FALSE(again.is_unknown);
    // In the state that was read, and in no other.
    auto replace = write_of(*routing_, Verb::replace, pk, "1", "\"n\":2");
    replace.if_version = read->item->version;
    EXPECT_FALSE(items_->write_and_wait(routing_, partition::one(replace)).reply.error);
    EXPECT_EQ(items_->write_and_wait(routing_, partition::one(replace)).reply.error->code,
              Code::precondition_failed);
  }
  EXPECT_GT(link_.sent, 0);
  EXPECT_EQ(items_->usage(routing_)->items, 2);
}

TEST_F(ItemsAnywhereTest, FindsTheNotesOfAllPartitions) {
  for (const bool is_elsewhere : {false, true}) {
    auto write = write_of(*routing_, Verb::create, key(is_elsewhere), "1");
    write.note = std::make_shared<const partition::Note>(partition::Note{
        .owner = "session", .number = 7, .part = is_elsewhere, .body = "done", .life_s = 600});
    ASSERT_FALSE(items_->write_and_wait(routing_, partition::one(write)).reply.error);
  }
  const auto min = value::placement_min();
  const auto max = value::placement_max();
  auto notes = items_->notes(routing_, min, max, "session", 7);
  ASSERT_TRUE(notes) << notes.error().message;
  EXPECT_EQ(notes->size(), 2);
  EXPECT_EQ(items_->notes(routing_, min, max, "session", 8)->size(), 0);
  const std::string placement = place(*routing_, key(true));
  notes = items_->notes(routing_, placement, placement + '\0', "session", 7);
  ASSERT_EQ(notes->size(), 1);
  EXPECT_EQ(notes->front().part, 1);
}

TEST_F(ItemsAnywhereTest, AWriteWhoseAnswerWasLostIsRunOnce) {
  link_.fates = {Fate::lost_answer};
  const auto stored = create(key(true), "1");
  EXPECT_FALSE(stored.reply.error) << stored.reply.error->message;
  EXPECT_EQ(link_.sent, 2);
}

TEST_F(ItemsAnywhereTest, RepeatsWhatWasSentBackOrNotSent) {
  link_.fates = {Fate::sent_back, Fate::not_sent};
  EXPECT_FALSE(create(key(true), "1").reply.error);
  EXPECT_EQ(link_.sent, 3);
  link_.fates = {Fate::lost, Fate::sent_back};
  EXPECT_TRUE(items_->read(routing_, place(*routing_, key(true)), "1")->item);
}

TEST_F(ItemsAnywhereTest, NobodyKnowsOfAWriteWhoseOwnerIsGone) {
  placement_.is_gone = true;
  link_.fates = {Fate::lost};
  const auto stored = create(key(true), "1");
  ASSERT_TRUE(stored.reply.error);
  EXPECT_TRUE(stored.is_unknown);
  EXPECT_EQ(link_.sent, 1);
}

TEST_F(ItemsAnywhereTest, WaitsForTheCatalogThatItsOwnerHas) {
  ASSERT_TRUE(items_->learn_catalog());
  EXPECT_EQ(placement_.known, 9);
}

TEST_F(ItemsAnywhereTest, MessagesThatAreCutOrStrangeAreRefused) {
  WriteQuestion question{.container = 3, .writes = {}, .wants_items = true};
  question.writes.push_back(write_of(*routing_, Verb::create, "k", "1", "\"n\":1"));
  question.writes.back().lifetime = {.ms = 5, .from_ms = -7};
  question.writes.back().if_version = partition::Version{1, 2, 3, 4};
  const std::string bytes = encode_write_question(question);
  auto back = decode_write_question(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->writes.front().body, question.writes.front().body);
  EXPECT_EQ(back->writes.front().lifetime, question.writes.front().lifetime);
  EXPECT_EQ(back->writes.front().if_version, question.writes.front().if_version);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_write_question(std::string_view(bytes).substr(0, size))) << size;
  }
  EXPECT_FALSE(decode_write_question(bytes + "x"));
  // A count of elements that no message could have.
  EXPECT_FALSE(decode_notes(std::string(8, '\xFF')));
  EXPECT_EQ(decode_error("").code, Code::internal);
}

}  // namespace
}  // namespace orrery::face

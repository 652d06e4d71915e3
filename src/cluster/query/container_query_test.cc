// Queries over a container of several partitions: with threads that help, a query gives what it
// gives without them, and reads as much.
#include "cluster/query/container_query.h"

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "cluster/engine_fixture.h"
#include "cluster/query/query_helpers.h"
#include "cluster/query/remote_views.h"
#include "cluster/query/view_server.h"
#include "query/bind/bind.h"
#include "query/parse/parser.h"

namespace orrery::cluster {
namespace {

// Asks for help at once, however fast the machine is.
class EagerHelpers final : public query::Helpers {
 public:
  size_t threads() const override { return helpers_.threads(); }
  int64_t alone_us() const override { return 0; }
  void post(std::move_only_function<void()> job) noexcept override {
    ++posted;
    helpers_.post(std::move(job));
  }
  std::atomic<size_t> posted = 0;

 private:
  QueryHelpers helpers_{3};
};

// Every other partition is at another node, which has the same engine.
class HalfElsewhere final : public Placement, public peer::Link {
 public:
  HalfElsewhere(Engine& engine, const Clock& clock) : server(engine, clock) {}

  std::optional<std::string> address_of(const Slot& slot) const override {
    if (slot.range.id % 2 == 0) return std::nullopt;
    return "other:1";
  }
  std::optional<std::string> coordinator_address() const override { return std::nullopt; }
  uint64_t catalog_lsn() const override { return 0; }
  Status wait_for_catalog(uint64_t /*lsn*/,
                          std::chrono::steady_clock::time_point /*deadline*/) override {
    return {};
  }
  void call(const std::string& address, std::string kind, std::string bytes,
            std::chrono::milliseconds /*deadline*/, peer::Done done) override {
    EXPECT_EQ(address, "other:1");
    ++calls;
    if (fails) return done(fail(Code::internal, "no answer from other:1"));
    server.answer(std::move(kind), std::move(bytes), std::move(done));
  }

  ViewServer server;
  std::atomic<size_t> calls = 0;
  std::atomic<bool> fails = false;
};

class ContainerQueryTest : public EngineTest {
 protected:
  struct Reader {
    query::Helpers* helpers = nullptr;
    RemoteViews* remote = nullptr;
    std::optional<query::Position> at = std::nullopt;
    bool is_done = false;
    bool counts = true;     // what was read
    std::string seen = "";  // rows, positions, what was read
  };

  void fill(const RoutingPtr& routing, int count) {
    for (int i = 0; i < count; ++i) {
      std::string members = "\"n\":" + std::to_string(i * 37 % 101) +
                            ".1,\"g\":" + std::to_string(i % 7) + ",\"t\":\"" +
                            std::string(static_cast<size_t>(i % 5), 'x') + '"';
      if (i % 3 != 0) members += ",\"m\":" + std::to_string(i % 50);
      auto reply = upsert(routing, "k" + std::to_string(i % 90), std::to_string(i), members);
      ASSERT_FALSE(reply.error) << reply.error->message;
    }
  }

  void read_page(const std::string& text, const RoutingPtr& routing, size_t rows, Reader& reader) {
    auto parsed = query::parse_query(text);
    ASSERT_TRUE(parsed) << text;
    auto bound = query::bind_query(*parsed, {});
    ASSERT_TRUE(bound) << text;
    const KeyBounds bounds;
    ContainerQuery run(*engine_, routing, *parsed, {}, bounds, reader.remote);
    query::PageLimits limits;
    limits.rows = rows;
    limits.helpers = reader.helpers;
    query::Context context;
    auto result = run.run(**bound, reader.at ? &*reader.at : nullptr, {}, partition::Reach::files,
                          limits, context);
    ASSERT_TRUE(result) << text << ": " << result.error().message;
    const query::QueryPage& page = result->page;
    for (const std::string_view row : page.rows) reader.seen += std::string(row) + '\n';
    if (reader.counts) {
      reader.seen += std::to_string(page.read.items) + ' ' + std::to_string(page.read.bytes) + ' ' +
                     std::to_string(page.read.matched) + ' ' + std::to_string(page.read.entries) +
                     " of " + std::to_string(result->receipt.range) + " at " +
                     std::to_string(result->receipt.lsn) + '\n';
    }
    reader.at = page.next;
    reader.is_done = !page.next;
    if (page.next) reader.seen += page.next->key + page.next->order + page.next->gathered + '\n';
  }

  void read_rest(const std::string& text, const RoutingPtr& routing, size_t rows, Reader& reader) {
    for (int pages = 0; !reader.is_done && pages < 1000; ++pages) {
      read_page(text, routing, rows, reader);
      if (HasFatalFailure()) return;
    }
    EXPECT_TRUE(reader.is_done) << text;
  }

  EagerHelpers helpers_;
};

constexpr std::string_view kQueries[] = {
    "SELECT VALUE COUNT(1) FROM c",
    "SELECT VALUE COUNT(1) FROM c WHERE c.m > 20",
    "SELECT VALUE SUM(c.n) FROM c",
    "SELECT AVG(c.n) AS a, MIN(c.t) AS l, MAX(c.m) AS h, COUNT(c.m) AS n FROM c WHERE c.g != 2",
    "SELECT c.g, SUM(c.n) AS s, COUNT(1) AS n FROM c GROUP BY c.g",
    "SELECT c.g, c.t, AVG(c.n + c.m) AS a FROM c GROUP BY c.g, c.t OFFSET 3 LIMIT 20",
    "SELECT DISTINCT c.t, c.m FROM c",
    "SELECT DISTINCT TOP 5 c.t, c.m FROM c",
    "SELECT c.id FROM c ORDER BY c.n",
    "SELECT TOP 10 c.id FROM c ORDER BY c.m DESC",
    "SELECT TOP 30 c.id, c.n FROM c ORDER BY c.n * 2 DESC",
    "SELECT c.id FROM c WHERE c.m < 40 ORDER BY c.g, c.n",
    "SELECT c.id FROM c WHERE c.n > 60",
    "SELECT * FROM c WHERE c.g = 3",
    "SELECT c.id FROM c WHERE c.n + c.m < 20",
    "SELECT TOP 12 * FROM c WHERE c.n + c.m < 80",
};

TEST_F(ContainerQueryTest, GivesTheSameWithHelpAsAlone) {
  open();
  const RoutingPtr routing = make("c", 80'000);
  ASSERT_EQ(routing->slots.size(), 8);
  fill(routing, 500);
  for (const std::string_view text : kQueries) {
    for (const size_t rows : {9, 1000}) {
      Reader alone;
      Reader helped{.helpers = &helpers_};
      read_rest(std::string(text), routing, rows, alone);
      read_rest(std::string(text), routing, rows, helped);
      EXPECT_EQ(helped.seen, alone.seen) << text;
    }
  }
  EXPECT_GT(helpers_.posted, 0);
}

TEST_F(ContainerQueryTest, GivesTheSameOverPartitionsOfOtherNodes) {
  open();
  const RoutingPtr routing = make("c", 80'000);
  fill(routing, 500);
  HalfElsewhere elsewhere(*engine_, clock_);
  RemoteViews remote(elsewhere, elsewhere);
  for (const std::string_view text : kQueries) {
    for (const size_t rows : {9, 1000}) {
      Reader here;
      Reader there{.remote = &remote};
      Reader helped{.helpers = &helpers_, .remote = &remote};
      read_rest(std::string(text), routing, rows, here);
      read_rest(std::string(text), routing, rows, there);
      read_rest(std::string(text), routing, rows, helped);
      EXPECT_EQ(there.seen, here.seen) << text;
      EXPECT_EQ(helped.seen, here.seen) << text;
    }
  }
  EXPECT_GT(elsewhere.calls, 0);
  EXPECT_EQ(elsewhere.server.open_views(), 0U);
}

TEST_F(ContainerQueryTest, IsToBeRunAgainWhenAnotherNodeDoesNotAnswer) {
  open();
  const RoutingPtr routing = make("c", 80'000);
  fill(routing, 50);
  HalfElsewhere elsewhere(*engine_, clock_);
  RemoteViews remote(elsewhere, elsewhere);
  auto parsed = query::parse_query("SELECT VALUE COUNT(1) FROM c");
  auto bound = query::bind_query(*parsed, {});
  const KeyBounds bounds;
  ContainerQuery run(*engine_, routing, *parsed, {}, bounds, &remote);
  query::Context context;
  elsewhere.fails = true;
  auto result = run.run(**bound, nullptr, {}, partition::Reach::files, {}, context);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::retry);
  // Nor does one wait on a thread that must not.
  elsewhere.fails = false;
  result = run.run(**bound, nullptr, {}, partition::Reach::memory, {}, context);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::would_wait);
}

TEST_F(ContainerQueryTest, DropsViewsThatNobodyReads) {
  open();
  const RoutingPtr routing = make("c", 400);
  fill(routing, 10);
  ViewServer server(*engine_, clock_);
  const auto ask = [&](const auto& question) {
    Result<std::string> answer;
    server.answer(std::string(question.kKind), encode_message(question),
                  [&](Result<std::string> given) { answer = std::move(given); });
    return answer;
  };
  OpenView open_view;
  open_view.container = routing->container->number;
  open_view.max = value::placement_max();
  auto opened = decode_message<ViewOpened>(ask(open_view).value()).value();
  EXPECT_EQ(opened.items_at_most, 10U);
  ReadItems read;
  read.view = opened.view;
  EXPECT_TRUE(ask(read).has_value());
  clock_.advance_ms(std::chrono::milliseconds(ViewServer::kViewIdle).count() + 1);
  while (server.open_views() > 0) std::this_thread::yield();
  EXPECT_EQ(ask(read).error().code, Code::not_found);
}

TEST_F(ContainerQueryTest, GivesTheSameWhenAPartitionIsSplitInTheMiddle) {
  open();
  RoutingPtr routing = make("c", 40'000);
  fill(routing, 300);
  struct Both {
    Reader alone;
    Reader helped;
  };
  std::vector<Both> all(std::size(kQueries));
  for (size_t i = 0; i < std::size(kQueries); ++i) {
    all[i].helped.helpers = &helpers_;
    // How the children are read changes with their estimates, until they are trimmed.
    all[i].alone.counts = all[i].helped.counts = false;
    read_page(std::string(kQueries[i]), routing, 9, all[i].alone);
    read_page(std::string(kQueries[i]), routing, 9, all[i].helped);
  }
  ASSERT_TRUE(engine_->split(routing->container->number, {}));
  // By the routing from before, which leads to the children, and by the one after it.
  for (const RoutingPtr& with : {routing, find("c")}) {
    for (size_t i = 0; i < std::size(kQueries); ++i) {
      Both both = all[i];
      read_rest(std::string(kQueries[i]), with, 9, both.alone);
      read_rest(std::string(kQueries[i]), with, 9, both.helped);
      EXPECT_EQ(both.helped.seen, both.alone.seen) << kQueries[i];
    }
  }
}

TEST_F(ContainerQueryTest, EndsWithAllItsThreadsWhenTheClientHasGone) {
  open();
  const RoutingPtr routing = make("c", 40'000);
  fill(routing, 200);
  auto parsed = query::parse_query("SELECT c.g, SUM(c.n) AS s FROM c GROUP BY c.g");
  auto bound = query::bind_query(*parsed, {});
  const KeyBounds bounds;
  ContainerQuery run(*engine_, routing, *parsed, {}, bounds);
  query::PageLimits limits;
  limits.helpers = &helpers_;
  int asked = 0;  // by one thread at a time
  limits.stop = [&] { return ++asked > 5; };
  query::Context context;
  auto result = run.run(**bound, nullptr, {}, partition::Reach::files, limits, context);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->page.next);
  EXPECT_LT(result->page.read.items, 200U);
}

}  // namespace
}  // namespace orrery::cluster

// Requests of this face about databases of another one: what is shown, what can be scaled, and that
// nothing can be changed. The other face's bodies are of an encoding that is not JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "account/account.h"
#include "api/cosmos/auth/authorization.h"
#include "api/cosmos/service.h"
#include "api/cosmos/wire/resource_address.h"
#include "api/cosmos/wire/rid.h"
#include "cluster/engine_fixture.h"
#include "net/http_date.h"
#include "value/test_codec.h"

namespace orrery::cosmos {
namespace {

using testing::HasSubstr;
using testing::Not;
using value::TestCodec;
using value::Value;
using Headers = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kAccountKey = "Zmlyc3QgZmlyc3QgZmlyc3QgZmlyc3Q=";
constexpr const char* kReadOnlyKey = "dGhpcmQgdGhpcmQgdGhpcmQgdGhpcmQ=";
const Headers kQuery = {{"x-ms-documentdb-isquery", "True"},
                        {"x-ms-documentdb-query-enablecrosspartition", "True"},
                        {"content-type", "application/query+json"}};

class PromisedAnswer final : public net::ResponseSink {
 public:
  void send(net::Response&& response) noexcept override { promise_.set_value(std::move(response)); }
  void abandon() noexcept override {
    net::Response response;
    response.status = 500;
    send(std::move(response));
  }
  std::future<net::Response> future() { return promise_.get_future(); }

 private:
  std::promise<net::Response> promise_;
};

Value foreign_object(std::vector<std::pair<std::string, Value>> members) {
  std::vector<Value::Field> fields;
  for (auto& [name, value] : members) {
    fields.push_back({Value::make_string(name), std::move(value)});
  }
  return Value::make_object(std::move(fields));
}

// What the other face stores of order n.
Value order(int n) {
  return foreign_object({{"pk", Value::make_string(n % 2 == 0 ? "even" : "odd")},
                         {"id", Value::make_integer(n)},
                         {"n", Value::make_integer(n, value::NumberKind::int32)},
                         {"when", Value::make_date({1'700'000'000'000 + n * 1000, 0})},
                         {"big", Value::make_integer(9'007'199'254'740'993)}});
}

// The database "db" of the face "face" has the containers `orders` (by hash) and `events` (by
// range); an own database is "mine".
class ForeignTest : public cluster::EngineTest {
 protected:
  void SetUp() override {
    options_.codecs.emplace("test", std::make_shared<TestCodec>());
    open();
    orders_ = make_typed("orders", value::Placement::hash_v2);
    events_ = make_typed("events", value::Placement::range);
    start();
    ASSERT_EQ(ask("POST", "/dbs", {}, R"({"id":"mine"})").status, 201);
    for (int n = 0; n < 5; ++n) put(orders_, n, "r" + std::to_string(n));
  }
  void TearDown() override { stop(); }

  void start() {
    scripts_ = std::make_unique<script::Host>(engine_->limits());
    lanes_ = std::make_unique<face::Lanes>(engine_->limits(), clock_, scripts_->workers_max());
    account_ = account::Account::open({kAccountKey, "", kReadOnlyKey, ""}, std::string(32, 's'), {})
                   .value();
    service_ = std::make_unique<Service>(face::Context{.engine = *engine_,
                                                       .scripts = *scripts_,
                                                       .account = *account_,
                                                       .lanes = *lanes_,
                                                       .clock = clock_},
                                         ServiceOptions{.other_faces = {"table"}});
  }
  void stop() {
    if (lanes_) lanes_->stop();
    service_.reset();
    lanes_.reset();
  }

  cluster::RoutingPtr make_typed(std::string_view name, value::Placement placement) {
    catalog::ContainerSpec spec;
    spec.name = name;
    spec.key = cluster::key_of(placement);
    spec.encoding = "test";
    spec.value_order = value::ValueOrder::typed;
    spec.index_rules = {{.path = value::parse_index_path("/*").value(), .include = true}};
    spec.face_json = "this is the other face's own";
    auto made = engine_->create_container(database_, spec, catalog::Throughput{.units = 400});
    EXPECT_TRUE(made) << made.error().message;
    return made.value_or(nullptr);
  }

  void put(const cluster::RoutingPtr& routing, int n, std::string_view row) {
    auto write =
        cluster::write_of(*routing, partition::Verb::upsert, n % 2 == 0 ? "even" : "odd", row);
    write.body = TestCodec::encode(order(n));
    const auto reply = EngineTest::write(routing, std::move(write));
    ASSERT_FALSE(reply.error) << reply.error->message;
  }

  net::Response ask(std::string_view method, std::string_view target, const Headers& headers = {},
                    std::string_view body = "", const char* key = kAccountKey) {
    const std::string date = net::http_date(clock_.now_s());
    const ResourceAddress address = address_of(target).value();
    const auto keys = account::KeyRing::create({key, "", "", ""}).value();
    const std::string signature =
        sign(keys, method, address.resource_type, address.resource_link, date);
    net::Request request;
    request.method = method;
    request.target = target;
    request.body = body;
    request.headers = {
        {"x-ms-date", date}, {"authorization", signature}, {"x-ms-version", "2020-07-15"}};
    for (const auto& [name, value] : headers) request.headers.push_back({name, value});
    auto sink = std::make_shared<PromisedAnswer>();
    auto answer = sink->future();
    service_->handle(request, net::Responder(std::move(sink)));
    return answer.get();
  }
  std::string query(std::string_view path, const std::string& text, Headers more = {}) {
    more.insert(more.end(), kQuery.begin(), kQuery.end());
    const net::Response answer = ask("POST", path, more, "{\"query\":\"" + text + "\"}");
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.body;
  }
  std::string rid(const cluster::RoutingPtr& routing) const {
    return container_rid(database_, routing->container->number);
  }
  // Empty: it was the last page.
  static std::string continuation(const net::Response& answer) {
    constexpr std::string_view kName = "x-ms-continuation: ";
    const size_t at = answer.headers.find(kName);
    if (at == std::string::npos) return "";
    const size_t from = at + kName.size();
    return answer.headers.substr(from, answer.headers.find('\r', from) - from);
  }
  static std::string member(const std::string& json, const char* name) {
    const auto document = value::JsonDocument::parse(json).value();
    const value::Node* found = document.root().find(name);
    return found == nullptr ? "" : std::string(found->text);
  }

  std::unique_ptr<script::Host> scripts_;
  std::unique_ptr<face::Lanes> lanes_;
  std::unique_ptr<account::Account> account_;
  std::unique_ptr<Service> service_;
  cluster::RoutingPtr orders_;
  cluster::RoutingPtr events_;
};

TEST_F(ForeignTest, DatabasesAreListedAfterTheOwnOnesAndRead) {
  ASSERT_EQ(ask("POST", "/dbs", {}, R"({"id":"zoo"})").status, 201);
  const std::string list = ask("GET", "/dbs").body;
  EXPECT_LT(list.find(R"("id":"mine")"), list.find(R"("id":"zoo")"));
  EXPECT_LT(list.find(R"("id":"zoo")"), list.find(R"("id":"face:db")"));
  EXPECT_THAT(list, HasSubstr("\"_count\":3"));

  // In pages as well, each once.
  std::string token;
  std::vector<std::string> ids;
  for (int page = 0; page < 3; ++page) {
    Headers headers = {{"x-ms-max-item-count", "1"}};
    if (!token.empty()) headers.emplace_back("x-ms-continuation", token);
    const net::Response answer = ask("GET", "/dbs", headers);
    const auto document = value::JsonDocument::parse(answer.body).value();
    ids.emplace_back(document.root().find("Databases")->first->find("id")->text);
    token = continuation(answer);
  }
  EXPECT_EQ(ids, (std::vector<std::string>{"mine", "zoo", "face:db"}));
  EXPECT_TRUE(token.empty());

  EXPECT_THAT(query("/dbs", "SELECT VALUE d.id FROM d WHERE STARTSWITH(d.id, 'face:')"),
              HasSubstr(R"(["face:db"])"));
  for (const std::string& path : {std::string("/dbs/face:db"), std::string("/dbs/face%3Adb"),
                                  "/dbs/" + database_rid(database_)}) {
    const net::Response answer = ask("GET", path);
    EXPECT_EQ(answer.status, 200) << path;
    EXPECT_EQ(member(answer.body, "id"), "face:db");
    EXPECT_EQ(member(answer.body, "_rid"), database_rid(database_));
  }
  // The own face has no such second name.
  EXPECT_EQ(ask("GET", "/dbs/cosmos:mine").status, 404);
  EXPECT_EQ(ask("GET", "/dbs/db").status, 404);
  EXPECT_EQ(ask("GET", "/dbs/face:none").status, 404);
}

TEST_F(ForeignTest, ContainersAreShownInTheWordsOfThisFace) {
  const std::string list = ask("GET", "/dbs/face:db/colls").body;
  EXPECT_THAT(list, HasSubstr("\"_count\":2"));
  EXPECT_THAT(list, Not(HasSubstr("the other face's own")));
  EXPECT_THAT(query("/dbs/face:db/colls", "SELECT VALUE c.id FROM c ORDER BY c.id"),
              HasSubstr(R"(["events","orders"])"));
  for (const std::string& path : {std::string("/dbs/face:db/colls/orders"),
                                  "/dbs/" + database_rid(database_) + "/colls/" + rid(orders_)}) {
    const net::Response answer = ask("GET", path);
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_THAT(answer.body,
                HasSubstr(R"("partitionKey":{"paths":["/pk"],"kind":"Hash","version":2})"));
    EXPECT_THAT(answer.body, HasSubstr(R"("indexingPolicy":{"indexingMode":"none")"));
    EXPECT_THAT(answer.headers, HasSubstr("x-ms-alt-content-path: dbs/face:db\r\n"));
  }
  EXPECT_THAT(ask("GET", "/dbs/face:db/colls/events").body,
              HasSubstr(R"("partitionKey":{"paths":["/pk"],"kind":"Range"})"));
  EXPECT_EQ(ask("GET", "/dbs/face:db/colls/none").status, 404);
  const net::Response quota = ask("GET", "/dbs/face:db/colls/orders",
                                  {{"x-ms-documentdb-populatequotainfo", "true"},
                                   {"x-ms-documentdb-populatepartitionstatistics", "true"}});
  EXPECT_THAT(quota.headers, HasSubstr("documentsCount=5;"));
  const net::Response ranges = ask("GET", "/dbs/face:db/colls/orders/pkranges");
  EXPECT_EQ(ranges.status, 200);
  EXPECT_THAT(ranges.body, HasSubstr(R"("minInclusive":"","maxExclusive":"FF")"));
  // What is of a kind with a number in the other face is not shown as one of this face's.
  ASSERT_TRUE(engine_->create_resource(1, orders_->container->number, "x", "", 10));
  for (const char* type : {"sprocs", "triggers", "udfs", "conflicts"}) {
    const net::Response answer = ask("GET", std::string("/dbs/face:db/colls/orders/") + type);
    EXPECT_EQ(answer.status, 200) << type;
    EXPECT_THAT(answer.body, HasSubstr("\"_count\":0")) << type;
  }
  EXPECT_THAT(ask("GET", "/dbs/face:db/users").body, HasSubstr("\"_count\":0"));
}

TEST_F(ForeignTest, OffersAreListedReadAndReplaced) {
  const std::string resource = container_self(database_, orders_->container->number);
  EXPECT_THAT(ask("GET", "/offers").body, HasSubstr(resource));
  const std::string found =
      query("/offers", "SELECT * FROM r WHERE r.resource = '" + resource + "'");
  EXPECT_THAT(found, HasSubstr("\"_count\":1"));
  const std::string offer = "/offers/" + container_offer_rid(orders_->container->number);
  EXPECT_THAT(ask("GET", offer).body, HasSubstr("\"offerThroughput\":400"));
  const net::Response replaced = ask("PUT", offer, {}, R"({"content":{"offerThroughput":1200}})");
  EXPECT_EQ(replaced.status, 200) << replaced.body;
  EXPECT_EQ(find("orders")->container->throughput->units, 1200U);
  EXPECT_THAT(ask("GET", offer).body, HasSubstr("\"offerThroughput\":1200"));
  EXPECT_EQ(ask("PUT", offer, {}, R"({"content":{"offerThroughput":400}})", kReadOnlyKey).status,
            403);
}

TEST_F(ForeignTest, ItemsAreReadAsJson) {
  const Headers key = {{"x-ms-documentdb-partitionkey", R"(["odd"])"}};
  const net::Response answer = ask("GET", "/dbs/face:db/colls/orders/docs/r1", key);
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_THAT(answer.body,
              testing::StartsWith(R"({"id":"r1","pk":"odd","$id":1,"n":1,)"
                                  R"("when":"2023-11-14T22:13:21.000Z","big":9007199254740993,)"));
  EXPECT_THAT(answer.headers, HasSubstr("etag: "));
  EXPECT_THAT(answer.headers, HasSubstr("x-ms-alt-content-path: dbs/face:db/colls/orders\r\n"));
  Headers known = key;
  known.emplace_back("if-none-match", member(answer.body, "_etag"));
  EXPECT_EQ(ask("GET", "/dbs/face:db/colls/orders/docs/r1", known).status, 304);
  EXPECT_EQ(ask("GET", "/dbs/face:db/colls/orders/docs/r2", key).status, 404);
  EXPECT_EQ(ask("GET", "/dbs/face:db/colls/orders/docs/hex:zz", key).status, 404);
  EXPECT_EQ(ask("GET", "/dbs/face:db/colls/orders/docs/r1", key, "", kReadOnlyKey).status, 200);

  const net::Response by_self = ask("GET", "/" + member(answer.body, "_self"));
  EXPECT_EQ(by_self.body, answer.body);
  const std::string gone = item_rid(database_, orders_->container->number, 0, 77);
  EXPECT_EQ(
      ask("GET", "/dbs/" + database_rid(database_) + "/colls/" + rid(orders_) + "/docs/" + gone)
          .status,
      404);
  EXPECT_THAT(ask("GET", "/dbs/face:db/colls/orders/docs/r1/attachments", key).body,
              HasSubstr("\"_count\":0"));

  // A row that cannot be an id.
  put(orders_, 1, "a/b");
  EXPECT_EQ(member(ask("GET", "/dbs/face:db/colls/orders/docs/hex:612F62", key).body, "id"),
            "hex:612F62");

  put(events_, 4, "e");
  EXPECT_EQ(member(ask("GET", "/dbs/face:db/colls/events/docs/e",
                       {{"x-ms-documentdb-partitionkey", R"(["even"])"}})
                       .body,
                   "id"),
            "e");
}

TEST_F(ForeignTest, FeedsShowTheSameItems) {
  const std::string item = ask("GET", "/dbs/face:db/colls/orders/docs/r1",
                               {{"x-ms-documentdb-partitionkey", R"(["odd"])"}})
                               .body;
  const std::string all = ask("GET", "/dbs/face:db/colls/orders/docs").body;
  EXPECT_THAT(all, HasSubstr("\"_count\":5"));
  EXPECT_THAT(all, HasSubstr(item));
  const std::string odd =
      ask("GET", "/dbs/face:db/colls/orders/docs", {{"x-ms-documentdb-partitionkey", R"(["odd"])"}})
          .body;
  EXPECT_THAT(odd, HasSubstr("\"_count\":2"));

  const net::Response changes =
      ask("GET", "/dbs/face:db/colls/orders/docs", {{"a-im", "Incremental Feed"}});
  EXPECT_EQ(changes.status, 200) << changes.body;
  EXPECT_THAT(changes.body, HasSubstr("\"_count\":5"));
  EXPECT_THAT(changes.body, HasSubstr(item.substr(0, item.size() - 1) + ",\"_lsn\":"));
  EXPECT_EQ(ask("GET", "/dbs/face:db/colls/orders/docs", {{"a-im", "Full-Fidelity Feed"}}).status,
            501);
}

TEST_F(ForeignTest, QueriesSeeWhatReadsShow) {
  const std::string docs = "/dbs/face:db/colls/orders/docs";
  const std::string item =
      ask("GET", docs + "/r1", {{"x-ms-documentdb-partitionkey", R"(["odd"])"}}).body;
  EXPECT_THAT(query(docs, "SELECT * FROM c WHERE c.n = 1"),
              HasSubstr("\"Documents\":[" + item + "]"));
  EXPECT_THAT(query(docs, "SELECT VALUE c.id FROM c WHERE c.pk = 'odd'"),
              HasSubstr(R"(["r1","r3"])"));
  EXPECT_THAT(query(docs, "SELECT VALUE c.n FROM c WHERE c['when'] >= '2023-11-14T22:13:23'"),
              HasSubstr("[3,4]"));
  EXPECT_THAT(query(docs, "SELECT VALUE c._rid FROM c WHERE c.id = 'r1'"),
              HasSubstr("[\"" + member(item, "_rid") + "\"]"));
  EXPECT_THAT(query(docs, "SELECT VALUE COUNT(1) FROM c", {{"x-orrery-whole-query", "true"}}),
              HasSubstr("[5]"));
  EXPECT_THAT(
      query(docs, "SELECT VALUE c.n FROM c ORDER BY c.n DESC", {{"x-orrery-whole-query", "true"}}),
      HasSubstr("[4,3,2,1,0]"));
  EXPECT_THAT(
      query(docs, "SELECT VALUE c.n FROM c", {{"x-ms-documentdb-partitionkey", "[\"odd\"]"}}),
      HasSubstr("[1,3]"));
  const auto self = "/" + container_self(database_, orders_->container->number) + "docs";
  EXPECT_THAT(query(self, "SELECT VALUE c.n FROM c WHERE c.n = 2"), HasSubstr("[2]"));

  // By the plan of a client: all ranges, and rows in order out of each.
  Headers plan = {{"x-ms-cosmos-is-query-plan-request", "True"},
                  {"x-ms-cosmos-supported-query-features", "OrderBy"}};
  EXPECT_THAT(query(docs, "SELECT * FROM c WHERE c.pk = 'odd' ORDER BY c.n", plan),
              HasSubstr(R"("queryRanges":[{"min":"","max":"FF")"));
  EXPECT_THAT(query(docs, "SELECT VALUE c.n FROM c ORDER BY c.n",
                    {{"x-ms-documentdb-partitionkeyrangeid", "0"}}),
              HasSubstr("[0,1,2,3,4]"));
  const net::Response refused =
      ask("POST", docs, kQuery, R"({"query":"SELECT VALUE udf.f(c) FROM c"})");
  EXPECT_EQ(refused.status, 400);
}

TEST_F(ForeignTest, QueriesGoOnOverPages) {
  for (int n = 5; n < 260; ++n) put(orders_, n, "r" + std::to_string(n));
  ASSERT_TRUE(engine_->split(orders_->container->number, std::nullopt));
  for (const char* text : {"SELECT VALUE c.n FROM c", "SELECT VALUE c.n FROM c ORDER BY c.n"}) {
    std::vector<int> seen;
    std::string token;
    do {
      Headers headers = kQuery;
      headers.emplace_back("x-ms-max-item-count", "23");
      headers.emplace_back("x-orrery-whole-query", "true");
      if (!token.empty()) headers.emplace_back("x-ms-continuation", token);
      const net::Response answer = ask("POST", "/dbs/face:db/colls/orders/docs", headers,
                                       std::string(R"({"query":")") + text + "\"}");
      ASSERT_EQ(answer.status, 200) << answer.body;
      const auto page = value::JsonDocument::parse(answer.body).value();
      for (const value::Node* row = page.root().find("Documents")->first; row != nullptr;
           row = row->next) {
        seen.push_back(static_cast<int>(row->number));
      }
      token = continuation(answer);
    } while (!token.empty());
    std::vector<int> all(260);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_THAT(seen, testing::UnorderedElementsAreArray(all)) << text;
    EXPECT_EQ(seen == all, std::string_view(text).ends_with("ORDER BY c.n"));
  }
}

TEST_F(ForeignTest, NothingIsChanged) {
  const std::string database = "/dbs/face:db";
  const std::string container = database + "/colls/orders";
  const std::string item = container + "/docs/r1";
  const Headers key = {{"x-ms-documentdb-partitionkey", R"(["odd"])"}};
  const auto with = [&](Headers headers) {
    headers.insert(headers.end(), key.begin(), key.end());
    return headers;
  };
  const std::string body = R"({"id":"r1","pk":"odd"})";
  struct Row {
    const char* method;
    std::string path;
    Headers headers;
    std::string body;
  };
  const std::vector<Row> rows = {
      {"DELETE", database, {}, ""},
      {"DELETE", "/dbs/" + database_rid(database_), {}, ""},
      {"POST", database + "/colls", {}, R"({"id":"new","partitionKey":{"paths":["/pk"]}})"},
      {"PUT", container, {}, R"({"id":"orders","partitionKey":{"paths":["/pk"]}})"},
      {"DELETE", container, {}, ""},
      {"DELETE", "/dbs/" + database_rid(database_) + "/colls/" + rid(orders_), {}, ""},
      {"POST", container + "/docs", key, body},
      {"POST", container + "/docs", with({{"x-ms-documentdb-is-upsert", "True"}}), body},
      {"POST", container + "/docs",
       with({{"x-ms-cosmos-is-batch-request", "True"}, {"x-ms-cosmos-batch-atomic", "True"}}),
       R"([{"operationType":"Delete","id":"r1"}])"},
      {"POST", container + "/docs", with({{"x-ms-cosmos-is-batch-request", "True"}}),
       R"([{"operationType":"Delete","id":"r1","partitionKey":"[\"odd\"]"}])"},
      {"POST", container + "/docs", with({{"x-ms-documentdb-pre-trigger-include", "t"}}), body},
      {"PUT", item, key, body},
      {"PATCH", item, key, R"([{"op":"set","path":"/n","value":9}])"},
      {"DELETE", item, key, ""},
      {"POST", container + "/operations/partitionkeydelete", key, ""},
      {"POST", container + "/sprocs", {}, R"({"id":"s","body":"function () {}"})"},
      {"POST", container + "/sprocs/s", key, "[]"},
      {"POST", container + "/triggers", {}, R"({"id":"t","body":"function () {}"})"},
      {"POST", container + "/udfs", {}, R"({"id":"u","body":"function () {}"})"},
      {"POST", item + "/attachments", key, R"({"id":"a"})"},
      {"POST", database + "/users", {}, R"({"id":"ann"})"},
      {"DELETE", database + "/users/ann", {}, ""},
      {"POST", database + "/clientencryptionkeys", {}, R"({"id":"k"})"},
  };
  for (const Row& row : rows) {
    const net::Response answer = ask(row.method, row.path, row.headers, row.body);
    EXPECT_EQ(answer.status, 403) << row.method << ' ' << row.path << ' ' << answer.body;
    EXPECT_THAT(answer.body, HasSubstr("belongs to the face face: it can be read and scaled here"));
    EXPECT_THAT(answer.headers, Not(HasSubstr("x-ms-substatus")));
  }
  EXPECT_THAT(ask("GET", container + "/docs").body, HasSubstr("\"_count\":5"));
  EXPECT_EQ(engine_->catalog().containers(database_).size(), 2U);
}

TEST_F(ForeignTest, NoOwnDatabaseHasTheNameOfOne) {
  for (const char* id : {"table:shop", "face:db", "face:new"}) {
    const net::Response answer = ask("POST", "/dbs", {}, std::string(R"({"id":")") + id + "\"}");
    EXPECT_EQ(answer.status, 400) << id;
    EXPECT_THAT(answer.body, HasSubstr("choose one that does not begin with"));
  }
  EXPECT_EQ(ask("POST", "/dbs", {}, R"({"id":"any:thing"})").status, 201);
  EXPECT_EQ(member(ask("GET", "/dbs/any:thing").body, "id"), "any:thing");
  EXPECT_EQ(ask("DELETE", "/dbs/any:thing").status, 204);
  // One that was there before the other face came stays what its name means.
  ASSERT_TRUE(engine_->create_database({"cosmos", "late:shop"}, std::nullopt));
  ASSERT_TRUE(engine_->create_database({"late", "shop"}, std::nullopt));
  const uint32_t late = engine_->catalog().database({"late", "shop"})->number;
  ASSERT_TRUE(engine_->create_container(late, orders_->container->spec, catalog::Throughput{}));
  EXPECT_EQ(ask("GET", "/dbs/late:shop/colls/orders").status, 404);
  EXPECT_EQ(member(ask("GET", "/dbs/" + database_rid(late)).body, "id"), "late:shop");
  EXPECT_EQ(ask("DELETE", "/dbs/late:shop").status, 204);
  EXPECT_EQ(ask("GET", "/dbs/late:shop/colls/orders").status, 200);
  EXPECT_NE(engine_->catalog().database({"late", "shop"}), nullptr);
  EXPECT_EQ(ask("DELETE", "/dbs/late:shop").status, 403);
}

TEST_F(ForeignTest, PermissionsAndTheirTokensAreForOwnContainers) {
  ASSERT_EQ(ask("POST", "/dbs/mine/users", {}, R"({"id":"ann"})").status, 201);
  const net::Response answer =
      ask("POST", "/dbs/mine/users/ann/permissions", {},
          R"({"id":"p","permissionMode":"Read","resource":"dbs/face:db/colls/orders"})");
  EXPECT_NE(answer.status, 201) << answer.body;
}

TEST_F(ForeignTest, AnEncodingThatNobodyReadsIsSaid) {
  stop();
  options_.codecs.clear();
  open();
  start();
  EXPECT_EQ(ask("GET", "/dbs/face:db/colls/orders").status, 200);
  for (const char* path : {"/dbs/face:db/colls/orders/docs", "/dbs/face:db/colls/orders/docs/r1"}) {
    const net::Response answer = ask("GET", path, {{"x-ms-documentdb-partitionkey", R"(["odd"])"}});
    EXPECT_EQ(answer.status, 501) << path;
    EXPECT_THAT(answer.body, HasSubstr("encoded as 'test', which no face of this program reads"));
  }
  const net::Response answer =
      ask("POST", "/dbs/face:db/colls/orders/docs", kQuery, R"({"query":"SELECT * FROM c"})");
  EXPECT_EQ(answer.status, 501) << answer.body;
}

}  // namespace
}  // namespace orrery::cosmos

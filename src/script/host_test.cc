// Executions from end to end: a worker process, a script, and a container answered by the test.
#include "script/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/clock.h"
#include "script/host_fixture.h"

namespace orrery::script {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST_F(HostTest, RunsAFunctionWithArguments) {
  EXPECT_EQ(host.workers(), 0u) << "an idle host has no workers";
  EXPECT_EQ(
      body("function add(a, b) { getContext().getResponse().setBody({ sum: a + b }); }", "[1, 2]"),
      R"({"sum":3})");
  EXPECT_EQ(host.workers(), 1u);
  EXPECT_EQ(body("function (x) { __.response.setBody('hello ' + x); }", R"(["wörld"])"),
            R"("hello wörld")");
  EXPECT_EQ(body("x => __.response.setBody(x)", "[[null]]"), "[null]");
  EXPECT_EQ(body("\xEF\xBB\xBF/* a note */ function f() {}"), "");
  EXPECT_EQ(host.workers(), 1u) << "the worker is kept";
}

TEST_F(HostTest, PicksTheFunctionToCall) {
  EXPECT_EQ(
      body("function first() { __.response.setBody(helper()); } function helper() { return 1; }"),
      "1");
  EXPECT_EQ(body("function other() {} function test() { __.response.setBody('named'); }"),
            "\"named\"");
  EXPECT_EQ(body("const f = () => __.response.setBody(2); f"), "2");
  EXPECT_EQ(body("var x = 5;"), "compile: Error: the source declares no function");
}

TEST_F(HostTest, CreatesReadsReplacesAndDeletes) {
  EXPECT_EQ(body(R"(function f() {
    const c = getContext().getCollection();
    const link = c.getAltLink() + "/docs/a";
    c.createDocument(c.getSelfLink(), { id: "a", n: 1 }, function (err, doc) {
      if (err) throw err;
      c.readDocument(link, function (err, doc) {
        doc.n++;
        c.replaceDocument(link, doc, { etag: "e" }, function (err, doc) {
          c.upsertDocument(c.getAltLink(), { id: "b" }, function (err, other) {
            c.deleteDocument("dbs/aa==/colls/bb=/docs/b/", {}, function (err, options) {
              getContext().getResponse().setBody([doc.n, other.id, options.statusCode]);
            });
          });
        });
      });
    });
  })"),
            R"([2,"b",204])");
  EXPECT_EQ(operations.documents.size(), 1u);
  ASSERT_EQ(operations.seen.size(), 5u);
  EXPECT_TRUE(operations.seen[1].by_name);
  EXPECT_EQ(operations.seen[2].condition, "e");
  EXPECT_EQ(operations.seen[4].document, "b");
  EXPECT_FALSE(operations.seen[4].by_name);
}

TEST_F(HostTest, CallbacksRunAfterTheCallerReturned) {
  EXPECT_EQ(does(R"(
    const order = [];
    __.createDocument(__.getSelfLink(), { id: "a" }, () => { order.push("callback"); r.setBody(order); });
    order.push("after");)"),
            R"(["after","callback"])");
}

TEST_F(HostTest, GivesNewDocumentsAnId) {
  EXPECT_EQ(
      does("__.createDocument(__.getSelfLink(), { n: 1 }, (e, doc) => r.setBody(doc.id.length));"),
      "36");
}

TEST_F(HostTest, OperationErrorsReachTheCallback) {
  EXPECT_EQ(does(R"(__.readDocument(__.getAltLink() + "/docs/none", (err) => {
    r.setBody([err instanceof Error, err.number, err.message, JSON.parse(err.body).code,
               err.number === ErrorCodes.NotFound]);
  });)"),
            R"([true,404,"status 404","X",true])");
  auto outcome = run("function f() { __.deleteDocument(__.getAltLink() + '/docs/none'); }");
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().failure, Failure::threw);
  EXPECT_EQ(outcome.error().number, 404);
}

TEST_F(HostTest, NotModifiedGivesNoDocument) {
  operations.documents["a"] = R"({"id":"a"})";
  EXPECT_EQ(does(R"(__.readDocument(__.getAltLink() + "/docs/a", { ifNoneMatch: "e" },
    (err, doc, options) => r.setBody([doc === undefined, options.notModified]));)"),
            "[true,true]");
}

TEST_F(HostTest, PagesThroughFeedsAndQueries) {
  for (int i = 10; i < 35; ++i) {
    operations.documents[std::to_string(i)] = "{\"id\":\"" + std::to_string(i) + "\"}";
  }
  EXPECT_EQ(does(R"(
    let pages = [];
    function page(continuation) {
      __.queryDocuments(__.getSelfLink(), { query: "SELECT @x", parameters: [{ name: "@x", value: 1 }] },
        { pageSize: 10, continuation }, (err, feed, options) => {
          pages.push(feed.length);
          if (options.continuation) page(options.continuation); else r.setBody(pages);
        });
    }
    page();)"),
            "[10,10,5]");
  EXPECT_EQ(operations.seen[0].body,
            R"({"query":"SELECT @x","parameters":[{"name":"@x","value":1}]})");
  EXPECT_EQ(does("__.readDocuments(__.getAltLink(), (err, feed) => r.setBody(feed.length));"),
            "25");
}

TEST_F(HostTest, RefusesOtherLinksAtOnce) {
  EXPECT_THAT(does("__.createDocument('dbs/d/colls/other', {id: 'a'});"),
              HasSubstr("not the link"));
  EXPECT_THAT(does("__.readDocument('dbs/d/colls/c/docs/a/b');"), HasSubstr("not the link"));
  EXPECT_THAT(does("__.queryDocuments(undefined, 'x');"), HasSubstr("not the link"));
  EXPECT_TRUE(operations.seen.empty());
}

TEST_F(HostTest, AsyncFunctionsRunToTheirEnd) {
  operations.documents["a"] = R"({"id":"a","n":1})";
  EXPECT_EQ(body(R"(async function f() {
    const read = (id) => new Promise((resolve, reject) => __.readDocument(
      __.getAltLink() + "/docs/" + id, (err, doc) => err ? reject(err) : resolve(doc)));
    const doc = await read("a");
    try { await read("b"); } catch (err) { doc.missing = err.number; }
    __.response.setBody(doc);
  })"),
            R"({"id":"a","n":1,"missing":404})");
  EXPECT_EQ(body("async function f() { await 1; throw new Error('late'); }"), "threw: Error: late");
}

TEST_F(HostTest, SaysWhereItFailed) {
  auto outcome =
      run("function outer() {\n"
          "  inner();\n"
          "  function inner() {\n"
          "    throw new Error(409, 'taken');\n"
          "  }\n"
          "}");
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().failure, Failure::threw);
  EXPECT_EQ(outcome.error().message, "Error: taken");
  EXPECT_EQ(outcome.error().number, 409);
  EXPECT_EQ(outcome.error().line, 4u);
  EXPECT_THAT(outcome.error().stack, StartsWith("    at inner (test.js:4:"));
  EXPECT_THAT(outcome.error().stack, HasSubstr("\n    at outer (test.js:2:"));
  EXPECT_THAT(outcome.error().stack, testing::Not(HasSubstr("orrery")));

  outcome = run("function f() {\n  return undefinedName;\n}");
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "ReferenceError: undefinedName is not defined");
  EXPECT_EQ(outcome.error().line, 2u);

  outcome = run("function f() { throw 'just text'; }");
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "just text");

  outcome = run("function f() {\n\n  var = 3;\n}");
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().failure, Failure::compile);
  EXPECT_EQ(outcome.error().line, 3u);
  EXPECT_THAT(outcome.error().message, HasSubstr("SyntaxError"));
}

TEST_F(HostTest, AbortCannotBeCaught) {
  auto outcome = run("function f() { try { getContext().abort(new Error('no')); } catch (e) {} }");
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().failure, Failure::aborted);
  EXPECT_EQ(outcome.error().message, "Error: no");
  outcome = run("async function f() { await 1; __.abort('later'); }");
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().failure, Failure::aborted);
  EXPECT_EQ(outcome.error().message, "later");
}

TEST_F(HostTest, CapturesTheConsoleWhenAsked) {
  Execution script = make("function f() { console.log('a %s', 1); console.warn('b', 2); }");
  auto outcome = host.run(script, operations);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->log, "");
  script.logging = true;
  outcome = host.run(script, operations);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->log, "a 1\nb 2");
  script.source = "function f() { console.log('before'); throw 1; }";
  outcome = host.run(script, operations);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().log, "before");
}

TEST_F(HostTest, PreTriggersChangeTheRequest) {
  Execution script = make(R"(function f() {
    const request = getContext().getRequest();
    const item = request.getBody();
    item.stamped = request.getOperationType();
    request.setBody(item);
  })");
  script.kind = Kind::pre_trigger;
  script.operation = "Create";
  script.request_body = R"({"id":"a"})";
  auto outcome = host.run(script, operations);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->request_body, R"({"id":"a","stamped":"Create"})");
  EXPECT_EQ(outcome->response_body, "");
  script.source = "function f() { getContext().getResponse(); }";
  EXPECT_FALSE(host.run(script, operations)) << "there is no response yet";
}

TEST_F(HostTest, PostTriggersChangeTheResponse) {
  Execution script = make(R"(function f() {
    const doc = __.response.getBody();
    doc.seen = __.request.getBody().id;
    __.response.setBody(doc);
    __.response.setValue("x-known", "2");
    let refused = 0;
    try { __.request.setBody({}); } catch (e) { refused = e.number; }
    try { __.response.setValue("x-unknown", "3"); } catch (e) { __.createDocument(__.getSelfLink(), { id: refused + "/" + e.number }); }
  })");
  script.kind = Kind::post_trigger;
  script.operation = "Create";
  script.request_body = R"({"id":"a"})";
  script.response_body = R"({"id":"a","_ts":1})";
  script.response_headers = R"({"x-known":"1"})";
  auto outcome = host.run(script, operations);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->response_body, R"({"id":"a","_ts":1,"seen":"a"})");
  EXPECT_EQ(outcome->response_headers, R"({"x-known":"2"})");
  EXPECT_TRUE(operations.documents.contains("403/400"));
}

TEST_F(HostTest, TellsTheStartOfALongError) {
  const auto told = [&](const std::string& thrown) {
    auto outcome = run("function f() { throw " + thrown + "; }");
    EXPECT_FALSE(outcome);
    return outcome ? "" : outcome.error().message;
  };
  EXPECT_EQ(told("'x'.repeat(8192)"), std::string(8192, 'x'));
  EXPECT_EQ(told("'x'.repeat(8193)"), std::string(8192, 'x') + "…");
  EXPECT_EQ(told("'x'.repeat(1e7)"), std::string(8192, 'x') + "…");
  // Not in the middle of a character.
  EXPECT_EQ(told("'x'.repeat(8190) + '€uro'"), std::string(8190, 'x') + "…");
  EXPECT_EQ(told("'x'.repeat(8190) + '\\u{1F600}'.repeat(9)"), std::string(8190, 'x') + "…");
}

TEST_F(HostTest, RefusesOperationsNearTheEnd) {
  limits.script_operations = 5;
  EXPECT_EQ(does(R"(
    let count = 0;
    while (__.createDocument(__.getSelfLink(), { id: String(count) })) count++;
    r.setBody(count);)"),
            "5");
  // The last tenth is the time to end in: as much of it as a busy machine needs.
  Execution script = make(R"(function f() {
    const until = Date.now() + 2710;
    while (Date.now() < until);
    __.response.setBody(__.readDocuments(__.getSelfLink()));
  })");
  script.time_ms = 3000;
  auto outcome = host.run(script, operations);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->response_body, "false");
}

TEST_F(HostTest, RunsSeveralAtATimeAndMakesOthersWait) {
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      MapOperations own;
      for (int j = 0; j < 20; ++j) {
        auto outcome =
            host.run(make("x => __.response.setBody(x * 2)", "[" + std::to_string(i) + "]"), own);
        if (outcome && outcome->response_body == std::to_string(i * 2)) right++;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 120);
  EXPECT_EQ(host.workers(), 2u);
}

// Is wanted until it has been asked so often.
class LeavingClient final : public Operations {
 public:
  explicit LeavingClient(int asks) : left_(asks) {}
  Reply perform(const ItemOperation&) override { return {.status = 404, .body = "{}"}; }
  bool is_wanted() const override { return left_-- > 0; }

 private:
  mutable int left_;
};

TEST_F(HostTest, AScriptThatNobodyWaitsForIsEnded) {
  limits.script_time_ms = 600'000;
  LeavingClient quick(2);
  auto ended = host.run(make("function f() { for (;;) {} }"), quick);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().failure, Failure::timed_out);
  LeavingClient later(50);
  auto asking = host.run(make(R"(function f() {
    const c = getContext().getCollection();
    (function again() { c.readDocument(c.getSelfLink() + "docs/x", {}, again); })();
  })"),
                         later);
  ASSERT_FALSE(asking);
  EXPECT_EQ(asking.error().failure, Failure::timed_out);
  EXPECT_EQ(does("r.setBody(1)"), "1") << "the next one has a worker";
}

}  // namespace
}  // namespace orrery::script

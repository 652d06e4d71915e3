// User-defined functions, in batches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/clock.h"
#include "script/host_fixture.h"

namespace orrery::script {
namespace {

using value::Value;

class FunctionTest : public HostTest {
 protected:
  std::unique_ptr<FunctionSession> open() {
    auto session = host.functions();
    EXPECT_TRUE(session) << session.error().message;
    return std::move(*session);
  }
  static std::vector<std::string> texts(const std::vector<Value>& values) {
    std::vector<std::string> all;
    for (const Value& one : values) all.push_back(one.is_undefined() ? "undefined" : one.to_json());
    return all;
  }
};

TEST_F(FunctionTest, CallsForEachRow) {
  auto session = open();
  auto tax = session->load("tax", R"(function tax(income) {
    if (income == undefined) return "no input";
    return income < 1000 ? income * 0.1 : income * 0.4;
  })");
  ASSERT_TRUE(tax) << tax.error().message;
  auto show = session->load(
      "show", "function (a, b, c) { return c === 0 ? undefined : [typeof a, b, c]; }");
  ASSERT_TRUE(show) << show.error().message;

  const std::vector<std::vector<Value>> incomes = {
      {Value::make_number(500)}, {Value::make_number(2000)}, {Value()}, {}};
  auto results = session->call(*tax, incomes);
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_THAT(texts(*results), testing::ElementsAre("50", "800", "\"no input\"", "\"no input\""));

  const std::vector<std::vector<Value>> rows = {
      {Value(), Value::make_null(), Value::make_string("é\n")},
      {Value::make_number(1), Value::make_bool(true), Value::make_number(0)}};
  results = session->call(*show, rows);
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_THAT(texts(*results), testing::ElementsAre(R"(["undefined",null,"é\n"])", "undefined"));
  EXPECT_TRUE(session->call(*tax, {})->empty());
}

TEST_F(FunctionTest, HasNoDocuments) {
  auto session = open();
  auto f = session->load(
      "f", "function f() { console.log('x'); return [typeof getContext, typeof __]; }");
  ASSERT_TRUE(f);
  const std::vector<std::vector<Value>> rows(1);
  auto results = session->call(*f, rows);
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_THAT(texts(*results), testing::ElementsAre(R"(["undefined","undefined"])"));
}

TEST_F(FunctionTest, SaysWhatFailed) {
  auto session = open();
  auto broken = session->load("broken", "function (");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().failure, Failure::compile);
  auto thrower =
      session->load("thrower", "function f(x) {\n  if (x > 1) throw new Error('too much');\n}");
  ASSERT_TRUE(thrower);
  const std::vector<std::vector<Value>> rows = {{Value::make_number(1)}, {Value::make_number(2)}};
  auto results = session->call(*thrower, rows);
  ASSERT_FALSE(results);
  EXPECT_EQ(results.error().failure, Failure::threw);
  EXPECT_EQ(results.error().message, "Error: too much");
  EXPECT_EQ(results.error().line, 2u);
  // The session goes on.
  EXPECT_TRUE(session->call(*thrower, std::span(rows).first(1)));
}

TEST_F(FunctionTest, EndlessFunctionsEnd) {
  limits.script_time_ms = 300;
  auto session = open();
  auto top = session->load("top", "for (;;); function f() {}");
  ASSERT_FALSE(top);
  EXPECT_EQ(top.error().failure, Failure::timed_out);
  auto f = session->load("f", "function f() { for (;;); }");
  ASSERT_TRUE(f) << f.error().message;
  const std::vector<std::vector<Value>> rows(1);
  auto results = session->call(*f, rows);
  ASSERT_FALSE(results);
  EXPECT_EQ(results.error().failure, Failure::timed_out);
}

TEST_F(FunctionTest, SessionsDoNotShareState) {
  const std::vector<std::vector<Value>> rows(2);
  for (int i = 0; i < 3; ++i) {
    auto session = open();
    auto f = session->load("f", "var count = 0; function f() { return ++count; }");
    ASSERT_TRUE(f);
    EXPECT_THAT(texts(*session->call(*f, rows)), testing::ElementsAre("1", "2"));
  }
  EXPECT_EQ(host.workers(), 1u);
}

// What one batch holds is bounded, what a call holds is not.
TEST_F(FunctionTest, ManyRowsAndLargeRows) {
  auto session = open();
  auto f = session->load("f", "function f(n, text) { return n * 2; }");
  ASSERT_TRUE(f);
  std::vector<std::vector<Value>> rows;
  const Value text = Value::make_string(std::string(500, 'x'));
  for (int i = 0; i < 25'000; ++i) rows.push_back({Value::make_number(i), text});
  auto results = session->call(*f, rows);
  ASSERT_TRUE(results) << results.error().message;
  ASSERT_EQ(results->size(), rows.size());
  EXPECT_EQ((*results)[24'999].number(), 49'998);
}

TEST_F(FunctionTest, AProcedureMayWaitForAFunction) {
  limits.script_workers = 1;
  Host one(limits);
  class Nested final : public Operations {
   public:
    explicit Nested(Host& host) : host_(host) {}
    Reply perform(const ItemOperation& /*operation*/) override {
      auto session = host_.functions();
      if (!session || !(*session)->load("f", "x => x")) return Reply{.status = 500};
      return Reply{.status = 200, .body = "[1]"};
    }

   private:
    Host& host_;
  } nested(one);
  auto outcome =
      one.run(make("function f() { __.queryDocuments(__.getSelfLink(), 'SELECT udf.f(1)', "
                   "(e, feed) => __.response.setBody(feed)); }"),
              nested);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->response_body, "[1]");
}

}  // namespace
}  // namespace orrery::script

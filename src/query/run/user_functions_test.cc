// udf.name(…): what is bound, what is called, and what happens when it fails.
#include <gtest/gtest.h>

#include "query/bind/bind.h"
#include "query/parse/parser.h"
#include "query/run/execute.h"
#include "query/run/memory_space.h"

namespace orrery::query {
namespace {

using value::Value;

class TestFunctions final : public UserFunctions {
 public:
  std::optional<uint32_t> find(std::string_view name) override {
    if (name == "twice") return 0;
    if (name == "fail") return 1;
    return std::nullopt;
  }
  Result<Value> call(uint32_t function, std::vector<Value> arguments) override {
    ++calls;
    if (function == 1) return orrery::fail(Code::invalid, "it threw");
    if (arguments.empty() || !arguments[0].is_number()) return Value();
    return Value::make_number(2 * arguments[0].number());
  }
  size_t calls = 0;
};

class UserFunctionsTest : public testing::Test {
 protected:
  // The rows, or the error's message.
  std::vector<std::string> run(std::string_view text) {
    auto parsed = parse_query(text);
    if (!parsed) return {parsed.error().message};
    auto bound = bind_query(*parsed, {}, {}, &functions_);
    if (!bound) return {bound.error().message};
    MemorySpace space({R"({"id":"1","n":1})", R"({"id":"2","n":2})", R"({"id":"3"})"});
    Context context;
    context.functions = &functions_;
    auto page = run_page(**bound, space, nullptr, {}, context);
    if (!page) return {page.error().message};
    return page->rows.strings();
  }
  using Rows = std::vector<std::string>;
  TestFunctions functions_;
};

TEST_F(UserFunctionsTest, AreCalledForEachRow) {
  EXPECT_EQ(run("SELECT VALUE udf.twice(c.n) FROM c"), (Rows{"2", "4"}));
  EXPECT_EQ(functions_.calls, 3U);
  EXPECT_EQ(run("SELECT VALUE c.id FROM c WHERE udf.twice(c.n) = 4"), Rows{"\"2\""});
  EXPECT_EQ(run("SELECT VALUE SUM(udf.twice(c.n + 1)) FROM c WHERE IS_DEFINED(c.n)"), Rows{"10"});
  EXPECT_EQ(run("SELECT VALUE c.id FROM c WHERE IS_DEFINED(c.n) ORDER BY udf.twice(c.n) DESC"),
            (Rows{"\"2\"", "\"1\""}));
  EXPECT_EQ(run("SELECT VALUE udf.twice(udf.twice(1))"), Rows{"4"});
}

TEST_F(UserFunctionsTest, EndTheQueryWhenOneFails) {
  for (const char* text :
       {"SELECT VALUE udf.fail() FROM c", "SELECT * FROM c WHERE udf.fail(c.n)",
        "SELECT VALUE COUNT(udf.fail(c.n)) FROM c", "SELECT VALUE c.id FROM c ORDER BY udf.fail()",
        "SELECT DISTINCT VALUE udf.fail(c.n) FROM c",
        "SELECT VALUE x FROM c JOIN x IN (SELECT VALUE udf.fail(c.n))"}) {
    EXPECT_EQ(run(text), Rows{"it threw"}) << text;
  }
}

TEST_F(UserFunctionsTest, MustBeThereAndFew) {
  EXPECT_EQ(run("SELECT VALUE udf.Twice(1)"),
            Rows{"There is no user-defined function 'udf.Twice' here."});
  std::string many = "SELECT VALUE udf.twice(1)";
  for (int i = 0; i < 10; ++i) many += " + udf.twice(1)";
  EXPECT_EQ(run(many), Rows{"The query calls more than 10 user-defined functions."});
}

}  // namespace
}  // namespace orrery::query

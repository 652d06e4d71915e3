// Queries that are made to take time or memory without end: each ends by its budget, whatever it
// says. What is measured are steps and counted bytes, not time.
#include <gtest/gtest.h>

#include <string>

#include "query/bind/bind.h"
#include "query/evaluate/collector.h"
#include "query/parse/parser.h"
#include "query/run/execute.h"
#include "query/run/indexed_space.h"

namespace orrery::query {
namespace {

std::string repeated(std::string_view text, size_t times) {
  std::string out;
  out.reserve(text.size() * times);
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

class QueryCostTest : public testing::Test {
 protected:
  // An item with a long list, a long text and a wide object.
  static std::string wide_item() {
    std::string members = "\"m0\":0";
    for (size_t i = 1; i < 2000; ++i) {
      members += ",\"m" + std::to_string(i) + "\":" + std::to_string(i);
    }
    return R"({"id":"1","l":[0)" + repeated(",0", 1999) + R"(],"t":")" + repeated("a", 50'000) +
           R"(","w":")" + repeated("x y ", 5'000) + R"(","o":{)" + members + "}}";
  }

  // Runs one page, and says how it ended: ok, time, memory, or the message.
  std::string run(const std::string& text) {
    auto parsed = parse_query(text);
    if (!parsed) return parsed.error().message;
    Context context;
    int looks = 0;
    const auto stop = [&] { return ++looks > looks_max_; };
    context.budget.start({.stop = stop, .bytes = kEvaluationBytesMax});
    const int64_t before = CountedBytes::on_this_thread();
    auto bound = bind_query(*parsed, {}, {}, nullptr, {}, &context);
    if (!bound)
      return bound.error().message.starts_with("Computing") ? "constants" : bound.error().message;
    bytes_ = 0;
    PageLimits limits;
    limits.stop = [&] {
      bytes_ = std::max(bytes_, CountedBytes::on_this_thread() - before);
      return ++looks > looks_max_;
    };
    auto page = run_page(**bound, space_, nullptr, limits, context);
    if (page) return "ok";
    if (context.failed) return "failed";
    if (page.error().message == too_much_memory().message) return "memory";
    if (page.error().message == too_much_time().message) return "time";
    return page.error().message;
  }

  // How often time is asked for, every few thousand steps, before it is up.
  int looks_max_ = 20'000;
  IndexedSpace space_{{wide_item(), R"({"id":"2"})"}};
  int64_t bytes_ = 0;  // in use when they were most, where it was looked at
};

// Nested so that each level makes ten or a hundred of the one before.
std::string nested(std::string_view function, std::string_view argument, size_t times,
                   size_t levels) {
  std::string text(argument);
  for (size_t i = 0; i < levels; ++i) {
    std::string more = std::string(function) + text;
    for (size_t j = 1; j < times; ++j) more += "," + text;
    text = more + ")";
  }
  return text;
}

// FROM c JOIN (SELECT VALUE <of c.x>) a JOIN (SELECT VALUE <of a>) b …: each doubles the one
// before.
std::string growing(std::string_view first, std::string_view of_last, size_t levels) {
  std::string joins = " JOIN (SELECT VALUE " + std::string(first) + ") x0";
  for (size_t i = 1; i <= levels; ++i) {
    std::string made(of_last);
    const std::string last = "x" + std::to_string(i - 1);
    for (size_t at = made.find('@'); at != std::string::npos; at = made.find('@', at)) {
      made.replace(at, 1, last);
    }
    joins += " JOIN (SELECT VALUE " + made + ") x" + std::to_string(i);
  }
  return "SELECT VALUE x" + std::to_string(levels) + " FROM c" + joins;
}

TEST_F(QueryCostTest, ArraysOfArraysEnd) {
  const std::string numbers = "[" + repeated("0,", 99) + "0]";
  for (const std::string& made :
       {nested("ARRAY_CONCAT(", numbers, 10, 3), nested("ARRAY_CONCAT(", "c.l", 20, 2),
        nested("SETUNION(", "c.l", 2, 8)}) {
    EXPECT_EQ(run("SELECT VALUE ARRAY_LENGTH(" + made + ") FROM c"), "ok") << made.substr(0, 60);
  }
  // A hundred million numbers, computed once and for each row.
  EXPECT_EQ(run("SELECT VALUE " + nested("ARRAY_CONCAT(", numbers, 40, 2) + " FROM c"), "ok");
  EXPECT_EQ(run(growing(numbers, "ARRAY_CONCAT(@,@,@,@,@,@,@,@,@,@)", 8)), "memory");
  EXPECT_LE(bytes_, static_cast<int64_t>(2 * kEvaluationBytesMax));
  EXPECT_EQ(run(growing("c.l", "ARRAY_CONCAT(@,@,@,@,@,@,@,@,@,@)", 8)), "memory");
  // Shared, not copied: hardly any memory, until it is written or compared.
  EXPECT_EQ(run(growing("c.l", "[@,@,@,@,@,@,@,@,@,@]", 9)), "memory");
  EXPECT_EQ(run(growing("c.l", "{\"a\":@,\"b\":@,\"c\":@,\"d\":@}", 9)), "memory");
  EXPECT_EQ(run(growing("'a'", "{\"a\":[@,@,@,@,@,@,@,@,@,@,@]}", 9)), "memory");
}

TEST_F(QueryCostTest, TextsEnd) {
  EXPECT_EQ(run(growing("c.t", "@ || @ || @ || @", 9)), "memory");
  EXPECT_EQ(run(growing("c.t", "CONCAT(@,@,@,@)", 9)), "memory");
  EXPECT_EQ(run(growing("c.t", "REPLACE(@, 'a', 'aaaaaaaaaa')", 9)), "memory");
  EXPECT_EQ(run(growing("c.t", "STRINGJOIN([@,@,@,@], @)", 9)), "memory");
  EXPECT_EQ(run(growing("c.t", "TOSTRING([@,@,@,@])", 9)), "memory");
  EXPECT_EQ(run("SELECT VALUE STRINGSPLIT(" + nested("CONCAT(", "c.t", 20, 1) + ", 'a') FROM c"),
            "memory");
  EXPECT_EQ(run("SELECT VALUE STRINGTOARRAY(CONCAT('[0', REPLACE(" +
                nested("CONCAT(", "c.t", 20, 1) + ", 'a', ',0'), ']')) FROM c"),
            "memory");
}

TEST_F(QueryCostTest, RowsThatAreKeptEnd) {
  for (const std::string& text :
       {std::string(
            "SELECT VALUE ARRAY(SELECT VALUE a FROM a IN c.l JOIN b IN c.l JOIN d IN c.l) FROM c"),
        std::string("SELECT VALUE ARRAY_LENGTH(ARRAY(SELECT VALUE [a,b] FROM a IN c.l JOIN b IN "
                    "c.l)) FROM c"),
        std::string("SELECT VALUE (SELECT VALUE MAKELIST(1) FROM a IN c.l JOIN b IN c.l JOIN d IN "
                    "c.l) FROM c"),
        std::string("SELECT VALUE 1 FROM c JOIN (SELECT VALUE a FROM a IN c.l JOIN b IN c.l) x "
                    "JOIN (SELECT "
                    "VALUE a FROM a IN c.l JOIN b IN c.l) y JOIN (SELECT VALUE a FROM a IN c.l "
                    "JOIN b IN c.l) z "
                    "WHERE x = 1")}) {
    EXPECT_EQ(run(text), "memory") << text;
    EXPECT_LE(bytes_, static_cast<int64_t>(kPageMemoryMax + 2 * kEvaluationBytesMax)) << text;
  }
}

// What would take hours ends when its time is up, even where no row comes out.
TEST_F(QueryCostTest, WorkWithoutRowsEnds) {
  looks_max_ = 500;
  const std::string ten_times_ten = "c.l JOIN b IN c.l JOIN d IN c.l JOIN e IN c.l";
  const std::string needle = repeated("a", 2000) + "b";
  for (const std::string& filter : std::initializer_list<std::string>{
           "EXISTS(SELECT VALUE 1 FROM a IN " + ten_times_ten + " WHERE a + b + d + e = 1)",
           "(SELECT VALUE COUNT(1) FROM a IN " + ten_times_ten + ") = 1",
           "EXISTS(SELECT VALUE 1 FROM a IN c.l JOIN b IN c.l WHERE c.t LIKE '%" + needle + "%')",
           "EXISTS(SELECT VALUE 1 FROM a IN c.l JOIN b IN c.l WHERE c.o = {\"a\":1} OR c.o != c.o)",
           "EXISTS(SELECT VALUE 1 FROM a IN c.l JOIN b IN c.l WHERE ARRAY_CONTAINS([c.o], c.o, "
           "true) = false)",
           "EXISTS(SELECT VALUE 1 FROM a IN c.l JOIN b IN c.l WHERE CONTAINS(c.t, '" + needle +
               "', true))",
           "EXISTS(SELECT VALUE 1 FROM a IN c.l JOIN b IN c.l WHERE LASTINDEXOF(c.t, '" + needle +
               "') > 0)",
           "EXISTS(SELECT VALUE 1 FROM a IN c.l JOIN b IN c.l WHERE FULLTEXTCONTAINS(c.w, 'x y x y "
           "x z'))",
           "EXISTS(SELECT VALUE 1 FROM a IN c.l JOIN b IN c.l WHERE REGEXMATCH(c.t, 'b'))",
       }) {
    EXPECT_EQ(run("SELECT VALUE 1 FROM c WHERE c.id = '1' AND " + filter), "time") << filter;
  }
}

TEST_F(QueryCostTest, LongPatternsOverLongTextsAreRefused) {
  EXPECT_EQ(run("SELECT VALUE REGEXMATCH(CONCAT(c.t,c.t,c.t,c.t), '(a?){500}(a{1,500}b)') FROM c"),
            "failed");
  EXPECT_EQ(run("SELECT VALUE REGEXMATCH(c.t, 'a+b') FROM c"), "ok");
}

// Every pair of positions is as near as any other: each is measured on the ellipsoid.
TEST_F(QueryCostTest, ShapesOfManyPositionsEnd) {
  looks_max_ = 500;
  const auto line = [](double latitude) {
    std::string positions;
    for (size_t i = 0; i < 3000; ++i) {
      positions += (i == 0 ? "[" : ",[") + std::to_string(static_cast<double>(i) / 1e6) + "," +
                   std::to_string(latitude) + "]";
    }
    return R"({"type":"LineString","coordinates":[)" + positions + "]}";
  };
  EXPECT_EQ(run("SELECT VALUE ST_DISTANCE(" + line(0) + ", " + line(50) + ")"), "constants");
}

TEST_F(QueryCostTest, ConstantsAreComputedWithinTheBudget) {
  const std::string numbers = "[" + repeated("0,", 999) + "0]";
  EXPECT_EQ(run("SELECT VALUE ARRAY_LENGTH(" + nested("ARRAY_CONCAT(", numbers, 64, 1) + ")"),
            "ok");
  const std::string text = nested("CONCAT(", "REPLICATE('a', 10000)", 100, 2);
  EXPECT_EQ(run("SELECT VALUE LENGTH(" + text + ")"), "constants");
}

}  // namespace
}  // namespace orrery::query

// Reading what the advisor is given: keys, times, queries, workloads, items.
#include <gtest/gtest.h>

#include "advise/item_sample.h"
#include "advise/key_expression.h"
#include "advise/query_paths.h"
#include "advise/time_value.h"
#include "advise/workload.h"
#include "query/parse/parser.h"
#include "value/json.h"

namespace orrery::advise {
namespace {

TEST(KeyExpression, IsReadAndWrittenTheSame) {
  for (const char* text :
       {"/a", "/\"a b\"/c", "day(/ts)", "join(/a,/b)", "join(/a,month(/ts))", "suffix(/a,10)",
        "hier(/a,/b)", "hier(/a,day(/ts),/id)", "hier(join(/a,/b),/c)", "join(/\"a,b\",/c)"}) {
    PathTable paths;
    const auto key = parse_key(text, paths);
    ASSERT_TRUE(key) << text << ": " << key.error().message;
    EXPECT_EQ(to_text(*key, paths), text);
  }
}

TEST(KeyExpression, SaysWhatIsWrong) {
  for (const char* text : {"", "a", "week(/a)", "day(/a,/b)", "suffix(/a)", "suffix(/a,1)",
                           "suffix(/a,x)", "hier(/a,/b,/c,/d)", "join(/a", "/a//b", "hier()"}) {
    PathTable paths;
    const auto key = parse_key(text, paths);
    ASSERT_FALSE(key) << text;
    EXPECT_FALSE(key.error().message.empty());
  }
}

TEST(KeyExpression, KnowsWhatItExtends) {
  PathTable paths;
  const auto a = *parse_key("/a", paths);
  const auto joined = *parse_key("join(/a,/b)", paths);
  EXPECT_TRUE(joined.extends(a));
  EXPECT_FALSE(a.extends(joined));
  EXPECT_TRUE(parse_key("suffix(/a,10)", paths)->extends(a));
  EXPECT_FALSE(parse_key("hier(/b,/c)", paths)->extends(a));
}

TEST(TimeValue, ReadsDatesInstantsAndEpochs) {
  EXPECT_EQ(parse_time("2026-11-16")->s, 1794787200);
  EXPECT_EQ(parse_time("2026-11-16")->form, TimeForm::day);
  EXPECT_EQ(parse_time("2026-11")->form, TimeForm::month);
  EXPECT_EQ(parse_time("2026-11-16T09")->form, TimeForm::hour);
  EXPECT_EQ(parse_time("2026-11-16T09:15:30.25Z")->s, 1794787200 + 9 * 3600 + 15 * 60 + 30);
  EXPECT_EQ(parse_time("2026-11-16T09:15:30+01:00")->s, 1794787200 + 8 * 3600 + 15 * 60 + 30);
  EXPECT_EQ(parse_time(1794787200.0)->s, 1794787200);
  EXPECT_EQ(parse_time(1794787200123.0)->s, 1794787200.123);
  for (const char* text : {"", "2026", "2026-13-01", "2026-02-30", "20261116", "2026-11-16 x",
                           "2026-11-16T25:00:00Z", "web-0001", "2026-11-16T09:15:30+1"}) {
    EXPECT_FALSE(parse_time(text)) << text;
  }
  EXPECT_FALSE(parse_time(42.0));
  EXPECT_EQ(period_text(period_of(1794787200, Period::day), Period::day), "2026-11-16");
  EXPECT_EQ(period_text(period_of(1794787200, Period::month), Period::month), "2026-11");
  EXPECT_EQ(period_text(period_of(1794787200 + 3600, Period::hour), Period::hour), "2026-11-16T01");
}

TEST(QueryPaths, TakesWhatMustHoldForEveryRow) {
  const auto query = query::parse_query(
      "SELECT * FROM c WHERE c.a = 1 AND 'x' = c.b[\"d e\"] AND c.f IN (1, 2) AND c.t >= @from AND "
      "c.t < 9 AND (c.g = 1 OR c.h = 2) AND c.i = c.j AND NOT c.k = 3 AND c.l NOT IN (1)");
  ASSERT_TRUE(query);
  const QueryPaths paths = paths_of(*query);
  ASSERT_EQ(paths.equal.size(), 2U);
  EXPECT_EQ(to_string(paths.equal[0].path), "/a");
  EXPECT_EQ(to_string(paths.equal[1].path), "/b/\"d e\"");
  ASSERT_EQ(paths.in.size(), 1U);
  EXPECT_EQ(paths.in[0].operands.size(), 2U);
  ASSERT_EQ(paths.range.size(), 1U);
  EXPECT_EQ(paths.range[0].operands.size(), 2U);
  const std::string text = without_literals(*query);
  EXPECT_EQ(text.find("'x'"), std::string::npos);
  EXPECT_EQ(text.find("\"x\""), std::string::npos);
  EXPECT_NE(text.find("@2"), std::string::npos);
}

TEST(WorkloadReader, SaysWhatIsWrongWithALine) {
  const std::pair<const char*, const char*> lines[] = {
      {"{", ""},
      {"[]", "'k'"},
      {R"({"k":"what"})", "head, shape, time, change or req"},
      {R"({"k":"head","v":2})", "version"},
      {R"({"k":"head","hash":"md5"})", "hmac-sha256-64"},
      {R"({"k":"head","throughput":-1})", "throughput"},
      {R"({"k":"shape","op":"select"})", "select"},
      {R"({"k":"shape","op":"query","eq":["a"]})", "must start with /"},
      {R"({"k":"shape","op":"query","text":"SELECT FROM"})", "cannot be read"},
      {R"({"k":"req","t":1,"shape":7,"ru":1})", "no shape 7"},
      {R"({"k":"time","t":1,"s":0})", "'s'"},
  };
  for (const auto& [line, part] : lines) {
    PathTable paths;
    WorkloadReader reader(paths);
    const auto status = reader.add_line(line);
    ASSERT_FALSE(status) << line;
    EXPECT_NE(status.error().message.find(part), std::string::npos) << status.error().message;
  }
}

TEST(WorkloadReader, ReadsPathsOutOfTheText) {
  PathTable paths;
  WorkloadReader reader(paths);
  ASSERT_TRUE(reader.add_line(
      R"({"k":"shape","shape":3,"op":"query","text":"SELECT * FROM c WHERE c.x = @1 AND c.t > @2"})"));
  const auto workload = reader.finish();
  ASSERT_EQ(workload->shapes.size(), 1U);
  ASSERT_EQ(workload->shapes[0].equal.size(), 1U);
  EXPECT_EQ(paths.name(workload->shapes[0].equal[0]), "/x");
  EXPECT_EQ(workload->shapes[0].range.size(), 1U);
}

TEST(WorkloadReader, KeepsABoundedSampleOfRequests) {
  PathTable paths;
  WorkloadReader reader(paths);
  ASSERT_TRUE(reader.add_line(R"({"k":"shape","shape":0,"op":"read","eq":["/id"]})"));
  for (size_t i = 0; i < WorkloadReader::kMaxRequests + 5'000; ++i) {
    ASSERT_TRUE(reader.add_line(R"({"k":"req","t":)" + std::to_string(i) +
                                R"(,"shape":0,"ru":1,"v":{"/id":"a"}})"));
  }
  EXPECT_EQ(reader.finish()->requests.size(), WorkloadReader::kMaxRequests);
}

TEST(ItemReader, CountsVersionsAndTypes) {
  PathTable paths;
  ItemReader reader(paths, {});
  for (int i = 0; i < 100; ++i) {
    for (int version = 0; version < 2; ++version) {
      const std::string json = R"({"id":"i)" + std::to_string(i) + R"(","owner":"o","state":)" +
                               std::to_string(version) + R"(,"deep":{"x":"y"},"tags":[1],"_ts":)" +
                               std::to_string(1'700'000'000 + version) + "}";
      const auto document = value::JsonDocument::parse(json);
      reader.add(document->root(), json.size());
    }
  }
  const ItemSample sample = reader.finish();
  EXPECT_EQ(sample.read, 200);
  EXPECT_EQ(sample.count, 100);
  EXPECT_EQ(sample.updates, 100);
  bool has_state = false;
  for (size_t i = 0; i < sample.paths.size(); ++i) {
    const std::string& name = paths.name(sample.paths[i].path);
    EXPECT_NE(name, "/tags");
    EXPECT_NE(name, "/_ts");
    has_state = has_state || name == "/state";
    EXPECT_EQ(sample.changed[i], name == "/state" ? 100 : 0) << name;
  }
  EXPECT_TRUE(has_state);
}

}  // namespace
}  // namespace orrery::advise

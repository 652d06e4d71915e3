// Groups and aggregates that are read off the index: the same as those of all items.
#include "query/run/index_only.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "query/bind/bind.h"
#include "query/evaluate/evaluate.h"
#include "query/parse/parser.h"
#include "query/run/indexed_space.h"

namespace orrery::query {
namespace {

using value::Value;

std::shared_ptr<const BoundQuery> bind(const std::string& text) {
  return bind_query(parse_query(text).value(), {}).value();
}

// What a grouped or distinct query makes of rows, by the text of its keys.
class Groups {
 public:
  explicit Groups(const BoundQuery& query) : query_(query), frame_(query.slots, context_) {}

  void add(const Value& item, uint64_t times, bool passes) {
    frame_.slots[*query_.document_slot] = item;
    if (!passes && query_.where && !evaluate(*query_.where, frame_).is_true()) return;
    std::string keys;
    if (query_.distinct) {
      keys = project(query_, frame_).to_json();
      if (keys.empty()) return;
    }
    for (const BoundExpr& expr : query_.group_by) keys += evaluate(expr, frame_).to_json() + ";";
    std::vector<Accumulator>& sums = groups_[keys];
    for (size_t i = 0; i < query_.aggregates.size(); ++i) {
      if (sums.size() == i) sums.emplace_back(query_.aggregates[i].aggregate);
      sums[i].add(evaluate(query_.aggregates[i].argument, frame_).to_owned(), times);
    }
  }
  std::map<std::string, std::string> results() const {
    std::map<std::string, std::string> shown;
    for (const auto& [keys, sums] : groups_) {
      for (const Accumulator& sum : sums) shown[keys] += sum.result().to_json() + ";";
      shown[keys];
    }
    return shown;
  }

 private:
  const BoundQuery& query_;
  Context context_;
  Frame frame_;
  std::map<std::string, std::vector<Accumulator>> groups_;
};

class IndexOnlyTest : public testing::Test {
 protected:
  // Nothing when the items have to be read.
  std::optional<std::map<std::string, std::string>> by_index(IndexedSpace& space,
                                                             const BoundQuery& query) {
    Context context;
    std::string end;
    const auto view = space.open("", end).value();
    const IndexPlan plan = plan_index_use(query, *space.policy(), context);
    counts_ = {};
    auto source = open_alike({*view, plan, context, counts_});
    EXPECT_TRUE(source);
    if (!*source) return std::nullopt;
    Groups groups(query);
    for (;;) {
      const auto alike = (*source)->next();
      EXPECT_TRUE(alike) << alike.error().message;
      if (!alike || *alike == nullptr) break;
      groups.add((*alike)->item, (*alike)->count, (*alike)->passes);
    }
    return groups.results();
  }

  static std::map<std::string, std::string> by_items(IndexedSpace& space, const BoundQuery& query) {
    std::string end;
    const auto view = space.open("", end).value();
    const auto cursor = view->items(nullptr, false).value();
    Groups groups(query);
    while (cursor->next().value()) {
      const auto json = value::JsonDocument::parse(cursor->body()).value();
      groups.add(Value::from(json.root()), 1, false);
    }
    return groups.results();
  }

  ReadCounts counts_;
};

std::vector<std::string> random_bodies(uint32_t seed, size_t count, bool scalars_only) {
  std::mt19937 random(seed);
  const std::string lead(value::kMaxTermText, 'x');
  std::vector<std::string> values = {"null", "true", "false", "0.1",   "2",
                                     "2.5",  "-3",   "\"\"",  "\"a\"", "\"ab\""};
  if (!scalars_only) {
    for (const char* other : {"[1]", "[]", "{\"n\":1}"}) values.emplace_back(other);
    values.push_back("\"" + lead + "a\"");
    values.push_back("\"" + lead + "b\"");
  }
  std::vector<std::string> bodies;
  for (size_t i = 0; i < count; ++i) {
    std::string body = "{\"id\":\"" + std::to_string(i) + "\"";
    for (const char* name : {"a", "b"}) {
      if (random() % 6 != 0) {
        body += std::string(",\"") + name + "\":" + values[random() % values.size()];
      }
    }
    body += ",\"o\":{\"n\":" + std::to_string(random() % 7) + "}";
    bodies.push_back(body + "}");
  }
  return bodies;
}

const char* const kIndexOnlyQueries[] = {
    "SELECT VALUE COUNT(1) FROM c",
    "SELECT COUNT(c) AS n, COUNT(c.a) AS m FROM c",
    "SELECT VALUE COUNT(1) FROM c WHERE c.a = 2",
    "SELECT VALUE COUNT(1) FROM c WHERE c.a > 0 OR c.a = null",
    "SELECT VALUE COUNT(1) FROM c WHERE NOT IS_DEFINED(c.a)",
    "SELECT VALUE COUNT(1) FROM c WHERE CONTAINS(c.a, \"a\")",
    "SELECT VALUE COUNT(1) FROM c WHERE c.a = 2 AND c.b != 2",
    "SELECT VALUE COUNT(1) FROM c WHERE c.a = 2 OR c.b > 0",
    "SELECT VALUE COUNT(1) FROM c WHERE ARRAY_CONTAINS(c.a, 1)",
    "SELECT SUM(c.o.n) AS s, AVG(c.o.n) AS v, MIN(c.o.n) AS l, MAX(c.o.n) AS h FROM c",
    "SELECT SUM(c.a) AS s FROM c WHERE IS_NUMBER(c.a)",
    "SELECT MIN(c.a) AS l, MAX(c.a) AS h FROM c",
    "SELECT MIN(c.a) AS l, MAX(c.a) AS h FROM c WHERE c.a >= 0",
    "SELECT MAX(c.a) AS h FROM c WHERE IS_STRING(c.a)",
    "SELECT c.a, COUNT(1) AS n FROM c GROUP BY c.a",
    "SELECT c.o.n, COUNT(1) AS n, SUM(c.o.n) AS s FROM c GROUP BY c.o.n",
    "SELECT LENGTH(c.a) AS l, COUNT(1) AS n FROM c WHERE c.a != 2 GROUP BY LENGTH(c.a)",
    "SELECT c.a, COUNT(1) AS n FROM c WHERE c.b = 2 OR c.b = true GROUP BY c.a",
    "SELECT DISTINCT VALUE c.a FROM c",
    "SELECT DISTINCT c.a FROM c",
    "SELECT DISTINCT VALUE c.o.n % 2 FROM c",
    "SELECT DISTINCT VALUE c.a FROM c WHERE c.a = null OR ARRAY_CONTAINS(c.a, 1)",
};

TEST_F(IndexOnlyTest, SameAsByItems) {
  for (const bool scalars_only : {true, false}) {
    for (const size_t shapes_max : {1000, 1}) {
      IndexedSpace::Options options;
      options.shapes_max = shapes_max;
      IndexedSpace space(IndexedSpace::in_order(random_bodies(3, 300, scalars_only)), options);
      for (const char* text : kIndexOnlyQueries) {
        SCOPED_TRACE(text);
        const auto query = bind(text);
        const auto found = by_index(space, *query);
        if (shapes_max == 1000) {
          ASSERT_TRUE(found);
        }
        if (found) {
          EXPECT_EQ(*found, by_items(space, *query));
        }
        if (found && scalars_only) {
          EXPECT_EQ(counts_.items, uint64_t{0});
        }
      }
    }
  }
}

TEST_F(IndexOnlyTest, ExtremesAreTheFirstAndTheLastEntry) {
  IndexedSpace space(random_bodies(4, 500, true));
  ASSERT_TRUE(by_index(space, *bind("SELECT MIN(c.o.n) AS l, MAX(c.o.n) AS h FROM c")));
  EXPECT_LE(counts_.entries, uint64_t{2});
}

TEST_F(IndexOnlyTest, ItemsAreReadWhenMoreIsAsked) {
  IndexedSpace space(random_bodies(5, 50, true));
  for (const char* text : {
           "SELECT c.a, SUM(c.b) AS s FROM c GROUP BY c.a",
           "SELECT VALUE COUNT(1) FROM c WHERE c.a = c.b",
           "SELECT VALUE COUNT(1) FROM c JOIN e IN c.a",
           "SELECT DISTINCT * FROM c",
           "SELECT DISTINCT c.a, c.b FROM c",
           "SELECT VALUE COUNT(1) FROM c WHERE ARRAY_CONTAINS(c.a, {\"n\": 1}, true)",
       }) {
    EXPECT_FALSE(by_index(space, *bind(text))) << text;
  }
}

// A shape has an entry for each cell it lies in, and these are not its value.
TEST_F(IndexOnlyTest, ItemsAreReadForShapes) {
  value::IndexDefinition definition = value::IndexPolicy::everything().definition();
  definition.spatial.push_back(value::parse_index_path("/a/*").value());
  IndexedSpace::Options options;
  options.policy = value::IndexPolicy(definition);
  IndexedSpace space(IndexedSpace::in_order({R"({"a":{"type":"Point","coordinates":[1,2]}})"}),
                     options);
  EXPECT_FALSE(by_index(space, *bind("SELECT VALUE COUNT(1) FROM c WHERE ST_DISTANCE(c.a, "
                                     R"({"type": "Point", "coordinates": [1, 2]}) < 9)")));
}

TEST_F(IndexOnlyTest, ItemsAreReadWhereTheyExpire) {
  IndexedSpace::Options options;
  options.entries_are_items = false;
  IndexedSpace space(IndexedSpace::in_order(random_bodies(6, 50, true)), options);
  EXPECT_FALSE(by_index(space, *bind("SELECT VALUE COUNT(1) FROM c")));
}

}  // namespace
}  // namespace orrery::query

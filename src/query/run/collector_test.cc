// Grouping, ordering, duplicates, skipping: what comes out, and in which order.
#include "query/evaluate/collector.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "query/bind/bind.h"
#include "query/parse/parser.h"
#include "value/json.h"

namespace orrery::query {
namespace {

using value::Value;

// The results for items whose documents are gone as soon as they were added.
std::string collect(std::string_view text, const std::vector<std::string>& items) {
  auto query = parse_query(text);
  EXPECT_TRUE(query) << text;
  auto bound = bind_query(*query, {});
  EXPECT_TRUE(bound) << text;
  Context context;
  Frame frame((*bound)->slots, context);
  Collector collector(**bound, Collector::Lifetime::copy, context.budget);
  for (const std::string& item : items) {
    auto document = value::JsonDocument::parse(item);
    EXPECT_TRUE(document) << item;
    frame.slots[*(*bound)->document_slot] = Value::from(document->root());
    if (!each_row(**bound, frame, [&] { return collector.add(frame); })) break;
  }
  frame.slots.assign(frame.slots.size(), Value());
  std::string rows;
  for (const auto& row : collector.finish(frame)) rows += row.result.to_json() + " ";
  return rows;
}

const std::vector<std::string>& items() {
  static const std::vector<std::string> all = {R"({"k":"b","n":1})", R"({"k":"a","n":2})",
                                               R"({"k":"b","n":3})", R"({"n":4})",
                                               R"({"k":"a","n":2})"};
  return all;
}

TEST(CollectorTest, GroupsComeInTheOrderOfTheirFirstRows) {
  EXPECT_EQ(collect("SELECT c.k, SUM(c.n) AS s FROM c GROUP BY c.k", items()),
            R"({"k":"b","s":4} {"k":"a","s":4} {"s":4} )");
}

TEST(CollectorTest, EqualKeysKeepTheirOrder) {
  EXPECT_EQ(collect("SELECT VALUE c.n FROM c ORDER BY c.k DESC", items()), "1 3 2 2 4 ");
}

TEST(CollectorTest, DuplicatesAreRemovedBeforeSkipping) {
  EXPECT_EQ(collect("SELECT DISTINCT VALUE c.n FROM c OFFSET 1 LIMIT 2", items()), "2 3 ");
  EXPECT_EQ(collect("SELECT DISTINCT VALUE c.k FROM c ORDER BY c.k OFFSET 1 LIMIT 5", items()),
            "\"b\" ");
}

TEST(CollectorTest, OneGroupOfNothing) {
  EXPECT_EQ(collect("SELECT VALUE COUNT(1) FROM c", {}), "0 ");
  EXPECT_EQ(collect("SELECT c.k, COUNT(1) AS n FROM c GROUP BY c.k", {}), "");
}

// With a limit only as many rows are kept as can still be returned.
TEST(CollectorTest, TheFirstOfManyRows) {
  std::vector<std::string> many;
  for (int i = 0; i < 5000; ++i) {
    many.push_back("{\"n\":" + std::to_string((i * 7919) % 5000) + "}");
  }
  EXPECT_EQ(collect("SELECT TOP 3 VALUE c.n FROM c ORDER BY c.n", many), "0 1 2 ");
  EXPECT_EQ(collect("SELECT VALUE c.n FROM c ORDER BY c.n DESC OFFSET 2 LIMIT 2", many),
            "4997 4996 ");
}

}  // namespace
}  // namespace orrery::query

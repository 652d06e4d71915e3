// Runs the golden files: see README.md beside this file. Each case runs in one partition with
// several page sizes, and over several partitions as a client would run it by the gateway's plan.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "client.h"
#include "container.h"
#include "golden_file.h"
#include "query/bind/bind.h"
#include "query/parse/parser.h"
#include "query/plan/index_plan.h"

namespace orrery::query {
namespace {

constexpr uint32_t kPartitions = 4;

std::string text_of(const std::vector<Value>& rows) {
  std::string text;
  for (const Value& row : rows) text += row.to_json() + "\n";
  return text;
}

Parameters parameters_of(const GoldenCase& golden) {
  Parameters parameters;
  for (const auto& [name, text] : golden.parameters) parameters[name] = parse_value(text);
  return parameters;
}

void expect_rows(const GoldenCase& golden, Result<std::vector<Value>> rows) {
  if (golden.error) {
    ASSERT_FALSE(rows) << "the query should be refused, and gave\n" << text_of(*rows);
    EXPECT_NE(rows.error().message.find(*golden.error), std::string::npos) << rows.error().message;
    return;
  }
  ASSERT_TRUE(rows) << rows.error().message;
  if (golden.count) {
    EXPECT_EQ(rows->size(), *golden.count) << text_of(*rows);
    return;
  }
  std::vector<Value> expected;
  for (const std::string& row : golden.rows) expected.push_back(parse_value(row));
  if (!golden.ordered) {
    std::ranges::sort(expected);
    std::ranges::sort(*rows);
  }
  EXPECT_EQ(*rows == expected, true) << text_of(*rows) << "instead of\n" << text_of(expected);
}

// Which rows come first is for each partition to say when no order is asked for.
bool takes_any(const std::string& text) {
  const auto query = parse_query(text);
  return query && query->order_by.empty() && (query->select.top || query->offset);
}

class GoldenTest : public testing::Test {
 protected:
  GoldenTest() : cases_(all_golden_cases()) {}
  void SetUp() override {
    ASSERT_FALSE(cases_.empty()) << "set ORRERY_GOLDEN to the folder of the golden files";
  }
  static std::string place_of(const GoldenCase& golden, Index index) {
    return golden.file + ":" + std::to_string(golden.line) + " " + golden.title +
           (index == Index::off  ? ""
            : index == Index::on ? ", by the index"
                                 : ", along the index");
  }

  const std::vector<GoldenCase> cases_;
};

TEST_F(GoldenTest, OnePartition) {
  for (const GoldenCase& golden : cases_) {
    for (const Index index : {Index::off, Index::on, Index::walked}) {
      const TestContainer container(golden.items, 1, index);
      for (size_t page_rows : {1000, 7, 1}) {
        SCOPED_TRACE(place_of(golden, index) + ", pages of " + std::to_string(page_rows));
        expect_rows(golden, container.run(golden.query, parameters_of(golden), page_rows));
      }
    }
  }
}

TEST_F(GoldenTest, IndexUse) {
  size_t stated = 0;
  for (const GoldenCase& golden : cases_) {
    if (!golden.index) continue;
    ++stated;
    SCOPED_TRACE(place_of(golden, Index::on));
    const auto query = parse_query(golden.query);
    ASSERT_TRUE(query);
    const auto bound = bind_query(*query, parameters_of(golden));
    ASSERT_TRUE(bound);
    Context context;
    const auto policy = value::IndexPolicy::everything();
    EXPECT_EQ(to_string(plan_index_use(**bound, policy, context)), *golden.index);
  }
  EXPECT_GE(stated, size_t{60});
}

TEST_F(GoldenTest, ManyPartitionsByThePlan) {
  for (const GoldenCase& golden : cases_) {
    if (golden.error || golden.single) continue;
    for (const Index index : {Index::off, Index::on}) {
      const TestContainer container(golden.items, kPartitions, index);
      for (size_t page_rows : {100, 1}) {
        SCOPED_TRACE(place_of(golden, index) + ", pages of " + std::to_string(page_rows));
        auto rows = run_as_client(container, golden.query, parameters_of(golden), page_rows);
        if (rows && !golden.count && takes_any(golden.query)) {
          EXPECT_EQ(rows->size(), golden.rows.size()) << text_of(*rows);
        } else {
          expect_rows(golden, std::move(rows));
        }
      }
    }
  }
}

}  // namespace
}  // namespace orrery::query

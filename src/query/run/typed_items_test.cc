// Queries over items of an encoding with types that JSON does not have: the index, in the typed
// order, answers as a scan does.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "query/bind/bind.h"
#include "query/evaluate/kept_value.h"
#include "query/parse/parser.h"
#include "query/run/execute.h"
#include "query/run/indexed_space.h"
#include "value/test_codec.h"
#include "value/test_values.h"

namespace orrery::query {
namespace {

using value::TestCodec;
using value::Value;
using value::ValueOrder;
using Rows = std::vector<std::string>;

Value object(std::vector<std::pair<std::string, Value>> members) {
  std::vector<Value::Field> fields;
  for (auto& [name, value] : members) {
    fields.push_back({Value::make_string(name), std::move(value)});
  }
  return Value::make_object(std::move(fields));
}

value::IndexPolicy typed_policy() {
  value::IndexDefinition definition;
  definition.rules = {{.path = value::parse_index_path("/*").value(), .include = true}};
  definition.composites = {
      {.parts = {{.path = value::parse_property_path("/w").value(), .descending = false},
                 {.path = value::parse_property_path("/v").value(), .descending = true}}}};
  definition.order = ValueOrder::typed;
  return value::IndexPolicy(definition);
}

class TypedItemsTest : public testing::Test {
 protected:
  using Estimate = IndexedSpace::Options::Estimate;

  // Each with `v` and `w` out of these values.
  void fill(const std::vector<Value>& values, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const Value item = object({{"id", Value::make_integer(static_cast<int64_t>(i))},
                                 {"v", values[random_() % values.size()]},
                                 {"w", values[random_() % std::min<size_t>(values.size(), 5)]}});
      std::string placement(1, static_cast<char>('0' + i % 8));
      placed_.push_back({placement, std::to_string(i), TestCodec::encode(item)});
    }
  }

  IndexedSpace space(bool is_indexed, Estimate estimate = Estimate::one) const {
    IndexedSpace::Options options;
    options.policy = typed_policy();
    options.codec = std::make_shared<TestCodec>();
    options.bounds = {"3", "6"};
    options.is_indexed = is_indexed;
    options.estimate = estimate;
    return {placed_, std::move(options)};
  }

  Rows rows(const std::string& text, const Parameters& parameters, IndexedSpace space,
            size_t page_rows) const {
    auto query = parse_query(text);
    EXPECT_TRUE(query) << text;
    auto bound = bind_query(*query, parameters, {}, nullptr, {}, nullptr, ValueOrder::typed);
    EXPECT_TRUE(bound) << text;
    Rows all;
    std::optional<Position> at;
    for (int pages = 0; pages < 10'000; ++pages) {
      Context context;
      PageLimits limits;
      limits.rows = page_rows;
      auto page = run_page(**bound, space, at ? &*at : nullptr, limits, context);
      EXPECT_TRUE(page) << text << ": " << page.error().message;
      if (!page) return all;
      all.insert(all.end(), page->rows.begin(), page->rows.end());
      if (!page->next) return all;
      at = page->next;
    }
    ADD_FAILURE() << text << " does not end";
    return all;
  }

  // The rows that a scan, the index, and the index page by page give, which are the same.
  Rows same_rows(const std::string& text, const Parameters& parameters) {
    const bool has_order = text.find("ORDER BY") != std::string::npos;
    const auto comparable = [&](Rows some) {
      if (!has_order) std::ranges::sort(some);
      return some;
    };
    const Rows scanned = comparable(rows(text, parameters, space(false), 10'000));
    std::string given;
    for (const auto& [name, value] : parameters) given += ' ' + name + '=' + value.to_json();
    for (const Estimate estimate : {Estimate::one, Estimate::truth}) {
      const Rows found = comparable(rows(text, parameters, space(true, estimate), 10'000));
      EXPECT_EQ(found, scanned) << text << given;
    }
    EXPECT_EQ(comparable(rows(text, parameters, space(true), 7)), scanned) << text << given;
    EXPECT_EQ(comparable(rows(text, parameters, space(false), 7)), scanned) << text << given;
    return scanned;
  }

  std::mt19937_64 random_{1};
  std::vector<IndexedSpace::Placed> placed_;
};

TEST_F(TypedItemsTest, TellsNumbersApartThatAreOneDouble) {
  constexpr int64_t kLarge = int64_t{1} << 53;
  for (int64_t i = -2; i <= 2; ++i) {
    const Value item = object({{"id", Value::make_integer(i)},
                               {"v", Value::make_integer(kLarge + i)},
                               {"w", Value::make_null()}});
    placed_.push_back({"1", std::to_string(i), TestCodec::encode(item)});
  }
  const Parameters middle = {{"@p", Value::make_integer(kLarge + 1)}};
  EXPECT_EQ(same_rows("SELECT VALUE c.id FROM c WHERE c.v = @p", middle),
            (Rows{TestCodec::encode(Value::make_integer(1))}));
  EXPECT_EQ(same_rows("SELECT * FROM c WHERE c.v > @p", middle).size(), 1);
  EXPECT_EQ(same_rows("SELECT * FROM c WHERE c.v >= @p", middle).size(), 2);
  EXPECT_EQ(same_rows("SELECT * FROM c WHERE c.v < @p", middle).size(), 3);
  EXPECT_EQ(
      same_rows("SELECT VALUE c.id FROM c ORDER BY c.v DESC", {}),
      (Rows{TestCodec::encode(Value::make_integer(2)), TestCodec::encode(Value::make_integer(1)),
            TestCodec::encode(Value::make_integer(0)), TestCodec::encode(Value::make_integer(-1)),
            TestCodec::encode(Value::make_integer(-2))}));
  EXPECT_EQ(same_rows("SELECT VALUE MAX(c.v) FROM c", {}),
            (Rows{TestCodec::encode(Value::make_integer(kLarge + 2))}));
}

TEST_F(TypedItemsTest, FindsDatesAndBytesByRange) {
  std::vector<Value> values;
  for (int64_t ms = -3; ms < 4; ++ms) {
    values.push_back(Value::make_date({ms * 1'000'000'000'000, static_cast<uint32_t>(ms + 3)}));
    values.push_back(
        Value::make_bytes(value::Type::binary, std::string(static_cast<size_t>(ms + 3), '\xFF')));
    values.push_back(Value::make_bytes(value::Type::guid, std::string(16, static_cast<char>(ms))));
  }
  fill(values, 200);
  for (const Value& value : values) {
    for (const std::string_view operation : {"=", "!=", "<", "<=", ">", ">="}) {
      const Rows found =
          same_rows("SELECT * FROM c WHERE c.v " + std::string(operation) + " @p", {{"@p", value}});
      // By what the items are, one by one.
      size_t expected = 0;
      for (const IndexedSpace::Placed& one : placed_) {
        const auto item = TestCodec().parse(one.body);
        const Value held = Value::from(item->root()).find("v");
        const auto order = held <=> value;
        const bool is_comparable = held.type() == value.type();
        const bool is_wanted = operation == "="    ? order == 0
                               : operation == "!=" ? order != 0
                               : operation == "<"  ? is_comparable && order < 0
                               : operation == "<=" ? is_comparable && order <= 0
                               : operation == ">"  ? is_comparable && order > 0
                                                   : is_comparable && order >= 0;
        expected += is_wanted ? 1 : 0;
      }
      EXPECT_EQ(found.size(), expected) << operation << value.to_json();
    }
  }
}

TEST_F(TypedItemsTest, AnswersAsAScanDoesWhateverTheValues) {
  std::vector<Value> values;
  for (int i = 0; i < 60; ++i) values.push_back(value::random_value(random_, 1));
  values.push_back(Value::make_number(std::nan("")));
  values.push_back(Value::make_min_key());
  values.push_back(Value::make_bytes(value::Type::binary, std::string(2000, 'x')));
  fill(values, 150);
  static constexpr std::string_view kTypedFilters[] = {
      "c.v = @p",
      "c.v != @p",
      "c.v < @p",
      "c.v <= @p",
      "c.v > @p",
      "c.v >= @p",
      "NOT (c.v < @p)",
      "NOT (c.v >= @p)",
      "c.v BETWEEN @p AND @q",
      "c.v NOT BETWEEN @p AND @q",
      "c.v IN (@p, @q)",
      "c.v NOT IN (@p, @q)",
      "c.w = @p AND c.v > @q",
      "c.w = @p OR c.v <= @q",
      "IS_DEFINED(c.v)",
      "IS_PRIMITIVE(c.v)",
      "IS_NUMBER(c.v) AND c.w = @p",
      "STARTSWITH(c.v, \"x\")",
      "NOT IS_DEFINED(c.v)",
      "true",
  };
  static constexpr std::string_view kShapes[] = {
      "SELECT * FROM c WHERE ",
      "SELECT VALUE c.id FROM c WHERE ",
      "SELECT VALUE COUNT(1) FROM c WHERE ",
      "SELECT VALUE COUNT(c.v) FROM c WHERE ",
      "SELECT VALUE MIN(c.w) FROM c WHERE ",
      "SELECT DISTINCT VALUE c.w FROM c WHERE ",
  };
  static constexpr std::string_view kOrders[] = {
      " ORDER BY c.v", " ORDER BY c.v DESC", " ORDER BY c.w, c.v DESC", " ORDER BY c.w DESC, c.v"};
  for (int round = 0; round < 25; ++round) {
    Parameters parameters = {{"@p", values[random_() % values.size()]},
                             {"@q", values[random_() % values.size()]}};
    if (round % 2 == 0) parameters["@p"] = values[random_() % 5];
    for (const std::string_view filter : kTypedFilters) {
      const std::string_view shape = kShapes[random_() % std::size(kShapes)];
      same_rows(std::string(shape) + std::string(filter), parameters);
      const std::string_view order = kOrders[random_() % std::size(kOrders)];
      same_rows("SELECT VALUE c.id FROM c WHERE " + std::string(filter) + std::string(order),
                parameters);
      if (HasFailure()) return;
    }
  }
}

TEST_F(TypedItemsTest, PositionsKeepEveryValue) {
  for (int i = 0; i < 2000; ++i) {
    const Value value = value::random_value(random_, 3);
    std::string json;
    append_kept(json, value);
    auto document = value::JsonDocument::parse(json);
    ASSERT_TRUE(document) << json;
    const auto back = parse_kept(Value::from(document->root()));
    ASSERT_TRUE(back) << json;
    EXPECT_EQ(value::compare(*back, value, ValueOrder::typed), std::strong_ordering::equal) << json;
    EXPECT_EQ(TestCodec::encode(*back), TestCodec::encode(value)) << json;
  }
  for (const std::string_view broken : {"[0,\"\"]", "[0,\"05FF\"]", "[0,\"zz\"]", "[0,1]", "{}",
                                        "[0,\"05FFFFFFFF\"]", "[0,\"0100\"]", "[0,\"63\"]"}) {
    const auto document = value::JsonDocument::parse(broken);
    EXPECT_FALSE(parse_kept(Value::from(document->root()))) << broken;
  }
}

// Its terms would have doubles where the items have integers.
TEST_F(TypedItemsTest, AnIndexInTheJsonOrderIsNotUsed) {
  fill({Value::make_integer((int64_t{1} << 53) + 1), Value::make_integer(int64_t{1} << 53)}, 20);
  IndexedSpace::Options options;
  options.codec = std::make_shared<TestCodec>();
  const Parameters parameters = {{"@p", Value::make_integer(int64_t{1} << 53)}};
  const std::string text = "SELECT * FROM c WHERE c.v = @p";
  EXPECT_EQ(rows(text, parameters, {placed_, options}, 100),
            rows(text, parameters, space(false), 100));
}

}  // namespace
}  // namespace orrery::query

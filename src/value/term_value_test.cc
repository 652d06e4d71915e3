// The bytes of values in terms, as they are documented: those of JSON values are stored in every
// container's index and must never change unnoticed.
#include "value/term_value.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/bytes.h"
#include "value/composite.h"
#include "value/test_values.h"

namespace orrery::value {
namespace {

std::string hex_of(const Value& value, ValueOrder order) {
  std::string out;
  append_term_value(out, value, order);
  return to_hex_upper(out);
}

std::string json_hex(std::string_view json) {
  const auto document = JsonDocument::parse(json).value();
  std::string from_node;
  append_term_value(from_node, document.root());
  EXPECT_EQ(to_hex_upper(from_node), hex_of(Value::from(document.root()), ValueOrder::json));
  return to_hex_upper(from_node);
}

TEST(TermValue, JsonBytes) {
  EXPECT_EQ(json_hex("null"), "01");
  EXPECT_EQ(json_hex("false"), "02");
  EXPECT_EQ(json_hex("true"), "03");
  EXPECT_EQ(json_hex("0"), "048000000000000000");
  EXPECT_EQ(json_hex("-0"), "048000000000000000");
  EXPECT_EQ(json_hex("1"), "04BFF0000000000000");
  EXPECT_EQ(json_hex("-1"), "04400FFFFFFFFFFFFF");
  EXPECT_EQ(json_hex("0.1"), "04BFB999999999999A");
  EXPECT_EQ(json_hex("9007199254740993"), "04C340000000000000");
  EXPECT_EQ(json_hex("1.7976931348623157e308"), "04FFEFFFFFFFFFFFFF");
  EXPECT_EQ(json_hex("5e-324"), "048000000000000001");
  EXPECT_EQ(json_hex(R"("")"), "050001");
  EXPECT_EQ(json_hex(R"("a\u0000b")"), "056100FF620001");
  EXPECT_EQ(json_hex(R"("😀")"), "05F09F98800001");
  EXPECT_EQ(json_hex("[1]"), "07");
  EXPECT_EQ(json_hex(R"({"a":1})"), "08");
  const std::string cut = json_hex('"' + std::string(kMaxTermText + 1, 'x') + '"');
  EXPECT_EQ(cut.substr(cut.size() - 24), "787800028BA2EBB5A5288960");
  EXPECT_EQ(cut.size(), 2 * (1 + kMaxTermText + 2 + kCutTextHashBytes));
}

TEST(TermValue, WhatJsonDoesNotHaveInItsOrder) {
  constexpr auto kJson = ValueOrder::json;
  EXPECT_EQ(hex_of(Value(), kJson), "");
  EXPECT_EQ(hex_of(Value::make_integer(1), kJson), "04BFF0000000000000");
  EXPECT_EQ(hex_of(Value::make_integer(9007199254740993), kJson), "04C340000000000000");
  EXPECT_EQ(hex_of(decimal("10", -1), kJson), "04BFF0000000000000");
  EXPECT_EQ(hex_of(Value::make_number(std::numeric_limits<double>::quiet_NaN()), kJson),
            "040000000000000000");
  EXPECT_EQ(hex_of(Value::make_bytes(Type::binary, "ab", 4), kJson), "0900FF00FF00FF020461620001");
  EXPECT_EQ(hex_of(Value::make_bytes(Type::object_id, "abcdefghijkl"), kJson),
            "0A6162636465666768696A6B6C");
  EXPECT_EQ(hex_of(Value::make_bytes(Type::guid, "abcdefghijklmnop"), kJson),
            "0B6162636465666768696A6B6C6D6E6F70");
  EXPECT_EQ(hex_of(Value::make_date({-1, 9999}), kJson), "0C7FFFFFFFFFFFFFFF270F");
  EXPECT_EQ(hex_of(Value::make_timestamp(0x0102), kJson), "0D0000000000000102");
  EXPECT_EQ(hex_of(Value::make_bytes(Type::regex, std::string("a\0i", 3)), kJson),
            "0E6100FF690001");
  EXPECT_EQ(hex_of(Value::make_bytes(Type::code, "f", 1), kJson), "0F01660001");
  EXPECT_EQ(hex_of(Value::make_min_key(), kJson), "10");
  EXPECT_EQ(hex_of(Value::make_max_key(), kJson), "11");
}

TEST(TermValue, TypedBytes) {
  constexpr auto kTyped = ValueOrder::typed;
  EXPECT_EQ(hex_of(Value::make_min_key(), kTyped), "20");
  EXPECT_EQ(hex_of(Value::make_null(), kTyped), "22");
  EXPECT_EQ(hex_of(Value::make_number(1), kTyped), "23BFF000000000000002");
  EXPECT_EQ(hex_of(Value::make_integer(1), kTyped), "23BFF000000000000002");
  // 9007199254740993 is above the double nearest to it: exponent 15, digits two by two.
  EXPECT_EQ(hex_of(Value::make_integer(9007199254740993), kTyped),
            "23C34000000000000003800F5B08145D374B0A5E00");
  EXPECT_EQ(hex_of(Value::make_integer(-9007199254740993), kTyped),
            "233CBFFFFFFFFFFFFF017FF0A4F7EBA2C8B4F5A1FF");
  EXPECT_EQ(hex_of(Value::make_string("a"), kTyped), "24610001");
  EXPECT_EQ(hex_of(Value::make_bool(false), kTyped), "29");
  EXPECT_EQ(hex_of(Value::make_bool(true), kTyped), "2A");
  EXPECT_EQ(hex_of(Value::make_array({Value::make_null(), Value::make_bool(true)}), kTyped),
            "26222A010001");
  EXPECT_EQ(hex_of(Value::make_object({{Value::make_string("a"), Value::make_bool(true)}}), kTyped),
            "25296100FF012A010001");
  EXPECT_EQ(hex_of(Value::make_max_key(), kTyped), "30");
}

TEST(TermValue, LongListsAreCut) {
  constexpr auto kTyped = ValueOrder::typed;
  std::vector<Value> elements;
  for (int i = 0; i < 1000; ++i) elements.push_back(Value::make_string("element"));
  const std::string one = hex_of(Value::make_array(elements), kTyped);
  EXPECT_EQ(one, hex_of(Value::make_array(elements), kTyped));
  EXPECT_LT(one.size(), 2 * 2 * kMaxTermText);
  EXPECT_TRUE(is_cut_term_value(from_hex(one).value()));
  elements.insert(elements.begin(), Value::make_string("a"));
  EXPECT_LT(hex_of(Value::make_array(elements), kTyped), one);
}

TEST(TermValue, TagsTellTypeAndOrder) {
  for (size_t i = 0; i < kTypes; ++i) {
    const auto type = static_cast<Type>(i);
    for (const ValueOrder order : {ValueOrder::json, ValueOrder::typed}) {
      const auto [first, last] = term_tags(type, order);
      EXPECT_EQ(type_of_tag(first), type);
      EXPECT_EQ(type_of_tag(last), type);
    }
  }
  EXPECT_EQ(type_of_tag(0x06), std::nullopt);
  EXPECT_EQ(type_of_tag(0x31), std::nullopt);
  EXPECT_EQ(type_of_tag('\xFF'), std::nullopt);
}

// Composite terms have the order of their parts, one after the other, whatever types these have. In
// the typed order what is missing is null.
TEST(TermValue, CompositesOfAllTypesKeepTheirOrder) {
  std::mt19937_64 random(76);
  const auto path = [](const char* name) { return Path{.steps = {{.name = name}}}; };
  CompositeIndex index;
  index.parts = {{.path = path("a"), .descending = false}, {.path = path("b"), .descending = true}};
  struct Pair {
    Value a, b;
    std::string term;
  };
  for (const ValueOrder order : {ValueOrder::json, ValueOrder::typed}) {
    std::vector<Pair> pairs;
    while (pairs.size() < 300) {
      Pair pair{.a = random_value(random, 1), .b = random_value(random, 1), .term = {}};
      if (!is_told(pair.a, order) || !is_told(pair.b, order)) continue;
      CompositeTerms terms(index, order);
      for (Value* const part : {&pair.a, &pair.b}) {
        terms.fix(*part);
        if (order == ValueOrder::typed && part->is_undefined()) *part = Value::make_null();
      }
      pair.term = terms.all().from + kCompositeEnd;
      ASSERT_EQ(composite_term_size(pair.term + "more"), pair.term.size());
      pairs.push_back(std::move(pair));
    }
    for (const Pair& one : pairs) {
      for (const Pair& other : pairs) {
        auto expected = compare(one.a, other.a, order);
        if (expected == 0) expected = compare(other.b, one.b, order);
        ASSERT_EQ(one.term <=> other.term, expected);
      }
    }
  }
}

TEST(TermValue, TypedValuesPrintForPeople) {
  EXPECT_EQ(Value::make_integer(INT64_MAX).to_json(), "9223372036854775807");
  EXPECT_EQ(decimal("12345", -2).to_json(), "123.45");
  EXPECT_EQ(decimal("1", -8).to_json(), "1E-8");
  EXPECT_EQ(decimal("15", 3, true).to_json(), "-1.5E+4");
  EXPECT_EQ(decimal("0", -2).to_json(), "0.00");
  EXPECT_EQ(decimal_nan().to_json(), R"("NaN")");
  EXPECT_EQ(Value::make_bytes(Type::binary, "abc").to_json(), R"("YWJj")");
  EXPECT_EQ(Value::make_bytes(Type::object_id, "abcdefghijkl").to_json(),
            R"("6162636465666768696a6b6c")");
  EXPECT_EQ(Value::make_bytes(Type::guid, "abcdefghijklmnop").to_json(),
            R"("61626364-6566-6768-696a-6b6c6d6e6f70")");
  EXPECT_EQ(Value::make_date({1'762'300'000'123, 4567}).to_json(),
            R"("2025-11-04T23:46:40.1234567Z")");
  EXPECT_EQ(Value::make_date({-1, 0}).to_json(), R"("1969-12-31T23:59:59.999Z")");
  EXPECT_EQ(Value::make_date({INT64_MAX, 0}).to_json(), R"("9223372036854775807 ms")");
  EXPECT_EQ(Value::make_bytes(Type::regex, std::string("a\"b\0i", 5)).to_json(), R"("/a\"b/i")");
  EXPECT_EQ(Value::make_array({Value::make_min_key(), Value::make_integer(2)}).to_json(),
            R"(["MinKey",2])");
}

}  // namespace
}  // namespace orrery::value

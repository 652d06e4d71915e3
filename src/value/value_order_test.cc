// The two orders of values, over all types: each is total, and equal to the order of the terms'
// bytes; numbers compare by what they are worth, whatever they are written as.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "value/number.h"
#include "value/term_value.h"
#include "value/test_values.h"
#include "value/value.h"

namespace orrery::value {
namespace {

constexpr ValueOrder kOrders[] = {ValueOrder::json, ValueOrder::typed};

std::string term_of(const Value& value, ValueOrder order) {
  std::string out;
  append_term_value(out, value, order);
  return out;
}

int sign(std::strong_ordering order) {
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

int sign_of_bytes(const std::string& a, const std::string& b) {
  return sign(a <=> b);
}

// Another way to compare numbers: every digit of both, written out.
struct WrittenOut {
  bool negative = false;
  std::string whole;     // without zeros before it
  std::string fraction;  // without zeros after it
};

WrittenOut write_out(const Value& number) {
  std::string text;
  if (number.number_kind() == NumberKind::real) {
    char buffer[1600];
    std::snprintf(buffer, sizeof buffer, "%.1080f", number.number());
    text = buffer;
  } else if (number.number_kind() == NumberKind::decimal) {
    append_decimal(text, number.decimal());
  } else {
    text = std::to_string(number.integer());
  }
  WrittenOut out;
  out.negative = text.starts_with('-');
  if (out.negative) text.erase(0, 1);
  int exponent = 0;
  if (const size_t at = text.find('E'); at != std::string::npos) {
    exponent = std::stoi(text.substr(at + 1));
    text.resize(at);
  }
  const size_t point = text.find('.');
  out.whole = text.substr(0, point);
  if (point != std::string::npos) out.fraction = text.substr(point + 1);
  for (; exponent > 0; --exponent) {
    out.whole += out.fraction.empty() ? '0' : out.fraction.front();
    if (!out.fraction.empty()) out.fraction.erase(0, 1);
  }
  if (exponent < 0) {
    std::string shifted(static_cast<size_t>(-exponent), '0');
    shifted += out.whole;
    out.whole = shifted.substr(0, shifted.size() - static_cast<size_t>(-exponent));
    out.fraction = shifted.substr(shifted.size() - static_cast<size_t>(-exponent)) + out.fraction;
  }
  out.whole.erase(0, std::min(out.whole.find_first_not_of('0'), out.whole.size()));
  out.fraction.resize(out.fraction.find_last_not_of('0') + 1);
  if (out.whole.empty() && out.fraction.empty()) out.negative = false;
  return out;
}

int compare_written(const WrittenOut& a, const WrittenOut& b) {
  if (a.negative != b.negative) return a.negative ? -1 : 1;
  auto order = a.whole.size() <=> b.whole.size();
  if (order == 0) order = a.whole <=> b.whole;
  if (order == 0) order = a.fraction <=> b.fraction;
  return a.negative ? -sign(order) : sign(order);
}

TEST(ValueOrder, NumbersCompareByWhatTheyAreWorth) {
  std::mt19937_64 random(71);
  std::vector<Value> numbers = nasty_numbers();
  while (numbers.size() < 500) numbers.push_back(random_number(random));
  std::erase_if(numbers, [](const Value& number) { return !std::isfinite(number.number()); });
  std::vector<WrittenOut> written;
  for (const Value& number : numbers) written.push_back(write_out(number));
  for (size_t i = 0; i < numbers.size(); ++i) {
    for (size_t j = 0; j < numbers.size(); ++j) {
      const int expected = compare_written(written[i], written[j]);
      for (const ValueOrder order : kOrders) {
        ASSERT_EQ(sign(compare(numbers[i], numbers[j], order)), expected)
            << numbers[i].to_json() << ' ' << numbers[j].to_json();
      }
      ASSERT_EQ(sign_of_bytes(term_of(numbers[i], ValueOrder::typed),
                              term_of(numbers[j], ValueOrder::typed)),
                expected)
          << numbers[i].to_json() << ' ' << numbers[j].to_json();
      ASSERT_EQ(numbers[i] == numbers[j], expected == 0);
      if (expected == 0) {
        ASSERT_EQ(numbers[i].hash(), numbers[j].hash());
      }
    }
  }
}

TEST(ValueOrder, NumbersWithoutAPlaceOnTheLineHaveOne) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::vector<Value>> ascending = {
      {Value::make_number(nan), Value::make_number(-nan), decimal_nan()},
      {Value::make_number(-infinity), decimal_infinity(true)},
      {decimal("9999999999999999999999999999999999", 6111, true)},
      {Value::make_number(-std::numeric_limits<double>::max())},
      {decimal("1", -6176, true)},
      {Value::make_number(0), Value::make_number(-0.0), Value::make_integer(0), decimal("0", 17),
       decimal("0", -3, true)},
      {decimal("1", -6176)},
      {Value::make_number(std::numeric_limits<double>::denorm_min())},
      {Value::make_number(1), Value::make_integer(1, NumberKind::int32), Value::make_integer(1),
       decimal("1", 0), decimal("10", -1), decimal("1000000", -6)},
      {decimal("1000000000000000000000000000000001", -33)},
      {Value::make_number(9007199254740992.0), Value::make_integer(9007199254740992)},
      {Value::make_integer(9007199254740993)},
      {Value::make_number(9007199254740994.0)},
      {Value::make_integer(INT64_MAX), decimal("9223372036854775807", 0)},
      {decimal("92233720368547758075", -1)},
      {Value::make_number(9223372036854775808.0), decimal("9223372036854775808", 0)},
      {Value::make_number(std::numeric_limits<double>::max())},
      {decimal("1", 309)},
      {Value::make_number(infinity), decimal_infinity(false)},
  };
  for (size_t i = 0; i < ascending.size(); ++i) {
    for (size_t j = 0; j < ascending.size(); ++j) {
      for (const Value& a : ascending[i]) {
        for (const Value& b : ascending[j]) {
          ASSERT_EQ(compare(a, b, ValueOrder::typed), i <=> j) << a.to_json() << ' ' << b.to_json();
          ASSERT_EQ(a <=> b, i <=> j);
          ASSERT_EQ(a == b, i == j);
          ASSERT_EQ(sign_of_bytes(term_of(a, ValueOrder::typed), term_of(b, ValueOrder::typed)),
                    sign(i <=> j))
              << a.to_json() << ' ' << b.to_json();
          if (i == j) {
            ASSERT_EQ(a.hash(), b.hash());
          }
        }
      }
    }
  }
}

TEST(ValueOrder, TypedRanksAreDeclared) {
  const auto bytes = [](Type type, std::string text) { return Value::make_bytes(type, text); };
  const std::vector<Value> ascending = {
      Value::make_min_key(),
      Value(),
      Value::make_null(),
      Value::make_integer(5),
      Value::make_string("a"),
      Value::make_object({{Value::make_string("a"), Value::make_number(1)}}),
      Value::make_array({Value::make_number(1)}),
      bytes(Type::binary, "abc"),
      bytes(Type::object_id, std::string(12, 'a')),
      Value::make_bool(false),
      Value::make_bool(true),
      bytes(Type::guid, std::string(16, 'a')),
      Value::make_date({0, 1}),
      Value::make_timestamp(7),
      bytes(Type::regex, std::string("a\0i", 3)),
      bytes(Type::code, "f()"),
      Value::make_max_key()};
  for (size_t i = 0; i < ascending.size(); ++i) {
    for (size_t j = 0; j < ascending.size(); ++j) {
      EXPECT_EQ(compare(ascending[i], ascending[j], ValueOrder::typed), i <=> j) << i << ' ' << j;
    }
  }
}

TEST(ValueOrder, ObjectsCompareAsTheirOrderSays) {
  const auto object = [](std::vector<std::pair<std::string, Value>> members) {
    std::vector<Value::Field> fields;
    for (auto& [name, value] : members) fields.push_back({Value::make_string(name), value});
    return Value::make_object(std::move(fields));
  };
  const Value one = Value::make_number(1);
  const Value two = Value::make_number(2);
  const Value ab = object({{"a", one}, {"b", two}});
  const Value ba = object({{"b", two}, {"a", one}});
  EXPECT_EQ(ab <=> ba, std::strong_ordering::equal);
  EXPECT_EQ(compare(ab, ba, ValueOrder::typed), std::strong_ordering::less);
  // A member's type counts before its name.
  const Value number_b = object({{"b", one}});
  const Value text_a = object({{"a", Value::make_string("x")}});
  EXPECT_EQ(compare(number_b, text_a, ValueOrder::typed), std::strong_ordering::less);
  EXPECT_EQ(number_b <=> text_a, std::strong_ordering::greater);
}

// Sorted by one order, every pair must be as its places say: so the order is total, antisymmetric
// and transitive.
TEST(ValueOrder, IsTotalAndThatOfTheTerms) {
  std::mt19937_64 random(72);
  for (int round = 0; round < 12; ++round) {
    std::vector<Value> values;
    while (values.size() < 250) values.push_back(random_value(random, 3));
    for (size_t i = 0; i < 50; ++i) values.push_back(values[i].to_owned());
    for (const ValueOrder order : kOrders) {
      std::ranges::sort(values,
                        [&](const Value& a, const Value& b) { return compare(a, b, order) < 0; });
      std::vector<size_t> place(values.size());  // equal ones have the same
      for (size_t i = 1; i < values.size(); ++i) {
        place[i] = place[i - 1] + (compare(values[i - 1], values[i], order) == 0 ? 0 : 1);
      }
      std::vector<std::string> terms;
      for (const Value& value : values) terms.push_back(term_of(value, order));
      for (size_t i = 0; i < values.size(); ++i) {
        for (size_t j = 0; j < values.size(); ++j) {
          const Value& a = values[i];
          const Value& b = values[j];
          ASSERT_EQ(compare(a, b, order), place[i] <=> place[j])
              << a.to_json() << ' ' << b.to_json();
          if (a.is_undefined() || b.is_undefined()) continue;
          const int bytes = sign_of_bytes(terms[i], terms[j]);
          if (place[i] == place[j]) {
            ASSERT_EQ(bytes, 0) << a.to_json() << ' ' << b.to_json();
            ASSERT_EQ(a.hash(), b.hash());
          } else if (is_told(a, order) && is_told(b, order)) {
            ASSERT_EQ(bytes, sign(place[i] <=> place[j])) << a.to_json() << ' ' << b.to_json();
          } else if (!is_cut_term_value(terms[i]) && !is_cut_term_value(terms[j])) {
            ASSERT_TRUE(bytes == 0 || bytes == sign(place[i] <=> place[j]))
                << a.to_json() << ' ' << b.to_json();
          }
          if (order == ValueOrder::json) {
            ASSERT_EQ(a == b, place[i] == place[j]);
          }
        }
      }
    }
  }
}

TEST(ValueOrder, TermsTellWhereTheyEnd) {
  std::mt19937_64 random(73);
  for (int round = 0; round < 3000; ++round) {
    const Value value = random_value(random, 2);
    if (value.is_undefined()) continue;
    for (const ValueOrder order : kOrders) {
      std::string bytes = term_of(value, order);
      const size_t size = bytes.size();
      ASSERT_EQ(type_of_tag(bytes.front()), value.type());
      for (size_t cut = 0; cut < size; ++cut) {
        ASSERT_EQ(term_value_size(std::string_view(bytes).substr(0, cut)), 0U);
      }
      for (uint64_t i = random() % 12; i > 0; --i) bytes += static_cast<char>(random());
      ASSERT_EQ(term_value_size(bytes), size);
      for (char& byte : bytes) byte = static_cast<char>(~byte);
      ASSERT_EQ(term_value_size(bytes, true), size);
    }
  }
}

TEST(ValueOrder, CopiesAreTheSame) {
  std::mt19937_64 random(74);
  for (int round = 0; round < 1000; ++round) {
    const Value value = random_value(random, 3);
    const Value copy = value.to_owned();
    ASSERT_EQ(compare(value, copy, ValueOrder::typed), std::strong_ordering::equal);
    ASSERT_EQ(value.to_json(), copy.to_json());
  }
}

TEST(ValueOrder, IntegersSurviveTheirTwoParts) {
  std::mt19937_64 random(75);
  std::vector<int64_t> integers = {0,
                                   1,
                                   -1,
                                   INT64_MAX,
                                   INT64_MIN,
                                   INT64_MAX - 1,
                                   INT64_MIN + 1,
                                   INT64_MAX - 511,
                                   INT64_MAX - 512,
                                   INT64_MAX - 513};
  for (int i = 0; i < 2000; ++i) {
    integers.push_back(std::bit_cast<int64_t>(random()) >> (random() % 64));
  }
  for (const int64_t integer : integers) {
    EXPECT_EQ(Value::make_integer(integer).integer(), integer);
    EXPECT_LE(std::abs(split_integer(integer).rest), 512);
  }
}

}  // namespace
}  // namespace orrery::value

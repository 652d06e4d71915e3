// Values for tests: of every type, random ones, and numbers that are easily got wrong.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "value/number.h"
#include "value/term_value.h"
#include "value/value.h"

namespace orrery::value {

inline std::string decimal_bytes(uint64_t high, uint64_t low) {
  std::string bytes(kDecimalBytes, '\0');
  store_u64_le(bytes.data(), low);
  store_u64_le(bytes.data() + 8, high);
  return bytes;
}

// digits × 10^exponent.
inline Value decimal(std::string_view digits, int exponent, bool negative = false) {
  uint64_t high = 0;
  uint64_t low = 0;
  for (const char digit : digits) {
    // (high, low) × 10 + digit, by halves of 32 bits.
    const uint64_t a = (low & 0xFFFFFFFF) * 10 + static_cast<uint64_t>(digit - '0');
    const uint64_t b = (low >> 32) * 10 + (a >> 32);
    low = b << 32 | (a & 0xFFFFFFFF);
    high = high * 10 + (b >> 32);
  }
  high |= static_cast<uint64_t>(exponent + 6176) << 49;
  if (negative) high |= uint64_t{1} << 63;
  return Value::make_decimal(decimal_bytes(high, low));
}
inline Value decimal_nan() {
  return Value::make_decimal(decimal_bytes(uint64_t{0x7C} << 56, 0));
}
inline Value decimal_infinity(bool negative) {
  return Value::make_decimal(decimal_bytes(uint64_t{negative ? 0xF8U : 0x78U} << 56, 0));
}

inline void add_nasty_doubles(std::vector<Value>& out) {
  using Limits = std::numeric_limits<double>;
  for (const double number : {0.0,
                              1.0,
                              0.1,
                              0.5,
                              1.5,
                              3.3,
                              1e15,
                              9007199254740991.0,
                              9007199254740992.0,
                              9007199254740994.0,
                              9223372036854774784.0,
                              9223372036854775808.0,
                              1e22,
                              1e23,
                              1e100,
                              1e300,
                              Limits::max(),
                              Limits::min(),
                              Limits::denorm_min(),
                              2.2250738585072011e-308,
                              1e-320}) {
    out.push_back(Value::make_number(number));
    out.push_back(Value::make_number(-number));
  }
  const double infinity = Limits::infinity();
  for (const double number : {infinity, -infinity, Limits::quiet_NaN()}) {
    out.push_back(Value::make_number(number));
  }
}

inline void add_nasty_integers(std::vector<Value>& out) {
  for (const int64_t integer :
       {int64_t{0}, int64_t{1}, int64_t{3}, int64_t{9007199254740991}, int64_t{9007199254740992},
        int64_t{9007199254740993}, int64_t{9007199254740994}, int64_t{9007199254740995},
        INT64_MAX - 512, INT64_MAX - 511, INT64_MAX - 1, INT64_MAX,
        int64_t{1'000'000'000'000'000}}) {
    out.push_back(Value::make_integer(integer));
    out.push_back(Value::make_integer(-integer));
  }
  out.push_back(Value::make_integer(INT64_MIN));
}

inline void add_nasty_decimals(std::vector<Value>& out) {
  for (const bool negative : {false, true}) {
    for (const auto& [digits, exponent] : std::initializer_list<std::pair<std::string, int>>{
             {"0", 0},
             {"0", -6176},
             {"1", 0},
             {"10", -1},
             {"1000", -3},
             {"1", -1},
             {"10", -2},
             {"1000000000000000055511151231257827", -34},  // a little beside the double 0.1
             {"5", -1},
             {"33", -1},
             {"3", 0},
             {"30", -1},
             {"9007199254740993", 0},
             {"90071992547409930", -1},
             {"9007199254740992", 0},
             {"90071992547409925", -1},
             {"9223372036854775807", 0},
             {"9223372036854775808", 0},
             {"92233720368547758075", -1},
             {"1", 22},
             {"1", 23},
             {"1", 308},
             {"1", 309},
             {"1", 6144 - 33},
             {"9999999999999999999999999999999999", 6111},
             {"1", -6176},
             {"1", -324},
             {"5", -324},
             {"2", -324},
             {"1", -325},
             {"17976931348623157", 292},
             {"17976931348623158", 292},
             {"17976931348623159", 292},
             {"1797693134862315708145274237317043", 275}}) {
      out.push_back(decimal(digits, exponent, negative));
    }
  }
  out.push_back(decimal_nan());
  out.push_back(decimal_infinity(false));
  out.push_back(decimal_infinity(true));
}

inline std::vector<Value> nasty_numbers() {
  std::vector<Value> out;
  add_nasty_doubles(out);
  add_nasty_integers(out);
  add_nasty_decimals(out);
  return out;
}

inline Value random_number(std::mt19937_64& random) {
  static const std::vector<Value> nasty = nasty_numbers();
  const bool negative = random() % 2 == 0;
  switch (random() % 6) {
    case 0: {
      const double number = std::bit_cast<double>(random());
      return Value::make_number(number);
    }
    case 1:
      return Value::make_number(static_cast<double>(static_cast<int64_t>(random() % 20) - 10) / 4);
    case 2:
      return Value::make_integer(std::bit_cast<int64_t>(random()) >> (random() % 64));
    case 3:
      return Value::make_integer(static_cast<int32_t>(random()), NumberKind::int32);
    case 4: {
      std::string digits;
      for (uint64_t i = random() % kMaxDecimalDigits + 1; i > 0; --i) {
        digits += static_cast<char>('0' + random() % 10);
      }
      const int exponent = random() % 8 == 0 ? static_cast<int>(random() % 12000) - 6100
                                             : static_cast<int>(random() % 40) - 20;
      return decimal(digits, std::clamp(exponent, -6176, 6111), negative);
    }
    default:
      return nasty[random() % nasty.size()];
  }
}

inline std::string random_text(std::mt19937_64& random, size_t size_max) {
  static constexpr std::array<std::string_view, 9> kPieces = {
      std::string_view("\0", 1), "\x01", "a", "b", "\x7f", "é", "\xef\xbf\xbf", "😀", "\x02"};
  std::string out;
  for (uint64_t i = random() % (size_max + 1); i > 0; --i)
    out += kPieces[random() % kPieces.size()];
  // Long ones, that terms cut, some with the same start.
  if (random() % 40 == 0) out.insert(0, std::string(kMaxTermText - 2 + random() % 4, 'x'));
  return out;
}

inline std::string random_bytes(std::mt19937_64& random, size_t size) {
  std::string out(size, '\0');
  for (char& byte : out) byte = static_cast<char>(random() % 4 == 0 ? 0xFF : random() % 3);
  return out;
}

inline Value random_value(std::mt19937_64& random, int depth) {
  switch (random() % (depth > 0 ? 18 : 14)) {
    case 0:
      return random() % 3 == 0 ? Value() : Value::make_null();
    case 1:
      return Value::make_bool(random() % 2 == 0);
    case 2:
    case 3:
    case 4:
      return random_number(random);
    case 5:
    case 6:
      return Value::make_string(random_text(random, 4));
    case 7:
      return Value::make_bytes(Type::binary, random_bytes(random, random() % 4),
                               static_cast<uint8_t>(random() % 3));
    case 8:
      return random() % 2 == 0 ? Value::make_bytes(Type::object_id, random_bytes(random, 12))
                               : Value::make_bytes(Type::guid, random_bytes(random, 16));
    case 9: {
      const auto ms = std::bit_cast<int64_t>(random()) >> (random() % 64);
      return Value::make_date({ms, static_cast<uint32_t>(random() % 3 * 4999)});
    }
    case 10:
      return Value::make_timestamp(random() >> (random() % 64));
    case 11:
      return Value::make_bytes(
          Type::regex, std::string(random() % 3, 'a') + '\0' + std::string(random() % 2, 'i'));
    case 12:
      return Value::make_bytes(Type::code, random_bytes(random, random() % 3),
                               static_cast<uint8_t>(random() % 2));
    case 13:
      return random() % 2 == 0 ? Value::make_min_key() : Value::make_max_key();
    case 14:
    case 15: {
      std::vector<Value> elements;
      for (uint64_t i = random() % 4; i > 0; --i) {
        elements.push_back(random_value(random, depth - 1));
      }
      return Value::make_array(std::move(elements));
    }
    default: {
      std::vector<Value::Field> fields;
      for (uint64_t i = random() % 4; i > 0; --i) {
        fields.push_back(
            {Value::make_string(random_text(random, 1)), random_value(random, depth - 1)});
      }
      return Value::make_object(std::move(fields));
    }
  }
}

// Whether a term tells all of a value, so that its bytes have the order of the value.
inline bool is_told(const Value& value, ValueOrder order) {
  std::string bytes;
  append_term_value(bytes, value, order);
  if (is_cut_term_value(bytes)) return false;
  if (order == ValueOrder::typed) return true;
  if (value.is_number()) return value.exact_number().side == 0;
  return !value.is_array() && !value.is_object();
}

}  // namespace orrery::value

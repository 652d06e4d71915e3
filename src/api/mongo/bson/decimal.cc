// Decimals of numbers.h.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "api/mongo/bson/bid.h"
#include "api/mongo/bson/numbers.h"
#include "value/number.h"

namespace orrery::mongo {
namespace {

static_assert(std::endian::native == std::endian::little);

// Longer texts than any number needs are no numbers: the library copies them.
constexpr size_t kMaxDecimalText = 1000;

bool is_decimal_text(std::string_view text) {
  if (text.empty() || text.size() > kMaxDecimalText) return false;
  if (text.front() == '+' || text.front() == '-') text.remove_prefix(1);
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  });
  if (lower == "nan" || lower == "inf" || lower == "infinity") return true;
  size_t at = 0;
  size_t digits = 0;
  bool has_point = false;
  for (; at < lower.size(); ++at) {
    if (lower[at] >= '0' && lower[at] <= '9') {
      ++digits;
    } else if (lower[at] == '.' && !has_point) {
      has_point = true;
    } else {
      break;
    }
  }
  if (digits == 0) return false;
  if (at == lower.size()) return true;
  if (lower[at++] != 'e') return false;
  if (at < lower.size() && (lower[at] == '+' || lower[at] == '-')) ++at;
  return at < lower.size() && std::all_of(
                                  lower.begin() + static_cast<std::ptrdiff_t>(at), lower.end(),
                                  [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Decimal decimal_of(int64_t integer) {
  return from_bid(bid128_from_int64(integer));
}

Decimal decimal_of(const Value& number) {
  switch (number.number_kind()) {
    case NumberKind::decimal: {
      Decimal decimal;
      std::memcpy(&decimal, number.decimal().data(), sizeof(decimal));
      return decimal;
    }
    case NumberKind::int32:
    case NumberKind::int64:
      return decimal_of(number.integer());
    case NumberKind::real:
      break;
  }
  // Exactly 15 digits: those that every double has.
  return parse_decimal(fmt::format("{:.14e}", number.number())).value_or(Decimal{});
}

Value make_decimal(Decimal decimal) {
  std::string bytes(value::kDecimalBytes, '\0');
  std::memcpy(bytes.data(), &decimal, sizeof(decimal));
  return Value::make_decimal(std::move(bytes));
}

std::optional<Decimal> parse_decimal(std::string_view text) {
  if (!is_decimal_text(text)) return std::nullopt;
  std::string copy(text);
  unsigned flags = 0;
  return from_bid(bid128_from_string(copy.data(), BID_ROUNDING_TO_NEAREST, &flags));
}

std::string decimal_text(Decimal decimal) {
  std::string text;
  std::array<char, value::kDecimalBytes> bytes;
  std::memcpy(bytes.data(), &decimal, sizeof(decimal));
  value::append_decimal(text, {bytes.data(), bytes.size()});
  return text;
}

double double_of(Decimal decimal) {
  unsigned flags = 0;
  return bid128_to_binary64(to_bid(decimal), BID_ROUNDING_TO_NEAREST, &flags);
}

bool is_nan(Decimal decimal) {
  return bid128_isNaN(to_bid(decimal)) != 0;
}
bool is_infinite(Decimal decimal) {
  return bid128_isInf(to_bid(decimal)) != 0;
}
bool is_zero(Decimal decimal) {
  return bid128_isZero(to_bid(decimal)) != 0;
}
bool is_negative(Decimal decimal) {
  return bid128_isSigned(to_bid(decimal)) != 0;
}

Decimal round_to_integer(Decimal decimal, Rounding rounding) {
  unsigned flags = 0;
  const BID_UINT128 bits = to_bid(decimal);
  switch (rounding) {
    case Rounding::to_even:
      return from_bid(bid128_round_integral_nearest_even(bits, &flags));
    case Rounding::down:
      return from_bid(bid128_round_integral_negative(bits, &flags));
    case Rounding::up:
      return from_bid(bid128_round_integral_positive(bits, &flags));
    case Rounding::to_zero:
      break;
  }
  return from_bid(bid128_round_integral_zero(bits, &flags));
}

std::optional<int64_t> integer_of(Decimal decimal) {
  unsigned flags = 0;
  const auto integer = bid128_to_int64_int(to_bid(decimal), &flags);
  if ((flags & BID_INVALID_EXCEPTION) != 0) return std::nullopt;
  return integer;
}

}  // namespace orrery::mongo

// See scanner.h.
#include "api/gremlin/parse/scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

namespace orrery::gremlin {
namespace {

void append_utf8(std::string& out, uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (c >> 18));
    out += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

}  // namespace

std::unexpected<Error> Scanner::error(std::string_view what) const {
  const std::string_view near = text_.substr(std::min(at_, text_.size()), 20);
  return fail(Code::invalid,
              fmt::format("{}, at character {}{}", what, at_ + 1,
                          near.empty() ? ", where the text ends" : fmt::format(": '{}'", near)));
}

void Scanner::skip_space() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at_;
    } else if (text_.substr(at_).starts_with("//")) {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else {
      break;
    }
  }
}

std::string Scanner::read_name() {
  const size_t from = at_;
  if (at_ < text_.size() && is_letter(text_[at_])) {
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
  }
  return std::string(text_.substr(from, at_ - from));
}

Result<Value> Scanner::read_text() {
  const char quote = peek();
  if (quote != '\'' && quote != '"') return error("a text is expected");
  const std::string_view rest = text_.substr(at_);
  const bool triple = rest.size() >= 6 && rest[1] == quote && rest[2] == quote;
  at_ += triple ? 3 : 1;
  std::string out;
  while (at_ < text_.size()) {
    char c = text_[at_++];
    if (c == quote) {
      if (!triple) return Value::text(std::move(out));
      if (text_.substr(at_).starts_with(std::string(2, quote))) {
        at_ += 2;
        return Value::text(std::move(out));
      }
    }
    if (c != '\\') {
      out += c;
      continue;
    }
    if (at_ >= text_.size()) break;
    c = text_[at_++];
    if (c == 'u') {
      auto unit = read_unit();
      if (!unit) return pass(unit.error());
      uint32_t code = *unit;
      if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_).starts_with("\\u")) {
        at_ += 2;
        auto low = read_unit();
        if (!low) return pass(low.error());
        code = *low >= 0xDC00 && *low < 0xE000 ? 0x10000 + ((code - 0xD800) << 10) + (*low - 0xDC00)
                                               : 0xFFFD;
      } else if (code >= 0xD800 && code < 0xE000) {
        code = 0xFFFD;
      }
      append_utf8(out, code);
      continue;
    }
    constexpr std::string_view kNames = "ntrbf\\'\"$/";
    constexpr std::string_view kMeant = "\n\t\r\b\f\\'\"$/";
    const size_t known = kNames.find(c);
    if (known == std::string_view::npos) return error("an escape that is not known");
    out += kMeant[known];
  }
  return error("a text without its closing quote");
}

Result<uint32_t> Scanner::read_unit() {
  uint32_t unit = 0;
  const std::string_view digits = text_.substr(std::min(at_, text_.size()), 4);
  const auto [end, failed] =
      std::from_chars(digits.data(), digits.data() + digits.size(), unit, 16);
  if (digits.size() != 4 || failed != std::errc() || end != digits.data() + 4) {
    return error("\\u takes four hexadecimal digits");
  }
  at_ += 4;
  return unit;
}

Result<Value> Scanner::read_number() {
  const size_t from = at_;
  bool is_real = false;
  if (peek() == '-' || peek() == '+') ++at_;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (is_digit(c)) {
      ++at_;
    } else if (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]) && !is_real) {
      is_real = true;
      ++at_;
    } else if ((c == 'e' || c == 'E') && at_ > from) {
      is_real = true;
      ++at_;
      if (peek() == '-' || peek() == '+') ++at_;
    } else {
      break;
    }
  }
  std::string digits(text_.substr(from, at_ - from));
  if (digits.starts_with('+')) digits.erase(0, 1);
  char suffix = peek();
  if (suffix != '\0' &&
      std::string_view("lLdDfFmMiIgGnNbBsS").find(suffix) != std::string_view::npos) {
    ++at_;
  } else {
    suffix = '\0';
  }
  if (is_letter(peek())) return error("this is not a number");
  const bool to_real = is_real || std::string_view("dDfFmM").find(suffix) < 6;
  if (suffix == '\0' ? is_real : to_real) {
    char* end = nullptr;
    const double number = std::strtod(digits.c_str(), &end);
    if (digits.empty() || *end != '\0') return error("this is not a number");
    return Value::real(number, suffix == 'f' || suffix == 'F' ? Kind::float32 : Kind::float64);
  }
  int64_t number = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (failed == std::errc::result_out_of_range)
    return Value::real(std::strtod(digits.c_str(), nullptr));
  if (failed != std::errc() || end != digits.data() + digits.size()) {
    return error("this is not a number");
  }
  return suffix == 'l' || suffix == 'L' ? Value::integer(number, Kind::int64)
                                        : Value::integer(number);
}

}  // namespace orrery::gremlin

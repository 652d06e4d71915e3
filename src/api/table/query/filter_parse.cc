// The parser of $filter. See filter.h.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "api/table/query/filter.h"
#include "base/bytes.h"

namespace orrery::table {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word_byte(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<uint8_t>(c) >= 0x80;
}

// One side of a comparison, or a boolean that stands alone.
struct Operand {
  bool is_name = false;
  std::string name;
  Literal literal;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), left_(text) {}

  TableResult<Filter> parse() {
    skip();
    if (left_.empty()) return Filter{};
    auto filter = parse_or(0);
    if (!filter) return filter;
    skip();
    if (!left_.empty()) return wrong("the filter should have ended here");
    return filter;
  }

 private:
  std::unexpected<TableError> wrong(std::string_view what) const {
    return refuse(ErrorCode::invalid_input,
                  fmt::format("The $filter is not valid at character {}: {} ('{}').",
                              text_.size() - left_.size() + 1, what, left_.substr(0, 40)));
  }
  void skip() {
    while (!left_.empty() && is_space(left_.front())) left_.remove_prefix(1);
  }
  std::string_view peek_word() const {
    size_t size = 0;
    while (size < left_.size() && is_word_byte(left_[size])) ++size;
    return left_.substr(0, size);
  }
  // Operators are words of lower case, as the service has them; any case is taken.
  bool take_word(std::string_view word) {
    skip();
    const std::string_view found = peek_word();
    if (!equals_ignore_case(found, word)) return false;
    left_.remove_prefix(found.size());
    return true;
  }
  bool take(char c) {
    skip();
    if (!left_.starts_with(c)) return false;
    left_.remove_prefix(1);
    return true;
  }

  using Part = TableResult<Filter> (Parser::*)(int);
  TableResult<Filter> parse_chain(int depth, std::string_view word, Filter::Kind kind, Part part) {
    auto first = (this->*part)(depth);
    if (!first || !take_word(word)) return first;
    Filter chain;
    chain.kind = kind;
    chain.parts.push_back(std::move(*first));
    do {
      auto next = (this->*part)(depth);
      if (!next) return next;
      chain.parts.push_back(std::move(*next));
    } while (take_word(word));
    return chain;
  }
  TableResult<Filter> parse_or(int depth) {
    return parse_chain(depth, "or", Filter::Kind::any_of, &Parser::parse_and);
  }
  TableResult<Filter> parse_and(int depth) {
    return parse_chain(depth, "and", Filter::Kind::all_of, &Parser::parse_term);
  }

  TableResult<Filter> parse_term(int depth) {
    if (depth > kFilterDepthMax) return wrong("it is nested too deeply");
    if (is_negation()) {
      take_word("not");
      auto inner = parse_term(depth + 1);
      if (!inner) return inner;
      Filter negation;
      negation.kind = Filter::Kind::negation;
      negation.parts.push_back(std::move(*inner));
      return negation;
    }
    if (take('(')) {
      auto inner = parse_or(depth + 1);
      if (!inner) return inner;
      if (!take(')')) return wrong("a ')' is missing");
      return inner;
    }
    return parse_comparison();
  }

  // `not` could be a property's name: then an operator follows it.
  bool is_negation() {
    skip();
    const std::string_view word = peek_word();
    if (!equals_ignore_case(word, "not")) return false;
    const std::string_view kept = left_;
    left_.remove_prefix(word.size());
    const bool is_name = take_comparison().has_value();
    left_ = kept;
    return !is_name;
  }

  TableResult<Filter> parse_comparison() {
    auto left = parse_operand();
    if (!left) return pass(left.error());
    const auto comparison = take_comparison();
    if (!comparison) {
      if (left->is_name || left->literal.value.type != Edm::boolean) {
        return wrong("a comparison (eq, ne, gt, ge, lt, le) is missing");
      }
      Filter alone;
      alone.constant = left->literal.value.boolean;
      return alone;
    }
    auto right = parse_operand();
    if (!right) return pass(right.error());
    Filter filter;
    if (left->is_name && right->is_name) {
      return refuse(ErrorCode::not_implemented,
                    fmt::format("The $filter compares the properties '{}' and '{}': one side must "
                                "be a constant.",
                                left->name.substr(0, 100), right->name.substr(0, 100)));
    }
    if (!left->is_name && !right->is_name) {
      EdmValue a = left->literal.value, b = right->literal.value;
      a.bytes = left->literal.text;
      b.bytes = right->literal.text;
      filter.constant = compare(a, *comparison, b);
      return filter;
    }
    filter.kind = Filter::Kind::compare;
    filter.comparison = left->is_name ? *comparison : mirrored(*comparison);
    Operand& name = left->is_name ? *left : *right;
    Operand& literal = left->is_name ? *right : *left;
    filter.name = std::move(name.name);
    filter.literal = std::move(literal.literal);
    return filter;
  }

  std::optional<Comparison> take_comparison() {
    skip();
    constexpr std::pair<std::string_view, Comparison> kWords[] = {
        {"eq", Comparison::eq}, {"ne", Comparison::ne}, {"gt", Comparison::gt},
        {"ge", Comparison::ge}, {"lt", Comparison::lt}, {"le", Comparison::le}};
    const std::string_view found = peek_word();
    for (const auto& [word, comparison] : kWords) {
      if (!equals_ignore_case(found, word)) continue;
      left_.remove_prefix(found.size());
      return comparison;
    }
    return std::nullopt;
  }

  TableResult<Operand> parse_operand() {
    skip();
    if (left_.empty()) return wrong("a property or a constant is missing");
    Operand operand;
    const char first = left_.front();
    if (first == '\'') {
      operand.literal.value.type = Edm::string;
      if (!take_quoted(operand.literal.text)) return wrong("a text has no closing quote");
      return operand;
    }
    if (is_digit(first) || first == '-' || first == '+' || first == '.') return parse_number();
    const std::string_view word = peek_word();
    if (word.empty()) return wrong("this is neither a property nor a constant");
    if (left_.substr(word.size()).starts_with('\'')) return parse_prefixed(word);
    left_.remove_prefix(word.size());
    if (equals_ignore_case(word, "true") || equals_ignore_case(word, "false")) {
      operand.literal.value.type = Edm::boolean;
      operand.literal.value.boolean = equals_ignore_case(word, "true");
      return operand;
    }
    if (word == "NaN" || word == "INF" || word == "Infinity") {
      operand.literal.value.type = Edm::real;
      operand.literal.value.real = word == "NaN" ? std::numeric_limits<double>::quiet_NaN()
                                                 : std::numeric_limits<double>::infinity();
      return operand;
    }
    operand.is_name = true;
    operand.name = word;
    return operand;
  }

  bool take_quoted(std::string& out) {
    left_.remove_prefix(1);
    for (;;) {
      const size_t quote = left_.find('\'');
      if (quote == std::string_view::npos) return false;
      out += left_.substr(0, quote);
      left_.remove_prefix(quote + 1);
      if (!left_.starts_with('\'')) return true;
      out += '\'';
      left_.remove_prefix(1);
    }
  }

  // datetime'…', guid'…', X'…', binary'…'
  TableResult<Operand> parse_prefixed(std::string_view prefix) {
    left_.remove_prefix(prefix.size());
    Operand operand;
    std::string text;
    if (!take_quoted(text)) return wrong("a constant has no closing quote");
    EdmValue& value = operand.literal.value;
    if (equals_ignore_case(prefix, "datetime")) {
      const auto ticks = parse_time(text);
      if (!ticks) return wrong("this datetime cannot be read: '" + text.substr(0, 60) + "'");
      value.type = Edm::datetime;
      value.integer = *ticks;
      return operand;
    }
    if (equals_ignore_case(prefix, "guid")) {
      std::erase(text, '-');
      auto bytes = from_hex(text);
      if (!bytes || bytes->size() != 16) return wrong("this guid does not have 32 digits");
      value.type = Edm::guid;
      operand.literal.text = std::move(*bytes);
      return operand;
    }
    if (equals_ignore_case(prefix, "X") || equals_ignore_case(prefix, "binary")) {
      auto bytes = from_hex(text);
      if (!bytes) return wrong("this binary is not in hexadecimal");
      value.type = Edm::binary;
      operand.literal.text = std::move(*bytes);
      return operand;
    }
    return wrong("constants of the kind '" + std::string(prefix.substr(0, 40)) +
                 "' are not known: datetime, guid, X, binary");
  }

  TableResult<Operand> parse_number() {
    size_t size = 1;
    while (size < left_.size()) {
      const char c = left_[size];
      const bool is_exponent_sign =
          (c == '-' || c == '+') && (left_[size - 1] == 'e' || left_[size - 1] == 'E');
      if (!is_word_byte(c) && c != '.' && !is_exponent_sign) break;
      ++size;
    }
    std::string_view word = left_.substr(0, size);
    Operand operand;
    EdmValue& value = operand.literal.value;
    if (word == "-INF" || word == "-Infinity") {
      value.type = Edm::real;
      value.real = -std::numeric_limits<double>::infinity();
      left_.remove_prefix(size);
      return operand;
    }
    if (word.starts_with('+')) word.remove_prefix(1);
    const auto whole = [&](std::string_view digits) {
      const auto read =
          std::from_chars(digits.data(), digits.data() + digits.size(), value.integer);
      return read.ec == std::errc() && read.ptr == digits.data() + digits.size();
    };
    const bool is_long = word.ends_with('L') || word.ends_with('l');
    if (is_long) {
      if (!whole(word.substr(0, word.size() - 1))) return wrong("this is not a 64-bit integer");
      value.type = Edm::int64;
    } else if (whole(word)) {
      value.type = value.integer == static_cast<int32_t>(value.integer) ? Edm::int32 : Edm::int64;
    } else {
      const std::string_view suffixes = "dDfFmM";
      if (suffixes.find(word.back()) != std::string_view::npos) word.remove_suffix(1);
      const auto read = std::from_chars(word.data(), word.data() + word.size(), value.real);
      if (read.ec != std::errc() || read.ptr != word.data() + word.size() ||
          !std::isfinite(value.real)) {
        return wrong("this number cannot be read");
      }
      value.type = Edm::real;
    }
    left_.remove_prefix(size);
    return operand;
  }

  const std::string_view text_;
  std::string_view left_;
};

}  // namespace

TableResult<Filter> parse_filter(std::string_view text) {
  return Parser(text).parse();
}

}  // namespace orrery::table

// The lexer: one pass over the bytes, no look-back. A malformed token ends the list, so that the
// parser reports errors before it first.
#include "query/parse/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

namespace orrery::query {
namespace {

constexpr std::pair<std::string_view, Keyword> kKeywords[] = {
    {"all", Keyword::all},
    {"and", Keyword::and_},
    {"array", Keyword::array},
    {"as", Keyword::as},
    {"asc", Keyword::asc},
    {"between", Keyword::between},
    {"by", Keyword::by},
    {"desc", Keyword::desc},
    {"distinct", Keyword::distinct},
    {"escape", Keyword::escape},
    {"exists", Keyword::exists},
    {"false", Keyword::false_},
    {"first", Keyword::first},
    {"from", Keyword::from},
    {"group", Keyword::group},
    {"in", Keyword::in},
    {"join", Keyword::join},
    {"last", Keyword::last},
    {"like", Keyword::like},
    {"limit", Keyword::limit},
    {"not", Keyword::not_},
    {"null", Keyword::null},
    {"offset", Keyword::offset},
    {"or", Keyword::or_},
    {"order", Keyword::order},
    {"rank", Keyword::rank},
    {"select", Keyword::select},
    {"top", Keyword::top},
    {"true", Keyword::true_},
    {"udf", Keyword::udf},
    {"undefined", Keyword::undefined},
    {"value", Keyword::value},
    {"where", Keyword::where},
};
constexpr size_t kLongestKeyword = 9;

// Longest first, so that the first that fits is the token.
constexpr std::pair<std::string_view, TokenKind> kSymbols[] = {
    {">>>", TokenKind::shift_right_zero},
    {"||", TokenKind::pipe_pipe},
    {"??", TokenKind::question_question},
    {"<<", TokenKind::shift_left},
    {">>", TokenKind::shift_right},
    {"<=", TokenKind::less_equal},
    {">=", TokenKind::greater_equal},
    {"<>", TokenKind::not_equal},
    {"!=", TokenKind::not_equal},
    {"(", TokenKind::left_paren},
    {")", TokenKind::right_paren},
    {"[", TokenKind::left_bracket},
    {"]", TokenKind::right_bracket},
    {"{", TokenKind::left_brace},
    {"}", TokenKind::right_brace},
    {",", TokenKind::comma},
    {".", TokenKind::dot},
    {":", TokenKind::colon},
    {"*", TokenKind::star},
    {"/", TokenKind::slash},
    {"%", TokenKind::percent},
    {"+", TokenKind::plus},
    {"-", TokenKind::minus},
    {"~", TokenKind::tilde},
    {"&", TokenKind::ampersand},
    {"|", TokenKind::pipe},
    {"^", TokenKind::caret},
    {"=", TokenKind::equal},
    {"<", TokenKind::less},
    {">", TokenKind::greater},
    {"?", TokenKind::question},
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_word_part(char c) {
  return is_word_start(c) || is_digit(c);
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The four digits of \uXXXX at the front of `text`, or -1.
int unicode_escape(std::string_view text) {
  if (text.size() < 4) return -1;
  int unit = 0;
  for (const char c : text.substr(0, 4)) {
    const int digit = hex_digit(c);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

bool is_high_surrogate(int unit) {
  return unit >= 0xD800 && unit <= 0xDBFF;
}
bool is_low_surrogate(int unit) {
  return unit >= 0xDC00 && unit <= 0xDFFF;
}

void append_utf8(std::string& out, uint32_t point) {
  const auto put = [&out](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0 | (point >> 6));
    put(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    put(0xE0 | (point >> 12));
    put(0x80 | ((point >> 6) & 0x3F));
    put(0x80 | (point & 0x3F));
  } else {
    put(0xF0 | (point >> 18));
    put(0x80 | ((point >> 12) & 0x3F));
    put(0x80 | ((point >> 6) & 0x3F));
    put(0x80 | (point & 0x3F));
  }
}

// How many bytes the UTF-8 character at the front of `text` has; 0 if it is malformed.
size_t utf8_length(std::string_view text) {
  const auto byte = [text](size_t at) { return static_cast<uint8_t>(text[at]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and what lies beyond U+10FFFF show in the second byte.
  if ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F) ||
      (lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F)) {
    return 0;
  }
  return length;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Tokens run() {
    while (!out_.error) {
      skip_blanks();
      begin();
      if (at_ == text_.size()) {
        finish(TokenKind::end);
        return std::move(out_);
      }
      token();
    }
    return std::move(out_);
  }

 private:
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  // Moves over `bytes` ASCII characters of the current line.
  void step(size_t bytes = 1) {
    at_ += bytes;
    offset_ += static_cast<uint32_t>(bytes);
  }

  // Moves over one character, whatever it is. False if it is not UTF-8.
  bool step_character() {
    const size_t length = utf8_length(text_.substr(at_));
    if (length == 0) return false;
    const bool is_line_end = text_[at_] == '\n';
    at_ += length;
    offset_ += length == 4 ? 2 : 1;
    if (is_line_end) {
      ++line_;
      line_start_ = offset_;
    }
    return true;
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      const char c = peek();
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v') {
        step_character();
      } else if (c == '-' && peek(1) == '-') {
        while (at_ < text_.size() && peek() != '\n') {
          if (!step_character()) return;  // token() reports the broken character
        }
      } else {
        return;
      }
    }
  }

  void begin() {
    start_ = at_;
    span_ = {.start = offset_, .end = offset_, .line = line_, .column = offset_ - line_start_ + 1};
  }

  void finish(TokenKind kind, Keyword keyword = Keyword::none) {
    span_.end = offset_;
    out_.list.push_back({.kind = kind,
                         .keyword = keyword,
                         .span = span_,
                         .raw = text_.substr(start_, at_ - start_)});
  }

  void refuse(QueryFault fault, std::string message) {
    finish(TokenKind::invalid);
    out_.error = syntax_error(
        fault, span_, fmt::format("{} Line {}, column {}.", message, span_.line, span_.column));
  }

  void token() {
    const char c = peek();
    if (is_word_start(c)) {
      while (is_word_part(peek())) step();
      return finish(TokenKind::word, keyword_of(text_.substr(start_, at_ - start_)));
    }
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (c == '\'' || c == '"') return string();
    if (c == '@' && is_word_part(peek(1))) {
      step();
      while (is_word_part(peek())) step();
      return finish(TokenKind::parameter);
    }
    for (const auto& [symbol, kind] : kSymbols) {
      if (!text_.substr(at_).starts_with(symbol)) continue;
      step(symbol.size());
      return finish(kind);
    }
    if (!step_character()) {
      step();
      return refuse(QueryFault::invalid_token, "Syntax error, the query text is not UTF-8.");
    }
    refuse(QueryFault::invalid_token,
           fmt::format("Syntax error, invalid token '{}'.", text_.substr(start_, at_ - start_)));
  }

  void number() {
    bool good = true;
    if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
      step(2);
      good = hex_digit(peek()) >= 0;
      while (hex_digit(peek()) >= 0) step();
    } else {
      while (is_digit(peek())) step();
      if (peek() == '.') step();
      while (is_digit(peek())) step();
      if (peek() == 'e' || peek() == 'E') {
        step();
        if (peek() == '+' || peek() == '-') step();
        good = is_digit(peek());
        while (is_digit(peek())) step();
      }
    }
    if (good && !is_word_part(peek())) return finish(TokenKind::number);
    while (is_word_part(peek())) step();
    refuse(QueryFault::invalid_number,
           fmt::format("Syntax error, invalid numeric value token '{}'.",
                       text_.substr(start_, at_ - start_)));
  }

  void string() {
    const char quote = peek();
    step();
    while (at_ < text_.size() && peek() != quote) {
      if (peek() == '\\') {
        if (!escape())
          return refuse_string(
              "The escape sequences are \\' \\\" \\\\ \\/ \\b \\f "
              "\\n \\r \\t and \\uXXXX.");
      } else if (!step_character()) {
        step();
        return refuse(QueryFault::invalid_token, "Syntax error, the query text is not UTF-8.");
      }
    }
    if (at_ == text_.size()) return refuse_string("Its closing quote is missing.");
    step();
    finish(TokenKind::string);
  }

  void refuse_string(std::string_view why) {
    constexpr size_t kShown = 40;
    std::string_view shown = text_.substr(start_, at_ - start_);
    if (shown.size() > kShown) {
      size_t cut = 0;
      while (cut < kShown) cut += utf8_length(shown.substr(cut));
      shown = shown.substr(0, cut);
    }
    refuse(QueryFault::invalid_string,
           fmt::format("Syntax error, invalid string literal token '{}'. {}", shown, why));
  }

  // Moves over an escape sequence. False, somewhere inside it, if it is none.
  bool escape() {
    step();
    if (std::string_view("\"'\\/bfnrt").contains(peek()) && at_ < text_.size()) {
      step();
      return true;
    }
    if (peek() != 'u') return false;
    step();
    const int unit = unicode_escape(text_.substr(at_));
    if (unit < 0 || is_low_surrogate(unit)) return false;
    step(4);
    if (!is_high_surrogate(unit)) return true;
    if (peek() != '\\' || peek(1) != 'u' ||
        !is_low_surrogate(unicode_escape(text_.substr(at_ + 2)))) {
      return false;
    }
    step(6);
    return true;
  }

  std::string_view text_;
  Tokens out_;
  size_t at_ = 0;        // in bytes
  size_t start_ = 0;     // of the token being read
  uint32_t offset_ = 0;  // of at_, in UTF-16 code units
  uint32_t line_ = 1;
  uint32_t line_start_ = 0;
  Span span_;
};

}  // namespace

Keyword keyword_of(std::string_view word) {
  if (word.size() > kLongestKeyword) return Keyword::none;
  std::array<char, kLongestKeyword> lower{};
  std::ranges::transform(word, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const std::string_view key(lower.data(), word.size());
  const auto* found =
      std::ranges::lower_bound(kKeywords, key, {}, [](const auto& entry) { return entry.first; });
  return found != std::end(kKeywords) && found->first == key ? found->second : Keyword::none;
}

bool is_reserved(Keyword keyword) {
  return keyword != Keyword::none && keyword < Keyword::all;
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && is_word_start(name.front()) && std::ranges::all_of(name, is_word_part) &&
         !is_reserved(keyword_of(name));
}

Tokens tokenize(std::string_view text) {
  if (text.size() > kMaxQueryBytes) {
    Tokens out;
    const Span span{.start = 0,
                    .end = static_cast<uint32_t>(
                        std::min<size_t>(text.size(), std::numeric_limits<uint32_t>::max()))};
    out.list.push_back({.kind = TokenKind::invalid, .span = span, .raw = {}});
    out.error =
        syntax_error(QueryFault::text_too_long, span,
                     fmt::format("The SQL query text exceeded the maximum limit of {} characters.",
                                 kMaxQueryBytes));
    return out;
  }
  return Lexer(text).run();
}

double number_value(std::string_view raw) {
  if (raw.starts_with("0x") || raw.starts_with("0X")) {
    double value = 0;
    for (const char c : raw.substr(2)) value = value * 16 + hex_digit(c);
    return value;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(raw.data(), raw.data() + raw.size(), value);
  if (error != std::errc::result_out_of_range) return value;
  // from_chars does not say which end of the range was passed.
  const bool is_tiny =
      raw.contains("e-") || raw.contains("E-") || raw.starts_with("0.") || raw.starts_with('.');
  return is_tiny ? 0 : std::numeric_limits<double>::infinity();
}

std::string string_value(std::string_view raw) {
  const std::string_view body = raw.substr(1, raw.size() - 2);
  std::string out;
  out.reserve(body.size());
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\') {
      out.push_back(body[i]);
      continue;
    }
    switch (const char c = body[++i]) {
      case 'b':
        out.push_back('\b');
        break;
      case 'f':
        out.push_back('\f');
        break;
      case 'n':
        out.push_back('\n');
        break;
      case 'r':
        out.push_back('\r');
        break;
      case 't':
        out.push_back('\t');
        break;
      case 'u': {
        auto point = static_cast<uint32_t>(unicode_escape(body.substr(i + 1)));
        i += 4;
        if (is_high_surrogate(static_cast<int>(point))) {
          const auto low = static_cast<uint32_t>(unicode_escape(body.substr(i + 3)));
          point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
          i += 6;
        }
        append_utf8(out, point);
        break;
      }
      default:
        out.push_back(c);
    }
  }
  return out;
}

}  // namespace orrery::query

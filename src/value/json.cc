// See json.h. One pass over the text builds the nodes and takes the white space out.
//
// The document owns three pieces of memory: a copy of the text, which the pass minifies in place
// (what is written never overtakes what is read); the nodes, in chunks that never move; and, only
// if some string has escapes, room for the unescaped strings. A string without escapes is a view
// of the text itself.
//
// The grammar is walked here and not by simdjson, which gives us UTF-8 validation at the speed of
// the processor's vectors: its minifier joins tokens that only white space kept apart (`[1 2]`
// becomes `[12]`, which parses), so it may only see text that is known to be right, and its
// On-Demand parser assumes, without checks, what broken text does not keep.
#include "value/json.h"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

#include "base/bytes.h"

namespace orrery::value {

namespace {

// Up to here the names of an object are compared pair by pair; beyond, they are sorted.
constexpr uint32_t kMaxPairwiseMembers = 32;
// Bytes after the text that string scanning may read.
constexpr size_t kPadding = 8;

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// How many of 8 bytes, read little-endian, are plain string text: neither a quote, nor a backslash,
// nor a control character.
size_t count_plain_bytes(uint64_t bytes) {
  constexpr uint64_t kOnes = 0x0101010101010101U;
  constexpr uint64_t kHighs = 0x8080808080808080U;
  // Each marks the high bit of the bytes looked for. A borrow can mark a byte wrongly, but only
  // above one that is marked rightly, and the lowest is all that counts.
  const auto mark_zeros = [](uint64_t x) { return (x - kOnes) & ~x & kHighs; };
  const uint64_t controls = (bytes - kOnes * 0x20) & ~bytes & kHighs;
  const uint64_t special =
      controls | mark_zeros(bytes ^ kOnes * '"') | mark_zeros(bytes ^ kOnes * '\\');
  return static_cast<size_t>(std::countr_zero(special)) / 8;
}

// Which of 64 bits stands for a name: names of different bits differ.
uint64_t bit_of_name(std::string_view name) {
  if (name.empty()) return 1;
  const size_t mixed = name.size() * 7 + static_cast<uint8_t>(name.back()) * 3 +
                       static_cast<uint8_t>(name[name.size() / 2]) * 11 +
                       static_cast<uint8_t>(name.front());
  return uint64_t{1} << (mixed & 63);
}

// Where UTF-8 first goes wrong in text known to be invalid.
size_t find_invalid_utf8(std::string_view text) {
  // Cutting inside a character makes good text invalid too, by at most 3 bytes: the answer is exact
  // to the character.
  size_t good = 0;
  size_t bad = text.size();
  while (bad - good > 1) {
    const size_t middle = good + (bad - good) / 2;
    size_t cut = middle;
    while (cut > good && (static_cast<uint8_t>(text[cut]) & 0xC0) == 0x80) --cut;
    if (cut == good) {
      bad = middle;
      continue;
    }
    if (simdjson::validate_utf8(text.data() + good, cut - good)) {
      good = cut;
    } else {
      bad = cut;
    }
  }
  return good;
}

// Appends a code point as UTF-8.
char* put_utf8(char* to, uint32_t point) {
  if (point < 0x80) {
    *to++ = static_cast<char>(point);
  } else if (point < 0x800) {
    *to++ = static_cast<char>(0xC0 | point >> 6);
    *to++ = static_cast<char>(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    *to++ = static_cast<char>(0xE0 | point >> 12);
    *to++ = static_cast<char>(0x80 | (point >> 6 & 0x3F));
    *to++ = static_cast<char>(0x80 | (point & 0x3F));
  } else {
    *to++ = static_cast<char>(0xF0 | point >> 18);
    *to++ = static_cast<char>(0x80 | (point >> 12 & 0x3F));
    *to++ = static_cast<char>(0x80 | (point >> 6 & 0x3F));
    *to++ = static_cast<char>(0x80 | (point & 0x3F));
  }
  return to;
}

// The four hexadecimal digits of a \u escape, or -1. `from` has four bytes.
int32_t read_hex4(const char* from) {
  int32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = from[i];
    int32_t digit = 0;
    if (is_digit(c)) {
      digit = c - '0';
    } else if (c >= 'a' && c <= 'f') {
      digit = c - 'a' + 10;
    } else if (c >= 'A' && c <= 'F') {
      digit = c - 'A' + 10;
    } else {
      return -1;
    }
    value = value << 4 | digit;
  }
  return value;
}

// What a character after a backslash stands for, or 0 (`u` is not here).
char simple_escape(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
      return c;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return 0;
  }
}

// Whether a number that from_chars found out of range is too large, not too small: where its first
// digit other than 0 stands decides. `digits` has no sign.
bool is_overflow(std::string_view digits) {
  const size_t exponent_at = digits.find_first_of("eE");
  const std::string_view mantissa = digits.substr(0, exponent_at);
  if (exponent_at != std::string_view::npos && digits[exponent_at + 1] != '-') {
    // A positive exponent out of range of int is too large unless the mantissa is 0, and then
    // from_chars does not complain.
    std::string_view exponent = digits.substr(exponent_at + 1);
    if (exponent.front() == '+') exponent.remove_prefix(1);
    exponent.remove_prefix(std::min(exponent.find_first_not_of('0'), exponent.size()));
    if (exponent.size() > 8) return true;
    int64_t value = 0;
    std::from_chars(exponent.data(), exponent.data() + exponent.size(), value);
    const size_t point = std::min(mantissa.find('.'), mantissa.size());
    const size_t first = mantissa.find_first_of("123456789");
    if (first == std::string_view::npos) return false;
    const auto place = static_cast<int64_t>(point) - static_cast<int64_t>(first);
    return place + value > 0;
  }
  // Without an exponent, or with a negative one: too large only if the whole part outweighs it,
  // which a text of less than 4 GB does for exponents of at most 10 digits.
  if (exponent_at == std::string_view::npos) return mantissa.front() != '0';
  std::string_view exponent = digits.substr(exponent_at + 2);
  exponent.remove_prefix(std::min(exponent.find_first_not_of('0'), exponent.size()));
  if (exponent.size() > 10) return false;
  int64_t value = 0;
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), value);
  const size_t whole = std::min(mantissa.find('.'), mantissa.size());
  return mantissa.front() != '0' && static_cast<int64_t>(whole) > value;
}

class Parser {
 public:
  Parser(char* text, size_t size, NodeArena& nodes, std::unique_ptr<char[]>& unescaped)
      : base_(text), end_(text + size), in_(text), out_(text), nodes_(nodes), room_(unescaped) {}

  // The root, or null: then error() says why.
  const Node* parse() {
    Node* root = nodes_.add();
    skip_space();
    if (in_ == end_) {
      stop("the text is empty, a JSON value was expected", in_);
      return nullptr;
    }
    if (!parse_value(*root, 0)) return nullptr;
    skip_space();
    if (in_ != end_) {
      stop("unexpected text after the end of the JSON value", in_);
      return nullptr;
    }
    return root;
  }

  size_t minified_size() const { return static_cast<size_t>(out_ - base_); }
  const std::string& error() const { return error_; }

 private:
  bool stop(std::string_view what, const char* where) {
    error_ = "invalid JSON at byte ";
    error_ += std::to_string(where - base_);
    error_ += ": ";
    error_ += what;
    return false;
  }

  bool stop_expecting(std::string_view what) {
    if (in_ == end_) return stop("the text ends where " + std::string(what) + " was expected", in_);
    return stop("expected " + std::string(what), in_);
  }

  void skip_space() {
    while (is_space(*in_)) ++in_;  // The byte after the text is 0.
  }

  // Moves what was read, [from, in_), to the end of the minified text.
  std::string_view keep(const char* from) {
    const auto size = static_cast<size_t>(in_ - from);
    if (out_ != from) std::memmove(out_, from, size);
    out_ += size;
    return {out_ - size, size};
  }

  bool parse_value(Node& node, int depth) {
    switch (*in_) {
      case '{':
      case '[':
        if (depth == kMaxDepth) {
          return stop("nested deeper than " + std::to_string(kMaxDepth) + " levels", in_);
        }
        return *in_ == '{' ? parse_object(node, depth + 1) : parse_array(node, depth + 1);
      case '"': {
        node.type = Type::string;
        std::string_view inside;
        if (!parse_string(inside, node.text)) return false;
        node.raw = {inside.data() - 1, inside.size() + 2};
        return true;
      }
      case 't':
        node.boolean = true;
        node.type = Type::boolean;
        return parse_word(node, "true");
      case 'f':
        node.type = Type::boolean;
        return parse_word(node, "false");
      case 'n':
        node.type = Type::null;
        return parse_word(node, "null");
      default:
        if (*in_ == '-' || is_digit(*in_)) return parse_number(node);
        return stop_expecting("a value");
    }
  }

  bool parse_word(Node& node, std::string_view word) {
    if (!std::string_view(in_, static_cast<size_t>(end_ - in_)).starts_with(word)) {
      return stop_expecting("a value");
    }
    const char* from = in_;
    in_ += word.size();
    node.raw = keep(from);
    return true;
  }

  bool parse_number(Node& node) {
    const char* from = in_;
    const bool negative = *in_ == '-';
    if (negative) ++in_;
    const char* digits = in_;
    uint64_t whole = 0;  // wraps round for long numbers, which do not use it
    if (*in_ == '0') {
      ++in_;
      if (is_digit(*in_)) return stop("a number starts with a needless 0", from);
    } else {
      if (!is_digit(*in_)) return stop_expecting("a digit");
      for (; is_digit(*in_); ++in_) whole = whole * 10 + static_cast<uint64_t>(*in_ - '0');
    }
    bool integer = in_ - digits <= 15;  // exact in a double
    if (*in_ == '.') {
      integer = false;
      ++in_;
      if (!is_digit(*in_)) return stop_expecting("a digit after the point");
      while (is_digit(*in_)) ++in_;
    }
    if (*in_ == 'e' || *in_ == 'E') {
      integer = false;
      ++in_;
      if (*in_ == '+' || *in_ == '-') ++in_;
      if (!is_digit(*in_)) return stop_expecting("a digit in the exponent");
      while (is_digit(*in_)) ++in_;
    }
    double value = 0;
    if (integer) {
      value = static_cast<double>(whole);
    } else if (std::from_chars(digits, in_, value).ec == std::errc::result_out_of_range) {
      if (is_overflow({digits, in_})) return stop("the number does not fit a double", from);
      value = 0;
    }
    if (!std::isfinite(value)) return stop("the number does not fit a double", from);
    node.type = Type::number;
    node.number = negative ? -value : value;
    node.raw = keep(from);
    return true;
  }

  // At a quote. `inside` is the text between the quotes as written, `text` what it says.
  bool parse_string(std::string_view& inside, std::string_view& text) {
    const char* from = in_++;
    bool escaped = false;
    for (;;) {
      size_t plain = 0;
      do {
        plain = count_plain_bytes(load_u64_le(in_));  // The 0 after the text ends this.
        in_ += plain;
      } while (plain == 8);
      const char c = *in_;
      if (c == '"') break;
      if (c == '\\') {
        escaped = true;
        in_ += 2;  // At most one past the end: then the 0 after the text was escaped.
        if (in_ > end_) return stop("a string is not closed", from);
      } else {
        if (in_ == end_) return stop("a string is not closed", from);
        return stop("a control character in a string must be escaped", in_);
      }
    }
    ++in_;
    if (escaped && !unescape(from + 1, in_ - 1, text)) return false;
    const std::string_view kept = keep(from);
    inside = kept.substr(1, kept.size() - 2);
    if (!escaped) text = inside;
    return true;
  }

  bool unescape(const char* from, const char* to, std::string_view& text) {
    if (room_ == nullptr) {
      // What is unescaped is never longer than what was written, for this string and all after it.
      room_ = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(end_ - from));
      free_ = room_.get();
    }
    char* const start = free_;
    while (from != to) {
      if (*from != '\\') {
        *free_++ = *from++;
        continue;
      }
      if (const char plain = simple_escape(from[1]); plain != 0) {
        *free_++ = plain;
        from += 2;
        continue;
      }
      if (from[1] != 'u') return stop("unknown escape in a string", from);
      const int32_t first = to - from >= 6 ? read_hex4(from + 2) : -1;
      if (first < 0) return stop("\\u must be followed by four hexadecimal digits", from);
      auto point = static_cast<uint32_t>(first);
      const char* const escape = from;
      from += 6;
      if (point >= 0xD800 && point <= 0xDFFF) {
        const int32_t second =
            to - from >= 6 && from[0] == '\\' && from[1] == 'u' ? read_hex4(from + 2) : -1;
        if (point >= 0xDC00 || second < 0xDC00 || second > 0xDFFF) {
          return stop("half of a surrogate pair without the other half", escape);
        }
        point = 0x10000 + ((point - 0xD800) << 10) + (static_cast<uint32_t>(second) - 0xDC00);
        from += 6;
      }
      free_ = put_utf8(free_, point);
    }
    text = {start, static_cast<size_t>(free_ - start)};
    return true;
  }

  bool parse_array(Node& node, int depth) {
    node.type = Type::array;
    char* const start = out_;
    *out_++ = *in_++;
    skip_space();
    if (*in_ != ']') {
      const Node** link = &node.first;
      for (;;) {
        Node* element = nodes_.add();
        *link = element;
        link = &element->next;
        ++node.count;
        if (!parse_value(*element, depth)) return false;
        skip_space();
        if (*in_ == ']') break;
        if (*in_ != ',') return stop_expecting("',' or ']'");
        *out_++ = *in_++;
        skip_space();
      }
    }
    *out_++ = *in_++;
    node.raw = {start, static_cast<size_t>(out_ - start)};
    return true;
  }

  bool parse_object(Node& node, int depth) {
    node.type = Type::object;
    const char* const source = in_;
    char* const start = out_;
    *out_++ = *in_++;
    skip_space();
    if (*in_ != '}') {
      const Node** link = &node.first;
      uint64_t names = 0;  // the bits of the names so far
      for (;;) {
        if (*in_ != '"') return stop_expecting("a property name in quotes");
        Node* member = nodes_.add();
        const char* const name_at = in_;
        if (!parse_string(member->raw_name, member->name)) return false;
        const uint64_t bit = bit_of_name(member->name);
        if ((names & bit) != 0 && node.count < kMaxPairwiseMembers &&
            node.find(member->name) != nullptr) {
          return stop_duplicate(member->name, name_at);
        }
        names |= bit;
        *link = member;
        link = &member->next;
        ++node.count;
        skip_space();
        if (*in_ != ':') return stop_expecting("':' after a property name");
        *out_++ = *in_++;
        skip_space();
        if (!parse_value(*member, depth)) return false;
        skip_space();
        if (*in_ == '}') break;
        if (*in_ != ',') return stop_expecting("',' or '}'");
        *out_++ = *in_++;
        skip_space();
      }
    }
    *out_++ = *in_++;
    node.raw = {start, static_cast<size_t>(out_ - start)};
    return node.count <= kMaxPairwiseMembers || check_many_names(node, source);
  }

  bool check_many_names(const Node& object, const char* where) {
    std::vector<std::string_view> names;
    names.reserve(object.count);
    for (const Node* member = object.first; member != nullptr; member = member->next) {
      names.push_back(member->name);
    }
    std::ranges::sort(names);
    const auto twice = std::ranges::adjacent_find(names);
    return twice == names.end() || stop_duplicate(*twice, where);
  }

  bool stop_duplicate(std::string_view name, const char* where) {
    std::string what = "the property ";
    append_json_string(what, name);
    what += " is there twice in the same object";
    return stop(what, where);
  }

  char* const base_;
  char* const end_;
  char* in_;
  char* out_;
  NodeArena& nodes_;
  std::unique_ptr<char[]>& room_;
  char* free_ = nullptr;
  std::string error_;
};

}  // namespace

struct JsonDocument::Impl final : Document::Tree {
  explicit Impl(size_t text_bytes)
      : text(std::make_unique_for_overwrite<char[]>(text_bytes + kPadding)), nodes(text_bytes) {}

  std::unique_ptr<char[]> text;
  std::unique_ptr<char[]> unescaped;
  NodeArena nodes;
  size_t size = 0;

  size_t memory() const override {
    return sizeof(Impl) + size * (unescaped ? 2 : 1) + nodes.bytes();
  }
};

JsonDocument::JsonDocument(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;
JsonDocument::~JsonDocument() = default;

Result<JsonDocument> JsonDocument::parse(std::string_view text) {
  if (text.size() > std::numeric_limits<int32_t>::max()) {
    return fail(Code::too_large, "a JSON text of " + std::to_string(text.size()) +
                                     " bytes is over the limit of 2 GB");
  }
  if (!simdjson::validate_utf8(text.data(), text.size())) {
    return fail(Code::invalid, "invalid JSON at byte " + std::to_string(find_invalid_utf8(text)) +
                                   ": the text is not UTF-8");
  }
  auto impl = std::make_unique<Impl>(text.size());
  if (!text.empty()) std::memcpy(impl->text.get(), text.data(), text.size());
  std::memset(impl->text.get() + text.size(), 0, kPadding);
  Parser parser(impl->text.get(), text.size(), impl->nodes, impl->unescaped);
  impl->root = parser.parse();
  if (impl->root == nullptr) return fail(Code::invalid, parser.error());
  impl->size = parser.minified_size();
  return JsonDocument(std::move(impl));
}

const Node& JsonDocument::root() const {
  return *impl_->root;
}

size_t JsonDocument::memory() const {
  return impl_->memory();
}

Document JsonDocument::to_document() && {
  return Document(std::move(impl_));
}

std::string_view JsonDocument::text() const {
  return {impl_->text.get(), impl_->size};
}

}  // namespace orrery::value

// See term_value.h, which has the byte formats.
#include "value/term_value.h"

#include <array>
#include <bit>
#include <cmath>

#include "base/bytes.h"
#include "base/hash.h"
#include "value/number.h"
#include "value/ordered.h"

namespace orrery::value {
namespace {

constexpr char kTypedTags = 0x20;
constexpr uint64_t kSignBit = uint64_t{1} << 63;
constexpr char kListEnd = 0x01;  // of an array's elements, of an object's members
constexpr char kTextEnd = 0x01;
constexpr char kCutTextEnd = 0x02;
constexpr char kBelow = 0x01;
constexpr char kExact = 0x02;
constexpr char kAbove = 0x03;
constexpr uint16_t kExponentBias = 0x8000;

// By Type; true is one after false.
constexpr std::array<char, kTypes> kJsonTags = {0x00, 0x01, 0x02, 0x04, 0x05, 0x07, 0x08, 0x09,
                                                0x0A, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F, 0x10, 0x11};

char first_tag(Type type, ValueOrder order) {
  if (order == ValueOrder::json) return kJsonTags[static_cast<size_t>(type)];
  return static_cast<char>(kTypedTags + rank_of(type, order));
}

// Indexed by tag.
constexpr size_t kTags = 0x31;
constexpr std::array<std::optional<Type>, kTags> kTypeOfTag = [] {
  std::array<std::optional<Type>, kTags> types;
  for (size_t i = 0; i < kTypes; ++i) {
    const auto type = static_cast<Type>(i);
    types[static_cast<size_t>(kJsonTags[i])] = type;
    types[size_t{kTypedTags} + kTypedRanks[i]] = type;
    if (type != Type::boolean) continue;
    types[static_cast<size_t>(kJsonTags[i]) + 1] = type;
    types[size_t{kTypedTags} + kTypedRanks[i] + 1] = type;
  }
  return types;
}();

// How long a value is, by its tag. An index is read by this: once for each entry that is passed.
struct TagBytes {
  enum class End : uint8_t { fixed, text, side };

  uint8_t fixed = 0;  // the tag included; 0: not a tag
  End end = End::fixed;
};

constexpr TagBytes bytes_of(Type type, bool is_typed) {
  switch (type) {
    case Type::undefined:
    case Type::null:
    case Type::boolean:
    case Type::min_key:
    case Type::max_key:
      return {.fixed = 1};
    case Type::number:
      return {.fixed = 9, .end = is_typed ? TagBytes::End::side : TagBytes::End::fixed};
    case Type::array:
    case Type::object:
      return {.fixed = 1, .end = is_typed ? TagBytes::End::text : TagBytes::End::fixed};
    case Type::string:
    case Type::binary:
    case Type::regex:
    case Type::code:
      return {.fixed = 1, .end = TagBytes::End::text};
    case Type::object_id:
      return {.fixed = 13};
    case Type::guid:
      return {.fixed = 17};
    case Type::date:
      return {.fixed = 11};
    case Type::timestamp:
      return {.fixed = 9};
  }
  return {};
}

constexpr std::array<TagBytes, 256> kBytesOfTag = [] {
  std::array<TagBytes, 256> bytes;
  for (size_t tag = 0; tag < kTags; ++tag) {
    if (kTypeOfTag[tag]) bytes[tag] = bytes_of(*kTypeOfTag[tag], tag >= size_t{kTypedTags});
  }
  return bytes;
}();

void append_text(std::string& out, std::string_view text) {
  append_ordered_bytes(out, text.substr(0, kMaxTermText));
  if (text.size() <= kMaxTermText) return;
  out.back() = kCutTextEnd;
  const auto hash = murmur3_x64_128(text, 0);
  out.append(reinterpret_cast<const char*>(hash.data()), kCutTextHashBytes);
}

void append_double(std::string& out, double number) {
  if (std::isnan(number)) {
    out.append(8, '\0');
  } else {
    append_ordered_number(out, number);
  }
}

void append_exact(std::string& out, const ExactNumber& number) {
  append_double(out, number.nearest);
  if (number.side == 0) {
    out += kExact;
    return;
  }
  out += number.side < 0 ? kBelow : kAbove;
  const size_t start = out.size();
  const auto exponent = static_cast<uint16_t>(number.exponent + kExponentBias);
  out += static_cast<char>(exponent >> 8);
  out += static_cast<char>(exponent & 0xFF);
  for (size_t i = 0; i < number.digit_count; i += 2) {
    const int tens = number.digits[i] - '0';
    const int ones = i + 1 < number.digit_count ? number.digits[i + 1] - '0' : 0;
    out += static_cast<char>(tens * 10 + ones + 1);
  }
  out += '\0';
  if (!number.is_negative()) return;
  for (size_t i = start; i < out.size(); ++i) out[i] = static_cast<char>(~out[i]);
}

// Bytes that are a text in the term: those of the value, after what comes before them in its order.
std::string text_of(const Value& value) {
  std::string out;
  if (value.type() == Type::binary) {
    char size[4];
    store_u32_be(size, static_cast<uint32_t>(value.bytes().size()));
    out.append(size, sizeof size);
  }
  if (value.type() != Type::regex) out += static_cast<char>(value.subtype());
  out += value.bytes();
  return out;
}

void append_any(std::string& out, const Value& value, ValueOrder order);

// The elements or members of a list. `out` has nothing else in it, and is cut afterwards: so this
// stops behind the part that passes the limit, which equal lists do at the same place.
void append_parts(std::string& out, const Value& value) {
  constexpr auto kOrder = ValueOrder::typed;
  if (value.is_array()) {
    for (const Value& element : value.elements()) {
      if (out.size() > kMaxTermText) return;
      append_any(out, element, kOrder);
    }
  } else {
    for (const Value::Member& member : value.members()) {
      if (out.size() > kMaxTermText) return;
      out += first_tag(member.value.type(), kOrder);
      append_ordered_bytes(out, member.name);
      append_any(out, member.value, kOrder);
    }
  }
  out += kListEnd;
}

// As a term has it, but arrays and objects, and texts, whole.
void append_any(std::string& out, const Value& value, ValueOrder order) {
  out += static_cast<char>(first_tag(value.type(), order) + (value.is_true() ? 1 : 0));
  switch (value.type()) {
    case Type::undefined:
    case Type::null:
    case Type::boolean:
    case Type::min_key:
    case Type::max_key:
      return;
    case Type::number:
      if (order == ValueOrder::json) return append_double(out, value.number());
      return append_exact(out, value.exact_number());
    case Type::string:
      return append_ordered_bytes(out, value.text());
    case Type::array:
    case Type::object:
      return append_parts(out, value);
    case Type::binary:
    case Type::regex:
    case Type::code:
      return append_ordered_bytes(out, text_of(value));
    case Type::object_id:
    case Type::guid:
      out += value.bytes();
      return;
    case Type::date: {
      const Date date = value.date();
      append_u64(out, std::bit_cast<uint64_t>(date.ms) ^ kSignBit);
      out += static_cast<char>(date.ticks >> 8);
      out += static_cast<char>(date.ticks & 0xFF);
      return;
    }
    case Type::timestamp:
      return append_u64(out, value.timestamp());
  }
}

// Of an exact number after its tag and double; 0 when there is none.
size_t side_size(std::string_view in, bool inverted) {
  constexpr size_t kDouble = 8;
  constexpr size_t kExponent = 2;
  if (in.size() <= kDouble) return 0;
  const auto plain = [&](size_t at) { return inverted ? static_cast<char>(~in[at]) : in[at]; };
  const char side = plain(kDouble);
  if (side == kExact) return 1;
  if (side != kBelow && side != kAbove) return 0;
  // Zero as a double is 80 00 …, and what is below that is negative.
  bool is_zero = plain(0) == '\x80';
  for (size_t i = 1; i < kDouble; ++i) is_zero = is_zero && plain(i) == 0;
  const bool is_negative = is_zero ? side == kBelow : (static_cast<uint8_t>(plain(0)) & 0x80) == 0;
  const char end = is_negative != inverted ? '\xFF' : '\0';
  const size_t at = in.find(end, kDouble + 1 + kExponent);
  return at == std::string_view::npos ? 0 : at + 1 - kDouble;
}

// Of ordered bytes, and the hash after those that were cut; 0 when they have no end.
size_t text_size(std::string_view in, bool inverted) {
  const char zero = inverted ? '\xFF' : '\0';
  for (size_t from = 0;;) {
    const size_t at = in.find(zero, from);
    if (at == std::string_view::npos || at + 1 >= in.size()) return 0;
    const char mark = inverted ? static_cast<char>(~in[at + 1]) : in[at + 1];
    from = at + 2;
    if (mark == kTextEnd) return from;
    if (mark == kCutTextEnd) return from + kCutTextHashBytes;
    if (mark != '\xFF') return 0;
  }
}

}  // namespace

void append_term_value(std::string& out, const Value& value, ValueOrder order) {
  switch (value.type()) {
    case Type::undefined:
      return;
    case Type::string:
      out += first_tag(Type::string, order);
      return append_text(out, value.text());
    case Type::binary:
    case Type::regex:
    case Type::code:
      out += first_tag(value.type(), order);
      return append_text(out, text_of(value));
    case Type::array:
    case Type::object:
      out += first_tag(value.type(), order);
      if (order == ValueOrder::typed) {
        std::string parts;
        append_parts(parts, value);
        append_text(out, parts);
      }
      return;
    default:
      append_any(out, value, order);
  }
}

void append_term_value(std::string& out, const Node& node, ValueOrder order) {
  if (order == ValueOrder::json) {
    // On the path of every write.
    if (node.type == Type::string) return append_term_value(out, node.text);
    if (node.type == Type::number) return append_term_value(out, node.number);
  }
  append_term_value(out, Value::from(node), order);
}

void append_term_value(std::string& out, std::string_view text) {
  out += first_tag(Type::string, ValueOrder::json);
  append_text(out, text);
}

void append_term_value(std::string& out, double number) {
  out += first_tag(Type::number, ValueOrder::json);
  append_double(out, number);
}

std::pair<char, char> term_tags(Type type, ValueOrder order) {
  const char first = first_tag(type, order);
  return {first, static_cast<char>(first + (type == Type::boolean ? 1 : 0))};
}

std::optional<Type> type_of_tag(char tag) {
  const auto at = static_cast<uint8_t>(tag);
  return at < kTags ? kTypeOfTag[at] : std::nullopt;
}

size_t term_value_size(std::string_view in, bool inverted) {
  if (in.empty()) return 0;
  const char tag = inverted ? static_cast<char>(~in.front()) : in.front();
  const TagBytes bytes = kBytesOfTag[static_cast<uint8_t>(tag)];
  size_t size = bytes.fixed;
  if (bytes.end != TagBytes::End::fixed) {
    const std::string_view rest = in.substr(1);
    const size_t varying =
        bytes.end == TagBytes::End::text ? text_size(rest, inverted) : side_size(rest, inverted);
    if (varying == 0) return 0;
    size += varying;
  }
  return size <= in.size() ? size : 0;
}

bool is_cut_term_value(std::string_view bytes) {
  if (bytes.empty()) return false;
  const auto type = type_of_tag(bytes.front());
  const bool is_typed = bytes.front() >= kTypedTags;
  const bool is_list = type == Type::array || type == Type::object;
  const bool is_text = type == Type::string || type == Type::binary || type == Type::regex ||
                       type == Type::code || (is_typed && is_list);
  // 00 02 and a hash. No text that was not cut has these two bytes in a row there.
  constexpr size_t kCutTail = kCutTextHashBytes + 2;
  if (!is_text || bytes.size() <= kCutTail) return false;
  const size_t tail = bytes.size() - kCutTail;
  return bytes[tail] == 0x00 && bytes[tail + 1] == kCutTextEnd;
}

}  // namespace orrery::value

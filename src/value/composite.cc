// See composite.h. Ranges are made from starts of components: as no component starts another, what
// starts with one lies between it and the first byte string after all those that start with it.
#include "value/composite.h"

#include <algorithm>

#include "base/hash.h"
#include "value/ordered.h"
#include "value/terms.h"

namespace orrery::value {
namespace {

constexpr char kUndefined = 0x00;
constexpr auto kFirstDescendingTag = static_cast<uint8_t>(~0x08);
constexpr char kTextTag = 0x05;
constexpr size_t kStart = 1 + kCompositeIdBytes;

std::unexpected<Error> malformed() {
  return fail(Code::corrupt, "an index entry does not have the form of a composite term");
}

void invert(std::string& bytes, size_t from) {
  for (size_t i = from; i < bytes.size(); ++i) bytes[i] = static_cast<char>(~bytes[i]);
}

// Ascending.
std::string component_of(const Value& value) {
  std::string out;
  switch (value.type()) {
    case Type::undefined:
      out += kUndefined;
      break;
    case Type::number:
      append_term_value(out, value.number());
      break;
    case Type::string:
      append_term_value(out, value.text());
      break;
    default: {
      Node node;
      node.type = value.type();
      node.boolean = value.is_true();
      append_term_value(out, node);
    }
  }
  return out;
}

void append_component(std::string& out, std::string_view ascending, bool descending) {
  const size_t at = out.size();
  out += ascending;
  if (descending) invert(out, at);
}

// The tags that values of a type start with.
std::pair<char, char> tags_of(Type type) {
  switch (type) {
    case Type::undefined:
      return {0x00, 0x00};
    case Type::null:
      return {0x01, 0x01};
    case Type::boolean:
      return {0x02, 0x03};
    case Type::number:
      return {0x04, 0x04};
    case Type::string:
      return {0x05, 0x05};
    case Type::array:
      return {0x07, 0x07};
    case Type::object:
      return {0x08, 0x08};
  }
  return {0x00, 0x00};
}

// What texts that start so start with, as components.
std::string text_start(std::string_view text) {
  std::string out(1, kTextTag);
  append_ordered_bytes(out, text.substr(0, kMaxTermText));
  out.resize(out.size() - 2);
  return out;
}

bool is_cut(const Value& value) {
  return value.is_string() && value.text().size() > kMaxTermText;
}

// Takes a component off the front and gives it in ascending form; empty when there is none.
std::string take_component(std::string_view& in) {
  if (in.empty()) return {};
  const bool descending = static_cast<uint8_t>(in.front()) >= kFirstDescendingTag;
  const auto plain = [&](size_t at) { return descending ? static_cast<char>(~in[at]) : in[at]; };
  size_t size = 1;
  switch (plain(0)) {
    case 0x00:
    case 0x01:
    case 0x02:
    case 0x03:
    case 0x07:
    case 0x08:
      break;
    case 0x04:
      size += 8;
      break;
    case kTextTag: {
      const char zero = descending ? '\xFF' : '\0';
      for (;;) {
        const size_t at = in.find(zero, size);
        if (at == std::string_view::npos || at + 1 >= in.size()) return {};
        size = at + 2;
        if (plain(at + 1) == 0x01) break;
        if (plain(at + 1) == 0x02) {
          size += kCutTextHashBytes;
          break;
        }
        if (plain(at + 1) != '\xFF') return {};
      }
      break;
    }
    default:
      return {};
  }
  if (in.size() < size) return {};
  std::string out(in.substr(0, size));
  if (descending) invert(out, 0);
  in.remove_prefix(size);
  return out;
}

}  // namespace

std::string CompositeTerms::prefix(const CompositeIndex& index) {
  std::string text;
  for (const CompositeIndex::Part& part : index.parts) {
    text += term_path(part.path);
    text += part.descending ? 'd' : 'a';
  }
  const auto hash = murmur3_x64_128(text, 0);
  std::string out(1, kCompositeLead);
  out.append(reinterpret_cast<const char*>(hash.data()), kCompositeIdBytes);
  return out;
}

void CompositeTerms::append(std::string& out, const CompositeIndex& index, const Node& item) {
  for (const CompositeIndex::Part& part : index.parts) {
    const size_t at = out.size();
    if (const Node* node = find(item, part.path)) {
      append_term_value(out, *node);
    } else {
      out += kUndefined;
    }
    if (part.descending) invert(out, at);
  }
  out += kCompositeEnd;
}

CompositeTerms::CompositeTerms(const CompositeIndex& index)
    : index_(index), prefix_(prefix(index)) {}

void CompositeTerms::fix(const Value& value) {
  append_component(prefix_, component_of(value), index_.parts[fixed_].descending);
  is_exact_ = is_exact_ && !is_cut(value) && !value.is_array() && !value.is_object();
  ++fixed_;
}

CompositeRange CompositeTerms::all() const {
  return {.from = prefix_, .to = after_prefix(prefix_), .is_exact = is_exact_};
}

// `low` and `high` are starts of components, ascending.
CompositeRange CompositeTerms::range(std::string_view low, bool low_inclusive,
                                     std::string_view high, bool high_inclusive) const {
  const bool descending = index_.parts[fixed_].descending;
  if (descending) {
    std::swap(low, high);
    std::swap(low_inclusive, high_inclusive);
  }
  std::string from = prefix_;
  std::string to = prefix_;
  append_component(from, low, descending);
  append_component(to, high, descending);
  if (!low_inclusive) from = after_prefix(from);
  if (high_inclusive) to = after_prefix(to);
  return {.from = std::move(from), .to = std::move(to), .is_exact = is_exact_};
}

CompositeRange CompositeTerms::between(const std::optional<Edge>& low,
                                       const std::optional<Edge>& high) const {
  const Type type = low ? low->value.type() : high->value.type();
  const auto [first, last] = tags_of(type);
  bool exact = true;
  const auto edge = [&](const std::optional<Edge>& given, char otherwise) {
    if (!given) return std::pair(std::string(1, otherwise), true);
    if (!is_cut(given->value)) return std::pair(component_of(given->value), given->inclusive);
    exact = false;  // of texts that start like it the order is not known
    return std::pair(text_start(given->value.text()), true);
  };
  const auto [from, from_inclusive] = edge(low, first);
  const auto [to, to_inclusive] = edge(high, last);
  CompositeRange out = range(from, from_inclusive, to, to_inclusive);
  out.is_exact = out.is_exact && exact;
  return out;
}

CompositeRange CompositeTerms::of_type(Type type) const {
  const auto [first, last] = tags_of(type);
  return range({&first, 1}, true, {&last, 1}, true);
}

CompositeRange CompositeTerms::starting_with(std::string_view text) const {
  const std::string start = text_start(text);
  CompositeRange out = range(start, true, start, true);
  out.is_exact = out.is_exact && text.size() <= kMaxTermText;
  return out;
}

Result<std::vector<CompositeTerms::Component>> CompositeTerms::decode(std::string_view term) const {
  const std::string start = prefix(index_);
  if (!term.starts_with(start)) return malformed();
  std::string_view in = term.substr(start.size());
  std::vector<Component> components;
  for (const CompositeIndex::Part& part : index_.parts) {
    const bool descending = !in.empty() && static_cast<uint8_t>(in.front()) >= kFirstDescendingTag;
    const std::string bytes = take_component(in);
    if (bytes.empty() || descending != part.descending) return malformed();
    std::string_view rest = bytes;
    const char tag = rest.front();
    rest.remove_prefix(1);
    Component& component = components.emplace_back();
    switch (tag) {
      case 0x00:
        break;
      case 0x01:
        component.value = Value::make_null();
        break;
      case 0x02:
      case 0x03:
        component.value = Value::make_bool(tag == 0x03);
        break;
      case 0x04: {
        auto number = take_ordered_number(rest);
        if (!number) return pass(number.error());
        component.value = Value::make_number(*number);
        break;
      }
      case kTextTag:
        if (auto text = take_ordered_bytes(rest)) {
          component.value = Value::make_string(std::move(*text));
        } else {
          component.is_exact = false;
        }
        component.type = Type::string;
        continue;
      default:
        component.is_exact = false;
        component.type = tag == 0x07 ? Type::array : Type::object;
        continue;
    }
    component.type = component.value.type();
  }
  if (in != std::string_view(&kCompositeEnd, 1)) return malformed();
  return components;
}

std::string_view composite_run(std::string_view term) {
  if (term.size() < kStart) return term;
  std::string_view in = term.substr(kStart);
  while (!in.empty() && in.front() != kCompositeEnd) {
    const size_t at = term.size() - in.size();
    const std::string bytes = take_component(in);
    if (bytes.empty()) return term;
    if (bytes.front() == 0x07 || bytes.front() == 0x08) return term.substr(0, at + 1);
    // The end of a text that was cut: 00 02 and a hash. No other text has these two bytes in a row.
    constexpr size_t kCutTail = kCutTextHashBytes + 2;
    if (bytes.front() != kTextTag || bytes.size() <= kCutTail) continue;
    const size_t tail = bytes.size() - kCutTail;
    if (bytes[tail] == 0x00 && bytes[tail + 1] == 0x02) return term.substr(0, at + tail + 2);
  }
  return term;
}

size_t composite_term_size(std::string_view key) {
  if (key.size() < kStart || key.front() != kCompositeLead) return 0;
  std::string_view in = key.substr(kStart);
  while (!in.empty() && in.front() != kCompositeEnd) {
    if (take_component(in).empty()) return 0;
  }
  return in.empty() ? 0 : key.size() - in.size() + 1;
}

}  // namespace orrery::value

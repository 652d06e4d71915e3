// See composite.h. Ranges are made from prefixes of components. No component is a prefix of
// another, so all terms with a prefix lie between it and its successor (after_prefix).
#include "value/composite.h"

#include <algorithm>

#include "base/hash.h"
#include "value/ordered.h"
#include "value/terms.h"

namespace orrery::value {
namespace {

// Tags are below 80, and inverted ones not. (The end, 7F, is no tag.)
bool is_descending(std::string_view component) {
  return static_cast<uint8_t>(component.front()) >= 0x80;
}

constexpr size_t kStart = 1 + kCompositeIdBytes;

std::unexpected<Error> malformed() {
  return fail(Code::corrupt, "an index entry does not have the form of a composite term");
}

void invert(std::string& bytes, size_t from) {
  for (size_t i = from; i < bytes.size(); ++i) bytes[i] = static_cast<char>(~bytes[i]);
}

// What an item without the value has.
char missing_tag(ValueOrder order) {
  return term_tags(order == ValueOrder::typed ? Type::null : Type::undefined, order).first;
}

// Ascending.
std::string component_of(const Value& value, ValueOrder order) {
  if (value.is_undefined()) return {missing_tag(order)};
  std::string out;
  append_term_value(out, value, order);
  return out;
}

void append_component(std::string& out, std::string_view ascending, bool descending) {
  const size_t at = out.size();
  out += ascending;
  if (descending) invert(out, at);
}

// What texts that start so start with, as components.
std::string text_start(std::string_view text, ValueOrder order) {
  std::string out(1, term_tags(Type::string, order).first);
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
  const bool descending = is_descending(in);
  const size_t size = term_value_size(in, descending);
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

void CompositeTerms::append_part(std::string& out, const CompositeIndex::Part& part,
                                 const Node& item, ValueOrder order) {
  const size_t at = out.size();
  if (const Node* node = find(item, part.path)) append_term_value(out, *node, order);
  if (out.size() == at) out += missing_tag(order);
  if (part.descending) invert(out, at);
}

void CompositeTerms::append(std::string& out, const CompositeIndex& index, const Node& item,
                            ValueOrder order) {
  for (const CompositeIndex::Part& part : index.parts) append_part(out, part, item, order);
  out += kCompositeEnd;
}

CompositeTerms::CompositeTerms(const CompositeIndex& index, ValueOrder order)
    : index_(index), order_(order), prefix_(prefix(index)) {}

void CompositeTerms::fix(const Value& value) {
  append_component(prefix_, component_of(value, order_), index_.parts[fixed_].descending);
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
  const auto [first, last] = term_tags(type, order_);
  bool exact = true;
  const auto edge = [&](const std::optional<Edge>& given, char otherwise) {
    if (!given) return std::pair(std::string(1, otherwise), true);
    if (!is_cut(given->value))
      return std::pair(component_of(given->value, order_), given->inclusive);
    exact = false;  // of texts that start like it the order is not known
    return std::pair(text_start(given->value.text(), order_), true);
  };
  const auto [from, from_inclusive] = edge(low, first);
  const auto [to, to_inclusive] = edge(high, last);
  CompositeRange out = range(from, from_inclusive, to, to_inclusive);
  out.is_exact = out.is_exact && exact;
  return out;
}

CompositeRange CompositeTerms::of_type(Type type) const {
  const auto [first, last] = term_tags(type, order_);
  return range({&first, 1}, true, {&last, 1}, true);
}

CompositeRange CompositeTerms::starting_with(std::string_view text) const {
  const std::string start = text_start(text, order_);
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
    const bool descending = !in.empty() && is_descending(in);
    const std::string bytes = take_component(in);
    if (bytes.empty() || descending != part.descending) return malformed();
    std::string_view rest = bytes;
    const char tag = rest.front();
    rest.remove_prefix(1);
    Component& component = components.emplace_back();
    component.type = *type_of_tag(tag);
    // The typed order does not keep how a number is represented.
    if (order_ == ValueOrder::typed || component.type > Type::string) {
      component.is_exact = component.type == Type::undefined || component.type == Type::null;
      if (component.type == Type::null) component.value = Value::make_null();
      continue;
    }
    switch (component.type) {
      case Type::null:
        component.value = Value::make_null();
        break;
      case Type::boolean:
        component.value = Value::make_bool(tag != term_tags(Type::boolean, order_).first);
        break;
      case Type::number: {
        auto number = take_ordered_number(rest);
        if (!number) return pass(number.error());
        component.value = Value::make_number(*number);
        break;
      }
      case Type::string:
        if (auto text = take_ordered_bytes(rest)) {
          component.value = Value::make_string(std::move(*text));
        } else {
          component.is_exact = false;
        }
        break;
      default:
        break;
    }
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
    constexpr auto kJson = ValueOrder::json;
    if (bytes.front() == term_tags(Type::array, kJson).first ||
        bytes.front() == term_tags(Type::object, kJson).first) {
      return term.substr(0, at + 1);
    }
    if (is_cut_term_value(bytes)) {
      return term.substr(0, at + bytes.size() - kCutTextHashBytes);
    }
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

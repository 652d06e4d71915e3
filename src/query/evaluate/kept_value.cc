// See kept_value.h.
#include "query/evaluate/kept_value.h"

#include <bit>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "value/document.h"

namespace orrery::query {
namespace {

using value::NumberKind;
using value::Type;
using value::Value;

bool is_json(const Value& value) {
  switch (value.type()) {
    case Type::number: {
      // -0 is written as 0.
      const bool is_negative_zero = value.number() == 0 && std::signbit(value.number());
      return value.number_kind() == NumberKind::real && std::isfinite(value.number()) &&
             !is_negative_zero;
    }
    case Type::array:
      for (const Value element : value.elements()) {
        if (!is_json(element)) return false;
      }
      return true;
    case Type::object:
      for (const Value::Member& member : value.members()) {
        if (!is_json(member.value)) return false;
      }
      return true;
    default:
      return value.type() <= Type::string;
  }
}

void append_u32(std::string& out, size_t number) {
  char bytes[4];
  store_u32_le(bytes, static_cast<uint32_t>(number));
  out.append(bytes, sizeof bytes);
}

void append_bits(std::string& out, uint64_t bits) {
  char bytes[8];
  store_u64_le(bytes, bits);
  out.append(bytes, sizeof bytes);
}

void append_kept_text(std::string& out, std::string_view text) {
  append_u32(out, text.size());
  out += text;
}

void append_number(std::string& out, const Value& value) {
  out += static_cast<char>(value.number_kind());
  switch (value.number_kind()) {
    case NumberKind::real:
      return append_bits(out, std::bit_cast<uint64_t>(value.number()));
    case NumberKind::int32:
    case NumberKind::int64:
      return append_bits(out, std::bit_cast<uint64_t>(value.integer()));
    case NumberKind::decimal:
      out += value.decimal();
  }
}

void append_bytes(std::string& out, const Value& value) {
  out += static_cast<char>(value.type());
  switch (value.type()) {
    case Type::boolean:
      out += value.boolean() ? '\x01' : '\x00';
      return;
    case Type::number:
      return append_number(out, value);
    case Type::string:
      return append_kept_text(out, value.text());
    case Type::array:
      append_u32(out, value.size());
      for (const Value element : value.elements()) append_bytes(out, element);
      return;
    case Type::object:
      append_u32(out, value.size());
      for (const Value::Member& member : value.members()) {
        append_kept_text(out, member.name);
        append_bytes(out, member.value);
      }
      return;
    case Type::date:
      append_bits(out, std::bit_cast<uint64_t>(value.date().ms));
      return append_u32(out, value.date().ticks);
    case Type::timestamp:
      return append_bits(out, value.timestamp());
    default:
      if (!value.has_bytes()) return;
      out += static_cast<char>(value.subtype());
      return append_kept_text(out, value.bytes());
  }
}

class Reader {
 public:
  explicit Reader(std::string_view in) : in_(in) {}

  std::optional<Value> all() {
    auto value = read(0);
    return in_.empty() ? std::move(value) : std::nullopt;
  }

 private:
  std::optional<std::string_view> take(size_t size) {
    if (in_.size() < size) return std::nullopt;
    const std::string_view taken = in_.substr(0, size);
    in_.remove_prefix(size);
    return taken;
  }
  std::optional<uint32_t> take_count() {
    const auto bytes = take(4);
    return bytes ? std::optional(load_u32_le(bytes->data())) : std::nullopt;
  }
  std::optional<uint64_t> take_bits() {
    const auto bytes = take(8);
    return bytes ? std::optional(load_u64_le(bytes->data())) : std::nullopt;
  }
  std::optional<std::string> take_text() {
    const auto size = take_count();
    const auto text = size ? take(*size) : std::nullopt;
    return text ? std::optional<std::string>(*text) : std::nullopt;
  }

  std::optional<Value> read(int depth) {
    const auto type = take(1);
    if (!type || depth > value::kMaxDepth + 8) return std::nullopt;  // those of states around it
    switch (static_cast<Type>(type->front())) {
      case Type::null:
        return Value::make_null();
      case Type::boolean: {
        const auto byte = take(1);
        return byte ? std::optional(Value::make_bool(byte->front() != 0)) : std::nullopt;
      }
      case Type::number:
        return read_number();
      case Type::string: {
        auto text = take_text();
        return text ? std::optional(Value::make_string(std::move(*text))) : std::nullopt;
      }
      case Type::array:
        return read_array(depth);
      case Type::object:
        return read_object(depth);
      case Type::date: {
        const auto ms = take_bits();
        const auto ticks = take_count();
        if (!ms || !ticks) return std::nullopt;
        return Value::make_date({std::bit_cast<int64_t>(*ms), *ticks});
      }
      case Type::timestamp: {
        const auto bits = take_bits();
        return bits ? std::optional(Value::make_timestamp(*bits)) : std::nullopt;
      }
      case Type::min_key:
        return Value::make_min_key();
      case Type::max_key:
        return Value::make_max_key();
      case Type::binary:
      case Type::object_id:
      case Type::guid:
      case Type::regex:
      case Type::code: {
        const auto subtype = take(1);
        auto bytes = take_text();
        if (!subtype || !bytes) return std::nullopt;
        return Value::make_bytes(static_cast<Type>(type->front()), std::move(*bytes),
                                 static_cast<uint8_t>(subtype->front()));
      }
      default:
        return std::nullopt;
    }
  }

  std::optional<Value> read_number() {
    const auto kind = take(1);
    if (!kind) return std::nullopt;
    switch (static_cast<NumberKind>(kind->front())) {
      case NumberKind::real: {
        const auto bits = take_bits();
        return bits ? std::optional(Value::make_number(std::bit_cast<double>(*bits)))
                    : std::nullopt;
      }
      case NumberKind::int32:
      case NumberKind::int64: {
        const auto bits = take_bits();
        if (!bits) return std::nullopt;
        return Value::make_integer(std::bit_cast<int64_t>(*bits),
                                   static_cast<NumberKind>(kind->front()));
      }
      case NumberKind::decimal: {
        const auto bytes = take(16);
        return bytes ? std::optional(Value::make_decimal(std::string(*bytes))) : std::nullopt;
      }
    }
    return std::nullopt;
  }

  std::optional<Value> read_array(int depth) {
    const auto count = take_count();
    if (!count || *count > in_.size()) return std::nullopt;
    std::vector<Value> elements;
    elements.reserve(*count);
    for (uint32_t i = 0; i < *count; ++i) {
      auto element = read(depth + 1);
      if (!element) return std::nullopt;
      elements.push_back(std::move(*element));
    }
    return Value::make_array(std::move(elements));
  }

  std::optional<Value> read_object(int depth) {
    const auto count = take_count();
    if (!count || *count > in_.size()) return std::nullopt;
    std::vector<Value::Field> fields;
    fields.reserve(*count);
    for (uint32_t i = 0; i < *count; ++i) {
      auto name = take_text();
      auto member = name ? read(depth + 1) : std::nullopt;
      if (!member) return std::nullopt;
      fields.push_back({Value::make_string(std::move(*name)), std::move(*member)});
    }
    return Value::make_object(std::move(fields));
  }

  std::string_view in_;
};

}  // namespace

void append_kept(std::string& out, const Value& value) {
  out += '[';
  if (is_json(value)) {
    value.append_json(out);
  } else {
    std::string bytes;
    append_bytes(bytes, value);
    out += "0,\"" + to_hex_upper(bytes) + '"';
  }
  out += ']';
}

std::optional<Value> parse_kept(const Value& form) {
  if (!form.is_array()) return std::nullopt;
  if (form.size() < 2) return form.at(0);
  const Value hex = form.at(1);
  if (!hex.is_string()) return std::nullopt;
  const auto bytes = from_hex(hex.text());
  return bytes ? Reader(*bytes).all() : std::nullopt;
}

}  // namespace orrery::query

// See test_ejson.h.
#include "api/mongo/bson/test_ejson.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "api/mongo/bson/numbers.h"
#include "api/mongo/bson/types.h"
#include "value/json.h"

namespace orrery::mongo {
namespace {

constexpr std::string_view kDigits64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string from_hex(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    unsigned byte = 0;
    std::from_chars(text.data() + i, text.data() + i + 2, byte, 16);
    bytes.push_back(static_cast<char>(byte));
  }
  return bytes;
}

std::string to_hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::string from_base64(std::string_view text) {
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const size_t digit = kDigits64.find(c);
    if (digit == std::string_view::npos) break;
    bits = (bits << 6) | static_cast<uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes.push_back(static_cast<char>((bits >> count) & 0xff));
    }
  }
  return bytes;
}

std::string to_base64(std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; ++j) {
      bits = (bits << 8) | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0);
    }
    for (size_t j = 0; j < 4; ++j) {
      text.push_back(i + j > bytes.size() ? '=' : kDigits64[(bits >> (18 - 6 * j)) & 63]);
    }
  }
  return text;
}

int64_t to_integer(const Value& text) {
  int64_t integer = 0;
  if (text.is_string()) {
    std::from_chars(text.text().data(), text.text().data() + text.text().size(), integer);
  }
  return integer;
}

Value read_double(std::string_view text) {
  if (text == "NaN") return Value::make_number(std::numeric_limits<double>::quiet_NaN());
  if (text == "Infinity") return Value::make_number(std::numeric_limits<double>::infinity());
  if (text == "-Infinity") return Value::make_number(-std::numeric_limits<double>::infinity());
  return Value::make_number(std::strtod(std::string(text).c_str(), nullptr));
}

Value read_int(const Value& v) {
  return make_int32(to_integer(v));
}
Value read_long(const Value& v) {
  return make_int64(to_integer(v));
}
Value read_real(const Value& v) {
  return v.is_string() ? read_double(v.text()) : Value();
}
Value read_decimal(const Value& v) {
  const auto decimal = v.is_string() ? parse_decimal(v.text()) : std::nullopt;
  return decimal ? make_decimal(*decimal) : Value();
}
// 2017-06-19T15:13:25.713Z
std::optional<int64_t> read_iso_date(std::string_view text) {
  std::array<int, 7> parts = {};
  const size_t point = text.find('.');
  const size_t digits = point == std::string_view::npos ? 0 : text.size() - point - 2;
  if (std::sscanf(std::string(text).c_str(), "%d-%d-%dT%d:%d:%d.%3dZ", &parts[0], &parts[1],
                  &parts[2], &parts[3], &parts[4], &parts[5], &parts[6]) < 6) {
    return std::nullopt;
  }
  const std::chrono::year_month_day day(std::chrono::year(parts[0]),
                                        std::chrono::month(static_cast<unsigned>(parts[1])),
                                        std::chrono::day(static_cast<unsigned>(parts[2])));
  const int64_t days = std::chrono::sys_days(day).time_since_epoch().count();
  return (((days * 24 + parts[3]) * 60 + parts[4]) * 60 + parts[5]) * 1000 +
         parts[6] * (digits == 1   ? 100
                     : digits == 2 ? 10
                                   : 1);
}
Value read_date(const Value& v) {
  if (v.is_number()) return make_date(static_cast<int64_t>(v.number()));
  if (v.is_string()) {
    const auto ms = read_iso_date(v.text());
    return ms ? make_date(*ms) : Value();
  }
  return make_date(to_integer(v.find("$numberLong")));
}
Value read_oid(const Value& v) {
  return v.is_string() ? Value::make_bytes(Type::object_id, from_hex(v.text())) : Value();
}
Value read_timestamp(const Value& v) {
  if (!v.is_object()) return {};
  const auto part = [&](std::string_view name) {
    const Value given = v.find(name);
    return static_cast<uint64_t>(given.is_number() ? given.number() : 0);
  };
  return Value::make_timestamp((part("t") << 32) | (part("i") & 0xffffffff));
}
Value read_binary(const Value& v) {
  const Value bytes = v.find("base64");
  const Value subtype = v.find("subType");
  if (!bytes.is_string() || !subtype.is_string()) return {};
  unsigned number = 0;
  const std::string_view text = subtype.text();
  std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return Value::make_bytes(Type::binary, from_base64(bytes.text()), static_cast<uint8_t>(number));
}
Value read_uuid(const Value& v) {
  if (!v.is_string()) return {};
  std::string digits(v.text());
  std::erase(digits, '-');
  return Value::make_bytes(Type::binary, from_hex(digits), 4);
}
Value read_regex(const Value& v) {
  const Value pattern = v.find("pattern");
  const Value options = v.find("options");
  if (!pattern.is_string() || !options.is_string()) return {};
  return make_regex(pattern.text(), options.text());
}
Value read_code(const Value& v) {
  return v.is_string() ? Value::make_bytes(Type::code, std::string(v.text())) : Value();
}
Value read_symbol(const Value& v) {
  return v;
}
// BSON's undefined is null to everything that reads it.
Value read_undefined(const Value&) {
  return Value::make_null();
}
Value read_min(const Value&) {
  return Value::make_min_key();
}
Value read_max(const Value&) {
  return Value::make_max_key();
}
Value read_pointer(const Value& v) {
  return from_ejson(v);
}

struct Wrapper {
  std::string_view name;
  Value (*read)(const Value&);
};
constexpr std::array kWrappers = {
    Wrapper{"$numberInt", read_int},       Wrapper{"$numberLong", read_long},
    Wrapper{"$numberDouble", read_real},   Wrapper{"$numberDecimal", read_decimal},
    Wrapper{"$date", read_date},           Wrapper{"$oid", read_oid},
    Wrapper{"$timestamp", read_timestamp}, Wrapper{"$binary", read_binary},
    Wrapper{"$uuid", read_uuid},           Wrapper{"$regularExpression", read_regex},
    Wrapper{"$code", read_code},           Wrapper{"$symbol", read_symbol},
    Wrapper{"$undefined", read_undefined}, Wrapper{"$minKey", read_min},
    Wrapper{"$maxKey", read_max},          Wrapper{"$dbPointer", read_pointer},
};

void write(std::string& out, const Value& value);

void write_text(std::string& out, std::string_view name, std::string_view text) {
  out += fmt::format("{{\"{}\":", name);
  value::append_json_string(out, text);
  out += '}';
}

void write_number(std::string& out, const Value& value) {
  switch (value.number_kind()) {
    case NumberKind::int32:
      return write_text(out, "$numberInt", std::to_string(value.integer()));
    case NumberKind::int64:
      return write_text(out, "$numberLong", std::to_string(value.integer()));
    case NumberKind::decimal:
      return write_text(out, "$numberDecimal", decimal_text(decimal_of(value)));
    case NumberKind::real:
      break;
  }
  std::string text = double_text(value.number());
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  write_text(out, "$numberDouble", text);
}

void write(std::string& out, const Value& value) {
  switch (value.type()) {
    case Type::number:
      return write_number(out, value);
    case Type::date:
      out += fmt::format(R"({{"$date":{{"$numberLong":"{}"}}}})", value.date().ms);
      return;
    case Type::object_id:
      return write_text(out, "$oid", to_hex(value.bytes()));
    case Type::timestamp:
      out += fmt::format(R"({{"$timestamp":{{"t":{},"i":{}}}}})", value.timestamp() >> 32,
                         value.timestamp() & 0xffffffff);
      return;
    case Type::binary:
    case Type::guid:
      out += fmt::format(R"({{"$binary":{{"base64":"{}","subType":"{:02x}"}}}})",
                         to_base64(value.bytes()), value.subtype());
      return;
    case Type::regex:
      out += R"({"$regularExpression":{"pattern":)";
      value::append_json_string(out, regex_pattern(value));
      out += ",\"options\":";
      value::append_json_string(out, regex_options(value));
      out += "}}";
      return;
    case Type::code:
      return write_text(out, "$code", value.bytes());
    case Type::min_key:
      out += R"({"$minKey":1})";
      return;
    case Type::max_key:
      out += R"({"$maxKey":1})";
      return;
    case Type::array: {
      char separator = '[';
      for (const Value& element : value.elements()) {
        out += separator;
        separator = ',';
        write(out, element);
      }
      out += value.size() == 0 ? "[]" : "]";
      return;
    }
    case Type::object: {
      char separator = '{';
      for (const auto& [name, member] : value.members()) {
        out += separator;
        separator = ',';
        value::append_json_string(out, name);
        out += ':';
        write(out, member);
      }
      out += value.size() == 0 ? "{}" : "}";
      return;
    }
    case Type::undefined:
      out += "MISSING";
      return;
    case Type::null:
    case Type::boolean:
    case Type::string:
      value.append_json(out);
      return;
  }
}

}  // namespace

Value from_ejson(const Value& json) {
  if (json.is_number()) {
    const auto whole = json.number_kind() == NumberKind::real ? exact_integer(json) : std::nullopt;
    return whole ? make_integer(*whole) : json;
  }
  if (json.is_array()) {
    std::vector<Value> elements;
    for (const Value& element : json.elements()) elements.push_back(from_ejson(element));
    return Value::make_array(std::move(elements));
  }
  if (!json.is_object()) return json;
  if (json.size() > 0) {
    const Value::Member first = *json.members().begin();
    const auto* const wrapper = std::ranges::find(kWrappers, first.name, &Wrapper::name);
    if (wrapper != kWrappers.end() && (json.size() == 1 || first.name == "$code")) {
      return wrapper->read(first.value);
    }
  }
  // As it was written before $regularExpression.
  if (const Value pattern = json.find("$regex"); pattern.is_string() && json.size() == 2) {
    const Value options = json.find("$options");
    if (options.is_string()) return make_regex(pattern.text(), options.text());
  }
  std::vector<Value::Field> fields;
  for (const auto& [name, member] : json.members()) {
    fields.push_back(field(name, from_ejson(member)));
  }
  return Value::make_object(std::move(fields));
}

Value from_ejson(std::string_view text) {
  auto document = value::JsonDocument::parse(text);
  if (!document) std::abort();
  return from_ejson(Value::make_document(std::move(*document))).to_owned();
}

std::string to_ejson(const Value& value) {
  std::string text;
  write(text, value);
  return text;
}

}  // namespace orrery::mongo

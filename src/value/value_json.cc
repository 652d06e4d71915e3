// Printing values as JSON. See value.h.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "value/number.h"
#include "value/value.h"
#include "value/value_parts.h"

namespace orrery::value {
namespace {

constexpr int64_t kMsInDay = 86'400'000;

void append_hex(std::string& out, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const char byte : bytes) {
    out += kDigits[static_cast<uint8_t>(byte) >> 4];
    out += kDigits[static_cast<uint8_t>(byte) & 15];
  }
}

std::string guid_text(std::string_view bytes) {
  std::string out;
  size_t at = 0;
  for (const size_t size : {4, 2, 2, 2, 6}) {
    if (at > 0) out += '-';
    append_hex(out, bytes.substr(std::min(at, bytes.size()), size));
    at += size;
  }
  return out;
}

// As ISO 8601 says, with as many digits as it has: 2026-11-16T02:51:45.123Z. Beyond what calendars
// are made for, the milliseconds.
std::string date_text(Date date) {
  constexpr int64_t kFirstDay = -719'528;  // of the years 0 to 9999
  constexpr int64_t kLastDay = 2'932'896;
  const int64_t day = date.ms / kMsInDay - (date.ms % kMsInDay < 0 ? 1 : 0);
  if (day < kFirstDay || day > kLastDay) return fmt::format("{} ms", date.ms);
  const std::chrono::year_month_day calendar{std::chrono::sys_days{std::chrono::days{day}}};
  const int64_t ms = date.ms - day * kMsInDay;
  std::string out =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}", static_cast<int>(calendar.year()),
                  static_cast<unsigned>(calendar.month()), static_cast<unsigned>(calendar.day()),
                  ms / 3'600'000, ms / 60'000 % 60, ms / 1'000 % 60, ms % 1'000);
  if (date.ticks > 0) out += fmt::format("{:04}", date.ticks);
  return out + 'Z';
}

std::string regex_text(std::string_view bytes) {
  const size_t end = bytes.find('\0');
  std::string out = "/";
  out += bytes.substr(0, end);
  out += '/';
  if (end != std::string_view::npos) out += bytes.substr(end + 1);
  return out;
}

}  // namespace

void Value::append_typed_json(std::string& out) const {
  switch (type_) {
    case Type::number:
      if (number_kind() != NumberKind::decimal) {
        out += std::to_string(integer());
      } else if (std::isfinite(number())) {
        append_decimal(out, decimal());
      } else {
        out += '"';
        append_decimal(out, decimal());
        out += '"';
      }
      return;
    case Type::binary:
      return append_json_string(out, to_base64(bytes()));
    case Type::object_id:
      out += '"';
      append_hex(out, bytes());
      out += '"';
      return;
    case Type::guid:
      return append_json_string(out, guid_text(bytes()));
    case Type::date:
      return append_json_string(out, date_text(date()));
    case Type::timestamp:
      out += std::to_string(timestamp());
      return;
    case Type::regex:
      return append_json_string(out, regex_text(bytes()));
    case Type::code:
      return append_json_string(out, bytes().substr(0, bytes().find('\0')));
    case Type::min_key:
      out += "\"MinKey\"";
      return;
    case Type::max_key:
      out += "\"MaxKey\"";
      return;
    default:
      return;
  }
}

void Value::append_json(std::string& out) const {
  append_json(out, std::numeric_limits<size_t>::max());
}

bool Value::append_json(std::string& out, size_t most) const {
  if (out.size() > most) return false;
  switch (type_) {
    case Type::undefined:
      return true;
    case Type::null:
      out.append("null");
      return true;
    case Type::boolean:
      out.append(detail_ != 0 ? "true" : "false");
      return true;
    case Type::number:
      if (number_kind() != NumberKind::real) break;
      append_json_number(out, number_);
      return true;
    case Type::string:
      if (count_ > most - out.size()) return false;
      append_json_string(out, text());
      return true;
    default:
      break;
  }
  if (!is_array() && !is_object()) {
    if (is_in_text() && count_ > most - out.size()) return false;
    append_typed_json(out);
    return true;
  }
  if (from_node_ && node_->is_json) {
    if (node_->raw.size() > most - out.size()) return false;
    out.append(node_->raw);
    return true;
  }
  char separator = is_array() ? '[' : '{';
  const char close = is_array() ? ']' : '}';
  if (count_ == 0) out.push_back(separator);
  if (from_node_) {
    for (const Node* part = node_->first; part != nullptr; part = part->next) {
      out.push_back(std::exchange(separator, ','));
      if (is_object()) {
        append_json_string(out, part->name);
        out.push_back(':');
      }
      if (!from(*part).append_json(out, most)) return false;
    }
  } else if (is_array()) {
    for (const Value& element : array_->elements) {
      out.push_back(std::exchange(separator, ','));
      if (!element.append_json(out, most)) return false;
    }
  } else {
    for (const Field& field : object_->fields) {
      out.push_back(std::exchange(separator, ','));
      if (!field.name.append_json(out, most)) return false;
      out.push_back(':');
      if (!field.value.append_json(out, most)) return false;
    }
  }
  out.push_back(close);
  return out.size() <= most;
}

std::string Value::to_json() const {
  std::string out;
  append_json(out);
  return out;
}

}  // namespace orrery::value

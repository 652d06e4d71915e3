// From a stored entity to what a client reads. See entity_json.h.
#include <algorithm>
#include <array>
#include <cmath>

#include "api/table/entities/entity_json.h"
#include "base/bytes.h"
#include "value/json.h"

namespace orrery::table {
namespace {

// Whether the type must be said for the value to be read back: JSON would make another of it.
bool needs_type(const EdmValue& value) {
  switch (value.type) {
    case Edm::string:
    case Edm::boolean:
    case Edm::int32:
      return false;
    case Edm::real:
      return !std::isfinite(value.real) || value.real == std::trunc(value.real);
    case Edm::int64:
    case Edm::datetime:
    case Edm::guid:
    case Edm::binary:
      return true;
  }
  return true;
}

void append_guid(std::string& out, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    const auto byte = static_cast<uint8_t>(bytes[i]);
    out += kDigits[byte >> 4];
    out += kDigits[byte & 0xF];
  }
}

void append_real(std::string& out, double real) {
  if (std::isnan(real)) {
    out += "\"NaN\"";
  } else if (std::isinf(real)) {
    out += real > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  } else {
    if (real == 0 && std::signbit(real)) out += '-';
    const size_t from = out.size();
    value::append_json_number(out, real);
    if (out.find_first_of(".eE", from) == std::string::npos) out += ".0";
  }
}

void append_value(std::string& out, const EdmValue& value) {
  switch (value.type) {
    case Edm::string:
      return value::append_json_string(out, value.bytes);
    case Edm::boolean:
      out += value.boolean ? "true" : "false";
      return;
    case Edm::int32:
      out += std::to_string(value.integer);
      return;
    case Edm::int64:
      out += '"';
      out += std::to_string(value.integer);
      out += '"';
      return;
    case Edm::real:
      return append_real(out, value.real);
    case Edm::datetime:
      out += '"';
      out += value.bytes;
      out += '"';
      return;
    case Edm::guid:
      out += '"';
      append_guid(out, value.bytes);
      out += '"';
      return;
    case Edm::binary:
      out += '"';
      out += to_base64(value.bytes);
      out += '"';
      return;
  }
}

class Members {
 public:
  Members(std::string& out, const EntityShape& shape) : out_(out), shape_(shape) { out_ += '{'; }

  void text(std::string_view name, std::string_view value) {
    begin(name);
    value::append_json_string(out_, value);
  }
  void etag(Ticks timestamp) {
    begin("odata.etag");
    append_etag_json(out_, timestamp);
  }
  void property(std::string_view name, const EdmValue& value) {
    const bool is_system = name == kPartitionKey || name == kRowKey || name == kTimestamp;
    const bool says_type = shape_.level != Metadata::none && needs_type(value) &&
                           (shape_.level == Metadata::full || !is_system);
    if (says_type) {
      separate();
      out_ += '"';
      out_ += name;
      out_ += "@odata.type\":\"";
      out_ += name_of(value.type);
      out_ += '"';
    }
    begin(name);
    append_value(out_, value);
  }
  bool is_selected(std::string_view name) const {
    return shape_.select.empty() || std::ranges::find(shape_.select, name) != shape_.select.end();
  }
  void end() { out_ += '}'; }

 private:
  void separate() {
    if (!first_) out_ += ',';
    first_ = false;
  }
  // Names have no characters that JSON escapes.
  void begin(std::string_view name) {
    separate();
    out_ += '"';
    out_ += name;
    out_ += "\":";
  }

  std::string& out_;
  const EntityShape& shape_;
  bool first_ = true;
};

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

void append_quoted_key(std::string& out, std::string_view key) {
  if (std::ranges::all_of(key, is_plain)) {  // nothing to encode, as in most keys
    out += '\'';
    out += key;
    out += '\'';
    return;
  }
  std::string doubled;
  doubled.reserve(key.size());
  for (const char c : key) {
    if (c == '\'') doubled += '\'';
    doubled += c;
  }
  out += '\'';
  // A quote is as good as it is, and some clients look for it.
  for (size_t at = 0; at <= doubled.size();) {
    const size_t quote = std::min(doubled.find('\'', at), doubled.size());
    out += percent_encode(std::string_view(doubled).substr(at, quote - at));
    if (quote < doubled.size()) out += '\'';
    at = quote + 1;
  }
  out += '\'';
}

}  // namespace

void append_key_predicate(std::string& out, std::string_view partition_key,
                          std::string_view row_key) {
  out += "PartitionKey=";
  append_quoted_key(out, partition_key);
  out += ",RowKey=";
  append_quoted_key(out, row_key);
}

Status append_entity_json(std::string& out, std::string_view stored, const EntityShape& shape,
                          bool is_alone) {
  auto reader = EntityReader::open(stored);
  if (!reader) return pass(reader.error());
  Property partition_key, row_key;
  if (!reader->next(partition_key) || !reader->next(row_key)) {
    return fail(Code::corrupt, "a stored entity has no keys");
  }
  Members members(out, shape);
  if (is_alone && shape.level != Metadata::none) {
    members.text("odata.metadata",
                 std::string(shape.base) + "/$metadata#" + std::string(shape.table) + "/@Element");
  }
  if (shape.level == Metadata::full) {
    std::string link = std::string(shape.table) + "(";
    append_key_predicate(link, partition_key.value.bytes, row_key.value.bytes);
    link += ')';
    const std::string_view account = shape.base.substr(shape.base.rfind('/') + 1);
    members.text("odata.type", std::string(account) + "." + std::string(shape.table));
    members.text("odata.id", std::string(shape.base) + "/" + link);
    members.text("odata.editLink", link);
  }
  if (shape.level != Metadata::none) members.etag(reader->timestamp());
  if (members.is_selected(kPartitionKey)) members.property(kPartitionKey, partition_key.value);
  if (members.is_selected(kRowKey)) members.property(kRowKey, row_key.value);
  if (members.is_selected(kTimestamp)) {
    const std::string text = time_text(reader->timestamp());
    members.property(kTimestamp, {.type = Edm::datetime, .bytes = text});
  }
  for (Property property; reader->next(property);) {
    if (members.is_selected(property.name)) members.property(property.name, property.value);
  }
  members.end();
  if (!reader->is_sound()) return fail(Code::corrupt, "a stored entity is cut short");
  return {};
}

}  // namespace orrery::table

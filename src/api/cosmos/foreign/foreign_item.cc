// See foreign_item.h.
#include "api/cosmos/foreign/foreign_item.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "api/cosmos/items/item_body.h"
#include "base/bytes.h"
#include "face/http_error.h"
#include "value/value.h"

namespace orrery::cosmos {
namespace {

using value::Node;
using value::NumberKind;
using value::Type;
using value::Value;

constexpr std::string_view kHexMark = "hex:";

bool is_well_formed(std::string_view text) {
  std::string checked;
  checked.reserve(text.size());
  face::append_well_formed(checked, text);
  return checked == text;
}

// Whether a row can be an id as it is.
bool is_plain(std::string_view row) {
  if (row.empty() || row.starts_with(kHexMark)) return false;
  const bool has_odd = std::ranges::any_of(row, [](char c) {
    const auto byte = static_cast<uint8_t>(c);
    return byte < 0x20 || byte == 0x7F || c == '/' || c == '\\' || c == '?' || c == '#';
  });
  return !has_odd && is_well_formed(row);
}

void append_number(std::string& out, const Value& number) {
  const double nearest = number.number();
  if (number.number_kind() == NumberKind::real && !std::isfinite(nearest)) {
    out += std::isnan(nearest) ? R"("NaN")" : nearest > 0 ? R"("Infinity")" : R"("-Infinity")";
    return;
  }
  number.append_json(out);
}

void append_binary(std::string& out, const Value& binary) {
  const std::string base64 = to_base64(binary.bytes());
  if (binary.subtype() == 0) return value::append_json_string(out, base64);
  out += "{\"base64\":";
  value::append_json_string(out, base64);
  out += ",\"subtype\":";
  out += std::to_string(binary.subtype());
  out += '}';
}

void append_code(std::string& out, const Value& code) {
  const std::string_view bytes = code.bytes();
  if (code.subtype() == 0) return face::append_message(out, bytes);
  const size_t end = std::min(bytes.find('\0'), bytes.size());
  out += "{\"code\":";
  face::append_message(out, bytes.substr(0, end));
  out += ",\"scope\":";
  value::append_json_string(out, to_base64(bytes.substr(std::min(end + 1, bytes.size()))));
  out += '}';
}

// Codecs bound the depth.
void append_foreign_value(std::string& out, const Node& node) {
  if (node.is_json && node.type != Type::undefined) {
    out += node.raw;
    return;
  }
  switch (node.type) {
    case Type::undefined:
      out += "null";
      return;
    case Type::number:
      return append_number(out, Value::from(node));
    case Type::string:
      return face::append_message(out, node.text);
    case Type::binary:
      return append_binary(out, Value::from(node));
    case Type::code:
      return append_code(out, Value::from(node));
    case Type::array:
    case Type::object:
      break;
    default:
      return Value::from(node).append_json(out);
  }
  const bool is_object = node.type == Type::object;
  char separator = is_object ? '{' : '[';
  if (node.first == nullptr) out += separator;
  for (const Node* part = node.first; part != nullptr; part = part->next) {
    out += std::exchange(separator, ',');
    if (is_object) {
      face::append_message(out, part->name);
      out += ':';
    }
    append_foreign_value(out, *part);
  }
  out += is_object ? '}' : ']';
}

}  // namespace

std::string shown_item_id(std::string_view row) {
  if (is_plain(row)) return std::string(row);
  return std::string(kHexMark) + to_hex_upper(row);
}

std::optional<std::string> row_of_shown_id(std::string_view id) {
  if (is_plain(id)) return std::string(id);
  if (!id.starts_with(kHexMark)) return std::nullopt;
  auto row = from_hex(id.substr(kHexMark.size()));
  if (!row || shown_item_id(*row) != id) return std::nullopt;
  return std::move(*row);
}

std::string shown_member(std::string_view name) {
  std::string_view plain = name;
  while (plain.starts_with('$')) plain.remove_prefix(1);
  const bool is_taken = plain == "id" || is_system_property(plain);
  return is_taken ? "$" + std::string(name) : std::string(name);
}

std::string shown_path(value::Path path) {
  if (!path.steps.empty()) path.steps.front().name = shown_member(path.steps.front().name);
  return value::to_string(path);
}

Result<std::string> foreign_item_json(const cluster::Routing& routing, std::string_view row,
                                      const partition::Item& item) {
  auto document = routing.schema->codec->parse(item.body);
  if (!document) {
    if (document.error().code == Code::unsupported) return pass(document.error());
    return fail(Code::corrupt, "a stored item cannot be read: " + document.error().message);
  }
  std::string json = "{\"id\":";
  value::append_json_string(json, shown_item_id(row));
  for (const Node* member = document->root().first; member != nullptr; member = member->next) {
    json += ',';
    face::append_message(json, shown_member(member->name));
    json += ':';
    append_foreign_value(json, *member);
  }
  json += '}';
  const catalog::Container& container = *routing.container;
  return ItemFinisher(container.database, container.number).finish(json, item.version, item.origin);
}

}  // namespace orrery::cosmos

// From what a client sends to a stored entity. See entity_json.h.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "api/table/entities/entity_json.h"
#include "base/bytes.h"
#include "value/json.h"

namespace orrery::table {
namespace {

using value::Node;
using value::Type;

constexpr std::string_view kTypeSuffix = "@odata.type";
constexpr std::string_view kSystemPrefix = "odata.";
// Letters, digits and the underscore. Of letters beyond ASCII any will do.
bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<uint8_t>(c) >= 0x80;
}

TableStatus check_name(std::string_view name) {
  if (utf16_units(name) > kNameUnitsMax) {
    return refuse(ErrorCode::property_name_too_long,
                  fmt::format("The property name '{}…' is longer than {} characters.",
                              name.substr(0, 40), kNameUnitsMax));
  }
  bool valid = !name.empty() && (name.front() < '0' || name.front() > '9');
  for (const char c : name) valid = valid && is_name_byte(c);
  if (valid) return {};
  return refuse(ErrorCode::property_name_invalid,
                fmt::format("The property name '{}' is invalid: letters, digits and '_' make one, "
                            "and it does not begin with a digit.",
                            name.substr(0, 255)));
}

std::unexpected<TableError> wrong_value(std::string_view name, std::string_view type,
                                        std::string_view raw) {
  return refuse(ErrorCode::invalid_input, fmt::format("The value {} of property '{}' is not an {}.",
                                                      raw.substr(0, 100), name, type));
}

template <class Number>
bool read_whole(std::string_view text, Number& out) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

bool read_real(std::string_view text, double& out) {
  if (text == "NaN") {
    out = std::numeric_limits<double>::quiet_NaN();
    return true;
  }
  if (text == "Infinity" || text == "INF" || text == "-Infinity" || text == "-INF") {
    out = text.front() == '-' ? -std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::infinity();
    return true;
  }
  if (text.empty() || !(text.front() == '-' || (text.front() >= '0' && text.front() <= '9'))) {
    return false;
  }
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() && std::isfinite(out);
}

// 16 bytes in the order in which the digits are written, with or without braces.
bool read_guid(std::string_view text, std::string& out) {
  if (text.size() == 38 && text.front() == '{' && text.back() == '}') text = text.substr(1, 36);
  if (text.size() != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' ||
      text[23] != '-') {
    return false;
  }
  std::string digits;
  for (const char c : text) {
    if (c != '-') digits += c;
  }
  auto bytes = from_hex(digits);
  if (!bytes || bytes->size() != 16) return false;
  out = std::move(*bytes);
  return true;
}

// Text as it was sent when it is in UTC; otherwise, as it is in UTC.
bool read_datetime(std::string_view text, EdmValue& value, std::string& owned) {
  const auto ticks = parse_time(text);
  if (!ticks || text.size() > 40) return false;
  value.integer = *ticks;
  const bool has_zone =
      text.ends_with('Z') || (text.size() > 10 && text.find_first_of("+-", 10) != text.npos);
  if (text.ends_with('Z')) {
    owned = text;
  } else if (has_zone || text.size() < 16) {
    owned = time_text(*ticks);
  } else {
    owned = std::string(text) + "Z";
  }
  value.bytes = owned;
  return true;
}

// JSON's own types.
bool infer(const Node& node, EdmValue& value) {
  switch (node.type) {
    case Type::string:
      value.type = Edm::string;
      value.bytes = node.text;
      return true;
    case Type::boolean:
      value.type = Edm::boolean;
      value.boolean = node.boolean;
      return true;
    case Type::number: {
      int32_t whole = 0;
      if (read_whole(node.raw, whole)) {
        value.type = Edm::int32;
        value.integer = whole;
        return true;
      }
      value.type = Edm::real;
      value.real = node.number;
      return std::isfinite(node.number);
    }
    default:
      return false;
  }
}

// A value of a stated type. `owned` keeps what the value borrows.
bool convert(const Node& node, Edm type, EdmValue& value, std::string& owned) {
  value.type = type;
  const bool is_text = node.type == Type::string;
  const std::string_view text = is_text ? node.text : node.raw;
  if (!is_text && node.type != Type::number && node.type != Type::boolean) return false;
  switch (type) {
    case Edm::string:
      value.bytes = text;
      return is_text;
    case Edm::boolean:
      if (!equals_ignore_case(text, "true") && !equals_ignore_case(text, "false")) return false;
      value.boolean = equals_ignore_case(text, "true");
      return true;
    case Edm::int32: {
      int32_t whole = 0;
      if (!read_whole(text, whole)) return false;
      value.integer = whole;
      return true;
    }
    case Edm::int64:
      return read_whole(text, value.integer);
    case Edm::real:
      return read_real(text, value.real);
    case Edm::datetime:
      return is_text && read_datetime(text, value, owned);
    case Edm::guid:
      if (!is_text || !read_guid(text, owned)) return false;
      value.bytes = owned;
      return true;
    case Edm::binary: {
      if (!is_text) return false;
      auto bytes = from_base64(text);
      if (!bytes) return false;
      owned = std::move(*bytes);
      value.bytes = owned;
      return true;
    }
  }
  return false;
}

TableStatus check_size(std::string_view name, const EdmValue& value) {
  const bool too_large = (value.type == Edm::string && value.bytes.size() > kPropertyBytesMax / 2 &&
                          utf16_units(value.bytes) * 2 > kPropertyBytesMax) ||
                         (value.type == Edm::binary && value.bytes.size() > kPropertyBytesMax);
  if (!too_large) return {};
  return refuse(
      ErrorCode::property_value_too_large,
      fmt::format("The value of property '{}' is larger than 64 KB (32K characters).", name));
}

// Whether `one` (it may be null) states the type of `member`.
bool states_type(const Node* one, const Node& member) {
  return one != nullptr && one->name.size() == member.name.size() + kTypeSuffix.size() &&
         one->name.ends_with(kTypeSuffix) && one->name.starts_with(member.name);
}

// Whether some type is stated elsewhere than beside its member, where clients put them.
bool has_types_apart(const Node& root) {
  const Node* before = nullptr;
  for (const Node* one = root.first; one != nullptr; before = one, one = one->next) {
    if (!one->name.ends_with(kTypeSuffix)) continue;
    const bool is_beside = (before != nullptr && states_type(one, *before)) ||
                           (one->next != nullptr && states_type(one, *one->next));
    if (!is_beside) return true;
  }
  return false;
}

// The type that is stated of a member: beside it, mostly.
const Node* type_of(const Node& root, bool types_apart, const Node* before, const Node& member) {
  if (states_type(before, member)) return before;
  if (states_type(member.next, member)) return member.next;
  if (!types_apart) return nullptr;
  for (const Node* one = root.first; one != nullptr; one = one->next) {
    if (states_type(one, member)) return one;
  }
  return nullptr;
}

// The key of the body, or the one that the address names.
TableResult<std::string> key_of(const Node& root, std::string_view name,
                                const std::string_view* named) {
  const Node* node = root.find(name);
  if (node != nullptr && node->type == Type::null) node = nullptr;
  if (node == nullptr && named == nullptr) {
    return refuse(ErrorCode::properties_need_value,
                  fmt::format("The entity has no {}: both keys are needed, and each may be the "
                              "empty string.",
                              name));
  }
  if (node != nullptr && node->type != Type::string)
    return wrong_value(name, "Edm.String", node->raw);
  if (named != nullptr && node != nullptr && node->text != *named) {
    return refuse(ErrorCode::invalid_input,
                  fmt::format("The {} of the body, '{}', is not that of the address, '{}'.", name,
                              node->text.substr(0, 100), named->substr(0, 100)));
  }
  std::string key(named != nullptr ? *named : node->text);
  if (auto checked = check_key(name, key); !checked) return pass(checked.error());
  return key;
}

TableStatus add_member(EntityWriter& writer, const Node& member, const Node* stated) {
  // Null is a property that is not there. But JavaScript writes null for an invalid date and for an
  // infinite number, too, and then it states the type: that is refused, and not lost.
  if (member.type == Type::null && (stated == nullptr || stated->text == name_of(Edm::string))) {
    return {};
  }
  if (auto checked = check_name(member.name); !checked) return checked;
  EdmValue value;
  std::string owned;
  if (stated != nullptr) {
    const auto type = parse_edm(stated->type == Type::string ? stated->text : std::string_view());
    if (!type) {
      return refuse(ErrorCode::invalid_input,
                    fmt::format("The type {} of property '{}' is none of this service.",
                                stated->raw.substr(0, 100), member.name));
    }
    if (!convert(member, *type, value, owned)) {
      return wrong_value(member.name, name_of(*type), member.raw);
    }
  } else if (!infer(member, value)) {
    return wrong_value(member.name, "value of any type of this service", member.raw);
  }
  if (auto checked = check_size(member.name, value); !checked) return checked;
  writer.add(member.name, value);
  return {};
}

TableStatus check_whole(const EntityWriter& writer) {
  if (writer.count() + 1 > kPropertiesMax) {
    return refuse(ErrorCode::too_many_properties,
                  fmt::format("The entity has {} properties with its keys and its timestamp; {} is "
                              "the limit.",
                              writer.count() + 1, kPropertiesMax));
  }
  if (writer.counted_bytes() > kEntityBytesMax) {
    return refuse(ErrorCode::entity_too_large,
                  fmt::format("The entity counts as {} bytes; {} is the limit.",
                              writer.counted_bytes(), kEntityBytesMax));
  }
  return {};
}

}  // namespace

TableStatus check_key(std::string_view name, std::string_view key) {
  for (size_t i = 0; i < key.size(); ++i) {
    const auto byte = static_cast<uint8_t>(key[i]);
    const bool is_high_control =
        byte == 0xC2 && i + 1 < key.size() && static_cast<uint8_t>(key[i + 1]) < 0xA0;
    if (byte >= 0x20 && byte != 0x7F && byte != '/' && byte != '\\' && byte != '#' && byte != '?' &&
        !is_high_control) {
      continue;
    }
    return refuse(ErrorCode::invalid_input,
                  fmt::format("The {} has a character that keys may not have, at byte {}: / \\ # ? "
                              "or a control character.",
                              name, i));
  }
  if (key.size() <= kKeyUnitsMax || utf16_units(key) <= kKeyUnitsMax) return {};
  return refuse(ErrorCode::key_value_too_large,
                fmt::format("The {} has {} characters; {} is the limit.", name, utf16_units(key),
                            kKeyUnitsMax));
}

TableResult<IncomingEntity> parse_entity(std::string_view json, const NamedKeys* named) {
  auto document = value::JsonDocument::parse(json.empty() ? "{}" : json);
  if (!document) {
    return refuse(ErrorCode::invalid_input,
                  "The body is not a JSON object: " + document.error().message);
  }
  const Node& root = document->root();
  if (root.type != Type::object) {
    return refuse(ErrorCode::invalid_input, "The body is not a JSON object.");
  }
  IncomingEntity entity;
  auto partition_key =
      key_of(root, kPartitionKey, named != nullptr ? &named->partition_key : nullptr);
  if (!partition_key) return pass(partition_key.error());
  auto row_key = key_of(root, kRowKey, named != nullptr ? &named->row_key : nullptr);
  if (!row_key) return pass(row_key.error());
  entity.partition_key = std::move(*partition_key);
  entity.row_key = std::move(*row_key);
  const bool types_apart = has_types_apart(root);
  EntityWriter writer(document->text().size());
  writer.add(kPartitionKey, {.type = Edm::string, .bytes = entity.partition_key});
  writer.add(kRowKey, {.type = Edm::string, .bytes = entity.row_key});
  const Node* before = nullptr;
  for (const Node* member = root.first; member != nullptr; before = member, member = member->next) {
    const std::string_view name = member->name;
    if (name == kPartitionKey || name == kRowKey || name == kTimestamp ||
        name.starts_with(kSystemPrefix) || name.find("@odata.") != name.npos) {
      continue;
    }
    // Checked before it is written: a count has 16 bits.
    if (writer.count() > kPropertiesMax) break;
    const Node* const stated = type_of(root, types_apart, before, *member);
    if (auto added = add_member(writer, *member, stated); !added) return pass(added.error());
  }
  if (auto checked = check_whole(writer); !checked) return pass(checked.error());
  entity.stored = writer.take();
  return entity;
}

TableResult<std::string> merge_entities(std::string_view stored, std::string_view changes) {
  auto old_reader = EntityReader::open(stored);
  auto new_reader = EntityReader::open(changes);
  if (!old_reader || !new_reader) {
    return refuse(ErrorCode::internal_error, "The stored entity cannot be read.");
  }
  std::vector<Property> changed;
  changed.reserve(new_reader->count());
  for (Property property; new_reader->next(property);) changed.push_back(property);
  EntityWriter writer(stored.size() + changes.size());
  std::vector<bool> used(changed.size());
  for (Property property; old_reader->next(property);) {
    for (size_t i = 0; i < changed.size(); ++i) {
      if (used[i] || changed[i].name != property.name) continue;
      property.value = changed[i].value;
      used[i] = true;
      break;
    }
    writer.add(property.name, property.value);
  }
  for (size_t i = 0; i < changed.size(); ++i) {
    if (!used[i]) writer.add(changed[i].name, changed[i].value);
  }
  if (!old_reader->is_sound()) {
    return refuse(ErrorCode::internal_error, "The stored entity cannot be read.");
  }
  if (auto checked = check_whole(writer); !checked) return pass(checked.error());
  return writer.take();
}

}  // namespace orrery::table

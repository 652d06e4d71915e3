// See item_body.h.
#include "api/cosmos/items/item_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "api/cosmos/wire/etag.h"
#include "api/cosmos/wire/partition_key_header.h"
#include "api/cosmos/wire/rid.h"
#include "base/fault.h"
#include "value/json.h"

namespace orrery::cosmos {
namespace {

using value::Node;
using value::Type;

constexpr std::array<std::string_view, 6> kSystemProperties = {"_rid", "_self",        "_etag",
                                                               "_ts",  "_attachments", "_lsn"};

// What finish() adds, in that order.
constexpr std::array<std::string_view, 5> kAddedProperties = {"_rid", "_self", "_etag",
                                                              "_attachments", "_ts"};
constexpr std::string_view kAttachments = "attachments/";

// UTF-8 code points; the text is valid by now.
size_t count_characters(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// The body without system properties: as it was when it has none, else put together again.
std::string strip_system_properties(const value::JsonDocument& document) {
  const Node& root = document.root();
  bool any = false;
  for (const Node* member = root.first; member != nullptr; member = member->next) {
    any = any || is_system_property(member->name);
  }
  if (!any) return std::string(document.text());
  std::string out = "{";
  for (const Node* member = root.first; member != nullptr; member = member->next) {
    if (is_system_property(member->name)) continue;
    if (out.size() > 1) out += ',';
    out += '"';
    out += member->raw_name;
    out += "\":";
    out += member->raw;
  }
  out += '}';
  return out;
}

Result<std::optional<int32_t>> parse_ttl(const Node& root) {
  const Node* ttl = root.find("ttl");
  if (ttl == nullptr) return std::nullopt;
  const double number = ttl->number;
  if (ttl->type != Type::number || number != std::floor(number) || number == 0 || number < -1 ||
      number > std::numeric_limits<int32_t>::max()) {
    return fail(Code::invalid,
                fmt::format("the item's ttl {} is not a positive whole number of seconds or -1 "
                            "(never): correct it or leave it out",
                            ttl->raw.substr(0, 100)));
  }
  return static_cast<int32_t>(number);
}

}  // namespace

partition::Lifetime lifetime_of(std::optional<int32_t> ttl_s) {
  if (!ttl_s) return {};
  return {.ms = *ttl_s < 0 ? partition::Lifetime::kForever : int64_t{*ttl_s} * 1000};
}

bool is_system_property(std::string_view name) {
  return name.starts_with('_') &&
         std::ranges::find(kSystemProperties, name) != kSystemProperties.end();
}

Status check_item_id(std::string_view id, const Limits& limits) {
  if (id.empty()) {
    return fail(Code::invalid,
                "the item's id is empty: it must be a string of at least one character");
  }
  const size_t characters = count_characters(id);
  if (characters > limits.item_id_characters) {
    return fail(Code::invalid,
                fmt::format("the item's id has {} characters and the most is {}: shorten '{}…'",
                            characters, limits.item_id_characters, id.substr(0, 40)));
  }
  if (size_t bad = id.find_first_of("/\\#"); bad != std::string_view::npos) {
    return fail(
        Code::invalid,
        fmt::format("the item's id '{}' contains '{}'; ids may not contain / \\ #", id, id[bad]));
  }
  return {};
}

Result<value::JsonDocument> parse_item_document(std::string_view body, const Limits& limits) {
  if (body.size() > limits.item_bytes) {
    return fail(Code::too_large, fmt::format("the item has {} bytes and the most is {}",
                                             body.size(), limits.item_bytes));
  }
  if (auto injected = fault::point("item.decode"); !injected) return pass(injected.error());
  auto document = value::JsonDocument::parse(body);
  if (!document) {
    return fail(Code::invalid, "the body is not a JSON item: " + document.error().message);
  }
  return document;
}

Result<IncomingItem> parse_item(std::string_view body, const value::KeyDefinition& definition,
                                const Limits& limits) {
  auto document = parse_item_document(body, limits);
  if (!document) return pass(document.error());
  return check_item(*document, definition, limits);
}

StrippedItem::StrippedItem(const Node& root) : root_(root) {
  bool any = false;
  for (const Node* member = root.first; member != nullptr; member = member->next) {
    any = any || is_system_property(member->name);
  }
  if (!any) return;
  members_.reserve(root.count);
  for (const Node* member = root.first; member != nullptr; member = member->next) {
    if (!is_system_property(member->name)) members_.push_back(*member);
  }
  for (size_t i = 0; i < members_.size(); ++i) {
    members_[i].next = i + 1 < members_.size() ? &members_[i + 1] : nullptr;
  }
  root_.first = members_.empty() ? nullptr : members_.data();
  root_.count = static_cast<uint32_t>(members_.size());
}

Result<IncomingItem> check_item(const value::JsonDocument& document,
                                const value::KeyDefinition& definition, const Limits& limits) {
  const Node& root = document.root();
  if (root.type != Type::object) {
    return fail(Code::invalid,
                "the body is not a JSON object: an item is one, such as {\"id\":\"1\"}");
  }
  IncomingItem item;
  const Node* id = root.find("id");
  if (id == nullptr || id->type != Type::string) {
    return fail(Code::invalid,
                "the required property 'id' is missing or is not a string: give the item one");
  }
  item.id = id->text;
  if (auto checked = check_item_id(item.id, limits); !checked) return pass(checked.error());
  auto ttl = parse_ttl(root);
  if (!ttl) return pass(ttl.error());
  item.ttl_s = *ttl;
  auto key = value::extract_key(root, definition);
  if (!key) return pass(key.error());
  item.key = std::move(*key);
  if (auto checked = check_key_values(item.key, limits); !checked) return pass(checked.error());
  item.body = strip_system_properties(document);
  return item;
}

std::string ItemFinisher::finish(std::string_view body, const partition::Version& version,
                                 const partition::Origin& origin) const {
  std::string out;
  out.reserve(body.size() + 256);
  body.remove_suffix(1);  // the closing brace
  out += body;
  out += ",\"_rid\":\"";
  append_item_rid(out, database_, container_, origin.range, origin.number);
  out += "\",\"_self\":\"";
  append_item_self(out, database_, container_, origin.range, origin.number);
  out += "\",\"_etag\":\"\\\"";
  append_etag(out, version);
  out += "\\\"\",\"_attachments\":\"";
  out += kAttachments;
  out += "\",\"_ts\":";
  out += std::to_string(version.time_s);
  out += '}';
  return out;
}

std::span<const std::string_view> ItemFinisher::added_names() const {
  return kAddedProperties;
}

void ItemFinisher::each_added(const partition::Version& version, const partition::Origin& origin,
                              const std::function<void(const value::Value&)>& take) const {
  std::string text;
  append_item_rid(text, database_, container_, origin.range, origin.number);
  take(value::Value::borrow_string(text));
  text.clear();
  append_item_self(text, database_, container_, origin.range, origin.number);
  take(value::Value::borrow_string(text));
  text = "\"";
  append_etag(text, version);
  text += '"';
  take(value::Value::borrow_string(text));
  take(value::Value::borrow_string(kAttachments));
  take(value::Value::make_number(version.time_s));
}

}  // namespace orrery::cosmos

// See item.h.
#include "transfer/item.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "transfer/format.h"
#include "value/json.h"

namespace orrery::transfer {
namespace {

using value::JsonDocument;
using value::Node;
using value::Type;

constexpr std::array<std::string_view, 6> kSystemProperties = {"_rid", "_self",        "_etag",
                                                               "_ts",  "_attachments", "_lsn"};

// In the form of a UUID, by the first 16 bytes of the seed's SHA-256.
std::string id_from(std::string_view seed) {
  const auto hash = sha256(seed);
  const std::string hex =
      to_hex_upper({reinterpret_cast<const char*>(hash.data()), hash.size() / 2});
  std::string id;
  for (size_t i = 0; i < hex.size(); ++i) {
    if (i == 8 || i == 12 || i == 16 || i == 20) id += '-';
    id += static_cast<char>(hex[i] >= 'A' ? hex[i] + ('a' - 'A') : hex[i]);
  }
  return id;
}

void append_canonical(std::string& out, const Node& node, bool is_item) {
  switch (node.type) {
    case Type::object: {
      std::vector<const Node*> members;
      for (const Node* one = node.first; one != nullptr; one = one->next) {
        if (!is_item || !is_system_property(one->name)) members.push_back(one);
      }
      std::ranges::sort(members, {}, &Node::name);
      out += '{';
      for (const Node* one : members) {
        value::append_json_string(out, one->name);
        append_canonical(out, *one, false);
      }
      out += '}';
      return;
    }
    case Type::array:
      out += '[';
      for (const Node* one = node.first; one != nullptr; one = one->next) {
        append_canonical(out, *one, false);
        out += ',';
      }
      out += ']';
      return;
    case Type::string:
      value::append_json_string(out, node.text);
      return;
    case Type::number:
      value::append_json_number(out, node.number == 0 ? 0 : node.number);
      return;
    default:
      out += node.raw;
  }
}

}  // namespace

bool is_system_property(std::string_view name, RecordKind kind) {
  if (kind == RecordKind::entity) {
    return name.starts_with("odata.") || name == "Timestamp" || name == "Timestamp@odata.type";
  }
  return name.starts_with('_') &&
         std::ranges::find(kSystemProperties, name) != kSystemProperties.end();
}

std::string without_system_properties(const Node& object, RecordKind kind) {
  bool any = false;
  for (const Node* one = object.first; one != nullptr && !any; one = one->next) {
    any = is_system_property(one->name, kind);
  }
  if (!any) return std::string(object.raw);
  std::string out = "{";
  for (const Node* one = object.first; one != nullptr; one = one->next) {
    if (is_system_property(one->name, kind)) continue;
    if (out.size() > 1) out += ',';
    out += '"';
    out += one->raw_name;
    out += "\":";
    out += one->raw;
  }
  out += '}';
  return out;
}

std::string key_json_of(const value::PartitionKey& key) {
  std::string out = "[";
  for (const value::KeyPart& part : key) {
    if (out.size() > 1) out += ',';
    switch (part.type) {
      case Type::string:
        value::append_json_string(out, part.text);
        break;
      case Type::number:
        value::append_json_number(out, part.number);
        break;
      case Type::boolean:
        out += part.boolean ? "true" : "false";
        break;
      case Type::null:
        out += "null";
        break;
      default:
        out += "{}";
    }
  }
  out += ']';
  return out;
}

Result<PreparedItem> prepare_item(std::string_view json, const value::KeyDefinition& key,
                                  std::string_view id_seed) {
  auto document = JsonDocument::parse(json);
  if (!document) {
    return fail(Code::invalid, fmt::format("it is not JSON: {}", document.error().message));
  }
  const Node& root = document->root();
  if (root.type != Type::object) return fail(Code::invalid, "it is not a JSON object");
  PreparedItem item;
  const Node* id = root.find("id");
  if (id == nullptr && !id_seed.empty()) {
    item.id = id_from(id_seed);
  } else if (id == nullptr) {
    return fail(Code::invalid, "it has no id: every item needs one (--generate-ids gives it one)");
  } else if (id->type != Type::string) {
    return fail(Code::invalid, fmt::format("its id is {}, which is not a string", id->raw));
  } else {
    item.id = id->text;
  }
  auto values = value::extract_key(root, key);
  if (!values) return pass(values.error());
  item.body = without_system_properties(root);
  if (id == nullptr) {
    item.body.insert(1, fmt::format("\"id\":\"{}\"{}", item.id, item.body.size() > 2 ? "," : ""));
  }
  if (item.body.size() > kItemBytesMax) {
    return fail(Code::invalid, fmt::format("it has {} bytes, and an item has at most {}",
                                           item.body.size(), kItemBytesMax));
  }
  if (!key.paths.empty()) {
    item.key_json = key_json_of(*values);
    const std::string placement = value::place(key, *values);
    item.key_hex = to_hex_upper(value::effective_key(key, placement));
  }
  return item;
}

ContentHash content_hash(const Node& item) {
  std::string text;
  append_canonical(text, item, true);
  const auto bytes = murmur3_x64_128(text, 0);
  return {load_u64_le(bytes.data()), load_u64_le(bytes.data() + 8)};
}

}  // namespace orrery::transfer

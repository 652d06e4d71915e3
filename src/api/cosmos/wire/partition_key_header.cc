// A key header is a small JSON array: it is bounded before it is parsed, and its values become the
// parts of a key. See partition_key_header.h.
#include "api/cosmos/wire/partition_key_header.h"

#include <algorithm>
#include <string>

#include "api/cosmos/wire/error_body.h"

namespace orrery::cosmos {
namespace {

using value::KeyPart;
using value::PartitionKey;
using value::Type;

std::unexpected<Error> bad_header(std::string_view header, std::string_view reason) {
  return fail(Code::invalid, "The partition key header " + std::string(header.substr(0, 200)) +
                                 " cannot be used: " + std::string(reason) +
                                 " Send a JSON array with a value for each level, like "
                                 "[\"Redmond\"].");
}

// ["text"] with nothing to unescape: what nearly every request sends.
bool is_plain_text(std::string_view header) {
  if (header.size() < 4 || !header.starts_with("[\"") || !header.ends_with("\"]")) return false;
  return std::ranges::all_of(header.substr(2, header.size() - 4),
                             [](char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; });
}

}  // namespace

Result<PartitionKey> parse_key_header(std::string_view header) {
  if (header.size() > kMaxKeyHeaderBytes) {
    return bad_header(header, "it has more than " + std::to_string(kMaxKeyHeaderBytes) + " bytes.");
  }
  PartitionKey key;
  if (is_plain_text(header)) {
    key.emplace_back();
    key.back().type = Type::string;
    key.back().text = header.substr(2, header.size() - 4);
    return key;
  }
  const auto document = value::JsonDocument::parse(header);
  if (!document) return bad_header(header, "it is not JSON (" + document.error().message + ").");
  const value::Node& root = document->root();
  if (root.type != Type::array) return bad_header(header, "it is not an array.");
  if (root.count > value::kMaxKeyLevels) {
    return bad_header(header, "it has " + std::to_string(root.count) +
                                  " levels, and a key has at most " +
                                  std::to_string(value::kMaxKeyLevels) + ".");
  }
  key.reserve(root.count);
  for (const value::Node* node = root.first; node != nullptr; node = node->next) {
    KeyPart part;
    part.type = node->type;
    switch (node->type) {
      case Type::undefined:
      case Type::null:
        break;
      case Type::boolean:
        part.boolean = node->boolean;
        break;
      case Type::number:
        part.number = node->number;
        break;
      case Type::string:
        part.text = node->text;
        break;
      case Type::object:
        if (node->count != 0) {
          return bad_header(header,
                            "an object cannot be a key (only {}, which stands for a "
                            "property that is not there).");
        }
        part.type = Type::undefined;
        break;
      default:
        return bad_header(header, "an array cannot be a key.");
    }
    key.push_back(std::move(part));
  }
  return key;
}

Status check_key_values(const PartitionKey& key, const Limits& limits) {
  for (const KeyPart& part : key) {
    if (part.text.size() > limits.partition_key_bytes) {
      return fail(Code::invalid, "a partition key value has " + std::to_string(part.text.size()) +
                                     " bytes and the most is " +
                                     std::to_string(limits.partition_key_bytes) +
                                     ": use a shorter key");
    }
  }
  return {};
}

Status check_levels(const value::KeyDefinition& definition, const PartitionKey& key,
                    bool prefix_allowed) {
  const size_t levels = definition.paths.size();
  if (levels == 0) {
    if (key.empty() || (key.size() == 1 && key[0].type == Type::undefined)) return {};
    return fail(Code::invalid, "The container has no partition key, and the request gives " +
                                   value::to_json(key) + ". Leave the header out, or send [].");
  }
  if (key.size() == levels || (prefix_allowed && key.size() < levels && !key.empty())) return {};
  std::string paths;
  for (const value::Path& path : definition.paths) {
    if (!paths.empty()) paths += ", ";
    paths += value::to_string(path);
  }
  return fail(Code::invalid, std::string(kKeyMismatchWords) + "The partition key " +
                                 value::to_json(key) + " has " + std::to_string(key.size()) +
                                 " levels, and the container's has " + std::to_string(levels) +
                                 " (" + paths + "). Send a value for each.");
}

}  // namespace orrery::cosmos

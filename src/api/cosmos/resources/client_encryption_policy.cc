// The client encryption policy of a container: which properties clients encrypt, and with which
// keys. The server checks and keeps it; it never sees what is encrypted. See container_policies.h.
#include <fmt/format.h>

#include <algorithm>

#include "api/cosmos/resources/container_policies.h"
#include "api/cosmos/resources/definition_fields.h"

namespace orrery::cosmos {
namespace {

using value::Node;
using value::Type;

constexpr std::string_view kPolicyName = "clientEncryptionPolicy";
constexpr size_t kMaxEncryptedPaths = 1024;

// The name of the property that a path is of: only whole properties of an item are encrypted.
Result<std::string> property_of(const Node& text, std::string_view where) {
  auto path = value::parse_property_path(text.text);
  if (!path || path->steps.size() != 1) {
    return bad_field(where, text,
                     "give the path of a property at the top of the item, like /name.");
  }
  return std::move(path->steps.front().name);
}

// Why requests have to find items by what the property holds, or empty.
std::string_view found_by(std::string_view property, const value::KeyDefinition& key) {
  if (property == "id") return "the item's id";
  for (const value::Path& path : key.paths) {
    if (!path.steps.empty() && path.steps.front().name == property) {
      return "a part of the partition key";
    }
  }
  return {};
}

}  // namespace

Result<ClientEncryptionPolicy> parse_client_encryption_policy(const Node& policy,
                                                              const value::KeyDefinition& key) {
  if (policy.type != Type::object) return bad_field(kPolicyName, policy, "give an object.");
  auto version = integer_member(policy, kPolicyName, "policyFormatVersion", 1, 2);
  if (!version) return pass(version.error());
  const int64_t format = version->value_or(1);
  auto paths = required_member(policy, kPolicyName, "includedPaths", Type::array);
  if (!paths) return pass(paths.error());
  const std::string where = join(kPolicyName, "includedPaths");
  if ((*paths)->count > kMaxEncryptedPaths) return bad_field(where, **paths, "too many paths.");
  ClientEncryptionPolicy out;
  std::vector<std::string> properties;
  std::string list;
  for (const Node* entry = (*paths)->first; entry != nullptr; entry = entry->next) {
    const std::string here = element(where, properties.size());
    if (entry->type != Type::object) return bad_field(here, *entry, "give an object.");
    auto text = required_member(*entry, here, "path", Type::string);
    if (!text) return pass(text.error());
    auto property = property_of(**text, join(here, "path"));
    if (!property) return pass(property.error());
    if (std::ranges::find(properties, *property) != properties.end()) {
      return bad_field(join(here, "path"), **text, "it is there twice: give each path once.");
    }
    auto key_id = required_member(*entry, here, "clientEncryptionKeyId", Type::string);
    if (!key_id) return pass(key_id.error());
    auto type = choice_member(*entry, here, "encryptionType", {"Deterministic", "Randomized"}, "");
    if (!type) return pass(type.error());
    auto algorithm = choice_member(*entry, here, "encryptionAlgorithm", {kEncryptionAlgorithm}, "");
    if (!algorithm) return pass(algorithm.error());
    if (const std::string_view why = found_by(*property, key); !why.empty()) {
      if (format < 2) {
        return bad_field(join(here, "path"), **text,
                         fmt::format("it is {}, which can be encrypted with policyFormatVersion 2 "
                                     "only.",
                                     why));
      }
      if (*type != "Deterministic") {
        return bad_field(join(here, "encryptionType"), *entry->find("encryptionType"),
                         fmt::format("the path is {}: use Deterministic.", why));
      }
    }
    std::string json = "{";
    append_member(json, "path", (*text)->raw);
    append_member(json, "clientEncryptionKeyId", (*key_id)->raw);
    append_member(json, "encryptionType", quoted(*type));
    append_member(json, "encryptionAlgorithm", quoted(*algorithm));
    json += '}';
    if (!list.empty()) list += ',';
    list += json;
    properties.push_back(std::move(*property));
    out.key_ids.emplace_back((*key_id)->text);
  }
  // Always written alike, so that a replacement can be compared with what was there.
  out.json = fmt::format("{{\"includedPaths\":[{}],\"policyFormatVersion\":{}}}", list, format);
  return out;
}

Result<std::vector<std::string>> client_encryption_keys(std::string_view definition_json) {
  std::vector<std::string> ids;
  auto document = value::JsonDocument::parse(fmt::format("{{{}}}", definition_json));
  if (!document) return pass(document.error());
  const Node* policy = document->root().find(kPolicyName);
  const Node* paths = policy == nullptr ? nullptr : policy->find("includedPaths");
  for (const Node* entry = paths == nullptr ? nullptr : paths->first; entry != nullptr;
       entry = entry->next) {
    ids.emplace_back(entry->find("clientEncryptionKeyId")->text);
  }
  return ids;
}

}  // namespace orrery::cosmos

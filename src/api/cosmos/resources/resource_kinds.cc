// See resource_kinds.h.
#include "api/cosmos/resources/resource_kinds.h"

#include <algorithm>
#include <array>

#include "api/cosmos/auth/grant.h"
#include "api/cosmos/resources/container_definition.h"
#include "api/cosmos/resources/container_policies.h"
#include "api/cosmos/resources/definition_fields.h"
#include "base/bytes.h"

namespace orrery::cosmos {
namespace {

using value::JsonDocument;
using value::Node;
using value::Type;

Result<std::string> user_members(const Node&) {
  return std::string();
}

// {"permissionMode":"Read","resource":"dbs/shop/colls/orders","resourcePartitionKey":["a"]}
Result<std::string> permission_members(const Node& definition) {
  if (auto checked = parse_grant(definition.raw); !checked) return pass(checked.error());
  std::string out;
  for (const std::string_view name : {"permissionMode", "resource", "resourcePartitionKey"}) {
    const Node* member = definition.find(name);
    if (member != nullptr && member->type != Type::null) append_member(out, name, member->raw);
  }
  return out;
}

// {"body":"function () { … }"}
Result<std::string> script_members(const Node& definition) {
  auto body = required_member(definition, "", "body", Type::string);
  if (!body) return pass(body.error());
  std::string out;
  append_member(out, "body", (*body)->raw);
  return out;
}

// {"body":"…","triggerType":"Pre","triggerOperation":"Create"}; both words in any case, and given
// back as they came.
Result<std::string> trigger_members(const Node& definition) {
  auto out = script_members(definition);
  if (!out) return out;
  auto type = choice_member(definition, "", "triggerType", {"Pre", "Post"}, "");
  if (!type) return pass(type.error());
  auto operation = choice_member(definition, "", "triggerOperation",
                                 {"All", "Create", "Update", "Replace", "Upsert", "Delete"}, "");
  if (!operation) return pass(operation.error());
  for (const std::string_view name : {"triggerType", "triggerOperation"}) {
    append_member(*out, name, definition.find(name)->raw);
  }
  return out;
}

// {"encryptionAlgorithm":"…","wrappedDataEncryptionKey":"base64","keyWrapMetadata":{…}}: for the
// clients that encrypt, which alone can unwrap it.
Result<std::string> client_encryption_key_members(const Node& definition) {
  auto algorithm = choice_member(definition, "", "encryptionAlgorithm", {kEncryptionAlgorithm}, "");
  if (!algorithm) return pass(algorithm.error());
  auto key = required_member(definition, "", "wrappedDataEncryptionKey", Type::string);
  if (!key) return pass(key.error());
  const auto bytes = from_base64((*key)->text);
  if (!bytes || bytes->empty()) {
    return bad_field("wrappedDataEncryptionKey", **key, "give the wrapped key in base64.");
  }
  auto metadata = required_member(definition, "", "keyWrapMetadata", Type::object);
  if (!metadata) return pass(metadata.error());
  for (const std::string_view name : {"type", "name", "value"}) {
    auto member = required_member(**metadata, "keyWrapMetadata", name, Type::string);
    if (!member) return pass(member.error());
  }
  if (auto wrap = optional_member(**metadata, "keyWrapMetadata", "algorithm", Type::string);
      !wrap) {
    return pass(wrap.error());
  }
  std::string out;
  append_member(out, "encryptionAlgorithm", quoted(*algorithm));
  append_member(out, "wrappedDataEncryptionKey", (*key)->raw);
  append_member(out, "keyWrapMetadata", (*metadata)->raw);
  return out;
}

// {"contentType":"image/png","media":"https://…", …}: where the media is, and what else is known of
// it. The server keeps no media.
Result<std::string> attachment_members(const Node& definition) {
  constexpr std::array<std::string_view, 5> kOurs = {"id", "_rid", "_ts", "_self", "_etag"};
  for (const std::string_view name : {"contentType", "media"}) {
    auto member = required_member(definition, "", name, Type::string);
    if (!member) return pass(member.error());
  }
  std::string out;
  for (const Node* member = definition.first; member != nullptr; member = member->next) {
    if (std::ranges::find(kOurs, member->name) != kOurs.end()) continue;
    append_member(out, member->name, member->raw);
  }
  return out;
}

constexpr std::array kResourceKinds = {
    ResourceKind{.number = kUserKind,
                 .segment = "users",
                 .owner = "dbs",
                 .feed = "Users",
                 .noun = "user",
                 .rid = RidKind::user,
                 .most = &Limits::account_resources,
                 .members = user_members,
                 .links = R"("_permissions":"permissions/")"},
    ResourceKind{.number = kPermissionKind,
                 .segment = "permissions",
                 .owner = "users",
                 .feed = "Permissions",
                 .noun = "permission",
                 .rid = RidKind::permission,
                 .most = &Limits::account_resources,
                 .members = permission_members,
                 .links = ""},
    ResourceKind{.number = kProcedureKind,
                 .segment = "sprocs",
                 .owner = "colls",
                 .feed = "StoredProcedures",
                 .noun = "stored procedure",
                 .rid = RidKind::stored_procedure,
                 .most = &Limits::container_scripts,
                 .members = script_members,
                 .links = ""},
    ResourceKind{.number = kTriggerKind,
                 .segment = "triggers",
                 .owner = "colls",
                 .feed = "Triggers",
                 .noun = "trigger",
                 .rid = RidKind::trigger,
                 .most = &Limits::container_scripts,
                 .members = trigger_members,
                 .links = ""},
    ResourceKind{.number = kFunctionKind,
                 .segment = "udfs",
                 .owner = "colls",
                 .feed = "UserDefinedFunctions",
                 .noun = "user-defined function",
                 .rid = RidKind::user_function,
                 .most = &Limits::container_scripts,
                 .members = script_members,
                 .links = ""},
    // What was encrypted with it would be lost with it.
    ResourceKind{.number = kClientEncryptionKeyKind,
                 .segment = "clientencryptionkeys",
                 .owner = "dbs",
                 .feed = "ClientEncryptionKeys",
                 .noun = "client encryption key",
                 .rid = RidKind::client_encryption_key,
                 .most = &Limits::database_encryption_keys,
                 .members = client_encryption_key_members,
                 .links = "",
                 .can_be_deleted = false},
    ResourceKind{.number = kAttachmentKind,
                 .segment = "attachments",
                 .owner = "docs",
                 .feed = "Attachments",
                 .noun = "attachment",
                 .rid = RidKind::attachment,
                 .most = &Limits::item_attachments,
                 .members = attachment_members,
                 .links = ""},
};

}  // namespace

const ResourceKind* kind_of(const ResourceAddress& address) {
  const size_t at = address.count - (address.is_feed() ? 1 : 2);  // of the last type
  if (address.count < 3 || (at != 2 && at != 4 && at != 6) || address.segments[0] != "dbs") {
    return nullptr;
  }
  const auto* kind = std::ranges::find_if(kResourceKinds, [&](const ResourceKind& one) {
    return address.segments[at] == one.segment && address.segments[at - 2] == one.owner;
  });
  return kind == kResourceKinds.end() ? nullptr : kind;
}

const ResourceKind* kind_of(uint8_t number) {
  const auto* kind = std::ranges::find(kResourceKinds, number, &ResourceKind::number);
  return kind == kResourceKinds.end() ? nullptr : kind;
}

Result<ResourceDefinition> parse_resource(const ResourceKind& kind, std::string_view body) {
  const auto document = JsonDocument::parse(body);
  auto root = checked_root(document);
  if (!root) return pass(root.error());
  auto name = parse_name(**root);
  if (!name) return pass(name.error());
  auto members = kind.members(**root);
  if (!members) return pass(members.error());
  return ResourceDefinition{.name = std::move(*name), .members = std::move(*members)};
}

}  // namespace orrery::cosmos

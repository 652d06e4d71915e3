// The kinds of small named resources that this face keeps in the catalog (catalog::Resource):
// users, permissions, scripts, client encryption keys, attachments. One row a kind says how it is
// addressed, what a definition of it must hold, and how it is returned; named_resources.cc does the
// rest for all of them: create, upsert, list in pages, read, replace, delete, with If-Match and
// If-None-Match.
//
// A new kind is a row in resource_kinds.cc with a function that checks a definition and gives the
// members to keep. Nothing else is needed for its paths to work: every path that no other handler
// takes comes to handle_named_resources.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/cosmos/wire/resource_address.h"
#include "api/cosmos/wire/rid.h"
#include "base/limits.h"
#include "base/result.h"
#include "value/json.h"

namespace orrery::cosmos {

inline constexpr uint8_t kUserKind = 1;
inline constexpr uint8_t kPermissionKind = 2;
inline constexpr uint8_t kProcedureKind = 3;
inline constexpr uint8_t kTriggerKind = 4;
inline constexpr uint8_t kFunctionKind = 5;
inline constexpr uint8_t kClientEncryptionKeyKind = 6;
// Of an item that has attachments: named by its resource id, in its container; no client sees it.
inline constexpr uint8_t kAttachedItemKind = 7;
inline constexpr uint8_t kAttachmentKind = 8;

struct ResourceKind {
  uint8_t number;            // in the catalog; a number keeps its meaning for ever
  std::string_view segment;  // in paths: "users"
  std::string_view owner;    // the segment of what it belongs to: "dbs", "colls", "users", "docs"
  std::string_view feed;     // the member of a list that holds them: "Users"
  std::string_view noun;     // in messages: "user"
  RidKind rid;
  uint64_t Limits::* most;  // of one owner
  // Checks a definition (an object; its id is checked already) and gives what is kept of it beside
  // the id: members of a JSON object, without braces.
  Result<std::string> (*members)(const value::Node& definition);
  std::string_view links;  // the last members of an answer, without braces: "_permissions":…
  bool can_be_deleted = true;
};

// The kind that a path is about, as a feed or as one of them; null when it is about no such kind.
const ResourceKind* kind_of(const ResourceAddress& address);
// The kind with this number in the catalog.
const ResourceKind* kind_of(uint8_t number);

// A body that defines a resource, checked.
struct ResourceDefinition {
  std::string name;
  std::string members;
};
Result<ResourceDefinition> parse_resource(const ResourceKind& kind, std::string_view body);

}  // namespace orrery::cosmos

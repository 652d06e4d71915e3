// Items between the wire and the partition: reading what a client sent, and the system properties
// that a stored body carries.
//
// Pure; any thread may call. On the path of every write.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "partition/partition.h"
#include "value/json.h"
#include "value/placement.h"

namespace orrery::cosmos {

// An item as sent, checked.
struct IncomingItem {
  std::string id;
  value::PartitionKey key;  // from the body
  std::string body;         // minified, without system properties
  std::optional<int32_t> ttl_s;
};

Result<value::JsonDocument> parse_item_document(std::string_view body, const Limits& limits);
Result<IncomingItem> parse_item(std::string_view body, const value::KeyDefinition& definition,
                                const Limits& limits);
// The same of what was parsed before.
Result<IncomingItem> check_item(const value::JsonDocument& document,
                                const value::KeyDefinition& definition, const Limits& limits);

// How long an item with this `ttl` lives: from its _ts on. Without one the container decides.
partition::Lifetime lifetime_of(std::optional<int32_t> ttl_s);

// The item of a document that check_item() has accepted, without system properties: what is stored,
// except for the properties that the server adds. Points into the document.
class StrippedItem {
 public:
  explicit StrippedItem(const value::Node& root);
  StrippedItem(const StrippedItem&) = delete;
  StrippedItem& operator=(const StrippedItem&) = delete;
  const value::Node& root() const { return root_; }

 private:
  std::vector<value::Node> members_;  // empty when it had none
  value::Node root_;
};

// Whether the server keeps a property of this name itself.
bool is_system_property(std::string_view name);

// The rules for ids: 1 to item-id-characters characters, none of / \ ? #.
Status check_item_id(std::string_view id, const Limits& limits);

// Adds _rid, _self, _etag, _attachments and _ts.
class ItemFinisher final : public partition::Finisher {
 public:
  ItemFinisher(uint32_t database, uint32_t container)
      : database_(database), container_(container) {}
  std::string finish(std::string_view body, const partition::Version& version,
                     const partition::Origin& origin) const override;
  std::span<const std::string_view> added_names() const override;
  void each_added(const partition::Version& version, const partition::Origin& origin,
                  const std::function<void(const value::Value&)>& take) const override;

 private:
  uint32_t database_;
  uint32_t container_;
};

}  // namespace orrery::cosmos

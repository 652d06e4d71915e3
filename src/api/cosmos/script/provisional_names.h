// What a script sees of items that it has written and that are not committed yet.
//
// An item's resource id and etag are made of the LSN of a write, and that comes with the commit. A
// script sees them earlier: the document that createDocument gives has a _self, and the script uses
// it. So each write of a script gets a provisional id and etag that no committed item has. When the
// writer finishes the items, it tells the names here which ones came of them, and they take the
// place of the provisional ones wherever those were put: in bodies of later writes, and in the
// script's answer.
//
// Threading: one thread at a time: that of the script, then the writer's, then the script's again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "api/cosmos/items/item_body.h"
#include "partition/partition.h"

namespace orrery::cosmos {

class ProvisionalNames {
 public:
  ProvisionalNames(uint32_t database, uint32_t container);

  partition::Version next_version(int64_t now_s);
  partition::Origin next_origin();
  static bool is_provisional(const partition::Origin& origin);
  std::string rid(const partition::Origin& origin) const;

  // The item with the provisional version and origin came to have these.
  void resolve(const partition::Version& provisional, const partition::Version& version);
  void resolve(const partition::Origin& provisional, const partition::Origin& origin);
  // The text with what is known by now in the place of provisional names.
  std::string translate(std::string_view text) const;

 private:
  const uint32_t database_;
  const uint32_t container_;
  uint64_t made_ = 0;
  std::string rid_start_;  // of every provisional resource id
  std::unordered_map<std::string, std::string> real_;
};

// Finishes an item as ItemFinisher does, and resolves its provisional names.
class ScriptFinisher final : public partition::Finisher {
 public:
  ScriptFinisher(std::shared_ptr<ProvisionalNames> names, ItemFinisher finisher,
                 const partition::Version& version, const partition::Origin& origin)
      : names_(std::move(names)),
        finisher_(std::move(finisher)),
        version_(version),
        origin_(origin) {}
  std::string finish(std::string_view body, const partition::Version& version,
                     const partition::Origin& origin) const override;
  std::span<const std::string_view> added_names() const override { return finisher_.added_names(); }
  void each_added(const partition::Version& version, const partition::Origin& origin,
                  const std::function<void(const value::Value&)>& take) const override {
    finisher_.each_added(version, origin, take);
  }

 private:
  const std::shared_ptr<ProvisionalNames> names_;
  const ItemFinisher finisher_;
  const partition::Version version_;  // provisional
  const partition::Origin origin_;    // provisional when the script made the item
};

}  // namespace orrery::cosmos

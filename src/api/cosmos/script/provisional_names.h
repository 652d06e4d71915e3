// Resource ids and etags of items that a script has written and that are not committed yet.
//
// Both are made of the LSN of a write, which is assigned at commit. A script needs them earlier:
// the document that createDocument returns has a _self, and the script uses it. So each write of a
// script gets a provisional id and etag that no committed item has. At commit the writer reports
// the real ones here. They then replace the provisional ones wherever the script has put them: in
// bodies of later writes, and in its response.
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

  // Sets the real version or origin for a provisional one.
  void resolve(const partition::Version& provisional, const partition::Version& version);
  void resolve(const partition::Origin& provisional, const partition::Origin& origin);
  // The text with provisional names replaced by the real ones, as far as they are known.
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

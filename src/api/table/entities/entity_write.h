// Changes of entities: from requests to writes of a partition.
//
// An etag is the timestamp in an entity's body, which the engine does not know. A change that asks
// for one is done in two steps: the entity is read and its timestamp compared, then the change asks
// the engine for the version that was read. If another write comes in between, the engine refuses.
// Insert-or-merge is done likewise: the entity is looked for, then created, or merged into what is
// there at the time of the write.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/table/auth/grant.h"
#include "api/table/service/table_error.h"
#include "api/table/wire/address.h"
#include "api/table/wire/ticks.h"
#include "base/clock.h"
#include "cluster/routing.h"
#include "partition/partition.h"

namespace orrery::table {

struct Call;

// Stamps each write with a time that no other write of this process has: etags are made of it.
class Timestamps final : public partition::Finisher {
 public:
  explicit Timestamps(const Clock& clock) : clock_(clock) {}
  std::string finish(std::string_view body, const partition::Version& version,
                     const partition::Origin& origin) const override;
  // No index has them.
  std::span<const std::string_view> added_names() const override { return {}; }
  void each_added(const partition::Version& /*version*/, const partition::Origin& /*origin*/,
                  const std::function<void(const value::Value&)>& /*take*/) const override {}

 private:
  Ticks next() const;

  const Clock& clock_;
  mutable std::atomic<Ticks> last_{0};
};

enum class Change : uint8_t {
  insert,
  replace,
  merge,
  insert_or_replace,
  insert_or_merge,
  remove,
};

// One change, checked.
struct EntityChange {
  Change change = Change::insert;
  std::string partition_key;
  std::string row_key;
  std::string stored;       // the entity, or what is to be merged into one
  EtagCondition condition;  // of replace, merge and remove

  Operation operation() const;
  // Whether the entity has to be looked at before.
  bool needs_current() const {
    return change == Change::insert_or_merge || (has_condition() && !condition.any);
  }
  bool has_condition() const {
    return change == Change::replace || change == Change::merge || change == Change::remove;
  }
};

// `method`: POST, PUT, PATCH, MERGE or DELETE. The address is that of entities or of one.
TableResult<EntityChange> parse_change(std::string_view method, const Address& address,
                                       std::string_view if_match, std::string_view body);

// The write of a change. `current`: what was found, for those that needed it; null: nothing was.
// `stored`: the change's own.
TableResult<partition::Write> make_write(const EntityChange& change, std::string stored,
                                         const cluster::Routing& routing,
                                         const std::shared_ptr<const Timestamps>& timestamps,
                                         const partition::Item* current);

// What the engine's refusal of a change is called here.
TableError change_error(const EntityChange& change, const Error& error, Call& call);

// Whether a refusal means that the entity came or went since it was looked for: try again.
bool lost_race(const EntityChange& change, const Error& error);

}  // namespace orrery::table

// The small named resources of databases and containers that only a face understands (users,
// permissions, scripts), within the account's quotas. They are the catalog's.
//
// Threading: any thread that may block: all of it waits until it is durable. `change_mutex` is the
// routing table's: no container comes or goes in between.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "base/result.h"
#include "base/thread_annotations.h"
#include "catalog/catalog.h"

namespace orrery::cluster {

class Resources {
 public:
  using Check = std::function<Status()>;

  Resources(catalog::Catalog& catalog, Mutex& change_mutex, const Limits& limits)
      : catalog_(catalog), change_mutex_(change_mutex), limits_(limits) {}

  // As create_resource() and the others of Engine.
  Result<catalog::ResourcePtr> create(uint8_t kind, uint32_t parent, std::string_view name,
                                      std::string body, uint64_t most, const Check& check);
  Result<catalog::ResourcePtr> replace(uint32_t number, std::string_view name, std::string body,
                                       std::optional<uint64_t> if_revision, const Check& check);
  Status remove(uint32_t number, std::optional<uint64_t> if_revision);

 private:
  catalog::Catalog& catalog_;
  Mutex& change_mutex_;
  const Limits& limits_;
};

}  // namespace orrery::cluster

// The path of an address of direct mode. Clients send it back with each request (ReplicaPath), so
// it has what the address was for: a container's number and a range of it.
//
//   /apps/{guid}/services/{guid: container}/partitions/{guid: range}/replicas/{number}{p|s}
//
// Pure; any thread may call. Input from outside.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orrery::cosmos::direct {

struct ReplicaPath {
  uint32_t container = 0;  // 0: the catalog, for databases and users
  uint32_t range = 0;
};

// `secondary`: each range has two addresses, a primary and a secondary; both are the same place.
std::string replica_path(const ReplicaPath& path, bool secondary);
// Nothing when it is none of ours: some clients send none.
std::optional<ReplicaPath> parse_replica_path(std::string_view text);

}  // namespace orrery::cosmos::direct

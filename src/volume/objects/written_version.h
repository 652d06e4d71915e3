// Which version is written in a shared volume, and spoken between the nodes that use it. It is
// raised once everybody can read the next one, and never lowered: so nodes are upgraded one by one.
//
// The object `version` says which is written, and which one somebody is about to write.
//  - A process makes its row (lease.h), then reads the object. It stays out if it cannot read what
//    is written. If it cannot read what was announced, it takes the announcement back.
//  - Who raises it announces the next version, then reads all rows, then writes it if all can read
//    it. A process whose row was not there yet finds the announcement.
//  - Each change raises a turn and compares the whole state: a version is written only if its
//    announcement still stands.
//
// A writer of anything that an older program cannot read asks Node::written_version() first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "volume/objects/lease.h"
#include "volume/objects/object_store.h"

namespace orrery::volume {

inline constexpr const char* kVersionObject = "version";

struct WrittenVersion {
  uint32_t written = 1;
  uint32_t announced = 0;  // 0: none
  uint64_t turn = 0;

  bool operator==(const WrittenVersion&) const = default;
};
std::string encode(const WrittenVersion& version);
std::optional<WrittenVersion> decode_written_version(std::string_view text);

// A volume that nobody raised has version 1. Code::corrupt when the object says something else.
Result<WrittenVersion> read_written_version(ObjectStore& store);

// Whether a process that has its row already may use the volume. Code::unsupported says which
// program is wanted.
Status admit(ObjectStore& store, SpokenVersions own);

// Raises it if every process whose lease is not over can read `next`. The version that is written
// after that.
Result<uint32_t> raise_written_version(ObjectStore& store, uint32_t next);

}  // namespace orrery::volume

// A partition that another process owns, opened to be read: a follower. It shows what its owner had
// at its last catch_up(), which is a state that the owner had: everything up to some commit.
//
// It is a Partition, of which all that reads can be used. Nothing can be written to it. A write,
// and a reader that finds a file gone which the owner has deleted, or comes while it is catching
// up, get Code::elsewhere: the owner can answer.
//
// Threading: catch_up() by one thread at a time. The rest as of every partition.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "partition/partition.h"
#include "volume/volume.h"

namespace orrery::partition {

// The volume is an object volume. Code::not_found when it has no such partition.
Result<std::shared_ptr<Partition>> follow(Shared& shared, volume::Volume& volume,
                                          std::string_view volume_name,
                                          const Partition::Identity& identity);
// Reads what the owner has written since. Code::not_found when the partition was removed.
Status catch_up(Partition& partition);
// False when a reader has found files gone: it has to catch up first.
bool is_whole(const Partition& partition);

}  // namespace orrery::partition

// A volume in a directory of the local disk.
//
//   ROOT/partitions/NAME/EPOCH    the newest epoch, 8 bytes little-endian, and the progress of the
//                                 partition (progress.h); locked as below
//   ROOT/partitions/NAME/CLAIM    empty; locked by whoever is taking the partition
//   ROOT/partitions/NAME/db/      the database
//   ROOT/removed/NAME.SECONDS.PROCESS.N   what remove() has taken out of partitions/, and when
//   ROOT/BALLAST                  space to give back when the disk is full: see disk_reserve.h
//
// Fencing: a mutation holds a shared flock on EPOCH and checks that the file still has its own
// epoch. A new owner first writes the next epoch, so that no further mutation of the old owner
// passes the check. It then acquires the exclusive flock once, which waits for mutations that have
// already passed. CLAIM serialises claimers with one another and with remove(), which deposes the
// owner in the same way and then moves the whole place away with one rename.
//
// Liveness: an owner holds a record lock (fcntl, open file description) on the byte of EPOCH at the
// offset of its epoch for as long as it lives. The kernel releases it when the process ends. So a
// claim can tell whether the newest epoch still has an owner, whatever deposed owners still run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "volume/volume.h"

namespace orrery::volume {

// `reserve_bytes` of the disk are kept for removals; 0 keeps nothing.
Result<std::unique_ptr<Volume>> open_local_volume(const std::string& root,
                                                  uint64_t reserve_bytes = 0);

}  // namespace orrery::volume

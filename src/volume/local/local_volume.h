// A volume in a directory of the local disk.
//
//   ROOT/partitions/NAME/EPOCH    the newest epoch, 8 bytes little-endian, and how far the
//   partition
//                                 had got (progress.h); locked as below
//   ROOT/partitions/NAME/CLAIM    empty; locked by whoever is taking the partition
//   ROOT/partitions/NAME/db/      the database
//   ROOT/removed/NAME.SECONDS.PROCESS.N   what remove() has taken out of partitions/, and when
//   ROOT/BALLAST                  space to give back when the disk is full: see disk_reserve.h
//
// Fencing: a mutation holds a shared flock on EPOCH and checks that the file still says its own
// epoch. Taking writes the next epoch first (so that no new mutation of the old owner gets past its
// check) and then waits for the exclusive flock once (so that those already past it have ended).
// CLAIM keeps two takers apart, and a taker apart from remove(), which deposes the owner the same
// way and then moves the whole place away in one rename.
//
// Owners: one holds a record lock (fcntl, of the open file) on the byte of EPOCH at the offset of
// its epoch for as long as it lives; the lock goes with the process. So a claim finds out whether
// the newest epoch still has an owner, whatever deposed ones are left.
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

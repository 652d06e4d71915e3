// The sorted table in memory that a partition's writes go to before they are in files: RocksDB's
// interface for one (rocksdb/memtablerep.h), with a skip list that suits how partitions write.
//
// An item has a dozen or more index entries, so a commit is mostly inserts here. RocksDB's own list
// compares keys through two virtual calls and a thread-local counter, and looks for the place of a
// key from that of the last one upwards: comparing on each level, for nothing where keys
// lie far apart, as entries of different paths do. Its inserts were half of the instructions of a
// write. This list compares bytes where they lie, and goes downwards along the path of the last
// insert for as long as that is the way (decision 0046).
//
// Invariants
//  - Keys are in the order of bytes, and writes of one key from the newest to the oldest.
//  - An entry that was inserted stays as it is and where it is.
//
// Threading: one writer at a time, any number of readers beside it, without locks. A reader sees an
// entry whole or not at all.
#pragma once

#include <rocksdb/memtablerep.h>

#include <memory>

namespace orrery::partition {

std::shared_ptr<rocksdb::MemTableRepFactory> memtable_factory();

}  // namespace orrery::partition

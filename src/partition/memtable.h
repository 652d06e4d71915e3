// The sorted table in memory that a partition's writes go to before they are in files: RocksDB's
// interface for one (rocksdb/memtablerep.h), with a tree that suits how partitions write.
//
// An item has a dozen or more index entries, so a commit is mostly inserts here, each at a place of
// its own. In a skip list the way to a place is some twenty nodes, most of which are in no cache.
// Here it is four or five blocks of which only the last is in none (decisions 0046, 0048). Keys are
// compared by their bytes where they lie, and by four bytes of them wherever these tell.
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

// How RocksDB is set up for a partition's database.
#pragma once

#include <rocksdb/options.h>

#include <cstdint>

#include "partition/store.h"

namespace orrery::partition {

// The access pattern of a column family.
enum class Lookup : uint8_t { by_key, by_term, in_order };

rocksdb::ColumnFamilyOptions family_options(const Shared& shared, Store::Mode mode, Lookup lookup);
rocksdb::DBOptions database_options(const Shared& shared, Store::Mode mode, rocksdb::Env* env);

}  // namespace orrery::partition

// Walking over an encoded term without decoding it: what a reader of the index does to reach the
// key behind it, and RocksDB to find what its filters are by.
#pragma once

#include <cstddef>
#include <string_view>

namespace orrery::value {

// How many bytes at the front of `key` are one term; 0 when they are none. term_size() in terms.h
// makes an error of that.
size_t term_size_or_0(std::string_view key);

}  // namespace orrery::value

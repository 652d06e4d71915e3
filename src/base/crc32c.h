// CRC-32C (Castagnoli), by the processor's own instruction where it has one. Pure; any thread may
// call.
#pragma once

#include <cstdint>
#include <string_view>

namespace orrery {

// Of the bytes that `crc` is of and these behind them. Of nothing it is 0.
uint32_t extend_crc32c(uint32_t crc, std::string_view bytes);
// The same with tables, on every processor.
uint32_t extend_crc32c_by_table(uint32_t crc, std::string_view bytes);

inline uint32_t crc32c(std::string_view bytes) {
  return extend_crc32c(0, bytes);
}

}  // namespace orrery

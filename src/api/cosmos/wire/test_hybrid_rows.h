// Makes batches in HybridRow for tests: streams of records, rows of operations.
#pragma once

#include <zlib.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace orrery::cosmos::test {

inline std::string u32(uint32_t value) {
  std::array<char, 4> bytes;
  store_u32_le(bytes.data(), value);
  return {bytes.data(), bytes.size()};
}

inline std::string counted(std::string_view bytes) {
  std::string out;
  size_t left = bytes.size();
  for (; left >= 0x80; left >>= 7) out += static_cast<char>(left | 0x80);
  out += static_cast<char>(left);
  return out.append(bytes);
}

inline std::string segment(std::string_view more = {}) {
  return "\x81" + u32(2147473648) + "\x01" + u32(static_cast<uint32_t>(10 + more.size())) +
         std::string(more);
}

inline std::string record(std::string_view row) {
  const auto crc = static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const unsigned char*>(row.data()), row.size()));
  return "\x81" + u32(2147473649) + u32(static_cast<uint32_t>(row.size())) + u32(crc) +
         std::string(row);
}

struct TestOperation {
  uint32_t type = 0;  // operationType
  std::string key = {};
  std::string id = {};
  std::string body = {};
  std::string sparse = {};
};

inline std::string row_of(const TestOperation& operation) {
  int presence = 0x03;
  if (!operation.key.empty()) presence |= 0x04;
  if (!operation.id.empty()) presence |= 0x10;
  if (!operation.body.empty()) presence |= 0x40;
  std::string row = "\x81" + u32(2145473648);
  row += static_cast<char>(presence);
  row += u32(operation.type) + u32(2);
  if (!operation.key.empty()) row += counted(operation.key);
  if (!operation.id.empty()) row += counted(operation.id);
  if (!operation.body.empty()) row += counted(operation.body);
  return row + operation.sparse;
}

}  // namespace orrery::cosmos::test

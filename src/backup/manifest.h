// What a backup consists of: the partitions of an account, each with its files by name, size and
// SHA-256. docs/formats/backup.md has the bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace orrery::backup {

inline constexpr uint32_t kFormat = 1;

struct BackedUpFile {
  std::string name;  // in the partition's directory
  uint64_t size = 0;
  std::string sha256;  // hexadecimal, upper case
  std::string mark;    // of a table: see partition/export.h
};

struct BackedUpPartition {
  std::string volume_name;
  uint32_t container = 0;  // 0: the catalog
  uint32_t range = 0;
  uint64_t lsn = 0;         // of the newest commit in it
  int64_t time_s = 0;       // of that commit
  uint64_t sequence = 0;    // RocksDB's
  int64_t exported_ms = 0;  // by the server's clock: nothing in it was committed later
  uint64_t items = 0;
  uint64_t bytes = 0;  // of items, as partitions count them
  std::vector<BackedUpFile> files;
};

struct Manifest {
  std::string name;
  std::string program;   // the version that wrote it
  int64_t begun_ms = 0;  // all that was acknowledged before this is in it
  int64_t ended_ms = 0;  // nothing that was written after this is
  BackedUpPartition catalog;
  std::vector<BackedUpPartition> partitions;  // those that have files

  uint64_t items() const;
  uint64_t file_bytes() const;
};

// A line of JSON, and a line with the SHA-256 of the first.
std::string encode(const Manifest& manifest);
// Code::corrupt when it does not check; Code::unsupported when it has another format.
Result<Manifest> decode_manifest(std::string_view text);

}  // namespace orrery::backup

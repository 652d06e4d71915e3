// Where the files of physical partitions live. A volume may be a local directory or a distributed
// store; several processes may use the same one.
//
// Invariants that every volume keeps (volume_contract.h tests them):
//  - A claim has an epoch, larger than every earlier one of that partition, and claiming again
//    deposes the owner before it returns: whatever the deposed owner writes afterwards, through
//    files already open or new ones, fails and is never visible.
//  - file_system()->LinkFile between directories of the volume copies no data, so that a RocksDB
//    checkpoint into another partition's directory costs the same for any size.
//  - remove() deposes the owner and makes it as if the name had never been there; a crash in the
//    middle leaves either something that list() still shows, to be removed again, or only space
//    that the volume reclaims by itself.
//
// RocksDB types stop at src/partition: nothing above it includes this file's users' internals.
#pragma once

#include <rocksdb/file_system.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace orrery::volume {

// The right to write one partition's files. Released when destroyed.
class Claim {
 public:
  virtual ~Claim() = default;
  virtual uint64_t epoch() const = 0;
  // Fenced: every mutation fails once this claim is no longer the newest.
  virtual const std::shared_ptr<rocksdb::FileSystem>& file_system() const = 0;
  // Where the partition's database is, in that file system.
  virtual const std::string& directory() const = 0;
};

class Volume {
 public:
  virtual ~Volume() = default;

  // Takes a partition over, making its place when there is none.
  virtual Result<std::unique_ptr<Claim>> claim(std::string_view name) = 0;
  // Whether the partition has files.
  virtual bool exists(std::string_view name) const = 0;
  // Where they are, or would be, as an operator knows the place: for messages.
  virtual std::string place(std::string_view name) const = 0;
  virtual Result<std::vector<std::string>> list() const = 0;
  virtual Status remove(std::string_view name) = 0;
  // Makes room for a clone under this name (removing what a crash left of an earlier attempt) and
  // returns the directory, not there yet, that the clone's database is to be made in.
  virtual Result<std::string> clone_target(std::string_view name) = 0;
};

// Names are lower-case letters, digits and hyphens, 1 to 64 of them.
bool is_valid_name(std::string_view name);

}  // namespace orrery::volume

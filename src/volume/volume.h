// Where the files of physical partitions live. A volume may be a local directory or a distributed
// store; several processes may use the same one.
//
// Invariants that every volume keeps (volume_contract.h tests them):
//  - A partition has one owner at most. claim() gives it only to whoever finds it without a living
//    one: new, released, or left behind by a process that ended. Otherwise it changes nothing, so
//    that a request which went to the wrong process costs the right one nothing.
//  - A claim has an epoch, larger than every earlier one of that partition. take_over() deposes the
//    owner, living or not, before it returns: whatever the deposed owner writes afterwards, through
//    files already open or new ones, fails and is never visible.
//  - A place for a clone is made only where there is none, and only by the parent's living owner.
//    Nothing but remove() takes a partition's files away.
//  - What was durable when its owner noted an LSN is there at the next claim, or that fails with
//    Code::corrupt: a database which lost files is not taken for one that never had them.
//  - file_system()->LinkFile between directories of the volume copies no data, so that a RocksDB
//    checkpoint into another partition's directory costs the same for any size.
//  - remove() deposes the owner and makes it as if the name had never been there, in one step: a
//    crash leaves all of it or nothing. The files are kept aside until delete_removed().
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

  // How far the partition has got: what its newest owner noted, or an earlier one. 0: nothing was.
  virtual uint64_t noted_lsn() const = 0;
  // Everything up to `lsn` is durable, and so are all files as far as they were synced, with their
  // names. `quick`: the note outlives the process; `synced`: a power cut too.
  enum class NoteIs : uint8_t { quick, synced };
  virtual Status note_lsn(uint64_t lsn, NoteIs note) = 0;

  // Makes the place of a clone of this partition and returns the directory, not there yet, that the
  // clone's database is to be made in. Code::conflict when there is something under the name;
  // fenced like every mutation (Code::read_only).
  virtual Result<std::string> clone_target(std::string_view name) = 0;
};

// What space is wanted for. Compactions give back more than they take, so they may use some of what
// is kept for removals; removals are always written.
enum class Need : uint8_t { growth, compaction };

class Volume {
 public:
  virtual ~Volume() = default;

  // Takes a partition that has no living owner, making its place when there is none. Code::moved
  // when another has it. Code::corrupt when it has lost files that it had when an LSN was noted.
  virtual Result<std::unique_ptr<Claim>> claim(std::string_view name) = 0;
  // The same from a living owner too: for whoever knows that it must not go on.
  virtual Result<std::unique_ptr<Claim>> take_over(std::string_view name) = 0;
  // Whether the partition has files.
  virtual bool exists(std::string_view name) const = 0;
  // Where they are, or would be, as an operator knows the place: for messages.
  virtual std::string place(std::string_view name) const = 0;
  virtual Result<std::vector<std::string>> list() const = 0;

  // Takes a partition's files out of the list and keeps them aside. `now_s` is when that was, for
  // delete_removed(). Without such a partition it does nothing.
  virtual Status remove(std::string_view name, int64_t now_s) = 0;
  // Deletes, of what was removed at `before_s` or earlier, the oldest. False: there is none.
  virtual Result<bool> delete_removed(int64_t before_s) = 0;
  // How much of the volume's space is free: 0 to 1.
  virtual Result<double> free_share() const = 0;
  // Code::read_only, with the reason, while there is too little space for this: whoever would make
  // the data grow asks first. Cheap enough to be asked for every commit.
  virtual Status room(Need = Need::growth) { return {}; }
};

// Names are lower-case letters, digits and hyphens, 1 to 64 of them.
bool is_valid_name(std::string_view name);

}  // namespace orrery::volume

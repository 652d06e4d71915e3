// Where the files of physical partitions live. A volume may be a local directory or a distributed
// store; several processes may use the same one.
//
// Invariants that every volume keeps (volume_contract.h tests them):
//  - A partition has at most one owner. claim() succeeds only if there is no living owner: the
//    partition is new, was released, or its owner's process ended. Otherwise it changes nothing, so
//    a request that was routed to the wrong process does not disturb the right one.
//  - A claim has an epoch, larger than every earlier one of that partition. take_over() deposes the
//    owner, living or not, before it returns: whatever the deposed owner writes afterwards, through
//    files already open or new ones, fails and is never visible.
//  - A place for a clone is made only where there is none, and only by the parent's living owner.
//    Nothing but remove() takes a partition's files away.
//  - Everything that was durable when the owner noted an LSN is there at the next claim. Otherwise
//    the claim fails with Code::corrupt. So a database that lost files is not mistaken for a
//    younger one.
//  - file_system()->LinkFile between directories of the volume copies no data, so that a RocksDB
//    checkpoint into another partition's directory costs the same for any size.
//  - remove() deposes the owner and frees the name, atomically: after a crash all of the partition
//    is there or nothing. The files are kept aside until delete_removed().
//
// Only this folder and src/partition use RocksDB's types. The engine includes this file to pass a
// Volume to its partitions, so it only declares the one that it names.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rocksdb {
class FileSystem;
}

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

  // The newest LSN that an owner of the partition noted as durable; 0 when none was noted.
  virtual uint64_t noted_lsn() const = 0;
  // Notes that every commit up to `lsn` is durable, as are all synced bytes and the names of their
  // files. `quick`: the note survives the end of the process. `synced`: it also survives a power
  // cut.
  enum class NoteIs : uint8_t { quick, synced };
  virtual Status note_lsn(uint64_t lsn, NoteIs note) = 0;

  // Makes the place of a clone of this partition. Returns the directory for the clone's database,
  // which does not exist yet: whoever fills it makes another beside it and renames that.
  // Code::conflict when the name is in use. Fenced like every mutation (Code::read_only).
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
  // The same, and deposes the owner if it is alive: for callers who know that it must stop.
  virtual Result<std::unique_ptr<Claim>> take_over(std::string_view name) = 0;
  // Waits until it is certain that the partition's owner, if any, is dead, so that it can be
  // claimed. Code::moved when the owner lives. On volumes that know this at once it does nothing.
  virtual Status outlive_owner(std::string_view /*name*/) { return {}; }
  // Whether what was read of claimed partitions is the newest: asked after reading. False when
  // another process may have taken them over without this one knowing yet.
  virtual bool reads_are_current() const { return true; }
  // The process that has the partition, by the volume's own name for its life. Empty: nobody, or
  // the volume is for one process alone.
  virtual Result<std::string> owner(std::string_view /*name*/) const { return std::string(); }
  // Whether the partition has files.
  virtual bool exists(std::string_view name) const = 0;
  // Where they are, or would be, as an operator knows the place: for messages.
  virtual std::string place(std::string_view name) const = 0;
  virtual Result<std::vector<std::string>> list() const = 0;

  // Takes a partition's files out of the list and keeps them aside. `now_s` is when that was, for
  // delete_removed(). Without such a partition it does nothing.
  virtual Status remove(std::string_view name, int64_t now_s) = 0;
  // Deletes the partition that was removed first, if that was at `before_s` or earlier. False:
  // there is none.
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

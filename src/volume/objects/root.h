// The root of a partition in an object store: who owns it, and which files it has. See
// object_volume.h for the objects of a volume.
//
// Root is the owner's own copy, loaded when it claimed the partition. Nobody else may change the
// object, so the copy is right for as long as changes succeed. Every change compares the epoch in
// the same operation. Once one was refused, another owner has the partition, and every later change
// is refused without asking.
//
// A change without an answer may still be applied at any later time. Nothing is known of the object
// until its epoch is raised. So this copy refuses every further change too, and whoever owns the
// partition claims it from itself.
//
// A clone's root is filled before anybody looks at it. Its entries are held in memory and written
// all at once by publish(). So making a clone of any number of files is one change of its root.
//
// Thread-safe. Changes are made one after another.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/thread_annotations.h"
#include "volume/objects/file_entry.h"
#include "volume/objects/object_store.h"

namespace orrery::volume {

// The attributes of a root.
inline constexpr const char* kEpoch = "epoch";    // decimal
inline constexpr const char* kOwner = "owner";    // an incarnation, or empty
inline constexpr const char* kState = "state";    // one of the following
inline constexpr const char* kName = "name";      // of the partition
inline constexpr const char* kMaker = "maker";    // the incarnation that made it
inline constexpr const char* kParent = "parent";  // of a clone: the root that it was made from
inline constexpr const char* kLsn = "lsn";        // the newest noted one, decimal
inline constexpr std::string_view kOpen = "open";
inline constexpr std::string_view kReleased = "released";
inline constexpr std::string_view kDead = "dead";  // removed; its files are to go

// Of an extent of a log that nobody may append to any more.
inline constexpr std::string_view kSealed = "sealed";
// Of the first stripe of a file: the tokens of those that name it, each followed by a space.
inline constexpr const char* kRefs = "refs";

std::string root_object(std::string_view id);
// Which root a name leads to, and which ones were removed: see object_volume.h.
inline constexpr const char* kIndexObject = "index";

enum class Standing : uint8_t {
  owner,
  deposed,  // another owner has the partition
  in_doubt  // a change had no answer
};

class Root {
 public:
  enum class Entries : uint8_t { written, held };
  Root(ObjectStore& store, std::string id, uint64_t epoch, ObjectState loaded,
       Entries entries = Entries::written);

  const std::string& id() const { return id_; }
  uint64_t epoch() const { return epoch_; }
  ObjectStore& store() const { return store_; }
  Standing standing() const { return standing_.load(std::memory_order_relaxed); }
  // An object that only the owner may change has refused a change of this epoch, or not answered.
  void refused(Applied applied);

  // A name for the objects of a new file, and a token for an entry; no two are equal.
  std::string new_file();
  std::string new_token();

  // Paths are relative to the partition: db/CURRENT. A path that ends in / is a directory.
  std::optional<FileEntry> find(const std::string& path) const;
  bool has_directory(const std::string& path) const;
  // The names of what is right below a directory.
  std::vector<std::string> children(const std::string& directory) const;
  std::map<std::string, FileEntry> files() const;

  // Each makes one change of the object.
  Outcome put(const std::string& path, const FileEntry& entry);
  Outcome make_directory(const std::string& path);
  Outcome erase(const std::string& path);
  Outcome erase_directory(const std::string& path);
  // A file, or a directory with all that is in it. A file that has the new name already is erased.
  Outcome rename(const std::string& from, const std::string& to);
  Outcome set_attribute(const std::string& name, std::string value);
  // Writes the entries that are held; from here on each change is written at once.
  bool holds_entries() const { return held_.load(std::memory_order_acquire); }
  Outcome publish();
  // Without a change: whether this is still the owner.
  Outcome check();

  // For readers that are no longer the owner: what the object says now.
  Status reload();

 private:
  using Changes = std::map<std::string, std::optional<std::string>>;  // unset: erased
  Outcome change(const Changes& changes) ORRERY_REQUIRES(change_mutex_);
  // All in one operation.
  Outcome write(const Changes& changes) ORRERY_REQUIRES(change_mutex_);

  ObjectStore& store_;
  const std::string id_;
  const uint64_t epoch_;
  std::atomic<Standing> standing_{Standing::owner};
  std::atomic<uint64_t> sequence_{0};
  std::atomic<bool> held_;
  Mutex change_mutex_;  // one change at a time; taken before mutex_
  mutable Mutex mutex_;
  std::map<std::string, std::string> entries_ ORRERY_GUARDED_BY(mutex_);
};

}  // namespace orrery::volume

// Which files are whose, and the removal of those that are to go.
//
// Files are never removed merely because the catalog does not know them. A catalog that lost its
// newest commits, or was restored from an old backup, does not know files that must be kept. So a
// removal is recorded in the catalog (src/catalog/catalog_removals.cc) before files can exist that
// no map names. At the start, recorded files are removed. Files that neither a map nor a record
// names make the start fail.
//
// Files are removed when nobody uses the partition any more, which keeps them aside; they are
// deleted once they are old enough (limit removed-files-age-s), or earlier, oldest first, while
// little of the disk is free.
//
// Fault points: removal.recorded (after the commit that drops a container or database),
// removal.moved (files are aside, the record is still there).
//
// Threading: retire() from any thread; settle() before anything is served; the rest on the upkeep's
// thread, or when that has ended.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/thread_annotations.h"
#include "catalog/catalog.h"
#include "cluster/stop_signal.h"
#include "cluster/upkeep/upkeep_bell.h"
#include "partition/partition.h"
#include "volume/volume.h"

namespace orrery::cluster {

// A catalog that is lost must not come back as an empty one: an error when there are files of
// partitions and none of the catalog's.
Status check_catalog_is_there(volume::Volume& volume);

class FileRemover {
 public:
  FileRemover(catalog::Catalog& catalog, volume::Volume& volume, const partition::Shared& shared,
              UpkeepBell& bell, const StopSignal& stop)
      : catalog_(catalog), volume_(volume), shared_(shared), bell_(bell), stop_(stop) {}

  // At the start: all files are known, and those that are to go are gone.
  Status settle();
  // The same for a node that has become the catalog's owner, while others serve: what is to go and
  // has no living owner goes now and whenever this is called again. What an unfinished split
  // or merge left is the affair of whoever claims its parents.
  Status settle_among_nodes();
  void remove_left_behind();
  // The catalog has a removal of these files: they go when nobody but the remover holds the
  // partition. It may be null: only files.
  void retire(std::shared_ptr<partition::Partition> partition,
              const std::string& volume_name) noexcept;
  void remove_retired();
  void delete_old();

 private:
  Status check_all_are_known(const std::vector<std::string>& names) const;
  // Whether what an unfinished split or merge left may go.
  Result<bool> may_clone_go(const catalog::Removal& removal);
  bool is_named(const std::string& volume_name) const;
  void forget_removals(const std::vector<std::string>& volume_names);

  catalog::Catalog& catalog_;
  volume::Volume& volume_;
  const partition::Shared& shared_;
  UpkeepBell& bell_;
  const StopSignal& stop_;

  struct Retired {
    std::shared_ptr<partition::Partition> partition;  // may be null: only files
    std::string volume_name;
  };
  Mutex mutex_;
  std::vector<Retired> retired_ ORRERY_GUARDED_BY(mutex_);
};

}  // namespace orrery::cluster

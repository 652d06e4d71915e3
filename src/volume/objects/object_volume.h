// A volume in an object store that several machines share, such as Ceph RADOS.
//
//   index             entries: n:NAME to a root's id; r:SECONDS.ID of a removed root to its name
//   root.ID           a partition: its owner and epoch as attributes, its files as entries (root.h)
//   file.ID.E.N.K     stripe or extent K of a file that the owner with epoch E of root ID made
//   lease.INCARNATION a process that uses the volume (lease.h)
//   leases            entries: the incarnations of those that are not known to be over
//   version           which version of all this is written (written_version.h)
//
// Fencing: an owner's changes of its root, and its appends to logs, compare the epoch in the same
// operation. A new owner raises the root's epoch first; then it reads which logs there are, and
// seals them; then it reads them. So an append of the old owner comes before the seal, and is read,
// or it is refused.
//
// Liveness: an owner lives as long as its lease is not over. Time passes before a lease can be
// ended, so a partition whose owner was killed is taken some seconds later, by whoever ended it.
//
// Every order of steps leaves something harmless when it is broken off:
//  - A new root is made before the index names it. A root that the index does not name is nobody's.
//  - A root names a file's objects before they are made, and they go after its entry.
//  - A removed root is marked dead, then its logs are sealed, then its name is freed. Whoever meets
//    a dead root under a name does the rest.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "volume/followed_files.h"
#include "volume/objects/lease.h"
#include "volume/objects/object_store.h"
#include "volume/volume.h"

namespace orrery::volume {

struct ObjectVolumeOptions {
  // In the lease: who this node is, where others reach it (empty: it serves alone), and which
  // versions it can read.
  std::string node_name = "node";
  std::string address = {};
  SpokenVersions versions = {};
  LeaseTimes lease_times = {};
  // Called once, by a thread of the volume's, when another process has ended this one's lease. It
  // owns nothing any more, and should stop.
  std::function<void()> on_lease_lost = {};
  // A local file that says which incarnation this node had last. Whoever opens the volume with it
  // holds a lock that no other living process has, so the one before is dead, and its partitions
  // can be claimed at once. Empty: none.
  std::string incarnation_file = {};
  // A local file for what was read of tables, and how large it may be. Empty: none.
  std::string cache_file = {};
  uint64_t cache_bytes = 0;
  // How often what dead processes left is looked for (sweep.h). 0: never.
  uint32_t sweep_every_s = 3600;
  // Of the store's space, kept for removals: growth stops at this, compactions at half of it.
  double reserve_share = 0.05;
  // A simulation has its own, and renews the lease by itself.
  BootClock clock = boot_time_us;
  RandomBytes random = system_random;
  bool lease_renews_itself = true;
};

// The lease with which this process uses the volume, after ending the one of its predecessor. For
// whoever has to know its incarnation, and whether it is good; open_object_volume() takes one by
// itself otherwise.
Result<std::shared_ptr<Lease>> take_lease(ObjectStore& store, const ObjectVolumeOptions& options);

// The lease ends with the volume, or with the last of its claims, if nobody else holds it.
Result<std::unique_ptr<Volume>> open_object_volume(std::shared_ptr<ObjectStore> store,
                                                   ObjectVolumeOptions options = {},
                                                   std::shared_ptr<Lease> lease = nullptr);
// Claims and releases what the process may own in name only, since an operation had no answer. A
// volume that sweeps does so by itself, each second. The volume is one of open_object_volume()'s.
void settle(Volume& volume);
// To read a partition that another process owns, or nobody does. Code::not_found when there is
// none, Code::unsupported when the volume is not one of open_object_volume()'s.
Result<std::unique_ptr<FollowedFiles>> follow(Volume& volume, std::string_view name);
// Who has the partition of this name, as its root says: an incarnation. Empty: nobody.
Result<std::string> owner_incarnation(ObjectStore& store, std::string_view name);

}  // namespace orrery::volume

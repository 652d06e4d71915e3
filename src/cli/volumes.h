// Where the server keeps its data: the volume that `--volume` names.
//
//   local                   in the data folder (the default)
//   rados:POOL[/NAMESPACE]  in a pool of Ceph
//   directory:PATH          as on Ceph, in a directory that processes of this machine share
#pragma once

#include <memory>
#include <string>

#include "base/limits.h"
#include "base/result.h"
#include "cli/node_options.h"
#include "volume/objects/lease.h"
#include "volume/objects/object_store.h"
#include "volume/volume.h"

namespace orrery::cli {

struct VolumeOptions {
  std::string volume = "local";
  std::string ceph_conf = "/etc/ceph/ceph.conf";
  std::string ceph_user = "admin";
};

// The store of objects that the volume is in. Null: it is a local one, which has none.
Result<std::shared_ptr<volume::ObjectStore>> open_store(const VolumeOptions& options);

struct OpenedVolume {
  std::unique_ptr<volume::Volume> volume;
  std::shared_ptr<volume::Lease> lease;  // of one that several processes share; null otherwise
};

// Whoever opens it holds the lock of the data folder. `node` says who this is to others; of a
// server alone it is empty.
Result<OpenedVolume> open_volume(std::shared_ptr<volume::ObjectStore> store,
                                 const NodeOptions& node, const std::string& data_folder,
                                 const Limits& limits);

}  // namespace orrery::cli

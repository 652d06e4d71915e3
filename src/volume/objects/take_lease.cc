// See object_volume.h: how a process comes to the lease with which it uses the volume. It ends the
// one of its predecessor on this machine, and stays out of a volume that it could not read.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "volume/objects/object_volume.h"
#include "volume/objects/written_version.h"

namespace orrery::volume {
namespace {

// The process that used this node's name before.
Status bury_predecessor(ObjectStore& store, const std::string& file) {
  std::ifstream in(file);
  std::string incarnation;
  if (!(in >> incarnation)) return {};
  return bury(store, incarnation);
}

Status note_incarnation(const std::string& file, const std::string& incarnation) {
  const std::string fresh = file + ".new";
  std::ofstream(fresh, std::ios::trunc) << incarnation << '\n';
  std::error_code error;
  std::filesystem::rename(fresh, file, error);
  if (!error) return {};
  return fail(Code::internal, fmt::format("cannot write {}: {}", file, error.message()));
}

}  // namespace

Result<std::shared_ptr<Lease>> take_lease(ObjectStore& store, const ObjectVolumeOptions& options) {
  const std::string& file = options.incarnation_file;
  if (!file.empty()) {
    if (auto buried = bury_predecessor(store, file); !buried) return pass(buried.error());
  }
  auto lease = Lease::take(store, {.node_name = options.node_name,
                                   .address = options.address,
                                   .versions = options.versions,
                                   .times = options.lease_times,
                                   .clock = options.clock,
                                   .random = options.random,
                                   .on_lost = options.on_lease_lost,
                                   .renews_itself = options.lease_renews_itself});
  if (!lease) return pass(lease.error());
  if (auto admitted = admit(store, options.versions); !admitted) return pass(admitted.error());
  // Should the process end before this, its lease is ended by others, some seconds later.
  if (!file.empty()) {
    if (auto noted = note_incarnation(file, (*lease)->incarnation()); !noted) {
      return pass(noted.error());
    }
  }
  return std::shared_ptr<Lease>(std::move(*lease));
}

}  // namespace orrery::volume

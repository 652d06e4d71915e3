// See volumes.h.
#include "cli/volumes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "volume/local/local_volume.h"
#include "volume/objects/directory_store.h"
#include "volume/objects/object_volume.h"
#include "volume/rados/rados_store.h"

namespace orrery::cli {
namespace {

constexpr std::string_view kRados = "rados:";
constexpr std::string_view kDirectory = "directory:";

std::string host_name() {
  std::array<char, 256> name = {};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "node";
}

// Whoever has the volume now answers for it. An orderly stop: what was accepted is refused, and the
// process ends.
void stop_serving() {
  log::error("another server has this volume now: stopping");
  ::kill(::getpid(), SIGTERM);
}

}  // namespace

Result<std::shared_ptr<volume::ObjectStore>> open_store(const VolumeOptions& options) {
  const std::string_view kind = options.volume;
  if (kind == "local") return nullptr;
  if (kind.starts_with(kRados)) {
    const std::string_view where = kind.substr(kRados.size());
    const size_t slash = where.find('/');
    volume::RadosOptions rados{.conf_file = options.ceph_conf, .user = options.ceph_user};
    rados.pool = where.substr(0, slash);
    if (slash != std::string_view::npos) rados.name_space = where.substr(slash + 1);
    if (rados.pool.empty()) {
      return fail(Code::invalid,
                  fmt::format("--volume {}: say which pool, as in rados:orrery", kind));
    }
    return volume::open_rados_store(rados);
  }
  if (kind.starts_with(kDirectory) && kind.size() > kDirectory.size()) {
    return volume::open_directory_store(std::string(kind.substr(kDirectory.size())),
                                        volume::DirectorySync::yes);
  }
  return fail(Code::invalid,
              fmt::format("--volume '{}' is not one of local, rados:POOL[/NAMESPACE], "
                          "directory:PATH",
                          kind));
}

Result<OpenedVolume> open_volume(std::shared_ptr<volume::ObjectStore> store,
                                 const NodeOptions& node, const std::string& data_folder,
                                 const Limits& limits) {
  OpenedVolume opened;
  if (!store) {
    auto local = volume::open_local_volume(data_folder, limits.disk_reserve_bytes);
    if (!local) return pass(local.error());
    opened.volume = std::move(*local);
    return opened;
  }
  volume::ObjectVolumeOptions options{.node_name = node.is_node() ? node.name : host_name(),
                                      .address = node.address,
                                      .on_lease_lost = stop_serving,
                                      .incarnation_file = data_folder + "/incarnation",
                                      .cache_file = data_folder + "/cache",
                                      .cache_bytes = limits.volume_cache_bytes};
  auto lease = volume::take_lease(*store, options);
  if (!lease) return pass(lease.error());
  opened.lease = std::move(*lease);
  auto shared = volume::open_object_volume(std::move(store), std::move(options), opened.lease);
  if (!shared) return pass(shared.error());
  opened.volume = std::move(*shared);
  return opened;
}

}  // namespace orrery::cli

// See volumes.h.
#include "cli/volumes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "cli/test_patience.h"
#include "volume/local/local_volume.h"
#include "volume/objects/directory_store.h"
#include "volume/objects/object_volume.h"
#include "volume/objects/text_number.h"
#include "volume/objects/written_version.h"
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

// What this program can read. Tests say that it is a later one.
volume::SpokenVersions spoken_versions() {
  volume::SpokenVersions versions;
  const char* newest = std::getenv("ORRERY_TEST_NEWEST_VERSION");  // NOLINT(concurrency-mt-unsafe)
  if (newest == nullptr) return versions;
  versions.newest = volume::number_of<uint32_t>(newest).value_or(versions.newest);
  log::warn("ORRERY_TEST_NEWEST_VERSION is set: this program says that it reads more than it does");
  return versions;
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
                                      .versions = spoken_versions(),
                                      .lease_times = lease_times(),
                                      .on_lease_lost = stop_serving,
                                      .incarnation_file = data_folder + "/incarnation",
                                      .cache_file = data_folder + "/cache",
                                      .cache_bytes = limits.volume_cache_bytes};
  auto lease = volume::take_lease(*store, options);
  if (!lease) return pass(lease.error());
  opened.lease = std::move(*lease);
  if (!node.is_node()) {
    // Of several nodes the coordinator does it.
    auto raised = volume::raise_written_version(*store, options.versions.newest);
    if (!raised && raised.error().code != Code::retry) return pass(raised.error());
  }
  auto shared = volume::open_object_volume(std::move(store), std::move(options), opened.lease);
  if (!shared) return pass(shared.error());
  opened.volume = std::move(*shared);
  return opened;
}

}  // namespace orrery::cli

// See librados.h.
#include "volume/rados/librados.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

namespace orrery::volume {
namespace {

Result<Librados> load_once() {
  // Never closed: its threads may outlive whoever used it last.
  void* library = ::dlopen("librados.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return fail(Code::unsupported,
                fmt::format("a volume on Ceph needs its client library: {}. Install the package "
                            "librados2",
                            ::dlerror()));
  }
  Librados all;
  std::string missing;
#define ORRERY_RADOS_LOAD(name)                                                      \
  all.name = reinterpret_cast<decltype(all.name)>(::dlsym(library, "rados_" #name)); \
  if (all.name == nullptr) missing = "rados_" #name;
  ORRERY_RADOS_FUNCTIONS(ORRERY_RADOS_LOAD)
#undef ORRERY_RADOS_LOAD
  if (!missing.empty()) {
    return fail(
        Code::unsupported,
        fmt::format("Ceph's client library on this machine has no {}: it is too old", missing));
  }
  return all;
}

}  // namespace

Result<const Librados*> Librados::load() {
  static const Result<Librados> loaded = load_once();
  if (!loaded) return pass(loaded.error());
  return &*loaded;
}

}  // namespace orrery::volume

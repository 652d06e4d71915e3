// Ceph's client library, loaded when a volume on RADOS is opened and not before: linked in, it
// would cost every start of the program 10 ms and 15 MB.
//
// One member for each function of librados that is used, by its name without `rados_`.
#pragma once

#include <rados/librados.h>

#include "base/result.h"

namespace orrery::volume {

struct Librados {
  // clang-format off
#define ORRERY_RADOS_FUNCTIONS(X)                                                        \
  X(create2) X(conf_read_file) X(conf_set) X(connect) X(shutdown) X(cluster_stat)        \
  X(ioctx_create) X(ioctx_destroy) X(ioctx_set_namespace)                                \
  X(create_write_op) X(release_write_op) X(write_op_assert_exists) X(write_op_create)    \
  X(write_op_cmpxattr) X(write_op_omap_cmp2) X(write_op_setxattr) X(write_op_omap_set2)  \
  X(write_op_omap_rm_keys2) X(write_op_append) X(write_op_write_full) X(write_op_remove) \
  X(write_op_operate) X(aio_write_op_operate)                                            \
  X(create_read_op) X(release_read_op) X(read_op_stat) X(read_op_getxattrs)              \
  X(read_op_omap_get_vals2) X(read_op_omap_get_vals_by_keys2) X(read_op_operate)         \
  X(aio_read_op_operate)                                                                 \
  X(aio_create_completion2) X(aio_wait_for_complete) X(aio_get_return_value)             \
  X(aio_get_version) X(aio_release)                                                      \
  X(getxattrs_next) X(getxattrs_end) X(omap_get_next2) X(omap_get_end) X(read)           \
  X(nobjects_list_open) X(nobjects_list_next) X(nobjects_list_close)
  // clang-format on
#define ORRERY_RADOS_MEMBER(name) decltype(&rados_##name) name = nullptr;
  ORRERY_RADOS_FUNCTIONS(ORRERY_RADOS_MEMBER)
#undef ORRERY_RADOS_MEMBER

  // The same one for all. Code::unsupported, with what to install, when the machine has none.
  static Result<const Librados*> load();
};

}  // namespace orrery::volume

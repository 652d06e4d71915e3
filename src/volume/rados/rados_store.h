// Objects in Ceph RADOS.
//
// An operation waits for as long as Ceph does not answer, unless `timeout_s` is set. An operation
// that timed out has an unknown outcome (Applied::unknown). Ceph may apply it at any later time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "volume/objects/object_store.h"

namespace orrery::volume {

struct RadosOptions {
  std::string conf_file = "/etc/ceph/ceph.conf";  // monitors and keyring
  std::string user = "admin";                     // client.USER
  std::string pool = "orrery";
  std::string name_space = {};  // of one cluster of Orrery; several may share a pool
  uint32_t timeout_s = 0;       // 0: none
  uint32_t connect_timeout_s = 10;
};

// Code::unsupported without Ceph's library; Code::invalid when it cannot connect, or there is no
// such pool.
Result<std::shared_ptr<ObjectStore>> open_rados_store(const RadosOptions& options);

}  // namespace orrery::volume

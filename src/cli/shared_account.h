// The account of a cluster: its keys and its secret are the same at all nodes, so they are kept in
// the volume that the nodes share, as the object `account` (docs/formats/object-volume.md). The
// first node makes it.
//
// A copy of the keys is in each node's data folder, for the commands that read them there; the
// volume's are the ones that count. A node looks once a second whether another has changed them.
#pragma once

#include <memory>
#include <string>

#include "account/account.h"
#include "account/keys.h"
#include "base/result.h"
#include "base/thread_annotations.h"
#include "base/worker_pool.h"
#include "volume/objects/object_store.h"

namespace orrery::cli {

struct SharedAccount {
  account::Keys keys;
  std::string secret;
};

// Reads it, or makes it when there is none. Code::internal when the volume does not answer.
Result<SharedAccount> ensure_shared_account(volume::ObjectStore& store);
// Puts a new key in the place of one; gives all of them.
Result<account::Keys> regenerate_shared_key(volume::ObjectStore& store, account::KeyName name);

// Keeps the keys of a running account, and their copy in the data folder, as the volume has them.
class KeyWatch {
 public:
  // All outlive it.
  KeyWatch(volume::ObjectStore& store, account::Account& account, std::string data_folder);
  ~KeyWatch();

 private:
  void watch();

  volume::ObjectStore& store_;
  account::Account& account_;
  const std::string data_folder_;
  Mutex mutex_;
  CondVar wake_;
  bool stopping_ ORRERY_GUARDED_BY(mutex_) = false;
  WorkerPool thread_{"key watch", 1};  // last: its one job uses the rest
};

}  // namespace orrery::cli

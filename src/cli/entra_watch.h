// Keeps the policy of `--entra` as its file says: reads it at the start and whenever it has
// changed, and the issuer's keys from where it says they are: a file with it, an address every
// hour, and when a token names a key that is not known, though not more often than once a minute.
//
// What cannot be read later on leaves the policy as it was, with a warning in the log. At the start
// a wrong file is an error. An address that does not answer is not: until it does, tokens are
// refused, and keys serve as ever.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "account/signing_keys.h"
#include "api/cosmos/auth/entra.h"
#include "base/result.h"
#include "base/thread_annotations.h"
#include "base/worker_pool.h"

namespace orrery::cli {

class EntraWatch {
 public:
  // Nothing to watch when `entra` is null.
  static Result<std::unique_ptr<EntraWatch>> open(std::string file,
                                                  std::shared_ptr<cosmos::Entra> entra);
  ~EntraWatch();
  EntraWatch(const EntraWatch&) = delete;
  EntraWatch& operator=(const EntraWatch&) = delete;

 private:
  EntraWatch(std::string file, std::shared_ptr<cosmos::Entra> entra)
      : file_(std::move(file)), entra_(std::move(entra)) {}

  Status load();
  Result<account::SigningKeys> read_keys(const cosmos::EntraFile& file);
  Result<std::string> read_place(const std::string& place);
  bool is_changed() const;
  void watch();

  const std::string file_;
  const std::shared_ptr<cosmos::Entra> entra_;
  // Of the last time that it was loaded; by one thread at a time.
  std::vector<std::pair<std::string, int64_t>> seen_;  // files, and when they were changed
  bool has_address_ = false;
  bool has_keys_ = false;
  int64_t loaded_s_ = 0;

  Mutex mutex_;
  CondVar wake_;
  bool stopping_ ORRERY_GUARDED_BY(mutex_) = false;
  WorkerPool thread_{"entra watch", 1};  // last: its one job uses the rest
};

}  // namespace orrery::cli

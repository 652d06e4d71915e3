// The account of a running server, for whoever backs it up: signed requests to /admin/export over
// one connection that stays open.
#pragma once

#include <functional>
#include <memory>

#include "account/keys.h"
#include "backup/source.h"
#include "base/result.h"
#include "cli/admin_client.h"
#include "client/client.h"

namespace orrery::cli {

class ExportSource final : public backup::Source {
 public:
  // `stopped` is asked now and then while an answer is waited for.
  static Result<std::unique_ptr<ExportSource>> open(const ServerAddress& address,
                                                    std::function<bool()> stopped);
  // A server that cannot be reached is Code::overloaded once it has answered: it may come back.
  Result<std::string> ask(const std::string& request) override;

 private:
  ExportSource(account::KeyRing signer, std::unique_ptr<client::Client> client)
      : signer_(std::move(signer)), client_(std::move(client)) {}

  const account::KeyRing signer_;
  const std::unique_ptr<client::Client> client_;
  bool has_answered_ = false;
};

}  // namespace orrery::cli

// Runs scripts and the writes around them as one transaction: begins it, runs it, commits it, and
// retries it when other writers have changed the same items meanwhile.
//
// Threading: one thread at a time, which waits for workers and for the partition.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/cosmos/script/script_operations.h"
#include "cluster/engine.h"
#include "script/host.h"

namespace orrery::cosmos {

// Why a transaction was given up.
struct ScriptFailure {
  std::string script;
  script::Failed failed;
};
using ScriptStop = std::variant<ScriptFailure, Refusal>;

class ScriptTransaction {
 public:
  // The body of the transaction, run from the start for each attempt.
  using Steps = std::function<std::expected<void, ScriptStop>(ScriptTransaction&)>;

  ScriptTransaction(cluster::Engine& engine, const Clock& clock, script::Host& host,
                    const Continuations& continuations, const ScriptScope& scope,
                    const cluster::LsnDemand& demand)
      : engine_(engine),
        clock_(clock),
        host_(host),
        continuations_(continuations),
        scope_(scope),
        demand_(demand) {}

  std::expected<void, ScriptStop> run(const Steps& steps);

  // For the steps.
  ScriptOperations& operations() { return *operations_; }
  // `run` needs no links.
  std::expected<script::Done, ScriptStop> execute(script::Execution run);

  // Afterwards, however it ended; the receipt only if it began.
  bool has_begun() const { return operations_.has_value(); }
  const cluster::Receipt& receipt() const { return receipt_; }
  const std::string& log() const { return log_; }
  // What became of each staged write, when it was committed.
  std::vector<partition::Written>& written() { return written_; }
  // What a script answered, with the names that its items have now.
  std::string translate(std::string_view text) const {
    return operations_->names().translate(text);
  }

 private:
  std::expected<void, ScriptStop> attempt(const Steps& steps);
  std::expected<void, ScriptStop> commit();

  cluster::Engine& engine_;
  const Clock& clock_;
  script::Host& host_;
  const Continuations& continuations_;
  const ScriptScope& scope_;
  const cluster::LsnDemand& demand_;
  std::unique_ptr<partition::Transaction> transaction_;
  std::optional<ScriptOperations> operations_;  // over transaction_
  size_t executions_ = 0;                       // of this attempt
  cluster::Receipt receipt_;
  std::string log_;
  std::vector<partition::Written> written_;
};

}  // namespace orrery::cosmos

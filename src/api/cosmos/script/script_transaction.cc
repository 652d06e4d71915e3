// See script_transaction.h.
#include "api/cosmos/script/script_transaction.h"

#include <fmt/format.h>

#include <cmath>

#include "api/cosmos/wire/rid.h"
#include "prices/request_units.h"

namespace orrery::cosmos {
namespace {

// The first committer wins, so of transactions that race one succeeds in each round.
constexpr int kAttempts = 16;
// The bodies of all items that one transaction writes.
constexpr size_t kTransactionBytes = 64ULL << 20;

bool lost_a_race(const ScriptStop& stop) {
  const auto* refusal = std::get_if<Refusal>(&stop);
  return refusal != nullptr && refusal->error.code == Code::retry;
}

}  // namespace

std::expected<void, ScriptStop> ScriptTransaction::run(const Steps& steps) {
  double charge = 0;
  for (int attempts = 1;; ++attempts) {
    auto done = attempt(steps);
    charge += receipt_.charge;
    if (!done && lost_a_race(done.error()) && attempts < kAttempts && scope_.is_wanted()) continue;
    // Each has two decimals; so has their sum.
    receipt_.charge = std::round(charge * 100) / 100;
    return done;
  }
}

std::expected<void, ScriptStop> ScriptTransaction::attempt(const Steps& steps) {
  receipt_ = {};
  log_.clear();
  executions_ = 0;
  operations_.reset();
  auto begun =
      engine_.begin_transaction(scope_.routing, scope_.placement, demand_, kTransactionBytes);
  if (!begun) return std::unexpected(Refusal{begun.error()});
  receipt_ = begun->receipt;
  transaction_ = std::move(begun->transaction);
  operations_.emplace(engine_, host_, clock_, continuations_, scope_, *transaction_);

  auto done = steps(*this);
  // Whatever the script made of its reads that failed since: it is run again.
  if (transaction_->is_outdated()) {
    done = std::unexpected(Refusal{
        {.code = Code::retry, .message = "the partition was opened again under the script"}});
  }
  const double read_charge =
      operations_->charge() + prices::script_charge() * static_cast<double>(executions_);
  receipt_.charge = read_charge;
  if (done) {
    done = commit();
  } else {
    transaction_->take();  // a snapshot keeps old data on disk
  }
  // Paid last: a script that read much is not to be refused its own commit for that.
  engine_.pay_for_query(scope_.routing, scope_.placement, read_charge);
  return done;
}

std::expected<void, ScriptStop> ScriptTransaction::commit() {
  std::vector<partition::Write> writes = transaction_->take();
  if (writes.empty()) {
    auto current = engine_.check_current();
    if (!current) return std::unexpected(Refusal{std::move(current.error())});
    return {};
  }
  cluster::WriteReply reply = engine_.write_and_wait(scope_.routing, std::move(writes));
  receipt_.charge += reply.receipt.charge;
  if (reply.error) return std::unexpected(Refusal{std::move(*reply.error)});
  receipt_.range = reply.receipt.range;
  receipt_.lsn = reply.receipt.lsn;
  written_ = std::move(reply.written);
  return {};
}

std::expected<script::Done, ScriptStop> ScriptTransaction::execute(script::Execution run) {
  const catalog::Container& container = *scope_.routing->container;
  run.self_link = container_self(container.database, container.number);
  run.alt_link =
      fmt::format("dbs/{}/colls/{}", scope_.routing->database->name, container.spec.name);
  const std::string name = run.name;
  ++executions_;
  operations_->start_clock();
  auto done = host_.run(std::move(run), *operations_);
  const std::string& log = done ? done->log : done.error().log;
  if (!log.empty() && !log_.empty()) log_ += '\n';
  log_ += log;
  if (!done) return std::unexpected(ScriptFailure{name, std::move(done.error())});
  return std::move(*done);
}

}  // namespace orrery::cosmos

// The server's side of the protocol with a worker. A worker that misses a deadline, exits, or
// breaks the protocol is killed.
#include "script/host.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "script/worker.h"
#include "value/json.h"

namespace orrery::script {
namespace {

// A worker stops its script at the deadline, and exits after a grace period (kGraceUs). A worker
// that does neither is killed this long after the deadline.
constexpr int64_t kWatchdogUs = 1'000'000;
// How often it is checked whether anybody still waits for the script.
constexpr int64_t kLookUs = 100'000;
// Rows of a call travel in batches of about this many bytes.
constexpr size_t kBatchBytes = 1 << 20;
constexpr size_t kBatchRows = 10'000;

int64_t watchdog_us(uint32_t time_ms) {
  return RealClock().steady_us() + int64_t{time_ms} * 1000 + kWatchdogUs;
}

WorkerLimits limits_of_worker(const Limits& limits) {
  return WorkerLimits{.heap_bytes = limits.script_heap_bytes,
                      .memory_bytes = limits.script_memory_bytes,
                      .message_bytes = limits.script_message_bytes};
}

size_t workers_of(const Limits& limits) {
  if (limits.script_workers != 0) return limits.script_workers;
  return std::max<size_t>(std::thread::hardware_concurrency(), 1);
}

uint32_t time_of(const Limits& limits) {
  return static_cast<uint32_t>(std::min<uint64_t>(limits.script_time_ms, UINT32_MAX / 2));
}

// Kills a worker that cannot be used any more, and says what that means for the script.
Failed lose(ScriptWorkerPool::Loan& loan, const Error& error, const std::string& script) {
  const std::string how = loan.discard();
  log::warn("a script lost its worker",
            {{"script", script}, {"error", error.message}, {"worker", how}});
  if (error.code == Code::overloaded || how == fmt::format("exit status {}", kWorkerOutOfTime)) {
    return Failed{.failure = Failure::timed_out,
                  .message =
                      "The script ran for longer than it may (limit script-time-ms), and had "
                      "to be ended from outside."};
  }
  if (error.code == Code::too_large) {
    return Failed{.failure = Failure::too_large, .message = error.message};
  }
  return Failed{
      .failure = Failure::crashed,
      .message = fmt::format("The script's process ended ({}): it used too much memory, or "
                             "more of the engine than it can stand.",
                             how)};
}

Failed not_started(const Error& error) {
  log::warn("a script could not start", {{"error", error.message}});
  return Failed{.failure = error.code == Code::overloaded ? Failure::busy : Failure::unable,
                .message = error.message};
}

Failed unwanted(ScriptWorkerPool::Loan& loan, const std::string& script) {
  loan.discard();
  log::info("ended a script that nobody waits for", {{"script", script}});
  return Failed{.failure = Failure::timed_out, .message = "The script's client has gone."};
}

// The worker's next message; nothing when nobody waits for the script any more.
std::optional<Result<Message>> next_message(Channel& channel, const Operations& operations,
                                            int64_t deadline_us) {
  while (operations.is_wanted()) {
    const int64_t look_us = std::min(deadline_us, RealClock().steady_us() + kLookUs);
    auto message = channel.receive(look_us);
    const bool is_early = !message && message.error().code == Code::overloaded;
    if (!is_early || look_us == deadline_us) return message;
  }
  return std::nullopt;
}

Error nonsense() {
  return Error{.code = Code::invalid, .message = "the worker's answer makes no sense"};
}

}  // namespace

Host::Host(const Limits& limits, const std::string& program)
    : limits_(limits),
      procedures_(program, limits_of_worker(limits), workers_of(limits)),
      functions_(program, limits_of_worker(limits), workers_of(limits)) {}

Outcome<Done> Host::run(Execution run, Operations& operations) {
  if (run.time_ms == 0) run.time_ms = time_of(limits_);
  if (run.operations == 0) {
    run.operations =
        static_cast<uint32_t>(std::min<uint64_t>(limits_.script_operations, UINT32_MAX));
  }
  if (run.response_bytes == 0) run.response_bytes = limits_.response_bytes;
  auto loan = procedures_.borrow(RealClock().steady_us() + int64_t{run.time_ms} * 1000);
  if (!loan) return std::unexpected(not_started(loan.error()));

  const std::string name = run.name;
  const int64_t deadline_us = watchdog_us(run.time_ms);
  uint32_t operations_left = run.operations;
  if (auto sent = loan->channel().send(std::move(run), deadline_us); !sent) {
    return std::unexpected(lose(*loan, sent.error(), name));
  }
  for (;;) {
    auto received = next_message(loan->channel(), operations, deadline_us);
    if (!received) return std::unexpected(unwanted(*loan, name));
    Result<Message>& message = *received;
    if (!message) return std::unexpected(lose(*loan, message.error(), name));
    if (auto* done = std::get_if<Done>(&*message)) return std::move(*done);
    if (auto* failed = std::get_if<Failed>(&*message)) {
      if (failed->ends_worker) loan->discard();
      return std::unexpected(std::move(*failed));
    }
    const auto* operation = std::get_if<ItemOperation>(&*message);
    if (operation == nullptr || operations_left-- == 0) {
      return std::unexpected(lose(*loan, nonsense(), name));
    }
    if (auto sent = loan->channel().send(operations.perform(*operation), deadline_us); !sent) {
      return std::unexpected(lose(*loan, sent.error(), name));
    }
  }
}

size_t Host::workers_max() const {
  return workers_of(limits_);
}

Outcome<std::unique_ptr<FunctionSession>> Host::functions() {
  auto loan = functions_.borrow(RealClock().steady_us() + int64_t{time_of(limits_)} * 1000);
  if (!loan) return std::unexpected(not_started(loan.error()));
  return std::unique_ptr<FunctionSession>(new FunctionSession(std::move(*loan), limits_));
}

FunctionSession::~FunctionSession() {
  if (!loan_.is_usable() || names_.empty()) return;
  if (!loan_.channel().send(Unload{}, watchdog_us(0))) loan_.discard();
}

Outcome<Message> FunctionSession::exchange(const Message& message, const std::string& name) {
  if (!loan_.is_usable()) {
    return std::unexpected(
        Failed{.failure = Failure::crashed, .message = "The functions' process was lost before."});
  }
  const int64_t deadline_us = watchdog_us(time_of(limits_));
  if (auto sent = loan_.channel().send(message, deadline_us); !sent) {
    return std::unexpected(lose(loan_, sent.error(), name));
  }
  auto answer = loan_.channel().receive(deadline_us);
  if (!answer) return std::unexpected(lose(loan_, answer.error(), name));
  if (auto* failed = std::get_if<Failed>(&*answer)) {
    if (failed->ends_worker) loan_.discard();
    return std::unexpected(std::move(*failed));
  }
  return std::move(*answer);
}

Outcome<uint32_t> FunctionSession::load(const std::string& name, const std::string& source) {
  auto answer = exchange(Load{.name = name, .source = source, .time_ms = time_of(limits_)}, name);
  if (!answer) return std::unexpected(std::move(answer.error()));
  if (!std::holds_alternative<Loaded>(*answer)) {
    return std::unexpected(lose(loan_, nonsense(), name));
  }
  names_.push_back(name);
  return static_cast<uint32_t>(names_.size() - 1);
}

Outcome<void> FunctionSession::call_batch(const FunctionCall& call,
                                          std::vector<value::Value>& results, size_t rows) {
  const std::string& name = names_[call.function];
  auto answer = exchange(call, name);
  if (!answer) return std::unexpected(std::move(answer.error()));
  const auto* found = std::get_if<Results>(&*answer);
  if (found == nullptr) return std::unexpected(lose(loan_, nonsense(), name));
  auto document = value::JsonDocument::parse(found->json);
  if (!document) {
    return std::unexpected(
        Failed{.failure = Failure::threw,
               .message = fmt::format("What the function returned cannot be used: {}",
                                      document.error().message)});
  }
  const value::Value all = value::Value::make_document(std::move(*document));
  if (!all.is_array() || all.size() != rows) return std::unexpected(lose(loan_, nonsense(), name));
  for (const value::Value& one : all.elements()) results.push_back(one.at(0));
  return {};
}

Outcome<std::vector<value::Value>> FunctionSession::call(
    uint32_t function, std::span<const std::vector<value::Value>> rows) {
  assert(function < names_.size());
  std::vector<value::Value> results;
  results.reserve(rows.size());
  FunctionCall batch{
      .function = function, .time_ms = time_of(limits_), .rows = "[", .undefined = {}};
  uint32_t count = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (count > 0) batch.rows.push_back(',');
    batch.rows.push_back('[');
    for (size_t j = 0; j < rows[i].size(); ++j) {
      if (j > 0) batch.rows.push_back(',');
      if (rows[i][j].is_undefined()) {
        batch.rows += "null";
        batch.undefined.push_back(count);
        batch.undefined.push_back(static_cast<uint32_t>(j));
      } else {
        rows[i][j].append_json(batch.rows);
      }
    }
    batch.rows.push_back(']');
    count++;
    if (i + 1 < rows.size() && count < kBatchRows && batch.rows.size() < kBatchBytes) continue;
    batch.rows.push_back(']');
    auto called = call_batch(batch, results, count);
    if (!called) return std::unexpected(std::move(called.error()));
    batch.rows = "[";
    batch.undefined.clear();
    count = 0;
  }
  return results;
}

}  // namespace orrery::script

// Running scripts: the server's side of src/script, and the only header that its users need with
// protocol.h.
//
// Scripts run in worker processes. Whatever a script does there, it costs its own execution and at
// most its worker, which is started again. A script's document operations come back here, one at a
// time, and the caller does them: the transaction is the caller's.
//
// A Failed is for the script's author (it threw, ran too long, …), except for those that say that
// the server could not start it (`busy`, `unable`).
//
// Thread-safe. Everything here blocks: call it on a thread that may wait.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/limits.h"
#include "script/protocol.h"
#include "script/worker_pool.h"
#include "value/value.h"

namespace orrery::script {

// The document operations of an execution. Called on the thread that runs it.
class Operations {
 public:
  virtual ~Operations() = default;
  // Of a query or feed, the body is a JSON array of the page's items. From status 400 on, the body
  // is an error, preferably JSON with a `message`.
  virtual Reply perform(const Operation& operation) = 0;
  // Whether anybody waits for the execution's end. Asked now and then, on the same thread.
  virtual bool is_wanted() const { return true; }
};

template <class T>
using Outcome = std::expected<T, Failed>;

// The user-defined functions of one query, in a worker of their own for as long as this lives. For
// one thread at a time.
class FunctionSession {
 public:
  // Compiles a function. The number is for `call`.
  Outcome<uint32_t> load(const std::string& name, const std::string& source);

  // Calls it for each row of arguments. After a Failed, nothing more can be called if the worker
  // was lost with it.
  Outcome<std::vector<value::Value>> call(uint32_t function,
                                          std::span<const std::vector<value::Value>> rows);

  ~FunctionSession();
  FunctionSession(const FunctionSession&) = delete;
  FunctionSession& operator=(const FunctionSession&) = delete;

 private:
  friend class Host;
  FunctionSession(ScriptWorkerPool::Loan loan, const Limits& limits)
      : loan_(std::move(loan)), limits_(limits) {}

  Outcome<Message> exchange(const Message& message, const std::string& name);
  Outcome<void> call_batch(const Call& call, std::vector<value::Value>& results, size_t rows);

  ScriptWorkerPool::Loan loan_;
  const Limits& limits_;
  std::vector<std::string> names_;
};

class Host {
 public:
  // The limits must outlive it. `program` is what to start workers from: this very program.
  explicit Host(const Limits& limits, const std::string& program = "/proc/self/exe");

  // Runs a procedure or a trigger. Time, operations and response size that are 0 in `run` are those
  // of the limits. It is ended soon after nobody wants it any more.
  Outcome<Done> run(Execution run, Operations& operations);

  // Functions have workers of their own, so that a procedure whose query calls a function does not
  // wait for itself.
  Outcome<std::unique_ptr<FunctionSession>> functions();

  // How many procedures can run at once; further ones wait for a worker.
  size_t workers_max() const;
  // Worker processes there are.
  size_t workers() { return procedures_.size() + functions_.size(); }

 private:
  const Limits& limits_;
  ScriptWorkerPool procedures_;
  ScriptWorkerPool functions_;
};

}  // namespace orrery::script

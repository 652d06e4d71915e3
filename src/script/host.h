// Runs scripts: the server's side of src/script. Users of this folder need this header and
// protocol.h only.
//
// Scripts run in worker processes. Whatever a script does, it can fail only its own execution, and
// at worst its worker, which is restarted. The document operations of a script are called back
// here, one at a time, and the caller performs them within its own transaction.
//
// A Failed is meant for the script's author (it threw, ran too long, …), except `busy` and
// `unable`: then the server could not start the script.
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
#include "script/script_worker_pool.h"
#include "value/value.h"

namespace orrery::script {

// The document operations of an execution. Called on the thread that runs it.
class Operations {
 public:
  virtual ~Operations() = default;
  // Of a query or feed, the body is a JSON array of the page's items. From status 400 on, the body
  // is an error, preferably JSON with a `message`.
  virtual Reply perform(const ItemOperation& operation) = 0;
  // Whether anybody still waits for the result. Checked now and then, on the same thread.
  virtual bool is_wanted() const { return true; }
};

template <class T>
using Outcome = std::expected<T, Failed>;

// The user-defined functions of one query. It holds a worker for as long as it lives. One thread at
// a time.
class FunctionSession {
 public:
  // Compiles a function. The number is for `call`.
  Outcome<uint32_t> load(const std::string& name, const std::string& source);

  // Calls it for each row of arguments. After a Failed that lost the worker, no more calls are
  // possible.
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
  Outcome<void> call_batch(const FunctionCall& call, std::vector<value::Value>& results,
                           size_t rows);

  ScriptWorkerPool::Loan loan_;
  const Limits& limits_;
  std::vector<std::string> names_;
};

class Host {
 public:
  // The limits must outlive it. `program` is the executable that workers are started from: this
  // one.
  explicit Host(const Limits& limits, const std::string& program = "/proc/self/exe");

  // Runs a procedure or a trigger. Time, operations and response size that are 0 in `run` are taken
  // from the limits. The script is ended soon after Operations::is_wanted turns false.
  Outcome<Done> run(Execution run, Operations& operations);

  // Functions have a worker pool of their own. Otherwise a procedure whose query calls a function
  // could wait for the worker that it holds itself.
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

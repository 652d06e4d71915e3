// The JavaScript engine of a worker: runs one execution after another, each in a realm of its own.
//
// A realm (a global object and all that it reaches) is made ahead of time, used by one execution,
// and dropped. So no execution sees anything of an earlier one. Compiled sources are cached. All
// members are for the thread that made the runtime. A process has one runtime, which is never
// destroyed: the process exits instead.
#pragma once

#include <js/experimental/JSStencil.h>
#include <jsapi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "script/alarm.h"
#include "script/job_queue.h"
#include "script/protocol.h"

namespace orrery::script {

class Runtime {
 public:
  // Asks the server. Does not return when the server is gone.
  using Perform = std::function<Reply(ItemOperation)>;

  // Null if the engine does not start.
  static std::unique_ptr<Runtime> create(uint64_t heap_bytes, uint64_t message_bytes,
                                         Perform perform);

  // Each gives the message that answers.
  Message run(const Execution& run);
  Message load(const Load& load);
  Message call(const FunctionCall& call);
  void unload();

  // Makes the next realm and collects garbage, when there is time for it.
  void tidy();
  // Whether the process should be replaced: memory ran out, and the engine may be in a bad way.
  bool is_spent() const { return is_spent_; }

 private:
  // A global object and what the prelude gave for it.
  struct Realm {
    explicit Realm(JSContext* cx) : global(cx), api(cx) {}
    JS::PersistentRootedObject global;
    JS::PersistentRootedObject api;
  };
  struct Function {
    Function(JSContext* cx, std::unique_ptr<Realm> its_realm)
        : realm(std::move(its_realm)), entry(cx) {}
    std::unique_ptr<Realm> realm;
    JS::PersistentRootedValue entry;
  };
  // Its lifetime is that of one execution.
  class Running;

  Runtime(JSContext* cx, uint64_t message_bytes, Perform perform);

  std::unique_ptr<Realm> make_realm();
  std::unique_ptr<Realm> take_realm();
  bool call_api(Realm& realm, const char* name, const JS::HandleValueArray& args,
                JS::MutableHandleValue result);
  RefPtr<JS::Stencil> compile(const std::string& name, std::string_view source);
  bool find_entry(const std::string& name, JS::HandleValue last, JS::MutableHandleValue entry);
  bool evaluate(const std::string& name, const std::string& source, JS::MutableHandleValue entry);
  bool begin(Realm& realm, const Execution& run);
  bool execute(Realm& realm, const Execution& run, Done& done);
  bool drain(Realm& realm);
  Failed failure();
  std::string log_of(Realm& realm);
  Message bounded(Message message) const;

  // The natives: only the prelude calls them, on behalf of scripts.
  static Runtime& of(JSContext* cx);
  static bool native_accepts(JSContext* cx, unsigned count, JS::Value* values);
  static bool native_operation(JSContext* cx, unsigned count, JS::Value* values);
  static bool native_queries(JSContext* cx, unsigned count, JS::Value* values);
  static bool native_abort(JSContext* cx, unsigned count, JS::Value* values);
  static bool on_interrupt(JSContext* cx);
  static void on_out_of_memory(JSContext* cx, void* runtime);
  static void on_rejection(JSContext* cx, bool muted, JS::HandleObject promise,
                           JS::PromiseRejectionHandlingState state, void* runtime);

  JSContext* const cx_;
  const uint64_t message_bytes_;
  const Perform perform_;
  Alarm alarm_;
  JobQueue jobs_;
  JS::PersistentRootedObject anchor_;          // keeps the zone that all realms share
  JS::PersistentRootedObjectVector rejected_;  // promises without a handler
  JS::PersistentRootedValue abort_reason_;
  RefPtr<JS::Stencil> prelude_;
  RefPtr<JS::Stencil> prelude_query_;
  std::unordered_map<std::string, RefPtr<JS::Stencil>> compiled_;  // by name and source
  size_t compiled_bytes_ = 0;
  std::unique_ptr<Realm> spare_;
  std::vector<std::unique_ptr<Function>> functions_;

  // Of the execution at work.
  bool is_aborted_ = false;
  bool is_out_of_memory_ = false;
  Failure usual_failure_ = Failure::threw;  // what an exception means at this point
  int64_t deadline_us_ = kNever;
  int64_t accept_until_us_ = 0;
  uint32_t operations_left_ = 0;

  bool is_spent_ = false;
  uint64_t heap_after_collection_ = 0;
};

}  // namespace orrery::script

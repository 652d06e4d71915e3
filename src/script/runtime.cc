// The engine, its realms, and the life of an execution. What scripts call is in
// runtime_natives.cc.
#include "script/runtime.h"

#include <fmt/format.h>
#include <js/Array.h>
#include <js/CallAndConstruct.h>
#include <js/CompilationAndEvaluation.h>
#include <js/CompileOptions.h>
#include <js/Context.h>
#include <js/ContextOptions.h>
#include <js/Exception.h>
#include <js/GCAPI.h>
#include <js/GlobalObject.h>
#include <js/Initialization.h>
#include <js/Interrupt.h>
#include <js/MemoryCallbacks.h>
#include <js/PropertyAndElement.h>
#include <js/Realm.h>
#include <js/RealmOptions.h>
#include <js/SourceText.h>
#include <js/Stack.h>
#include <js/ValueArray.h>
#include <malloc.h>

#include "base/clock.h"
#include "script/js_text.h"
#include "script/prelude.h"
#include "script/script_error.h"

namespace orrery::script {
namespace {

constexpr size_t kNativeStackBytes = 1 << 20;
constexpr uint32_t kLogCharacters = 8 << 10;
constexpr size_t kCompiledMax = 256;
constexpr size_t kCompiledBytesMax = 8 << 20;
// Garbage is collected when an execution leaves this much more than there was.
constexpr uint64_t kHeapGrowth = 16 << 20;
constexpr uint64_t kNativeGrowth = 32 << 20;
// Operations are accepted until this part of the time is over.
constexpr int64_t kAcceptTenths = 9;
constexpr int64_t kDescribeUs = 200'000;

const JSClass kGlobalClass = {
    .name = "global",
    .flags = JSCLASS_GLOBAL_FLAGS,
    .cOps = &JS::DefaultGlobalClassOps,
    .spec = nullptr,
    .ext = nullptr,
    .oOps = nullptr,
};

// JavaScript that stands alone, as the engine compiles it.
RefPtr<JS::Stencil> compile_text(JSContext* cx, const char* file, std::string_view text) {
  JS::CompileOptions options(cx);
  options.setFileAndLine(file, 1);
  // All functions now: what is compiled is kept, and each realm would do it again.
  options.setForceFullParse();
  JS::SourceText<mozilla::Utf8Unit> source;
  if (!source.init(cx, text.data(), text.size(), JS::SourceOwnership::Borrowed)) return nullptr;
  return JS::CompileGlobalScriptToStencil(cx, options, source);
}

uint32_t line_of(JSContext* cx, const JS::ExceptionStack& error) {
  if (!error.exception().isObject()) return 0;
  JS::RootedObject object(cx, &error.exception().toObject());
  const JSErrorReport* report = JS_ErrorFromException(cx, object);
  return report == nullptr ? 0 : report->lineno;
}

bool set_text(JSContext* cx, JS::HandleObject object, const char* name, const std::string& text) {
  JS::RootedString string(cx, to_js(cx, text));
  return string && JS_DefineProperty(cx, object, name, string, JSPROP_ENUMERATE);
}

}  // namespace

class Runtime::Running {
 public:
  Running(Runtime& runtime, uint32_t time_ms, uint32_t operations) : runtime_(runtime) {
    const int64_t now_us = RealClock().steady_us();
    runtime_.deadline_us_ = now_us + int64_t{time_ms} * 1000;
    runtime_.accept_until_us_ = now_us + int64_t{time_ms} * 100 * kAcceptTenths;
    runtime_.operations_left_ = operations;
    runtime_.is_aborted_ = false;
    runtime_.is_out_of_memory_ = false;
    runtime_.usual_failure_ = Failure::threw;
    runtime_.alarm_.set(runtime_.deadline_us_);
  }
  ~Running() {
    stop_clock();
    runtime_.operations_left_ = 0;
    runtime_.jobs_.drop();
    runtime_.rejected_.clear();
    runtime_.abort_reason_.setUndefined();
    JS_ClearPendingException(runtime_.cx_);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  // What follows is not the script's.
  void stop_clock() {
    runtime_.alarm_.silence();
    runtime_.deadline_us_ = kNever;
  }

 private:
  Runtime& runtime_;
};

Runtime::Runtime(JSContext* cx, uint64_t message_bytes, Perform perform)
    : cx_(cx),
      message_bytes_(message_bytes),
      perform_(std::move(perform)),
      alarm_(cx),
      jobs_(cx),
      anchor_(cx),
      rejected_(cx),
      abort_reason_(cx) {}

std::unique_ptr<Runtime> Runtime::create(uint64_t heap_bytes, uint64_t message_bytes,
                                         Perform perform) {
  if (!JS_Init()) return nullptr;
  const auto heap_max = static_cast<uint32_t>(std::min<uint64_t>(heap_bytes, UINT32_MAX));
  JSContext* cx = JS_NewContext(heap_max);
  if (cx == nullptr) return nullptr;
  JS_SetGCParameter(cx, JSGC_MAX_BYTES, heap_max);
  JS_SetNativeStackQuota(cx, kNativeStackBytes);
  JS::ContextOptionsRef(cx).setWasm(false).setAsmJS(false);
  if (!JS::InitSelfHostedCode(cx)) return nullptr;

  std::unique_ptr<Runtime> runtime(new Runtime(cx, message_bytes, std::move(perform)));
  JS_SetContextPrivate(cx, runtime.get());
  JS::SetJobQueue(cx, &runtime->jobs_);
  JS::SetPromiseRejectionTrackerCallback(cx, on_rejection, runtime.get());
  JS::SetOutOfMemoryCallback(cx, on_out_of_memory, runtime.get());
  if (!JS_AddInterruptCallback(cx, on_interrupt)) return nullptr;

  auto anchor = runtime->make_realm();
  if (!anchor) return nullptr;
  runtime->anchor_ = anchor->global;
  runtime->tidy();
  return runtime->spare_ ? std::move(runtime) : nullptr;
}

std::unique_ptr<Runtime::Realm> Runtime::make_realm() {
  JS::RealmOptions options;
  options.creationOptions()
      .setSharedMemoryAndAtomicsEnabled(false)
      .setDefineSharedArrayBufferConstructor(false);
  if (anchor_) options.creationOptions().setNewCompartmentInExistingZone(anchor_);
  auto realm = std::make_unique<Realm>(cx_);
  realm->global =
      JS_NewGlobalObject(cx_, &kGlobalClass, nullptr, JS::DontFireOnNewGlobalHook, options);
  if (!realm->global) return nullptr;
  JSAutoRealm enter(cx_, realm->global);
  if (!prelude_) {
    prelude_ = compile_text(cx_, kPreludeName, kPrelude);
    prelude_query_ = compile_text(cx_, kPreludeName, kPreludeQuery);
  }
  if (!prelude_ || !prelude_query_) return nullptr;

  JS::RootedScript script(
      cx_, JS::InstantiateGlobalStencil(cx_, JS::InstantiateOptions(), prelude_.get()));
  JS::RootedValue maker(cx_);
  JS::RootedObject native(cx_, JS_NewPlainObject(cx_));
  if (!script || !native || !JS_ExecuteScript(cx_, script, &maker) ||
      !JS_DefineFunction(cx_, native, "accepts", native_accepts, 0, 0) ||
      !JS_DefineFunction(cx_, native, "operation", native_operation, 9, 0) ||
      !JS_DefineFunction(cx_, native, "abort", native_abort, 1, 0) ||
      !JS_DefineFunction(cx_, native, "queries", native_queries, 0, 0) ||
      !JS_DefineProperty(cx_, native, "logBytes", kLogCharacters, 0)) {
    return nullptr;
  }
  JS::RootedValue api(cx_);
  JS::RootedValue argument(cx_, JS::ObjectValue(*native));
  if (!JS::Call(cx_, JS::UndefinedHandleValue, maker, JS::HandleValueArray(argument), &api) ||
      !api.isObject()) {
    return nullptr;
  }
  realm->api = &api.toObject();
  return realm;
}

std::unique_ptr<Runtime::Realm> Runtime::take_realm() {
  if (spare_) return std::move(spare_);
  auto realm = make_realm();
  if (!realm) JS_ClearPendingException(cx_);
  return realm;
}

bool Runtime::call_api(Realm& realm, const char* name, const JS::HandleValueArray& args,
                       JS::MutableHandleValue result) {
  return JS_CallFunctionName(cx_, realm.api, name, args, result);
}

// A source is a script that declares functions, or, when it does not parse as one, a lone function
// without a name. If it is neither, the error further on is the one to tell.
RefPtr<JS::Stencil> Runtime::compile(const std::string& name, std::string_view source) {
  std::string key = name;
  key.append(1, '\0').append(source);
  if (const auto found = compiled_.find(key); found != compiled_.end()) return found->second;

  const std::string file = file_name(name);
  RefPtr<JS::Stencil> stencil = compile_text(cx_, file.c_str(), source);
  if (!stencil) {
    JS::ExceptionStack as_script(cx_);
    if (!JS::StealPendingExceptionStack(cx_, &as_script)) return nullptr;
    stencil = compile_text(cx_, file.c_str(), fmt::format("({}\n)", source));
    if (!stencil) {
      JS::ExceptionStack as_expression(cx_);
      if (!JS::StealPendingExceptionStack(cx_, &as_expression)) return nullptr;
      const bool is_expression = line_of(cx_, as_expression) > line_of(cx_, as_script);
      JS::SetPendingExceptionStack(cx_, is_expression ? as_expression : as_script);
      return nullptr;
    }
  }
  if (compiled_.size() >= kCompiledMax || compiled_bytes_ + key.size() > kCompiledBytesMax) {
    compiled_.clear();
    compiled_bytes_ = 0;
  }
  compiled_bytes_ += key.size();
  compiled_.emplace(std::move(key), stencil);
  return stencil;
}

// The function that a source is for: the one named like the script, or the first that it declares,
// or the value of its last statement. Everything else in the global object is not enumerable.
bool Runtime::find_entry(const std::string& name, JS::HandleValue last,
                         JS::MutableHandleValue entry) {
  JS::RootedObject global(cx_, JS::CurrentGlobalOrNull(cx_));
  JS::Rooted<JS::IdVector> ids(cx_, JS::IdVector(cx_));
  if (!JS_Enumerate(cx_, global, &ids)) return false;
  JS::RootedId id(cx_);
  JS::RootedValue value(cx_);
  for (size_t i = 0; i < ids.length(); ++i) {
    id = ids[i];
    if (!id.isString() || !JS_GetPropertyById(cx_, global, id, &value)) return false;
    if (!value.isObject() || !JS::IsCallable(&value.toObject())) continue;
    JS::RootedString key(cx_, id.toString());
    const bool is_named = to_text(cx_, key) == name;
    if (entry.isUndefined() || is_named) entry.set(value);
    if (is_named) return true;
  }
  if (entry.isUndefined() && last.isObject() && JS::IsCallable(&last.toObject())) entry.set(last);
  return true;
}

// Runs the source, whose function `entry` becomes. An exception is pending when it fails.
bool Runtime::evaluate(const std::string& name, const std::string& source,
                       JS::MutableHandleValue entry) {
  usual_failure_ = Failure::compile;
  RefPtr<JS::Stencil> stencil = compile(name, source);
  if (!stencil) return false;
  usual_failure_ = Failure::threw;
  JS::RootedScript script(
      cx_, JS::InstantiateGlobalStencil(cx_, JS::InstantiateOptions(), stencil.get()));
  JS::RootedValue last(cx_);
  if (!script || !JS_ExecuteScript(cx_, script, &last)) return false;
  if (!find_entry(name, last, entry)) return false;
  if (entry.isObject()) return true;
  usual_failure_ = Failure::compile;
  JS_ReportErrorASCII(cx_, "the source declares no function");
  return false;
}

bool Runtime::begin(Realm& realm, const Execution& run) {
  JS::RootedObject fields(cx_, JS_NewPlainObject(cx_));
  if (!fields || !set_text(cx_, fields, "selfLink", run.self_link) ||
      !set_text(cx_, fields, "altLink", run.alt_link) ||
      !set_text(cx_, fields, "operation", run.operation) ||
      !set_text(cx_, fields, "requestBody", run.request_body) ||
      !set_text(cx_, fields, "responseBody", run.response_body) ||
      !set_text(cx_, fields, "requestHeaders", run.request_headers) ||
      !set_text(cx_, fields, "responseHeaders", run.response_headers)) {
    return false;
  }
  JS::RootedValue flag(cx_, JS::BooleanValue(run.logging));
  JS::RootedValue is_pre_trigger(cx_, JS::BooleanValue(run.kind == Kind::pre_trigger));
  JS::RootedValue bytes(cx_, JS::NumberValue(static_cast<double>(run.response_bytes)));
  JS::RootedValue argument(cx_, JS::ObjectValue(*fields));
  JS::RootedValue ignored(cx_);
  return JS_DefineProperty(cx_, fields, "logging", flag, JSPROP_ENUMERATE) &&
         JS_DefineProperty(cx_, fields, "isPreTrigger", is_pre_trigger, JSPROP_ENUMERATE) &&
         JS_DefineProperty(cx_, fields, "responseBytes", bytes, JSPROP_ENUMERATE) &&
         call_api(realm, "begin", JS::HandleValueArray(argument), &ignored);
}

// Promise jobs and callbacks in turn, until there are none of either.
bool Runtime::drain(Realm& realm) {
  JS::RootedValue more(cx_);
  do {
    if (!jobs_.run(cx_)) return false;
    if (!call_api(realm, "next", JS::HandleValueArray::empty(), &more)) return false;
  } while (more.isTrue() || !jobs_.empty());
  if (is_aborted_) return false;
  if (rejected_.empty()) return true;
  JS::RootedObject promise(cx_, rejected_[0]);
  JS::RootedValue reason(cx_, JS::GetPromiseResult(promise));
  JS_SetPendingException(cx_, reason);
  return false;
}

bool Runtime::execute(Realm& realm, const Execution& run, Done& done) {
  JS::RootedValueArray<2> args(cx_);
  if (!begin(realm, run) || !evaluate(run.name, run.source, args[0])) return false;
  JSString* arguments = to_js(cx_, run.arguments);
  if (arguments == nullptr) return false;
  args[1].setString(arguments);
  JS::RootedValue result(cx_);
  if (!call_api(realm, "call", args, &result) || !drain(realm)) return false;
  if (!call_api(realm, "finish", JS::HandleValueArray::empty(), &result)) return false;

  JS::RootedObject parts(cx_, &result.toObject());
  std::string* const into[] = {&done.response_body, &done.request_body, &done.response_headers};
  for (uint32_t i = 0; i < std::size(into); ++i) {
    JS::RootedValue part(cx_);
    if (!JS_GetElement(cx_, parts, i, &part)) return false;
    *into[i] = to_text(cx_, part);
  }
  return true;
}

Failed Runtime::failure() {
  Failed failed;
  const int64_t now_us = RealClock().steady_us();
  const bool is_late = now_us >= deadline_us_;
  // An exception's text can be code of the script's.
  deadline_us_ = now_us + kDescribeUs;
  alarm_.set(deadline_us_);
  if (is_aborted_) {
    JS_ClearPendingException(cx_);
    JS_SetPendingException(cx_, abort_reason_);
    failed = describe_exception(cx_);
    failed.failure = Failure::aborted;
  } else if (JS_IsExceptionPending(cx_)) {
    failed = describe_exception(cx_);
    const bool is_memory = is_out_of_memory_ && failed.message == "out of memory";
    failed.failure = is_memory ? Failure::memory : usual_failure_;
  } else {
    failed.failure = is_late ? Failure::timed_out : Failure::memory;
  }
  if (failed.failure == Failure::memory) {
    failed.message =
        "The script used more memory than it may (limits script-heap-bytes and "
        "script-memory-bytes).";
  } else if (failed.failure == Failure::timed_out) {
    failed.message =
        "The script ran for longer than it may (limit script-time-ms). Do less in one "
        "call: when an operation returns false, return and continue in another.";
  }
  if (failed.message.empty()) failed.message = "The script threw something that has no text.";
  is_spent_ = is_spent_ || is_out_of_memory_;
  failed.ends_worker = is_spent_;
  return failed;
}

std::string Runtime::log_of(Realm& realm) {
  JS::RootedValue log(cx_);
  if (!call_api(realm, "log", JS::HandleValueArray::empty(), &log)) {
    JS_ClearPendingException(cx_);
    return {};
  }
  std::string text = to_text(cx_, log);
  JS_ClearPendingException(cx_);
  return text;
}

// An answer that the server would refuse for its length becomes an error that says so.
Message Runtime::bounded(Message message) const {
  const size_t size = encode(message).size();
  if (size <= message_bytes_) return message;
  return Failed{.failure = Failure::too_large,
                .message = fmt::format("The script's answer of {} bytes is over the limit of {} "
                                       "(limit script-message-bytes).",
                                       size, message_bytes_),
                .ends_worker = is_spent_};
}

Message Runtime::run(const Execution& run) {
  auto realm = take_realm();
  if (!realm) {
    is_spent_ = true;
    return Failed{.failure = Failure::memory,
                  .message = "There is no memory to start the script.",
                  .ends_worker = true};
  }
  JSAutoRealm enter(cx_, realm->global);
  Running running(*this, run.time_ms, run.operations);
  Done done;
  if (!execute(*realm, run, done)) {
    Failed failed = failure();
    running.stop_clock();
    failed.log = log_of(*realm);
    return bounded(std::move(failed));
  }
  running.stop_clock();
  done.log = log_of(*realm);
  if (run.response_bytes != 0 && done.response_body.size() > run.response_bytes) {
    return Failed{.failure = Failure::too_large,
                  .number = 413,
                  .message = fmt::format("The response of {} bytes is over the limit of {}. Return "
                                         "less, and continue in another call.",
                                         done.response_body.size(), run.response_bytes)};
  }
  return bounded(std::move(done));
}

Message Runtime::load(const Load& load) {
  auto realm = take_realm();
  if (!realm) {
    is_spent_ = true;
    return Failed{.failure = Failure::memory,
                  .message = "There is no memory to start the script.",
                  .ends_worker = true};
  }
  auto function = std::make_unique<Function>(cx_, std::move(realm));
  JSAutoRealm enter(cx_, function->realm->global);
  Running running(*this, load.time_ms, 0);
  JS::RootedValue entry(cx_);
  if (!evaluate(load.name, load.source, &entry)) {
    return bounded(failure());
  }
  function->entry = entry;
  functions_.push_back(std::move(function));
  return Loaded{};
}

Message Runtime::call(const FunctionCall& call) {
  if (call.function >= functions_.size()) {
    return Failed{.failure = Failure::threw, .message = "There is no such function."};
  }
  Function& function = *functions_[call.function];
  JSAutoRealm enter(cx_, function.realm->global);
  Running running(*this, call.time_ms, 0);
  JS::RootedValueArray<3> args(cx_);
  JS::RootedObject undefined(cx_, JS::NewArrayObject(cx_, call.undefined.size()));
  JSString* rows = to_js(cx_, call.rows);
  JS::RootedValue result(cx_);
  bool made = undefined && rows != nullptr;
  if (made) {
    args[0].set(function.entry);
    args[1].setString(rows);
    args[2].setObject(*undefined);
    for (uint32_t i = 0; made && i < call.undefined.size(); ++i) {
      made = JS_SetElement(cx_, undefined, i, call.undefined[i]);
    }
  }
  if (!made || !call_api(*function.realm, "callRows", args, &result)) {
    return bounded(failure());
  }
  return bounded(Results{.json = to_text(cx_, result)});
}

void Runtime::unload() {
  functions_.clear();
}

void Runtime::tidy() {
  const uint64_t heap = JS_GetGCParameter(cx_, JSGC_BYTES);
  const struct mallinfo2 native = mallinfo2();
  if (heap > heap_after_collection_ + kHeapGrowth ||
      native.uordblks + native.hblkhd > kNativeGrowth) {
    JS_GC(cx_);
    heap_after_collection_ = JS_GetGCParameter(cx_, JSGC_BYTES);
    malloc_trim(0);
  }
  if (!spare_) {
    spare_ = make_realm();
    if (!spare_) JS_ClearPendingException(cx_);  // the next execution tries again
  }
}

}  // namespace orrery::script

// What the prelude calls in C++, and what the engine reports. See runtime.h.
#include <fmt/format.h>
#include <js/Array.h>
#include <js/CallArgs.h>
#include <js/CompilationAndEvaluation.h>
#include <js/CompileOptions.h>
#include <js/Conversions.h>
#include <js/ValueArray.h>

#include "base/clock.h"
#include "script/js_text.h"
#include "script/runtime.h"

namespace orrery::script {
namespace {

// Promises beyond this many are not watched: one unhandled rejection fails the execution.
constexpr size_t kRejectedMax = 64;
constexpr uint16_t kTooLargeStatus = 413;

}  // namespace

Runtime& Runtime::of(JSContext* cx) {
  return *static_cast<Runtime*>(JS_GetContextPrivate(cx));
}

bool Runtime::native_accepts(JSContext* cx, unsigned count, JS::Value* values) {
  const Runtime& runtime = of(cx);
  const JS::CallArgs args = JS::CallArgsFromVp(count, values);
  args.rval().setBoolean(runtime.operations_left_ > 0 &&
                         RealClock().steady_us() < runtime.accept_until_us_);
  return true;
}

// (kind, document, byName, body, condition, continuation, pageSize, enableScan, indexAction) gives
// [status, body, continuation].
bool Runtime::native_operation(JSContext* cx, unsigned count, JS::Value* values) {
  Runtime& runtime = of(cx);
  const JS::CallArgs args = JS::CallArgsFromVp(count, values);
  if (runtime.operations_left_ == 0 || args.length() != 9) {
    JS_ReportErrorASCII(cx, "no further operation is accepted");
    return false;
  }
  runtime.operations_left_--;
  int32_t kind = 0;
  int32_t page_size = 0;
  if (!JS::ToInt32(cx, args[0], &kind) || !JS::ToInt32(cx, args[6], &page_size)) return false;
  ItemOperation operation;
  operation.kind = static_cast<OperationKind>(kind);
  operation.document = to_text(cx, args[1]);
  operation.by_name = JS::ToBoolean(args[2]);
  operation.body = to_text(cx, args[3]);
  operation.condition = to_text(cx, args[4]);
  operation.continuation = to_text(cx, args[5]);
  operation.page_size = page_size;
  operation.enable_scan = JS::ToBoolean(args[7]);
  operation.index_action = to_text(cx, args[8]);
  if (JS_IsExceptionPending(cx)) return false;

  Reply reply;
  const size_t size = encode(operation).size();
  if (size > runtime.message_bytes_) {
    reply.status = kTooLargeStatus;
    reply.body = fmt::format("An operation of {} bytes is over the limit of {}.", size,
                             runtime.message_bytes_);
  } else {
    reply = runtime.perform_(std::move(operation));
  }
  JS::RootedString body(cx, to_js(cx, reply.body));
  JS::RootedString continuation(cx, to_js(cx, reply.continuation));
  if (!body || !continuation) return false;
  JS::RootedValueArray<3> answer(cx);
  answer[0].setInt32(reply.status);
  answer[1].setString(body);
  answer[2].setString(continuation);
  JSObject* array = JS::NewArrayObject(cx, answer);
  if (array == nullptr) return false;
  args.rval().setObject(*array);
  return true;
}

// Gives the function of prelude_query.js.
bool Runtime::native_queries(JSContext* cx, unsigned count, JS::Value* values) {
  const JS::CallArgs args = JS::CallArgsFromVp(count, values);
  JS::RootedScript script(
      cx, JS::InstantiateGlobalStencil(cx, JS::InstantiateOptions(), of(cx).prelude_query_.get()));
  return script && JS_ExecuteScript(cx, script, args.rval());
}

// Fails without an exception, which nothing in the script can catch.
bool Runtime::native_abort(JSContext* cx, unsigned count, JS::Value* values) {
  Runtime& runtime = of(cx);
  const JS::CallArgs args = JS::CallArgsFromVp(count, values);
  runtime.is_aborted_ = true;
  runtime.abort_reason_ = args.get(0);
  return false;
}

// False ends the script. An alarm that came too late for the last execution is none for this one.
bool Runtime::on_interrupt(JSContext* cx) {
  return RealClock().steady_us() < of(cx).deadline_us_;
}

void Runtime::on_out_of_memory(JSContext* /*cx*/, void* runtime) {
  static_cast<Runtime*>(runtime)->is_out_of_memory_ = true;
}

void Runtime::on_rejection(JSContext* /*cx*/, bool /*muted*/, JS::HandleObject promise,
                           JS::PromiseRejectionHandlingState state, void* runtime) {
  auto& rejected = static_cast<Runtime*>(runtime)->rejected_;
  if (state == JS::PromiseRejectionHandlingState::Unhandled) {
    if (rejected.length() < kRejectedMax) (void)rejected.append(promise);
    return;
  }
  for (size_t i = 0; i < rejected.length(); ++i) {
    if (rejected[i] == promise) {
      rejected.erase(rejected.begin() + i);
      return;
    }
  }
}

}  // namespace orrery::script

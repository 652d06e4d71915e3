// Promise jobs, in the order in which they came.
#include "script/job_queue.h"

#include <js/CallAndConstruct.h>
#include <js/ValueArray.h>

namespace orrery::script {

bool JobQueue::run(JSContext* cx) {
  JS::RootedObject job(cx);
  JS::RootedValue ignored(cx);
  while (!empty()) {
    job = jobs_[first_];
    jobs_[first_++].set(nullptr);
    if (empty()) drop();
    JSAutoRealm realm(cx, job);
    if (!JS::Call(cx, JS::UndefinedHandleValue, job, JS::HandleValueArray::empty(), &ignored)) {
      return false;
    }
  }
  return true;
}

void JobQueue::drop() {
  jobs_.clear();
  first_ = 0;
}

JSObject* JobQueue::getIncumbentGlobal(JSContext* cx) {
  return JS::CurrentGlobalOrNull(cx);
}

bool JobQueue::enqueuePromiseJob(JSContext* cx, JS::HandleObject /*promise*/, JS::HandleObject job,
                                 JS::HandleObject /*allocation_site*/,
                                 JS::HandleObject /*incumbent_global*/) {
  if (jobs_.append(job)) return true;
  JS_ReportOutOfMemory(cx);
  return false;
}

// Only a debugger asks for this, and there is none.
js::UniquePtr<JS::JobQueue::SavedJobQueue> JobQueue::saveJobQueue(JSContext* cx) {
  JS_ReportErrorASCII(cx, "there is no debugger");
  return nullptr;
}

}  // namespace orrery::script

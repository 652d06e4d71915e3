// The promise jobs of the current execution. Jobs that are left when it ends are dropped: none ever
// runs in a later one.
#pragma once

#include <js/Promise.h>
#include <jsapi.h>

namespace orrery::script {

class JobQueue final : public JS::JobQueue {
 public:
  explicit JobQueue(JSContext* cx) : jobs_(cx) {}

  // Runs jobs until the queue is empty. False when one was ended from outside (time, memory,
  // abort). Exceptions within a job reject its promise.
  bool run(JSContext* cx);
  void drop();

  JSObject* getIncumbentGlobal(JSContext* cx) override;
  bool enqueuePromiseJob(JSContext* cx, JS::HandleObject promise, JS::HandleObject job,
                         JS::HandleObject allocation_site,
                         JS::HandleObject incumbent_global) override;
  void runJobs(JSContext* cx) override { run(cx); }
  bool empty() const override { return first_ == jobs_.length(); }

 private:
  js::UniquePtr<SavedJobQueue> saveJobQueue(JSContext* cx) override;

  JS::PersistentRootedObjectVector jobs_;
  size_t first_ = 0;
};

}  // namespace orrery::script

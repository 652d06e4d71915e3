// Thread pools for requests that cannot be answered on an event loop: a lane has a bounded queue
// and threads for one kind of work, so that no kind starves another. Within a lane, containers take
// turns (base/fair_queue.h).
//
// A request that finds its queue full, or waits past its deadline, is refused with a time to retry
// after. One whose client has disconnected is dropped. All faces share the lanes.
//
// Threading: any thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/fair_queue.h"
#include "base/limits.h"
#include "base/result.h"
#include "base/thread_annotations.h"
#include "base/worker_pool.h"
#include "face/metric_families.h"

namespace orrery::face {

enum class Lane : uint8_t {
  management,  // databases, containers, offers, users, permissions, scripts: short
  queries,     // queries and feeds
  reads,       // of items that are not in memory
  scripts,     // procedures, and writes with triggers
  admin,       // what operators ask for
};

// A queued request. It is run or failed, once. When it is destroyed without either
// (base/survive.h), it must answer by itself.
class Waiting {
 public:
  virtual ~Waiting() = default;
  virtual void run() = 0;
  virtual void fail(const Error& error) = 0;
  // Whether its client is still there.
  virtual bool is_wanted() const = 0;
};

// A queued call of a face (of a class with fail() and client_is_gone()) and the work to do for it.
template <class Call>
class WaitingCall final : public Waiting {
 public:
  using Job = std::move_only_function<void(std::unique_ptr<Call>)>;
  WaitingCall(std::unique_ptr<Call> call, Job job) : call_(std::move(call)), job_(std::move(job)) {}
  void run() override { job_(std::move(call_)); }
  void fail(const Error& error) override { call_->fail(error); }
  bool is_wanted() const override { return !call_->client_is_gone(); }

 private:
  std::unique_ptr<Call> call_;
  Job job_;
};

class Lanes {
 public:
  Lanes(const Limits& limits, const Clock& clock, size_t script_threads);
  ~Lanes();

  // `share` is the container's number, or 0 where there is none.
  void submit(Lane lane, uint64_t share, std::unique_ptr<Waiting> request);
  // Refuses queued requests, and waits for running ones.
  void stop();

  void add_metrics(MetricFamilies& all) const;

 private:
  static constexpr size_t kLanes = 5;
  struct Kind;
  class Task;
  static const std::array<Kind, kLanes> kKinds;

  void sweep_until_stopped();

  const Limits& limits_;
  Mutex mutex_;
  CondVar wake_;
  bool stopping_ ORRERY_GUARDED_BY(mutex_) = false;
  std::array<std::unique_ptr<FairQueue>, kLanes> queues_;
  WorkerPool sweeper_;  // last: its one job uses the rest
};

}  // namespace orrery::face

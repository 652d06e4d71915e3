// See lanes.h.
#include "face/lanes.h"

#include <fmt/format.h>

#include <chrono>
#include <string_view>
#include <utility>

#include "base/survive.h"

namespace orrery::face {
namespace {

// How soon a request is noticed that has waited for too long, or whose client has gone.
constexpr std::chrono::milliseconds kSweepEvery{100};
constexpr uint32_t kRetryMs = 100;

}  // namespace

struct Lanes::Kind {
  std::string_view name;
  std::string_view requests;  // what waits in it
  size_t threads;             // 0: given
  bool spare_thread;
};
// Management takes turns at the catalog's lock anyway; a second thread reads meanwhile.
constexpr std::array<Lanes::Kind, Lanes::kLanes> Lanes::kKinds = {{
    {"management", "requests about databases, containers and the like", 2, false},
    {"queries", "queries and feeds", 4, true},
    {"reads", "reads of items that are not in memory", 4, true},
    {"scripts", "executions of scripts", 0, false},
    {"admin", "requests of operators", 2, false},
}};

class Lanes::Task final : public FairQueue::Task {
 public:
  Task(const Limits& limits, Lane lane, std::unique_ptr<Waiting> request)
      : limits_(limits), lane_(lane), request_(std::move(request)) {}

  void run() override { request_->run(); }
  bool is_wanted() const override { return request_->is_wanted(); }
  void refuse(FairQueue::Refusal why) override {
    // Clients come back by themselves after a 429; scripts are refused so whenever all workers are
    // busy.
    const Code code = lane_ == Lane::scripts ? Code::throttled : Code::overloaded;
    const std::string_view requests = kKinds[static_cast<size_t>(lane_)].requests;
    switch (why) {
      case FairQueue::Refusal::full:
        return request_->fail({.code = code,
                               .message = fmt::format("{} {} are waiting already: try again (limit "
                                                      "request-queue)",
                                                      limits_.request_queue, requests),
                               .retry_after_ms = kRetryMs});
      case FairQueue::Refusal::late:
        return request_->fail(
            {.code = code,
             .message =
                 fmt::format("it has waited for a thread as long as {} may: try again "
                             "(limit {})",
                             requests, lane_ == Lane::scripts ? "script-time-ms" : "queue-time-ms"),
             .retry_after_ms = kRetryMs});
      case FairQueue::Refusal::unwanted:
        return request_->fail({.code = Code::overloaded, .message = "the client has gone"});
      case FairQueue::Refusal::stopping:
        return request_->fail({.code = Code::overloaded, .message = "the server is stopping"});
    }
  }

 private:
  const Limits& limits_;
  const Lane lane_;
  std::unique_ptr<Waiting> request_;
};

Lanes::Lanes(const Limits& limits, const Clock& clock, size_t script_threads)
    : limits_(limits), sweeper_("sweeper", 1) {
  for (size_t i = 0; i < kLanes; ++i) {
    const bool is_scripts = i == static_cast<size_t>(Lane::scripts);
    queues_[i] = std::make_unique<FairQueue>(
        FairQueue::Options{.name = std::string(kKinds[i].name),
                           .threads = kKinds[i].threads == 0 ? script_threads : kKinds[i].threads,
                           .waiting_max = limits.request_queue,
                           .wait_us_max = static_cast<int64_t>(is_scripts ? limits.script_time_ms
                                                                          : limits.queue_time_ms) *
                                          1000,
                           .spare_thread = kKinds[i].spare_thread},
        clock);
  }
  sweeper_.post([this] { sweep_until_stopped(); });
}

Lanes::~Lanes() {
  stop();
}

void Lanes::submit(Lane lane, uint64_t share, std::unique_ptr<Waiting> request) {
  queues_[static_cast<size_t>(lane)]->submit(
      share, std::make_unique<Task>(limits_, lane, std::move(request)));
}

void Lanes::sweep_until_stopped() {
  for (;;) {
    {
      MutexLock lock(mutex_);
      if (!stopping_) wake_.wait_for(mutex_, kSweepEvery);
      if (stopping_) return;
    }
    for (const auto& queue : queues_) survive("sweeping a queue", [&] { queue->sweep(); });
  }
}

void Lanes::stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
  }
  sweeper_.stop();
  for (const auto& queue : queues_) queue->stop();
}

// One family for each figure of a queue, one line in it for each queue.
void Lanes::add_metrics(MetricFamilies& all) const {
  using prometheus::MetricType;
  struct Figure {
    std::string_view name;
    std::string_view help;
    MetricType type;
    uint64_t FairQueue::Counts::* count;
  };
  for (const Figure& figure :
       {Figure{"waiting", "Requests that wait for a thread", MetricType::Gauge,
               &FairQueue::Counts::waiting},
        Figure{"running", "Requests that have a thread", MetricType::Gauge,
               &FairQueue::Counts::running},
        Figure{"refused_total", "Requests refused, since too many waited or they did for too long",
               MetricType::Counter, &FairQueue::Counts::refused},
        Figure{"dropped_total", "Requests whose client had gone before their turn came",
               MetricType::Counter, &FairQueue::Counts::dropped},
        Figure{"failed_total", "Requests that an exception ended", MetricType::Counter,
               &FairQueue::Counts::failed}}) {
    prometheus::MetricFamily one =
        family("orrery_queue_" + std::string(figure.name), std::string(figure.help), figure.type);
    for (const auto& queue : queues_) {
      add_line(one, {{"queue", queue->name()}}, static_cast<double>(queue->counts().*figure.count));
    }
    all.push_back(std::move(one));
  }
}

}  // namespace orrery::face

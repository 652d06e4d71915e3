// Watches the server's figures: takes a sample for the history (metrics_history.h) every few
// seconds.
//
// Threading: a thread of its own; the functions may be called from any.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/thread_annotations.h"
#include "base/worker_pool.h"
#include "cluster/engine.h"
#include "face/face.h"
#include "net/server.h"
#include "ops/metrics_history.h"

namespace orrery::ops {

// Counters since the start, and what is there now.
struct Totals {
  int64_t steady_us = 0;
  std::array<double, 4> requests{};  // reads, writes, queries, others
  double units = 0;
  double throttled = 0;
  double failed = 0;
  std::vector<std::pair<double, double>> latencies;  // upper bound in s, answers up to it
  double connections = 0;
  double bytes = 0;
  double items = 0;
  double partitions = 0;
};
// What the requests of faces add to them. The kind of a request is told by the end of its
// operation's name (_read, _feed, _query, and every other item_… or …_delete as a write).
void add_requests(const face::MetricFamilies& families, Totals& to);
// The figures of the time between; those of now where they are no rates.
Sample figures_between(const Totals& before, const Totals& now);
// The latency that this part of the answers had at most, in ms; 0 without answers.
double percentile_ms(const Totals& before, const Totals& now, double part);

class MetricsSampler {
 public:
  struct Sources {
    cluster::Engine& engine;
    const Clock& clock;
    std::vector<const face::Face*> faces;
    std::string folder;  // where the history is kept; empty: nowhere
  };
  explicit MetricsSampler(Sources sources);
  ~MetricsSampler();

  // Null: the server has not started, or is stopping. Waits while its counters are being read.
  void set_server(const net::Server* server);

  const MetricsHistory& history() const { return history_; }
  // Takes a sample now: the thread does this by itself.
  void sample();
  // Before the engine goes.
  void stop();

 private:
  void run();
  Totals totals() const;

  const Sources sources_;
  MetricsHistory history_;
  Totals last_fine_;
  Totals last_coarse_;

  mutable Mutex server_mutex_;
  const net::Server* server_ ORRERY_GUARDED_BY(server_mutex_) = nullptr;

  Mutex mutex_;
  CondVar wake_;
  bool stopping_ ORRERY_GUARDED_BY(mutex_) = false;
  WorkerPool thread_{"sampler", 1};  // last: its job uses the rest
};

}  // namespace orrery::ops

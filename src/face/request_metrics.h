// The request metrics of a face, for Prometheus: counts by operation and status, latencies,
// charges.
//
// Threading: any thread. Counting takes a few atomic additions to counters that are sharded by
// thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "face/metric_families.h"

namespace orrery::face {

class RequestMetrics {
 public:
  // `operations` are the names by operation number, and must stay valid.
  RequestMetrics(std::string face, std::span<const std::string_view> operations);
  ~RequestMetrics();

  void done(size_t operation, int status, int64_t took_us);
  void charge(size_t operation, double units);

  void collect(MetricFamilies& all) const;

 private:
  struct Counts;
  static constexpr size_t kShards = 16;

  Counts& counts(size_t operation);
  prometheus::ClientMetric labelled(size_t operation) const;

  const std::string face_;
  const std::span<const std::string_view> operations_;
  std::array<std::unique_ptr<Counts[]>, kShards> shards_;  // by operation
};

}  // namespace orrery::face

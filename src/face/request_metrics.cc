// See request_metrics.h.
#include "face/request_metrics.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "base/thread_number.h"

namespace orrery::face {
namespace {

// Statuses that faces answer with; anything else counts as the last one.
constexpr std::array kStatuses = {200, 201, 202, 204, 207, 304, 400, 401, 403, 404, 405,
                                  408, 409, 410, 412, 413, 429, 449, 500, 501, 503, 0};

size_t status_index(int status) {
  size_t i = 0;
  while (kStatuses[i] != status && kStatuses[i] != 0) ++i;
  return i;
}

// Upper bounds in seconds; the last bucket has none.
constexpr std::array kLatencyBounds = {0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005,
                                       0.01,    0.025,  0.05,    0.1,    0.5,   1.0,    5.0};

void add(std::atomic<double>& sum, double amount) {
  sum.fetch_add(amount, std::memory_order_relaxed);
}

void add_one(std::atomic<uint64_t>& count) {
  count.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

// The counters of one operation in one shard. Threads are spread over shards so that they rarely
// write to the same cache line. Sharing one is correct, but slower.
struct alignas(64) RequestMetrics::Counts {
  std::array<std::atomic<uint64_t>, kStatuses.size()> requests{};
  std::array<std::atomic<uint64_t>, kLatencyBounds.size() + 1> latencies{};
  std::atomic<double> seconds{0};
  std::atomic<double> units{0};
};

RequestMetrics::RequestMetrics(std::string face, std::span<const std::string_view> operations)
    : face_(std::move(face)), operations_(operations) {
  for (auto& shard : shards_) shard = std::make_unique<Counts[]>(operations.size());
}
RequestMetrics::~RequestMetrics() = default;

RequestMetrics::Counts& RequestMetrics::counts(size_t operation) {
  return shards_[thread_number() % kShards][operation];
}

void RequestMetrics::done(size_t operation, int status, int64_t took_us) {
  Counts& to = counts(operation);
  const double seconds = static_cast<double>(took_us) / 1e6;
  const auto* bound = std::ranges::lower_bound(kLatencyBounds, seconds);
  add_one(to.requests[status_index(status)]);
  add_one(to.latencies[static_cast<size_t>(bound - kLatencyBounds.begin())]);
  add(to.seconds, seconds);
}

void RequestMetrics::charge(size_t operation, double units) {
  if (units > 0) add(counts(operation).units, units);
}

prometheus::ClientMetric RequestMetrics::labelled(size_t operation) const {
  prometheus::ClientMetric metric;
  metric.label = {{"face", face_}, {"operation", std::string(operations_[operation])}};
  return metric;
}

void RequestMetrics::collect(MetricFamilies& all) const {
  using prometheus::MetricType;
  prometheus::MetricFamily requests =
      family("orrery_requests_total", "Requests answered, by face, operation and status",
             MetricType::Counter);
  prometheus::MetricFamily units =
      family("orrery_request_units_total", "Request units charged, by face and operation",
             MetricType::Counter);
  prometheus::MetricFamily seconds =
      family("orrery_request_seconds",
             "Time from the whole request received to its answer given, by face and operation",
             MetricType::Histogram);
  for (size_t operation = 0; operation < operations_.size(); ++operation) {
    std::array<uint64_t, kStatuses.size()> by_status{};
    std::array<uint64_t, kLatencyBounds.size() + 1> by_latency{};
    prometheus::ClientMetric unit = labelled(operation);
    prometheus::ClientMetric second = labelled(operation);
    for (const auto& shard : shards_) {
      const Counts& from = shard[operation];
      for (size_t i = 0; i < by_status.size(); ++i) by_status[i] += from.requests[i].load();
      for (size_t i = 0; i < by_latency.size(); ++i) by_latency[i] += from.latencies[i].load();
      unit.counter.value += from.units.load();
      second.histogram.sample_sum += from.seconds.load();
    }
    for (size_t i = 0; i < by_status.size(); ++i) {
      if (by_status[i] == 0) continue;
      prometheus::ClientMetric request = labelled(operation);
      request.label.push_back(
          {"status", kStatuses[i] == 0 ? "other" : std::to_string(kStatuses[i])});
      request.counter.value = static_cast<double>(by_status[i]);
      requests.metric.push_back(std::move(request));
    }
    uint64_t up_to = 0;
    for (size_t i = 0; i < by_latency.size(); ++i) {
      up_to += by_latency[i];
      const double bound =
          i < kLatencyBounds.size() ? kLatencyBounds[i] : std::numeric_limits<double>::infinity();
      second.histogram.bucket.push_back({up_to, bound});
    }
    second.histogram.sample_count = up_to;
    units.metric.push_back(std::move(unit));
    seconds.metric.push_back(std::move(second));
  }
  for (auto* one : {&requests, &units, &seconds}) all.push_back(std::move(*one));
}

}  // namespace orrery::face

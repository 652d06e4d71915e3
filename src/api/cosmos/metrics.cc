// See metrics.h.
#include "api/cosmos/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <limits>
#include <sstream>
#include <thread>

#include "api/cosmos/lanes.h"

namespace orrery::cosmos {
namespace {

constexpr std::array<std::string_view, kOperations> kNames = {
    "account",     "database",    "container", "resource",     "partition_ranges",     "offer",
    "item_create", "item_upsert", "item_read", "item_replace", "item_delete",          "item_patch",
    "item_batch",  "item_bulk",   "item_feed", "item_query",   "partition_key_delete", "script_run",
    "admin",       "other"};

// Statuses that the face answers with; anything else counts as the last one.
constexpr std::array kStatuses = {200, 201, 204, 207, 304, 400, 401, 403, 404, 405, 408,
                                  409, 410, 412, 413, 429, 449, 500, 501, 503, 0};

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

prometheus::MetricFamily family(std::string name, std::string help, prometheus::MetricType type) {
  prometheus::MetricFamily made;
  made.name = std::move(name);
  made.help = std::move(help);
  made.type = type;
  return made;
}

prometheus::ClientMetric labelled(std::string_view operation) {
  prometheus::ClientMetric metric;
  metric.label.push_back({"operation", std::string(operation)});
  return metric;
}

// One family for each figure of a queue, one line in it for each queue.
void add_queues(std::vector<prometheus::MetricFamily>& all, const Lanes& lanes) {
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
    for (size_t i = 0; i < Lanes::kLanes; ++i) {
      const FairQueue& queue = lanes.queue(i);
      prometheus::ClientMetric metric;
      metric.label.push_back({"queue", queue.name()});
      const auto number = static_cast<double>(queue.counts().*figure.count);
      (figure.type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = number;
      one.metric.push_back(std::move(metric));
    }
    all.push_back(std::move(one));
  }
}

}  // namespace

// What threads count on their own, so that no request waits for a cache line that another one is
// writing to. Threads that share a shard by chance only cost one another time.
struct alignas(64) Metrics::Shard {
  struct Counts {
    std::array<std::atomic<uint64_t>, kStatuses.size()> requests{};
    std::array<std::atomic<uint64_t>, kLatencyBounds.size() + 1> latencies{};
    std::atomic<double> seconds{0};
    std::atomic<double> units{0};
  };
  std::array<Counts, kOperations> operations;
};

Metrics::Metrics() : shards_(std::make_unique<std::array<Shard, kShards>>()) {}
Metrics::~Metrics() = default;

Metrics::Shard& Metrics::shard() {
  return (*shards_)[std::hash<std::thread::id>()(std::this_thread::get_id()) % kShards];
}

void Metrics::done(Operation operation, int status, int64_t took_us) {
  Shard::Counts& counts = shard().operations[static_cast<size_t>(operation)];
  const double seconds = static_cast<double>(took_us) / 1e6;
  const auto* bound = std::ranges::lower_bound(kLatencyBounds, seconds);
  add_one(counts.requests[status_index(status)]);
  add_one(counts.latencies[static_cast<size_t>(bound - kLatencyBounds.begin())]);
  add(counts.seconds, seconds);
}

void Metrics::charge(Operation operation, double request_units) {
  if (request_units > 0) {
    add(shard().operations[static_cast<size_t>(operation)].units, request_units);
  }
}

std::vector<prometheus::MetricFamily> Metrics::collect() const {
  using prometheus::MetricType;
  prometheus::MetricFamily requests =
      family("orrery_requests_total", "Requests answered, by operation and HTTP status",
             MetricType::Counter);
  prometheus::MetricFamily units = family(
      "orrery_request_units_total", "Request units charged, by operation", MetricType::Counter);
  prometheus::MetricFamily seconds =
      family("orrery_request_seconds",
             "Time from the whole request received to its answer given, by operation",
             MetricType::Histogram);
  for (size_t operation = 0; operation < kOperations; ++operation) {
    std::array<uint64_t, kStatuses.size()> by_status{};
    std::array<uint64_t, kLatencyBounds.size() + 1> by_latency{};
    prometheus::ClientMetric unit = labelled(kNames[operation]);
    prometheus::ClientMetric second = labelled(kNames[operation]);
    for (const Shard& shard : *shards_) {
      const Shard::Counts& counts = shard.operations[operation];
      for (size_t i = 0; i < by_status.size(); ++i) by_status[i] += counts.requests[i].load();
      for (size_t i = 0; i < by_latency.size(); ++i) by_latency[i] += counts.latencies[i].load();
      unit.counter.value += counts.units.load();
      second.histogram.sample_sum += counts.seconds.load();
    }
    for (size_t i = 0; i < by_status.size(); ++i) {
      if (by_status[i] == 0) continue;
      prometheus::ClientMetric request = labelled(kNames[operation]);
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
  return {std::move(requests), std::move(units), std::move(seconds)};
}

std::string Metrics::render(const cluster::Engine& engine, const net::ServerCounters& server,
                            const Lanes& lanes) const {
  using prometheus::MetricType;
  std::vector<prometheus::MetricFamily> all = collect();

  auto single = [&](std::string name, std::string help, MetricType type, double number) {
    prometheus::MetricFamily one = family(std::move(name), std::move(help), type);
    prometheus::ClientMetric metric;
    (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = number;
    one.metric.push_back(metric);
    all.push_back(std::move(one));
  };
  single("orrery_connections_open", "Client connections open now", MetricType::Gauge,
         static_cast<double>(server.connections_open));
  single("orrery_connections_accepted_total", "Client connections accepted", MetricType::Counter,
         static_cast<double>(server.connections_accepted));
  single("orrery_connections_refused_total", "Client connections over the limit",
         MetricType::Counter, static_cast<double>(server.connections_refused));
  single("orrery_bad_requests_total", "Requests that were not HTTP, over a bound, or too slow",
         MetricType::Counter, static_cast<double>(server.bad_requests));
  single("orrery_tls_failures_total", "TLS handshakes that failed", MetricType::Counter,
         static_cast<double>(server.tls_failures));
  single("orrery_slow_readers_total", "Connections closed because nobody took their answers",
         MetricType::Counter, static_cast<double>(server.slow_readers));
  single("orrery_request_buffer_bytes", "Memory reserved for large requests now", MetricType::Gauge,
         static_cast<double>(server.request_buffer_bytes));

  single("orrery_connections_failed_total", "Client connections that an exception ended",
         MetricType::Counter, static_cast<double>(server.failures));
  add_queues(all, lanes);
  prometheus::MetricFamily failed =
      family("orrery_jobs_failed_total", "Jobs of the engine's threads that an exception ended",
             MetricType::Counter);
  for (const auto& [pool, count] : engine.failed_jobs()) {
    prometheus::ClientMetric metric;
    metric.label.push_back({"pool", std::string(pool)});
    metric.counter.value = static_cast<double>(count);
    failed.metric.push_back(std::move(metric));
  }
  all.push_back(std::move(failed));

  // One family for each figure of a partition, one line in it for each open partition.
  struct Column {
    prometheus::MetricFamily family;
    double (*figure)(const cluster::Slot&, const partition::Partition&);
  };
  using cluster::Slot;
  using partition::Partition;
  std::array columns = {
      Column{family("orrery_partition_bytes", "Bytes of items in a physical partition",
                    MetricType::Gauge),
             [](const Slot&, const Partition& partition) {
               return static_cast<double>(partition.usage().bytes);
             }},
      Column{family("orrery_partition_items", "Items in a physical partition", MetricType::Gauge),
             [](const Slot&, const Partition& partition) {
               return static_cast<double>(partition.usage().items);
             }},
      Column{family("orrery_partition_lsn", "Newest log sequence number of a physical partition",
                    MetricType::Gauge),
             [](const Slot&, const Partition& partition) {
               return static_cast<double>(partition.lsn());
             }},
      Column{family("orrery_partition_read_only", "1 while a physical partition takes no writes",
                    MetricType::Gauge),
             [](const Slot&, const Partition& partition) {
               return partition.read_only_reason().empty() ? 0.0 : 1.0;
             }},
      Column{family("orrery_partition_reads_total", "Reads of a physical partition",
                    MetricType::Counter),
             [](const Slot& slot, const Partition&) {
               return static_cast<double>(slot.counters.reads.load());
             }},
      Column{family("orrery_partition_writes_total", "Writes to a physical partition",
                    MetricType::Counter),
             [](const Slot& slot, const Partition&) {
               return static_cast<double>(slot.counters.writes.load());
             }},
      Column{family("orrery_partition_throttled_total",
                    "Requests over the budget of a physical partition", MetricType::Counter),
             [](const Slot& slot, const Partition&) {
               return static_cast<double>(slot.counters.throttled.load());
             }},
      Column{family("orrery_partition_request_units_total",
                    "Request units charged to a physical partition", MetricType::Counter),
             [](const Slot& slot, const Partition&) { return slot.counters.charge.load(); }},
      Column{family("orrery_partition_purges", "Partition keys whose items are being deleted",
                    MetricType::Gauge),
             [](const Slot&, const Partition& partition) {
               return static_cast<double>(partition.purges_pending());
             }},
      Column{family("orrery_partition_purged_items_total",
                    "Items that were deleted with all others of their partition key",
                    MetricType::Counter),
             [](const Slot& slot, const Partition&) {
               return static_cast<double>(slot.counters.purged_items.load());
             }},
      Column{family("orrery_partition_purge_request_units_total",
                    "Request units charged for deleting these", MetricType::Counter),
             [](const Slot& slot, const Partition&) { return slot.counters.purge_charge.load(); }},
  };
  engine.each_open(
      [&](const cluster::Routing& routing, const Slot& slot, const Partition& partition) {
        for (Column& column : columns) {
          prometheus::ClientMetric metric;
          metric.label = {{"database", routing.database->name},
                          {"container", routing.container->spec.name},
                          {"range", std::to_string(slot.range.id)}};
          const double number = column.figure(slot, partition);
          (column.family.type == MetricType::Counter ? metric.counter.value : metric.gauge.value) =
              number;
          column.family.metric.push_back(std::move(metric));
        }
      });
  for (Column& column : columns) all.push_back(std::move(column.family));

  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, all);
  return out.str();
}

}  // namespace orrery::cosmos

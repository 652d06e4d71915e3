// See metrics.h.
#include "api/cosmos/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <array>
#include <atomic>
#include <sstream>

namespace orrery::cosmos {
namespace {

constexpr std::array<std::string_view, kOperations> kNames = {
    "account",     "database",  "container",    "partition_ranges", "offer",     "item_create",
    "item_upsert", "item_read", "item_replace", "item_delete",      "item_feed", "item_query",
    "admin",       "other"};

// Statuses that the face answers with; anything else counts as the last one.
constexpr std::array kStatuses = {200, 201, 204, 304, 400, 401, 403, 404, 409,
                                  410, 412, 413, 429, 449, 500, 501, 503, 0};

size_t status_index(int status) {
  size_t i = 0;
  while (kStatuses[i] != status && kStatuses[i] != 0) ++i;
  return i;
}

prometheus::MetricFamily family(std::string name, std::string help, prometheus::MetricType type) {
  prometheus::MetricFamily made;
  made.name = std::move(name);
  made.help = std::move(help);
  made.type = type;
  return made;
}

}  // namespace

struct Metrics::Impl {
  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter>& requests =
      prometheus::BuildCounter()
          .Name("orrery_requests_total")
          .Help("Requests answered, by operation and HTTP status")
          .Register(registry);
  prometheus::Family<prometheus::Counter>& charges =
      prometheus::BuildCounter()
          .Name("orrery_request_units_total")
          .Help("Request units charged, by operation")
          .Register(registry);
  prometheus::Family<prometheus::Histogram>& seconds =
      prometheus::BuildHistogram()
          .Name("orrery_request_seconds")
          .Help("Time from the whole request received to its answer given, by operation")
          .Register(registry);

  std::array<std::array<std::atomic<prometheus::Counter*>, kStatuses.size()>, kOperations> counts{};
  std::array<prometheus::Counter*, kOperations> units{};
  std::array<prometheus::Histogram*, kOperations> latencies{};
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {
  const prometheus::Histogram::BucketBoundaries bounds = {
      0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5};
  for (size_t i = 0; i < kOperations; ++i) {
    const prometheus::Labels labels = {{"operation", std::string(kNames[i])}};
    impl_->units[i] = &impl_->charges.Add(labels);
    impl_->latencies[i] = &impl_->seconds.Add(labels, bounds);
  }
}

Metrics::~Metrics() = default;

void Metrics::done(Operation operation, int status, int64_t took_us) {
  const auto index = static_cast<size_t>(operation);
  auto& cell = impl_->counts[index][status_index(status)];
  prometheus::Counter* counter = cell.load(std::memory_order_acquire);
  if (counter == nullptr) {
    // Adding the same labels again gives the same counter, so a race here does no harm.
    counter = &impl_->requests.Add(
        {{"operation", std::string(kNames[index])}, {"status", std::to_string(status)}});
    cell.store(counter, std::memory_order_release);
  }
  counter->Increment();
  impl_->latencies[index]->Observe(static_cast<double>(took_us) / 1e6);
}

void Metrics::charge(Operation operation, double request_units) {
  if (request_units > 0) impl_->units[static_cast<size_t>(operation)]->Increment(request_units);
}

std::string Metrics::render(const cluster::Engine& engine,
                            const net::ServerCounters& server) const {
  using prometheus::MetricType;
  std::vector<prometheus::MetricFamily> all = impl_->registry.Collect();

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

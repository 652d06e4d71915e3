// See machine_metrics.h.
#include "ops/machine_metrics.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "cluster/replicas/replica_reader.h"

namespace orrery::ops {

using face::add_line;
using face::family;
using prometheus::MetricType;

void add_metrics(const std::vector<net::ListenerStatus>& listeners, face::MetricFamilies& all) {
  using net::ListenerCounters;
  const auto by_listener = [&](std::string name, std::string help, MetricType type,
                               uint64_t ListenerCounters::* figure) {
    prometheus::MetricFamily one = family(std::move(name), std::move(help), type);
    for (const net::ListenerStatus& listener : listeners) {
      add_line(one, {{"listener", listener.name}}, static_cast<double>(listener.counters.*figure));
    }
    all.push_back(std::move(one));
  };
  by_listener("orrery_connections_open", "Client connections open now", MetricType::Gauge,
              &ListenerCounters::connections_open);
  by_listener("orrery_connections_accepted_total", "Client connections accepted",
              MetricType::Counter, &ListenerCounters::connections_accepted);
  by_listener("orrery_connections_refused_total", "Client connections over the limit",
              MetricType::Counter, &ListenerCounters::connections_refused);
  by_listener("orrery_bad_requests_total",
              "Requests that were not the listener's protocol, over a bound, or too slow",
              MetricType::Counter, &ListenerCounters::bad_requests);
  by_listener("orrery_tls_failures_total", "TLS handshakes that failed", MetricType::Counter,
              &ListenerCounters::tls_failures);
  by_listener("orrery_slow_readers_total", "Connections closed because nobody took their answers",
              MetricType::Counter, &ListenerCounters::slow_readers);
  by_listener("orrery_connections_failed_total", "Client connections that an exception ended",
              MetricType::Counter, &ListenerCounters::failures);
}

void add_metrics(const net::ServerCounters& server, face::MetricFamilies& all) {
  auto buffers = family("orrery_request_buffer_bytes", "Memory reserved for large requests now",
                        MetricType::Gauge);
  add_line(buffers, {}, static_cast<double>(server.request_buffer_bytes));
  all.push_back(std::move(buffers));
}

namespace {

using cluster::Slot;
using partition::Partition;

// One family for each figure of a partition, one line in it for each open partition.
struct Column {
  prometheus::MetricFamily family;
  double (*figure)(const Slot&, const Partition&);
};

auto partition_columns() {
  return std::array{
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
}

void add_replicas(const cluster::Engine& engine, const cluster::ReplicaReader& replicas,
                  face::MetricFamilies& all) {
  auto staleness =
      family("orrery_replica_staleness_seconds",
             "For how long a read replica is not known to have been fresh", MetricType::Gauge);
  auto behind = family("orrery_replica_lsns_behind",
                       "Log sequence numbers that a read replica is behind its owner, as it was "
                       "asked last",
                       MetricType::Gauge);
  auto lsn = family("orrery_replica_lsn", "Newest log sequence number of a read replica",
                    MetricType::Gauge);
  auto reads = family("orrery_replica_reads_total", "Reads that a read replica answered",
                      MetricType::Counter);
  replicas.each([&](const cluster::ReplicaStatus& one) {
    const cluster::RoutingPtr routing = engine.find(one.container);
    if (!routing) return;
    const auto add = [&](prometheus::MetricFamily& to, double figure) {
      add_line(to,
               {{"database", routing->database->name},
                {"container", routing->container->spec.name},
                {"range", std::to_string(one.range)}},
               figure);
    };
    if (one.staleness_us >= 0) add(staleness, static_cast<double>(one.staleness_us) / 1e6);
    add(behind, static_cast<double>(one.lsns_behind));
    add(lsn, static_cast<double>(one.lsn));
    add(reads, static_cast<double>(one.reads));
  });
  for (auto* one : {&staleness, &behind, &lsn, &reads}) all.push_back(std::move(*one));
}

}  // namespace

void add_metrics(const cluster::Engine& engine, face::MetricFamilies& all) {
  prometheus::MetricFamily failed =
      family("orrery_jobs_failed_total", "Jobs of the engine's threads that an exception ended",
             MetricType::Counter);
  for (const auto& [pool, count] : engine.failed_jobs()) {
    add_line(failed, {{"pool", std::string(pool)}}, static_cast<double>(count));
  }
  all.push_back(std::move(failed));

  std::array columns = partition_columns();
  engine.each_open(
      [&](const cluster::Routing& routing, const Slot& slot, const Partition& partition) {
        for (Column& column : columns) {
          add_line(column.family,
                   {{"database", routing.database->name},
                    {"container", routing.container->spec.name},
                    {"range", std::to_string(slot.range.id)}},
                   column.figure(slot, partition));
        }
      });
  for (Column& column : columns) all.push_back(std::move(column.family));
  if (const cluster::Placement* placement = engine.placement();
      const cluster::ReplicaReader* replicas = placement ? placement->replicas() : nullptr) {
    add_replicas(engine, *replicas, all);
  }
}

void add_metrics(const nodes::NodeStatus& node, face::MetricFamilies& all) {
  const auto one = [&](const char* name, const char* help, MetricType type, double figure) {
    auto made = family(name, help, type);
    add_line(made, {}, figure);
    all.push_back(std::move(made));
  };
  const auto gauge = [&](const char* name, const char* help, double figure) {
    one(name, help, MetricType::Gauge, figure);
  };
  const auto counter = [&](const char* name, const char* help, uint64_t count) {
    one(name, help, MetricType::Counter, static_cast<double>(count));
  };
  if (node.lease_age_us >= 0) {
    gauge("orrery_lease_age_seconds",
          "Since the newest renewal of this node's lease: reads end at 2.4",
          static_cast<double>(node.lease_age_us) / 1e6);
  }
  gauge("orrery_lease_good", "1 while this node may answer reads", node.lease_good ? 1 : 0);
  counter("orrery_lease_renewals_total", "Renewals of this node's lease", node.lease_renewals);
  counter("orrery_leases_ended_total", "Leases of other nodes that were seen to end",
          node.counters.leases_ended);
  gauge("orrery_coordinator", "1 at the node that is the coordinator", node.is_coordinator ? 1 : 0);
  auto known = family("orrery_coordinator_known",
                      "1, with the name of the coordinator as this node knows it; 0: of none",
                      MetricType::Gauge);
  add_line(known, {{"coordinator", node.coordinator}}, node.coordinator.empty() ? 0 : 1);
  all.push_back(std::move(known));
  gauge("orrery_plan_term", "Term of the plan that this node follows",
        static_cast<double>(node.term));
  gauge("orrery_plan_version", "Version of that plan within its term",
        static_cast<double>(node.plan_version));
  gauge("orrery_cluster_members", "Nodes whose lease is live, as this node knows it",
        static_cast<double>(std::ranges::count(node.members, volume::LeaseRow::State::live,
                                               &nodes::MemberStatus::state)));
  if (node.catalog_age_us >= 0) {
    gauge("orrery_catalog_age_seconds",
          "How old this node's copy of the catalog may be; 0 at the coordinator",
          static_cast<double>(node.catalog_age_us) / 1e6);
  }
  gauge("orrery_catalog_lsn", "Log sequence number of this node's copy of the catalog",
        static_cast<double>(node.catalog_lsn));
  counter("orrery_catalogs_claimed_total", "How often this node became the coordinator",
          node.counters.catalogs_claimed);
  counter("orrery_plans_made_total", "Plans that this node made as the coordinator",
          node.counters.plans_made);
  counter("orrery_coordinator_questions_total", "Questions for news to the coordinator",
          node.counters.questions);
  counter("orrery_coordinator_questions_failed_total", "Of these, without an answer",
          node.counters.questions_failed);
  counter("orrery_lease_polls_failed_total", "Readings of all leases that failed",
          node.counters.polls_failed);
}

}  // namespace orrery::ops

// See metrics_sampler.h.
#include "ops/metrics_sampler.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/survive.h"

namespace orrery::ops {
namespace {

std::string_view label(const prometheus::ClientMetric& metric, std::string_view name) {
  const auto found = std::ranges::find(metric.label, name, &prometheus::ClientMetric::Label::name);
  return found == metric.label.end() ? std::string_view() : std::string_view(found->value);
}

size_t kind_of(std::string_view operation) {
  if (operation.ends_with("_read") || operation.ends_with("_feed")) return 0;
  if (operation.ends_with("_query")) return 2;
  if (operation.starts_with("item_") || operation.ends_with("_delete")) return 1;
  return 3;
}

std::string history_file(const std::string& folder) {
  return folder.empty() ? folder : folder + "/metrics-history";
}

// A counter starts again at 0 when what it belongs to was replaced.
double grown(double before, double now) {
  return std::max(0.0, now - before);
}

}  // namespace

void add_requests(const face::MetricFamilies& families, Totals& to) {
  for (const prometheus::MetricFamily& family : families) {
    for (const prometheus::ClientMetric& one : family.metric) {
      if (family.name == "orrery_requests_total") {
        to.requests[kind_of(label(one, "operation"))] += one.counter.value;
        if (label(one, "status").starts_with('5')) to.failed += one.counter.value;
      } else if (family.name == "orrery_request_units_total") {
        to.units += one.counter.value;
      } else if (family.name == "orrery_request_seconds") {
        const auto& buckets = one.histogram.bucket;
        to.latencies.resize(std::max(to.latencies.size(), buckets.size()));
        for (size_t i = 0; i < buckets.size(); ++i) {
          to.latencies[i].first = buckets[i].upper_bound;
          to.latencies[i].second += static_cast<double>(buckets[i].cumulative_count);
        }
      }
    }
  }
}

double percentile_ms(const Totals& before, const Totals& now, double part) {
  std::vector<double> counts;
  for (size_t i = 0; i < now.latencies.size(); ++i) {
    const double earlier = i < before.latencies.size() ? before.latencies[i].second : 0;
    counts.push_back(grown(earlier, now.latencies[i].second));
  }
  if (counts.empty() || counts.back() == 0) return 0;
  const double wanted = part * counts.back();
  double lower = 0;
  double below = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    const double upper = now.latencies[i].first;
    if (counts[i] >= wanted) {
      if (!std::isfinite(upper) || counts[i] <= below) return lower * 1000;
      return (lower + (upper - lower) * (wanted - below) / (counts[i] - below)) * 1000;
    }
    lower = upper;
    below = counts[i];
  }
  return lower * 1000;
}

Sample figures_between(const Totals& before, const Totals& now) {
  const double seconds =
      std::max(1e-3, static_cast<double>(now.steady_us - before.steady_us) / 1'000'000);
  Sample sample;
  const auto set = [&sample](Figure figure, double value) {
    sample[figure] = static_cast<float>(value);
  };
  for (size_t kind = 0; kind < now.requests.size(); ++kind) {
    set(static_cast<Figure>(kind), grown(before.requests[kind], now.requests[kind]) / seconds);
  }
  set(Figure::units, grown(before.units, now.units) / seconds);
  set(Figure::throttled, grown(before.throttled, now.throttled) / seconds);
  set(Figure::failed, grown(before.failed, now.failed) / seconds);
  set(Figure::median_ms, percentile_ms(before, now, 0.5));
  set(Figure::p95_ms, percentile_ms(before, now, 0.95));
  set(Figure::p99_ms, percentile_ms(before, now, 0.99));
  set(Figure::connections, now.connections);
  set(Figure::bytes, now.bytes);
  set(Figure::items, now.items);
  set(Figure::partitions, now.partitions);
  return sample;
}

MetricsSampler::MetricsSampler(Sources sources)
    : sources_(std::move(sources)), history_(history_file(sources_.folder)) {
  last_fine_ = last_coarse_ = totals();
  thread_.post([this] { run(); });
}

MetricsSampler::~MetricsSampler() {
  stop();
}

void MetricsSampler::stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
  }
  thread_.stop();
}

void MetricsSampler::set_server(const net::Server* server) {
  const MutexLock lock(server_mutex_);
  server_ = server;
}

void MetricsSampler::run() {
  for (;;) {
    {
      const MutexLock lock(mutex_);
      if (!stopping_) {
        const int64_t now_ms = sources_.clock.now_ms();
        const int64_t step_ms = kFineStepS * 1000;
        wake_.wait_for(mutex_, std::chrono::milliseconds(step_ms - now_ms % step_ms));
      }
      if (stopping_) return;
    }
    survive("taking a sample of the metrics", [&] { sample(); });
  }
}

void MetricsSampler::sample() {
  Totals now = totals();
  // Woken early: the thread waits again.
  if (now.steady_us - last_fine_.steady_us < kFineStepS * 500'000) return;
  const int64_t now_s = sources_.clock.now_s();
  Sample fine = figures_between(last_fine_, now);
  fine.at_s = static_cast<uint32_t>(now_s);
  history_.add(kFineStepS, fine);
  if (now.steady_us - last_coarse_.steady_us >= (kCoarseStepS - kFineStepS / 2) * 1'000'000LL) {
    Sample coarse = figures_between(last_coarse_, now);
    coarse.at_s = static_cast<uint32_t>(now_s);
    history_.add(kCoarseStepS, coarse);
    last_coarse_ = now;
  }
  last_fine_ = std::move(now);
}

Totals MetricsSampler::totals() const {
  Totals now;
  now.steady_us = sources_.clock.steady_us();
  face::MetricFamilies families;
  for (const face::Face* face : sources_.faces) face->add_metrics(families);
  add_requests(families, now);
  for (const catalog::ContainerPtr& container : sources_.engine.catalog().all_containers()) {
    const cluster::RoutingPtr routing = sources_.engine.find(container->number);
    if (!routing) continue;
    for (const auto& slot : routing->slots) {
      now.partitions += 1;
      now.throttled += static_cast<double>(slot->counters.throttled.load());
      now.bytes += static_cast<double>(slot->bytes.load());
      if (auto partition = slot->opened()) {
        now.items += static_cast<double>(partition->usage().items);
      }
    }
  }
  const MutexLock lock(server_mutex_);
  if (server_ != nullptr)
    now.connections = static_cast<double>(server_->counters().connections_open);
  return now;
}

}  // namespace orrery::ops

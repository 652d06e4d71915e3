// Metric families while the metrics page is made.
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <utility>
#include <vector>

namespace orrery::face {

using MetricFamilies = std::vector<prometheus::MetricFamily>;

inline prometheus::MetricFamily family(std::string name, std::string help,
                                       prometheus::MetricType type) {
  prometheus::MetricFamily made;
  made.name = std::move(name);
  made.help = std::move(help);
  made.type = type;
  return made;
}

// Adds a sample to a counter or a gauge, whichever the family is.
inline void add_line(prometheus::MetricFamily& to,
                     std::vector<prometheus::ClientMetric::Label> labels, double number) {
  prometheus::ClientMetric metric;
  metric.label = std::move(labels);
  (to.type == prometheus::MetricType::Counter ? metric.counter.value : metric.gauge.value) = number;
  to.metric.push_back(std::move(metric));
}

}  // namespace orrery::face

// Figures on their way to the page of metrics.
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

// A line of a counter or of a gauge, as the family is.
inline void add_line(prometheus::MetricFamily& to,
                     std::vector<prometheus::ClientMetric::Label> labels, double number) {
  prometheus::ClientMetric metric;
  metric.label = std::move(labels);
  (to.type == prometheus::MetricType::Counter ? metric.counter.value : metric.gauge.value) = number;
  to.metric.push_back(std::move(metric));
}

}  // namespace orrery::face

// See throughput.h.
#include "cluster/throughput.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::cluster {
namespace {

uint32_t divided_by(const catalog::Throughput& throughput, uint64_t of_one) {
  return static_cast<uint32_t>(std::max<uint64_t>(1, (throughput.units + of_one - 1) / of_one));
}

}  // namespace

uint32_t least_throughput(Subject subject, const Limits& limits) {
  return static_cast<uint32_t>(subject == Subject::partitioned_container
                                   ? limits.partitioned_throughput_min
                                   : limits.container_throughput_min);
}

Status check_throughput(const catalog::Throughput& throughput, Subject subject,
                        const Limits& limits) {
  const uint64_t units = throughput.units;
  const uint64_t least =
      throughput.autoscale ? limits.autoscale_throughput_min : least_throughput(subject, limits);
  const uint64_t step =
      throughput.autoscale ? limits.autoscale_throughput_min : limits.throughput_step;
  const char* what = throughput.autoscale ? "autoscale maximum throughput" : "throughput";
  if (units < least) {
    return fail(Code::invalid, fmt::format("the {} {} is below the minimum of {} units a second",
                                           what, units, least));
  }
  if (units % step != 0) {
    return fail(Code::invalid,
                fmt::format("the {} {} is not a multiple of {}: use {} or {}", what, units, step,
                            units / step * step, (units / step + 1) * step));
  }
  if (subject == Subject::fixed_container && units > limits.fixed_throughput_max) {
    return fail(Code::invalid,
                fmt::format("a container without a partition key has at most {} units a "
                            "second, not {}: create it with a partition key to go beyond",
                            limits.fixed_throughput_max, units));
  }
  if (units > limits.container_throughput_max) {
    return fail(Code::quota_exceeded,
                fmt::format("the {} {} is over the quota of {} units a second; the server's "
                            "limit container-throughput-max raises it",
                            what, units, limits.container_throughput_max));
  }
  return {};
}

uint32_t partitions_for(const catalog::Throughput& throughput, const Limits& limits) {
  return divided_by(throughput, limits.partition_throughput);
}

uint32_t initial_partitions_for(const catalog::Throughput& throughput, const Limits& limits) {
  if (throughput.autoscale) return partitions_for(throughput, limits);
  return divided_by(throughput,
                    std::min(limits.initial_partition_throughput, limits.partition_throughput));
}

bool may_split_by_itself(const catalog::Container& container, const Limits& limits) {
  if (container.spec.key.paths.empty()) return false;
  return !container.throughput || container.throughput->units >= limits.split_throughput_min;
}

}  // namespace orrery::cluster

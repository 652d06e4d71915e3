// Rules of provisioned throughput: what may be asked for, and how many physical partitions it
// takes.
#pragma once

#include <cstdint>

#include "base/limits.h"
#include "base/result.h"
#include "catalog/model.h"

namespace orrery::cluster {

enum class Subject : uint8_t { database, partitioned_container, fixed_container };

// Refuses with the value, the bound and what to do.
Status check_throughput(const catalog::Throughput& throughput, Subject subject,
                        const Limits& limits);

// The fewest partitions that can serve it: N = T / t, rounded up, as each serves at most t. After
// throughput was raised, partitions are split up to this number.
uint32_t partitions_for(const catalog::Throughput& throughput, const Limits& limits);
// How many a new container has: as many with autoscale; otherwise more, so that its throughput can
// be raised at once.
uint32_t initial_partitions_for(const catalog::Throughput& throughput, const Limits& limits);

// Whether the server splits it without being asked: containers below a limit, and those that are
// one logical partition, are left alone.
bool may_split_by_itself(const catalog::Container& container, const Limits& limits);

// The least that the subject may be set to.
uint32_t least_throughput(Subject subject, const Limits& limits);

}  // namespace orrery::cluster

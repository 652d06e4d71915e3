// See containers.h.
#include "cluster/containers/containers.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/fault.h"
#include "cluster/throughput.h"
#include "partition/prepared_terms.h"

namespace orrery::cluster {
namespace {

Subject subject_of(const catalog::ContainerSpec& spec) {
  return spec.key.paths.empty() ? Subject::fixed_container : Subject::partitioned_container;
}

// Their numbers have a byte in the partitions' keys.
constexpr size_t kUniqueKeysMax = 255;

// The partitions know unique keys by their numbers: each may be retired, and one may be added
// behind them. One at a time, so that it is known which one the items contradict (see indexer.h).
Status check_unique_keys(const catalog::Container& container, const catalog::ContainerSpec& spec) {
  const auto& have = container.spec.unique_keys;
  const auto& wanted = spec.unique_keys;
  bool is_change = wanted.size() == have.size() || wanted.size() == have.size() + 1;
  for (size_t i = 0; is_change && i < have.size(); ++i) {
    is_change = (wanted[i] == have[i] || wanted[i] == partition::retired(have[i])) &&
                unique_condition(spec, i) == unique_condition(container.spec, i);
  }
  if (!is_change) {
    return fail(Code::invalid,
                "the unique keys of a container can be retired, and added one after another; "
                "they cannot be changed otherwise");
  }
  if (wanted.size() > kUniqueKeysMax) {
    return fail(Code::quota_exceeded,
                fmt::format("a container can be given {} unique keys in its life, and has had as "
                            "many; make a new one",
                            kUniqueKeysMax));
  }
  if (wanted.size() > have.size() && container.indexed_version < container.index_version) {
    return fail(Code::retry, "the container is being re-indexed; add the unique key afterwards");
  }
  return {};
}

}  // namespace

Result<catalog::DatabasePtr> Containers::create_database(
    catalog::DatabaseName name, std::optional<catalog::Throughput> throughput) {
  MutexLock change(table_.change_mutex);
  if (throughput) {
    if (auto checked = check_throughput(*throughput, Subject::database, limits_); !checked) {
      return pass(checked.error());
    }
  }
  if (!catalog_.database(name) && catalog_.database_count() >= limits_.account_databases) {
    return fail(
        Code::quota_exceeded,
        fmt::format("the account has {} databases, which is its quota; delete one, or raise "
                    "the server's limit account-databases",
                    limits_.account_databases));
  }
  return catalog_.create_database(name, throughput);
}

Status Containers::remove_database(uint32_t number) {
  MutexLock change(table_.change_mutex);
  std::vector<RoutingPtr> inside;
  for (const catalog::ContainerPtr& container : catalog_.containers(number)) {
    if (RoutingPtr routing = table_.find(container->number)) inside.push_back(std::move(routing));
  }
  if (auto removed = catalog_.remove_database(number); !removed) return removed;
  static_cast<void>(fault::point("removal.recorded"));  // only a crash means something here
  for (const RoutingPtr& routing : inside) {
    retire(*routing);
  }
  table_.remove_database(number);
  return {};
}

Status Containers::check_new(const catalog::Database& database, const catalog::ContainerSpec& spec,
                             bool own_throughput) const {
  if (catalog_.container(database.number, spec.name)) {
    return fail(Code::conflict,
                fmt::format("a container with id '{}' exists already in database '{}'", spec.name,
                            database.name));
  }
  const auto siblings = catalog_.containers(database.number);
  if (siblings.size() >= limits_.database_containers) {
    return fail(Code::quota_exceeded,
                fmt::format("database '{}' has {} containers, which is its quota; delete one, or "
                            "raise the server's limit database-containers",
                            database.name, siblings.size()));
  }
  if (own_throughput) return {};
  const auto sharing = std::ranges::count_if(
      siblings, [](const catalog::ContainerPtr& each) { return !each->throughput; });
  if (static_cast<uint64_t>(sharing) < limits_.shared_throughput_containers) return {};
  return fail(Code::invalid,
              fmt::format("{} containers share the throughput of database '{}' already, which is "
                          "the limit; give this one throughput of its own",
                          sharing, database.name));
}

Result<RoutingPtr> Containers::create_container(uint32_t database, catalog::ContainerSpec spec,
                                                std::optional<catalog::Throughput> throughput) {
  MutexLock change(table_.change_mutex);
  const catalog::DatabasePtr owner = catalog_.database(database);
  if (!owner) return fail(Code::not_found, "the database is not there");
  const Subject subject = subject_of(spec);
  if (!throughput && !owner->throughput) {
    throughput = catalog::Throughput{.units = least_throughput(subject, limits_)};
  }
  if (auto checked = check_new(*owner, spec, throughput.has_value()); !checked) {
    return pass(checked.error());
  }
  uint32_t partitions = 1;
  if (throughput) {
    if (auto checked = check_throughput(*throughput, subject, limits_); !checked) {
      return pass(checked.error());
    }
    if (subject != Subject::fixed_container) {
      partitions = initial_partitions_for(*throughput, limits_);
    }
  }
  const auto boundaries = value::divide_evenly(spec.key.placement, partitions);
  auto made = catalog_.create_container(database, std::move(spec), throughput, boundaries);
  if (!made) return pass(made.error());
  return table_.add(*made);
}

void Containers::retire(const Routing& routing) noexcept {
  table_.remove(routing);
  for (const auto& slot : routing.slots) {
    remover_.retire(slot->close_for_good(), slot->range.volume_name);
  }
}

Result<RoutingPtr> Containers::replace_container(uint32_t number, catalog::ContainerSpec spec) {
  MutexLock change(table_.change_mutex);
  auto updated = catalog_.update_container(number, [&](catalog::Container& container) -> Status {
    if (container.spec.key != spec.key) {
      return fail(Code::invalid, "the partition key of a container cannot be changed");
    }
    if (auto checked = check_unique_keys(container, spec); !checked) return checked;
    // Terms are made by the definition of their time; a new version tells old ones apart. Items
    // claim unique keys, and leave them, as they are re-indexed. A history ends with a new version.
    if (catalog::index_definition(container.spec) != catalog::index_definition(spec) ||
        container.spec.unique_keys != spec.unique_keys ||
        (container.spec.history_s > 0 && spec.history_s == 0)) {
      ++container.index_version;
    }
    container.spec = std::move(spec);
    return {};
  });
  if (!updated) return pass(updated.error());
  table_.rebuild(number);
  bell_.ring();
  return table_.find(number);
}

Status Containers::remove_container(uint32_t number) {
  MutexLock change(table_.change_mutex);
  RoutingPtr routing = table_.find(number);
  if (auto removed = catalog_.remove_container(number); !removed) return removed;
  static_cast<void>(fault::point("removal.recorded"));
  if (routing) retire(*routing);
  return {};
}

Status Containers::set_container_throughput(uint32_t number,
                                            const catalog::Throughput& throughput) {
  {
    MutexLock change(table_.change_mutex);
    auto updated = catalog_.update_container(number, [&](catalog::Container& container) -> Status {
      if (!container.throughput) {
        return fail(Code::invalid,
                    fmt::format("container '{}' has no throughput of its own: it shares its "
                                "database's",
                                container.spec.name));
      }
      if (auto checked = check_throughput(throughput, subject_of(container.spec), limits_);
          !checked) {
        return checked;
      }
      const bool is_less = throughput.units < container.throughput->units;
      const bool is_more = throughput.units > container.throughput->units;
      container.shrinks = is_less || (container.shrinks && !is_more);
      container.throughput = throughput;
      return {};
    });
    if (!updated) return pass(updated.error());
    table_.rebuild(number);
  }
  splits_.scale(number);
  return {};
}

Status Containers::set_database_throughput(uint32_t number, const catalog::Throughput& throughput) {
  MutexLock change(table_.change_mutex);
  catalog::DatabasePtr database = catalog_.database(number);
  if (!database) return fail(Code::not_found, "the database is not there");
  if (!database->throughput) {
    return fail(
        Code::invalid,
        fmt::format("database '{}' was created without throughput of its own", database->name));
  }
  if (auto checked = check_throughput(throughput, Subject::database, limits_); !checked) {
    return checked;
  }
  auto updated = catalog_.set_throughput(number, throughput);
  if (!updated) return pass(updated.error());
  table_.set_database_rate(number, throughput.units);
  return {};
}

}  // namespace orrery::cluster

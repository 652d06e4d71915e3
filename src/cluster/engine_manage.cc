// Databases, containers and their throughput.
#include <fmt/format.h>

#include <algorithm>

#include "base/fault.h"
#include "cluster/engine.h"
#include "cluster/throughput.h"

namespace orrery::cluster {
namespace {

Subject subject_of(const catalog::ContainerSpec& spec) {
  return spec.key.paths.empty() ? Subject::fixed_container : Subject::partitioned_container;
}

}  // namespace

Result<catalog::DatabasePtr> Engine::create_database(
    catalog::DatabaseName name, std::optional<catalog::Throughput> throughput) {
  MutexLock change(table_.change_mutex);
  if (throughput) {
    if (auto checked = check_throughput(*throughput, Subject::database, limits()); !checked) {
      return pass(checked.error());
    }
  }
  if (!catalog_->database(name) && catalog_->database_count() >= limits().account_databases) {
    return fail(
        Code::quota_exceeded,
        fmt::format("the account has {} databases, which is its quota; delete one, or raise "
                    "the server's limit account-databases",
                    limits().account_databases));
  }
  return catalog_->create_database(name, throughput);
}

Status Engine::remove_database(uint32_t number) {
  MutexLock change(table_.change_mutex);
  std::vector<RoutingPtr> inside;
  for (const catalog::ContainerPtr& container : catalog_->containers(number)) {
    if (RoutingPtr routing = find(container->number)) inside.push_back(std::move(routing));
  }
  if (auto removed = catalog_->remove_database(number); !removed) return removed;
  static_cast<void>(fault::point("removal.recorded"));  // only a crash means something here
  for (const RoutingPtr& routing : inside) {
    uninstall(*routing);
  }
  table_.remove_database(number);
  return {};
}

Result<RoutingPtr> Engine::create_container(uint32_t database, catalog::ContainerSpec spec,
                                            std::optional<catalog::Throughput> throughput) {
  MutexLock change(table_.change_mutex);
  catalog::DatabasePtr owner = catalog_->database(database);
  if (!owner) return fail(Code::not_found, "the database is not there");
  if (catalog_->container(database, spec.name)) {
    return fail(Code::conflict,
                fmt::format("a container with id '{}' exists already in database '{}'", spec.name,
                            owner->name));
  }
  const auto siblings = catalog_->containers(database);
  if (siblings.size() >= limits().database_containers) {
    return fail(Code::quota_exceeded,
                fmt::format("database '{}' has {} containers, which is its quota; delete one, or "
                            "raise the server's limit database-containers",
                            owner->name, siblings.size()));
  }
  const Subject subject = subject_of(spec);
  uint32_t partitions = 1;
  if (!throughput && !owner->throughput) {
    throughput = catalog::Throughput{.units = least_throughput(subject, limits())};
  }
  if (throughput) {
    if (auto checked = check_throughput(*throughput, subject, limits()); !checked) {
      return pass(checked.error());
    }
    partitions = initial_partitions_for(*throughput, limits());
    if (subject == Subject::fixed_container) partitions = 1;
  } else {
    const auto sharing = std::ranges::count_if(
        siblings, [](const catalog::ContainerPtr& each) { return !each->throughput; });
    if (static_cast<uint64_t>(sharing) >= limits().shared_throughput_containers) {
      return fail(
          Code::invalid,
          fmt::format("{} containers share the throughput of database '{}' already, which is "
                      "the limit; give this one throughput of its own",
                      sharing, owner->name));
    }
  }
  const auto boundaries = value::divide_evenly(spec.key.placement, partitions);
  auto made = catalog_->create_container(database, std::move(spec), throughput, boundaries);
  if (!made) return pass(made.error());
  return table_.add(*made);
}

Result<RoutingPtr> Engine::replace_container(uint32_t number, catalog::ContainerSpec spec) {
  MutexLock change(table_.change_mutex);
  auto updated = catalog_->update_container(number, [&](catalog::Container& container) -> Status {
    if (container.spec.key != spec.key || container.spec.unique_keys != spec.unique_keys) {
      return fail(Code::invalid,
                  "the partition key and the unique keys of a container cannot be changed");
    }
    // Terms are made by the definition of their time; a new version tells old ones apart.
    if (catalog::index_definition(container.spec) != catalog::index_definition(spec)) {
      ++container.index_version;
    }
    container.spec = std::move(spec);
    return {};
  });
  if (!updated) return pass(updated.error());
  table_.rebuild(number);
  wake_upkeep();
  return find(number);
}

Status Engine::remove_container(uint32_t number) {
  MutexLock change(table_.change_mutex);
  RoutingPtr routing = find(number);
  if (auto removed = catalog_->remove_container(number); !removed) return removed;
  static_cast<void>(fault::point("removal.recorded"));
  if (routing) uninstall(*routing);
  return {};
}

Status Engine::set_container_throughput(uint32_t number, const catalog::Throughput& throughput) {
  {
    MutexLock change(table_.change_mutex);
    auto updated = catalog_->update_container(number, [&](catalog::Container& container) -> Status {
      if (!container.throughput) {
        return fail(Code::invalid,
                    fmt::format("container '{}' has no throughput of its own: it shares its "
                                "database's",
                                container.spec.name));
      }
      if (auto checked = check_throughput(throughput, subject_of(container.spec), limits());
          !checked) {
        return checked;
      }
      container.throughput = throughput;
      return {};
    });
    if (!updated) return pass(updated.error());
    table_.rebuild(number);
  }
  scale(number);
  return {};
}

Status Engine::set_database_throughput(uint32_t number, const catalog::Throughput& throughput) {
  MutexLock change(table_.change_mutex);
  catalog::DatabasePtr database = catalog_->database(number);
  if (!database) return fail(Code::not_found, "the database is not there");
  if (!database->throughput) {
    return fail(
        Code::invalid,
        fmt::format("database '{}' was created without throughput of its own", database->name));
  }
  if (auto checked = check_throughput(throughput, Subject::database, limits()); !checked) {
    return checked;
  }
  auto updated = catalog_->set_throughput(number, throughput);
  if (!updated) return pass(updated.error());
  table_.set_database_rate(number, throughput.units);
  return {};
}

bool Engine::is_scaling(uint32_t container) const {
  MutexLock lock(scaling_mutex_);
  return scaling_.contains(container);
}

}  // namespace orrery::cluster

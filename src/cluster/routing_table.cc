// See routing_table.h.
#include "cluster/routing_table.h"

#include <algorithm>
#include <mutex>

#include "base/survive.h"
#include "cluster/throughput.h"

namespace orrery::cluster {
namespace {

std::string name_key(const catalog::DatabaseName& database, std::string_view container) {
  std::string key;
  key.reserve(database.face.size() + database.name.size() + 2 + container.size());
  key.append(database.face).append(1, '\n').append(database.name).append(1, '\n');
  key.append(container);
  return key;
}

std::string name_key(const Routing& routing) {
  return name_key({routing.database->face, routing.database->name}, routing.container->spec.name);
}

std::shared_ptr<Slot> slot_of_range(const Routing* routing, uint32_t range) {
  if (routing == nullptr) return nullptr;
  for (const auto& slot : routing->slots) {
    if (slot->range.id == range) return slot;
  }
  return nullptr;
}

}  // namespace

Error keeps_moving() {
  return {.code = Code::overloaded,
          .message = "the partition keeps moving: try again",
          .retry_after_ms = 100};
}

Error container_is_gone() {
  return {.code = Code::not_found, .message = "the container was deleted in the meantime"};
}

Error is_elsewhere() {
  return {.code = Code::elsewhere, .message = "another node serves this partition: ask there"};
}

RoutingPtr RoutingTable::find(catalog::DatabaseName database, std::string_view container) const {
  const std::string key = name_key(database, container);
  std::shared_lock lock(mutex_);
  auto found = by_name_.find(key);
  return found == by_name_.end() ? nullptr : found->second;
}

RoutingPtr RoutingTable::find(uint32_t container) const {
  std::shared_lock lock(mutex_);
  auto found = by_number_.find(container);
  return found == by_number_.end() ? nullptr : found->second;
}

std::vector<RoutingPtr> RoutingTable::all() const {
  std::vector<RoutingPtr> all;
  std::shared_lock lock(mutex_);
  all.reserve(by_number_.size());
  for (const auto& [number, routing] : by_number_) all.push_back(routing);
  return all;
}

std::shared_ptr<const partition::Schema> RoutingTable::make_schema(
    const catalog::Container& container) const {
  const catalog::ContainerSpec& spec = container.spec;
  auto schema = std::make_shared<partition::Schema>();
  if (!spec.encoding.empty()) {
    const auto codec = options_.codecs.find(spec.encoding);
    schema->codec =
        codec != options_.codecs.end() ? codec->second : value::unknown_codec(spec.encoding);
  }
  schema->indexed = spec.indexed || !spec.always_indexed.empty();
  schema->index = value::IndexPolicy(catalog::index_definition(spec));
  schema->index_version = container.index_version;
  for (const value::Path& path : spec.always_indexed) {
    schema->free_paths.push_back(value::term_path(path));
  }
  schema->unique_keys = spec.unique_keys;
  for (const std::string& text : spec.unique_conditions) {
    auto condition = text.empty() ? nullptr : schema->codec->condition(text);
    // Without knowing who holds a unique value nothing can be written.
    if (!text.empty() && !condition) schema->codec = value::unknown_codec(spec.encoding);
    schema->unique_conditions.push_back(std::move(condition));
  }
  schema->default_life_ms = spec.default_life_ms;
  schema->history_s = spec.history_s;
  // A partition of one key cannot be split, so it cannot outgrow a physical partition either.
  schema->logical_bytes_max =
      std::min(options_.limits.logical_partition_bytes, options_.limits.physical_partition_bytes);
  return schema;
}

std::shared_ptr<Slot> RoutingTable::make_slot(const catalog::Container& container,
                                              const catalog::PartitionRange& range,
                                              double units_per_s) const {
  auto slot = std::make_shared<Slot>(container.number, range);
  if (container.spec.key.placement == value::Placement::range) {
    slot->load = std::make_unique<LoadSample>();
  }
  slot->own_budget = std::make_shared<TokenBucket>(units_per_s, clock_.steady_us());
  slot->here = plan_.is_here(*slot);
  return slot;
}

std::shared_ptr<TokenBucket> RoutingTable::database_budget(const catalog::Database& database) {
  std::unique_lock lock(mutex_);
  auto& budget = database_budgets_[database.number];
  if (!budget) {
    budget = std::make_shared<TokenBucket>(database.throughput->units, clock_.steady_us());
  }
  return budget;
}

RoutingPtr RoutingTable::make(const catalog::ContainerPtr& container, const Routing* before) {
  auto routing = std::make_shared<Routing>();
  routing->container = container;
  routing->database = catalog_.database(container->database);
  routing->schema = make_schema(*container);
  routing->prices = options_.prices;

  const std::vector<catalog::PartitionRange>& ranges = container->map->ranges;
  const double share = container->throughput ? static_cast<double>(container->throughput->units) /
                                                   static_cast<double>(ranges.size())
                                             : 1;
  for (const catalog::PartitionRange& range : ranges) {
    std::shared_ptr<Slot> slot = slot_of_range(before, range.id);
    if (slot) {
      slot->own_budget->set_rate(share, clock_.steady_us());
    } else {
      slot = make_slot(*container, range, share);
    }
    routing->slots.push_back(std::move(slot));
  }
  routing->wants_ranges = container->spec.key.placement == value::Placement::range &&
                          container->throughput &&
                          may_split_by_itself(*container, options_.limits) &&
                          ranges.size() < partitions_for(*container->throughput, options_.limits);
  if (!container->throughput && routing->database && routing->database->throughput) {
    routing->shared_budget = database_budget(*routing->database);
  }
  return routing;
}

void RoutingTable::install(const RoutingPtr& routing) {
  std::unique_lock lock(mutex_);
  by_number_[routing->container->number] = routing;
  by_name_[name_key(*routing)] = routing;
}

RoutingPtr RoutingTable::add(const catalog::ContainerPtr& container) noexcept {
  RoutingPtr routing;
  persist("routing to a new container", [&]() ORRERY_HELD_BY_CALLER {
    routing = make(container, nullptr);
    install(routing);
  });
  return routing;
}

void RoutingTable::rebuild(uint32_t container) noexcept {
  persist("routing to a container", [&]() ORRERY_HELD_BY_CALLER {
    RoutingPtr before = find(container);
    catalog::ContainerPtr record = catalog_.container(container);
    if (!before || !record) return;
    if (before->container->spec.name != record->spec.name) {
      const std::string name = name_key(*before);
      std::unique_lock lock(mutex_);
      by_name_.erase(name);
    }
    install(make(record, before.get()));
  });
}

void RoutingTable::remove(const Routing& routing) noexcept {
  persist("routing to a container no more", [&] {
    const std::string name = name_key(routing);
    std::unique_lock lock(mutex_);
    by_number_.erase(routing.container->number);
    by_name_.erase(name);
  });
}

void RoutingTable::set_database_rate(uint32_t database, double units_per_s) {
  std::unique_lock lock(mutex_);
  if (auto found = database_budgets_.find(database); found != database_budgets_.end()) {
    found->second->set_rate(units_per_s, clock_.steady_us());
  }
}

void RoutingTable::remove_database(uint32_t database) {
  std::unique_lock lock(mutex_);
  database_budgets_.erase(database);
}

}  // namespace orrery::cluster

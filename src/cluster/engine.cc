// Opening, closing and routing. The operations on items and their budgets are in engine_items.cc,
// what queries read in engine_views.cc, transactions in engine_transactions.cc, databases and
// containers in engine_manage.cc, splits in engine_split.cc, what it tells in engine_status.cc,
// background work in engine_upkeep.cc, engine_removal.cc and engine_reindex.cc.
#include "cluster/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "base/fault.h"
#include "base/log.h"
#include "base/survive.h"
#include "cluster/engine_opening.h"
#include "cluster/throughput.h"

namespace orrery::cluster {
namespace {

using partition::Partition;

constexpr int64_t kOpenAgainUs = 1'000'000;

std::string name_key(const catalog::DatabaseName& database, std::string_view container) {
  std::string key;
  key.reserve(database.face.size() + database.name.size() + 2 + container.size());
  key.append(database.face).append(1, '\n').append(database.name).append(1, '\n');
  key.append(container);
  return key;
}

}  // namespace

Engine::Engine(volume::Volume& volume, const Clock& clock, const EngineOptions& options)
    : volume_(volume),
      clock_(clock),
      options_(options),
      shared_(options.limits, clock, options.sync_commits),
      upkeep_("upkeep", 1),
      openers_("opener", 2),
      splitter_("splitter", 1),
      trimmer_("trimmer", 1),
      indexer_("indexer", 1) {}

Result<std::unique_ptr<Engine>> Engine::open(volume::Volume& volume, const Clock& clock,
                                             const EngineOptions& options) {
  std::unique_ptr<Engine> engine(new Engine(volume, clock, options));
  if (auto checked = engine->check_catalog_is_there(); !checked) return pass(checked.error());
  auto catalog = catalog::Catalog::open(engine->shared_, volume);
  if (!catalog) return pass(catalog.error());
  engine->catalog_ = std::move(*catalog);
  for (const catalog::ContainerPtr& container : engine->catalog_->all_containers()) {
    engine->install(engine->make_routing(container, nullptr));
  }
  if (auto settled = engine->settle_files(); !settled) return pass(settled.error());
  engine->upkeep_.post([raw = engine.get()] { raw->upkeep_loop(); });
  // Scaling that the last process did not finish.
  for (const catalog::ContainerPtr& container : engine->catalog_->all_containers()) {
    engine->scale(container->number);
  }
  return engine;
}

Engine::~Engine() {
  {
    MutexLock lock(upkeep_mutex_);
    stopping_ = true;
    upkeep_wake_.notify_all();
  }
  upkeep_.stop();
  splitter_.stop();
  trimmer_.stop();
  indexer_.stop();
  openers_.stop();
  // Whatever a writer still completes uses this engine. Nothing new comes: callers are gone.
  shared_.writers.stop();
  close_all();
  remove_retired();
}

// So that a routing that somebody still holds keeps no files open.
void Engine::close_all() {
  std::unique_lock lock(routing_mutex_);
  for (const auto& [number, routing] : by_number_) {
    for (const auto& slot : routing->slots) {
      slot->gone = true;
      MutexLock guard(slot->mutex);
      slot->partition = nullptr;
    }
  }
}

// --- routing ------------------------------------------------------------------------------------

RoutingPtr Engine::find(catalog::DatabaseName database, std::string_view container) const {
  const std::string key = name_key(database, container);
  std::shared_lock lock(routing_mutex_);
  auto found = by_name_.find(key);
  return found == by_name_.end() ? nullptr : found->second;
}

RoutingPtr Engine::find(uint32_t container) const {
  std::shared_lock lock(routing_mutex_);
  auto found = by_number_.find(container);
  return found == by_number_.end() ? nullptr : found->second;
}

RoutingPtr Engine::make_routing(const catalog::ContainerPtr& container, const Routing* before) {
  auto routing = std::make_shared<Routing>();
  routing->container = container;
  routing->database = catalog_->database(container->database);

  const catalog::ContainerSpec& spec = container->spec;
  auto schema = std::make_shared<partition::Schema>();
  if (!spec.encoding.empty()) {
    const auto codec = options_.codecs.find(spec.encoding);
    schema->codec =
        codec != options_.codecs.end() ? codec->second : value::unknown_codec(spec.encoding);
  }
  schema->index = value::IndexPolicy(catalog::index_definition(spec));
  schema->index_version = container->index_version;
  for (const value::Path& path : spec.always_indexed) {
    schema->free_paths.push_back(value::term_path(path));
  }
  schema->unique_keys = spec.unique_keys;
  schema->default_life_ms = spec.default_life_ms;
  schema->history_s = spec.history_s;
  // A partition of one key cannot be split, so it cannot outgrow a physical partition either.
  schema->logical_bytes_max =
      std::min(options_.limits.logical_partition_bytes, options_.limits.physical_partition_bytes);
  routing->schema = std::move(schema);
  routing->prices = options_.prices;

  const int64_t now_us = clock_.steady_us();
  const double share = container->throughput
                           ? static_cast<double>(container->throughput->units) /
                                 static_cast<double>(container->map->ranges.size())
                           : 1;
  for (const catalog::PartitionRange& range : container->map->ranges) {
    std::shared_ptr<Slot> slot;
    if (before != nullptr) {
      for (const auto& old : before->slots) {
        if (old->range.id == range.id) slot = old;
      }
    }
    if (slot) {
      slot->own_budget->set_rate(share, now_us);
    } else {
      slot = std::make_shared<Slot>(container->number, range);
      if (spec.key.placement == value::Placement::range)
        slot->load = std::make_unique<LoadSample>();
      slot->own_budget = std::make_shared<TokenBucket>(share, now_us);
    }
    routing->slots.push_back(std::move(slot));
  }
  routing->wants_ranges =
      spec.key.placement == value::Placement::range && container->throughput &&
      may_split_by_itself(*routing) &&
      routing->slots.size() < partitions_for(*container->throughput, options_.limits);
  if (!container->throughput && routing->database && routing->database->throughput) {
    std::unique_lock lock(routing_mutex_);
    auto& budget = database_budgets_[container->database];
    if (!budget) {
      budget = std::make_shared<TokenBucket>(routing->database->throughput->units, now_us);
    }
    routing->shared_budget = budget;
  }
  return routing;
}

void Engine::install(const RoutingPtr& routing) {
  std::unique_lock lock(routing_mutex_);
  by_number_[routing->container->number] = routing;
  by_name_[name_key({routing->database->face, routing->database->name},
                    routing->container->spec.name)] = routing;
}

void Engine::uninstall(const Routing& routing) {
  {
    std::unique_lock lock(routing_mutex_);
    by_number_.erase(routing.container->number);
    by_name_.erase(
        name_key({routing.database->face, routing.database->name}, routing.container->spec.name));
  }
  for (const auto& slot : routing.slots) {
    std::shared_ptr<Partition> partition;
    {
      MutexLock opening(slot->open_mutex);
      slot->gone = true;
      MutexLock lock(slot->mutex);
      partition = std::move(slot->partition);
      slot->partition = nullptr;
    }
    retire(std::move(partition), slot->range.volume_name);
  }
}

void Engine::rebuild(uint32_t container) {
  // The catalog has changed: nobody may go on by the old one for want of memory.
  persist("routing to a container", [&] {
    RoutingPtr before = find(container);
    catalog::ContainerPtr record = catalog_->container(container);
    if (before && record) install(make_routing(record, before.get()));
  });
}

// --- opening ------------------------------------------------------------------------------------

Result<std::shared_ptr<Partition>> Engine::open_slot(const std::shared_ptr<Slot>& slot) {
  MutexLock opening(slot->open_mutex);
  if (auto open = slot->opened()) return open;
  if (slot->gone) return fail(Code::moved, "the partition is gone");
  const int64_t now_us = clock_.steady_us();
  if (slot->open_error && now_us < slot->open_again_us) return pass(*slot->open_error);
  auto opening_place = begin_opening();
  if (!opening_place) return pass(opening_place.error());
  auto partition = open_files(slot->container, slot->range);
  if (!partition) {
    log::error("cannot open a partition",
               {{"name", slot->range.volume_name}, {"error", partition.error().message}});
    slot->open_error = partition.error();
    slot->open_again_us = now_us + kOpenAgainUs;
    return pass(partition.error());
  }
  slot->open_error.reset();
  slot->last_used_us = now_us;
  slot->bytes = (*partition)->usage().bytes;
  {
    MutexLock lock(slot->mutex);
    slot->partition = *partition;
  }
  trim_later(slot);
  return partition;
}

// A partition whose files are lost must not come back as an empty one: the catalog knows which have
// any. It is told once they are durable, and before anything in them is acknowledged.
Result<std::shared_ptr<Partition>> Engine::open_files(uint32_t container,
                                                      const catalog::PartitionRange& range) {
  auto noted = catalog_->has_files(range);
  if (!noted) return pass(noted.error());
  if (*noted && !volume_.exists(range.volume_name)) {
    return fail(Code::corrupt,
                fmt::format("the files of range {} are missing: they were in {}. Put them back "
                            "there from a copy; to do without, delete the container",
                            range.id, volume_.place(range.volume_name)));
  }
  if (!*noted && !volume_.exists(range.volume_name)) {
    if (auto room = volume_.room(); !room) return pass(room.error());
  }
  auto partition =
      Partition::open(shared_, volume_, range.volume_name, {range.id, range.min, range.max});
  if (!partition) return partition;
  // Asked for after opening: rules that are stored now are no older than those of any write in it.
  const catalog::ContainerPtr record = catalog_->container(container);
  if (record && (*partition)->index_version() > record->index_version) {
    return fail(Code::corrupt,
                fmt::format("the files of range {} in {} were written by index rules that the "
                            "catalog does not have: it is older than they are. Restore it from a "
                            "newer copy",
                            range.id, volume_.place(range.volume_name)));
  }
  if (*noted) return partition;
  Status told = fault::point("files.made");
  if (told) told = catalog_->note_files(container, range);
  if (told) return partition;
  // Whoever has been writing here without a note can go on: it is no worse off than before.
  if ((*partition)->lsn() == 0) return pass(told.error());
  log::warn("cannot note in the catalog that a partition has files",
            {{"name", range.volume_name}, {"error", told.error().message}});
  return partition;
}

Result<std::shared_ptr<Partition>> Engine::open_if_there(const std::shared_ptr<Slot>& slot) {
  if (auto open = slot->opened()) return open;
  if (!volume_.exists(slot->range.volume_name)) {
    // Asked in this order: a slot is marked before its files are removed.
    if (slot->gone) return fail(Code::moved, "the partition is gone");
    auto noted = catalog_->has_files(slot->range);
    if (!noted) return pass(noted.error());
    if (!*noted) return nullptr;  // otherwise it was made just now, or lost: opening it tells
  }
  return open_slot(slot);
}

}  // namespace orrery::cluster

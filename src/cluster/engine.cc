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

}  // namespace

Engine::Engine(volume::Volume& volume, const Clock& clock, const EngineOptions& options,
               std::unique_ptr<partition::Shared> shared, std::unique_ptr<catalog::Catalog> catalog)
    : volume_(volume),
      clock_(clock),
      options_(options),
      shared_(std::move(shared)),
      catalog_(std::move(catalog)),
      table_(*catalog_, clock_, options_),
      budgets_(clock_, options_.throttling),
      purge_shares_(options_.limits.purge_percent),
      upkeep_("upkeep", 1),
      openers_("opener", 2),
      splitter_("splitter", 1),
      trimmer_("trimmer", 1),
      indexer_("indexer", 1) {}

Result<std::unique_ptr<Engine>> Engine::open(volume::Volume& volume, const Clock& clock,
                                             const EngineOptions& options) {
  auto shared = std::make_unique<partition::Shared>(options.limits, clock, options.sync_commits);
  if (auto checked = check_catalog_is_there(volume); !checked) return pass(checked.error());
  auto catalog = catalog::Catalog::open(*shared, volume);
  if (!catalog) return pass(catalog.error());
  std::unique_ptr<Engine> engine(
      new Engine(volume, clock, options, std::move(shared), std::move(*catalog)));
  const std::vector<catalog::ContainerPtr> containers = engine->catalog_->all_containers();
  {
    const MutexLock change(engine->table_.change_mutex);
    for (const catalog::ContainerPtr& container : containers) engine->table_.add(container);
  }
  if (auto settled = engine->settle_files(); !settled) return pass(settled.error());
  engine->upkeep_.post([raw = engine.get()] { raw->upkeep_loop(); });
  // Scaling that the last process did not finish.
  for (const catalog::ContainerPtr& container : containers) engine->scale(container->number);
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
  shared_->writers.stop();
  close_all();
  remove_retired();
}

// So that a routing that somebody still holds keeps no files open.
void Engine::close_all() {
  for (const RoutingPtr& routing : table_.all()) {
    for (const auto& slot : routing->slots) slot->close_for_good();
  }
}

RoutingPtr Engine::find(catalog::DatabaseName database, std::string_view container) const {
  return table_.find(database, container);
}

RoutingPtr Engine::find(uint32_t container) const {
  return table_.find(container);
}

void Engine::uninstall(const Routing& routing) noexcept {
  table_.remove(routing);
  for (const auto& slot : routing.slots) {
    const std::shared_ptr<Partition> partition = slot->close_for_good();
    persist("retiring a partition", [&] { retire(partition, slot->range.volume_name); });
  }
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
      Partition::open(*shared_, volume_, range.volume_name, {range.id, range.min, range.max});
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

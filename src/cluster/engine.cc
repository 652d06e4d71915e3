// Opens and closes the engine, and gives each operation to the part that does it: see
// engine_parts.h.
#include "cluster/engine.h"

#include <initializer_list>
#include <utility>

#include "base/await.h"
#include "cluster/engine_parts.h"

namespace orrery::cluster {

Engine::Engine(volume::Volume& volume, const Clock& clock, const EngineOptions& options,
               std::unique_ptr<partition::Shared> shared, std::unique_ptr<CatalogCaller> caller,
               std::unique_ptr<catalog::Catalog> catalog)
    : options_(options),
      shared_(std::move(shared)),
      caller_(std::move(caller)),
      catalog_(std::move(catalog)),
      parts_(std::make_unique<Parts>(volume, clock, options_, *shared_, *catalog_, caller_.get())) {
}

Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::open(volume::Volume& volume, const Clock& clock,
                                             const EngineOptions& options) {
  if (!options.node.empty()) return open_node(volume, clock, options);
  auto shared = std::make_unique<partition::Shared>(options.limits, clock, options.sync_commits);
  if (auto checked = check_catalog_is_there(volume); !checked) return pass(checked.error());
  auto catalog = catalog::Catalog::open(*shared, volume);
  if (!catalog) return pass(catalog.error());
  std::unique_ptr<Engine> engine(
      new Engine(volume, clock, options, std::move(shared), nullptr, std::move(*catalog)));
  Parts& parts = *engine->parts_;
  const std::vector<catalog::ContainerPtr> containers = engine->catalog_->all_containers();
  {
    const MutexLock change(parts.table.change_mutex);
    for (const catalog::ContainerPtr& container : containers) parts.table.add(container);
  }
  if (auto settled = parts.remover.settle(); !settled) return pass(settled.error());
  parts.upkeep.start();
  // Scaling that the last process did not finish.
  for (const catalog::ContainerPtr& container : containers) parts.splits.scale(container->number);
  return engine;
}

// It has an empty copy of the catalog and no plan: coordination brings both.
Result<std::unique_ptr<Engine>> Engine::open_node(volume::Volume& volume, const Clock& clock,
                                                  const EngineOptions& options) {
  auto shared = std::make_unique<partition::Shared>(options.limits, clock, options.sync_commits);
  auto caller = std::make_unique<CatalogCaller>(*options.link);
  auto catalog = catalog::Catalog::copy(clock, *caller);
  std::unique_ptr<Engine> engine(
      new Engine(volume, clock, options, std::move(shared), std::move(caller), std::move(catalog)));
  engine->parts_->upkeep.start();
  return engine;
}

// --- among other nodes --------------------------------------------------------------------------

nodes::Seat* Engine::seat() {
  return parts_->seat.get();
}

Placement* Engine::placement() {
  return parts_->seat.get();
}

const Placement* Engine::placement() const {
  return parts_->seat.get();
}

void Engine::set_coordinator(std::function<std::optional<std::string>()> address) {
  if (caller_) caller_->set_coordinator(std::move(address));
}

void Engine::set_on_catalog_change(std::function<void()> told) {
  catalog_->set_on_commit(std::move(told));
}

void Engine::set_barrier(std::function<Status(uint64_t lsn)> everyone_has) {
  everyone_has_ = std::move(everyone_has);
}

Status Engine::known_to_all(Status changed) const {
  if (!changed || !everyone_has_) return changed;
  return everyone_has_(catalog_->lsn());
}

Status Engine::set_read_replicas(uint32_t count) {
  return catalog_->set_read_replicas(count);
}

void Engine::answer(std::string_view kind, std::string_view bytes, peer::Done done) {
  if (!parts_->seat) return done(fail(Code::unsupported, "this server is alone"));
  if (kind == kExportCall) return done(parts_->exports.serve_here(bytes));
  parts_->seat->answer(kind, bytes, std::move(done));
}

Result<std::string> Engine::export_files(std::string_view request) {
  return parts_->exports.serve(request);
}

// --- containers ---------------------------------------------------------------------------------

RoutingPtr Engine::find(catalog::DatabaseName database, std::string_view container) const {
  return parts_->table.find(database, container);
}

RoutingPtr Engine::find(uint32_t container) const {
  return parts_->table.find(container);
}

Result<catalog::DatabasePtr> Engine::create_database(
    catalog::DatabaseName name, std::optional<catalog::Throughput> throughput) {
  return parts_->containers.create_database(name, throughput);
}

Status Engine::remove_database(uint32_t number) {
  return known_to_all(parts_->containers.remove_database(number));
}

Result<RoutingPtr> Engine::create_container(uint32_t database, catalog::ContainerSpec spec,
                                            std::optional<catalog::Throughput> throughput) {
  return parts_->containers.create_container(database, std::move(spec), throughput);
}

Result<RoutingPtr> Engine::replace_container(uint32_t number, catalog::ContainerSpec spec) {
  return parts_->containers.replace_container(number, std::move(spec));
}

Status Engine::remove_container(uint32_t number) {
  return known_to_all(parts_->containers.remove_container(number));
}

Status Engine::set_container_throughput(uint32_t number, const catalog::Throughput& throughput) {
  return parts_->containers.set_container_throughput(number, throughput);
}

Status Engine::set_database_throughput(uint32_t number, const catalog::Throughput& throughput) {
  return parts_->containers.set_database_throughput(number, throughput);
}

bool Engine::is_scaling(uint32_t container) const {
  return parts_->splits.is_scaling(container);
}

Result<catalog::ResourcePtr> Engine::create_resource(uint8_t kind, uint32_t parent,
                                                     std::string_view name, std::string body,
                                                     uint64_t most, const ResourceCheck& check) {
  return parts_->resources.create(kind, parent, name, std::move(body), most, check);
}

Result<catalog::ResourcePtr> Engine::replace_resource(uint32_t number, std::string_view name,
                                                      std::string body,
                                                      std::optional<uint64_t> if_revision,
                                                      const ResourceCheck& check) {
  return parts_->resources.replace(number, name, std::move(body), if_revision, check);
}

Status Engine::remove_resource(uint32_t number, std::optional<uint64_t> if_revision) {
  return known_to_all(parts_->resources.remove(number, if_revision));
}

// --- items --------------------------------------------------------------------------------------

void Engine::write(RoutingPtr routing, std::vector<partition::Write> transaction,
                   std::move_only_function<void(WriteReply)> done, ReadTerms reads) {
  parts_->writes.write(std::move(routing), std::move(transaction), std::move(done),
                       std::move(reads));
}

// The key of a transaction stays in one partition across splits, and an item's LSN means the same
// in the children: what the transaction has seen is still compared rightly there.
WriteReply Engine::write_and_wait(RoutingPtr routing, std::vector<partition::Write> transaction) {
  auto written = await<WriteReply>(
      [&](auto done) { write(std::move(routing), std::move(transaction), std::move(done)); });
  if (written) return std::move(*written);
  WriteReply failed;
  failed.error = std::move(written.error());
  return failed;
}

void Engine::read(RoutingPtr routing, std::string placement, std::string row,
                  const LsnDemand& demand, std::move_only_function<void(Result<ReadReply>)> done,
                  double charge_factor) {
  parts_->point_reads.read(std::move(routing), std::move(placement), std::move(row), demand,
                           std::move(done), charge_factor);
}

std::optional<Result<ReadReply>> Engine::read_in_memory(const Routing& routing,
                                                        std::string_view placement,
                                                        std::string_view row,
                                                        const LsnDemand& demand,
                                                        double charge_factor) {
  return parts_->point_reads.read_in_memory(routing, placement, row, demand, charge_factor);
}

Result<FeedReply> Engine::feed(const RoutingPtr& routing, std::string_view min,
                               std::string_view max, const partition::ItemKey* after,
                               size_t items_max, const LsnDemand& demand, double charge_factor) {
  return parts_->feed.page(routing, min, max, after, items_max, demand, charge_factor);
}

Result<ViewReply> Engine::open_view(const RoutingPtr& routing, std::string_view placement,
                                    std::string_view min, std::string_view max,
                                    const LsnDemand& demand, partition::Reach reach) {
  return parts_->views.open_view(routing, placement, min, max, demand, reach);
}

Result<TransactionReply> Engine::begin_transaction(const RoutingPtr& routing,
                                                   std::string_view placement,
                                                   const LsnDemand& demand, size_t bytes_max) {
  return parts_->views.begin_transaction(routing, placement, demand, bytes_max);
}

Result<ChangesReply> Engine::changes(RoutingPtr routing, std::string_view min, std::string_view max,
                                     const ChangesFrom& from, size_t items_max,
                                     const LsnDemand& demand, double charge_factor) {
  return parts_->change_feed.changes(std::move(routing), min, max, from, items_max, demand,
                                     charge_factor);
}

Result<HistoryReply> Engine::history(RoutingPtr routing, std::string_view min, std::string_view max,
                                     const ChangesFrom& from, size_t items_max,
                                     const LsnDemand& demand, double charge_factor) {
  return parts_->change_feed.history(std::move(routing), min, max, from, items_max, demand,
                                     charge_factor);
}

Result<uint32_t> Engine::admit_query(const RoutingPtr& routing, std::string_view placement) {
  Slot& slot = *routing->slot_of(placement);
  if (slot.here || !parts_->seat) return parts_->budgets.ask(*routing, slot);
  return parts_->budgets.judge(*routing, slot, parts_->seat->budgets_elsewhere().wait_ms(slot));
}

void Engine::pay_for_query(const RoutingPtr& routing, std::string_view placement, double charge,
                           uint32_t would_throttle_ms) {
  Slot& slot = *routing->slot_of(placement);
  if (parts_->seat) {
    // Budgets of partitions are their owners'.
    const std::optional<std::string> address = parts_->seat->address_of(slot);
    if (address && !address->empty()) {
      return parts_->seat->budgets_elsewhere().pay(slot, *address, charge, would_throttle_ms > 0);
    }
  }
  Budgets::count_late(slot, would_throttle_ms);
  Budgets::pay(*routing, slot, charge);
}

Status Engine::check_current() const {
  return parts_->opener.check_current();
}

Result<std::vector<partition::KeptNote>> Engine::notes(const RoutingPtr& routing,
                                                       std::string_view owner, uint64_t number) {
  return parts_->views.notes(routing, owner, number);
}

Result<std::optional<partition::ItemKey>> Engine::find_by_term(const RoutingPtr& routing,
                                                               std::string_view term) {
  return parts_->views.find_by_term(routing, term);
}

// --- partitions ---------------------------------------------------------------------------------

void Engine::split_later(SplitRequest request,
                         std::move_only_function<void(Result<SplitReport>)> done) {
  parts_->splits.split_later(std::move(request), std::move(done));
}

void Engine::merge_later(MergeRequest request,
                         std::move_only_function<void(Result<MergeReport>)> done) {
  parts_->splits.merge_later(std::move(request), std::move(done));
}

Result<MergeReport> Engine::merge(uint32_t container, uint32_t first, uint32_t second) {
  auto report = await<Result<MergeReport>>([&](auto done) {
    merge_later({.container = container, .first = first, .second = second}, std::move(done));
  });
  return report ? std::move(*report) : fail(Code::overloaded, "the server is stopping");
}

Result<SplitReport> Engine::split(uint32_t container, std::optional<uint32_t> range) {
  auto report = await<Result<SplitReport>>(
      [&](auto done) { split_later({.container = container, .range = range}, std::move(done)); });
  return report ? std::move(*report) : pass(report.error());
}

Result<std::vector<PartitionStatus>> Engine::status(uint32_t container) {
  return parts_->reports.status(container);
}

Result<std::vector<partition::Partition::LogicalPartition>> Engine::largest(uint32_t container,
                                                                            size_t count) {
  return parts_->reports.largest(container, count);
}

std::vector<std::pair<std::string_view, uint64_t>> Engine::failed_jobs() const {
  std::vector<std::pair<std::string_view, uint64_t>> all;
  for (const WorkerPool* pool : std::initializer_list<const WorkerPool*>{
           &shared_->writers, &parts_->opener.pool(), &parts_->splits.pool(),
           &parts_->trimmer.pool(), &parts_->indexer.pool(), &parts_->upkeep.pool()}) {
    all.emplace_back(pool->name(), pool->failed());
  }
  return all;
}

void Engine::each_open(const std::function<void(const Routing&, const Slot&,
                                                const partition::Partition&)>& visit) const {
  parts_->table.each_open(visit);
}

}  // namespace orrery::cluster

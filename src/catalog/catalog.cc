// See catalog.h. Records: placement "databases", "containers" or "resources" with the number as
// row; placement "files" or "removals" with a partition's name in the volume as row (see
// catalog_files.cc and catalog_removals.cc); and placement "account", rows "next-number" and
// "read-replicas". A copy is made of the same records.
#include "catalog/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "base/await.h"
#include "base/survive.h"
#include "catalog/codec.h"
#include "value/placement.h"

namespace orrery::catalog {
namespace {

std::shared_ptr<const partition::Schema> catalog_schema() {
  auto schema = std::make_shared<partition::Schema>();
  schema->indexed = false;
  return schema;
}

}  // namespace

Catalog::Catalog(const Clock& clock, ChangeLink* owner)
    : clock_(clock), schema_(catalog_schema()), owner_(owner) {}

Result<std::unique_ptr<Catalog>> Catalog::open(partition::Shared& shared, volume::Volume& volume) {
  std::unique_ptr<Catalog> catalog(new Catalog(shared.clock, nullptr));
  if (auto owned = catalog->own(shared, volume); !owned) return pass(owned.error());
  return catalog;
}

std::unique_ptr<Catalog> Catalog::copy(const Clock& clock, ChangeLink& owner) {
  return std::unique_ptr<Catalog>(new Catalog(clock, &owner));
}

Result<uint64_t> Catalog::own(partition::Shared& shared, volume::Volume& volume) {
  const MutexLock change(change_mutex_);
  auto opened = partition::Partition::open(
      shared, volume, kCatalogVolumeName,
      {0, std::string(value::placement_min()), std::string(value::placement_max())});
  if (!opened) return pass(opened.error());
  if (auto loaded = load(**opened); !loaded) return pass(loaded.error());
  partition_ = std::move(*opened);
  is_owner_.store(true, std::memory_order_release);
  return partition_->epoch();
}

void Catalog::disown() {
  const MutexLock change(change_mutex_);
  is_owner_.store(false, std::memory_order_release);
  partition_.reset();
  recent_.clear();
  recent_bytes_ = 0;
}

Status Catalog::load(partition::Partition& partition) {
  Tables read;
  std::optional<partition::ItemKey> after;
  for (bool more = true; more;) {
    auto page = partition.scan(value::placement_min(), value::placement_max(),
                               after ? &*after : nullptr, 1000, SIZE_MAX, *schema_);
    if (!page) return pass(page.error());
    for (const auto& [key, item] : page->items) {
      if (auto entered = read.enter({key.placement, key.row, item.body}); !entered) return entered;
    }
    more = page->more;
    if (!page->items.empty()) after = page->items.back().first;
  }
  if (auto checked = read.check(); !checked) return checked;
  replace_tables(std::move(read));
  lsn_.store(partition.lsn(), std::memory_order_release);
  recent_.clear();
  recent_bytes_ = 0;
  recent_since_ = partition.lsn();
  return {};
}

void Catalog::replace_tables(Tables&& tables) {
  auto touch = [this](const Tables& some) ORRERY_HELD_BY_CALLER {
    for (const auto& [number, database] : some.databases) touched_.databases.insert(number);
    for (const auto& [number, container] : some.containers) touched_.containers.insert(number);
  };
  touch(tables_);
  touch(tables);
  std::unique_lock lock(lookup_mutex_);
  std::swap(tables_, tables);
}

Status Catalog::check_owner() const {
  if (partition_) return {};
  return fail(Code::elsewhere, "another node owns the catalog: ask there");
}

namespace {

// A record that cannot be read back, such as one with a text that is not UTF-8, would keep the
// catalog from being opened ever again.
Status check_readable(const std::vector<Record>& records) {
  Tables read;
  for (const Record& record : records) {
    auto entered = read.enter(record);
    if (!entered) {
      return fail(Code::invalid, fmt::format("it cannot be kept, since it could not be read back: "
                                             "{}; names and texts must be UTF-8",
                                             entered.error().message));
    }
  }
  return {};
}

}  // namespace

Status Catalog::commit(std::vector<partition::Write> writes) {
  if (auto checked = check_owner(); !checked) return checked;
  // On a full disk nothing new is made. The rest is small, and what frees space or was begun while
  // there was some must be written.
  const bool creates = std::ranges::any_of(
      writes, [](const partition::Write& write) { return write.row == kNextNumber; });
  Commit made;
  for (partition::Write& write : writes) {
    write.needs_room = creates;
    Record& record = made.records.emplace_back(write.placement, write.row, std::nullopt);
    if (write.verb != partition::Verb::remove) record.body = write.body;
  }
  if (auto checked = check_readable(made.records); !checked) return checked;
  auto outcome = await<partition::Outcome>([&](auto done) ORRERY_HELD_BY_CALLER {
    partition_->submit(std::move(writes), std::move(done));
  });
  if (!outcome) return pass(outcome.error());
  if (outcome->error) return pass(std::move(*outcome->error));
  made.lsn = outcome->lsn;
  if (owner_ != nullptr) touch(made.records);
  // It is durable: whatever happens, lookups must find it.
  Status entered;
  persist("entering a change of the catalog", [&] { entered = enter(made.records); });
  lsn_.store(made.lsn, std::memory_order_release);
  remember(std::move(made));
  if (on_commit_) on_commit_();
  return entered;
}

Status Catalog::enter(const std::vector<Record>& records) {
  std::unique_lock lock(lookup_mutex_);
  for (const Record& record : records) {
    if (auto entered = tables_.enter(record); !entered) return entered;
  }
  return {};
}

partition::Write Catalog::put(std::string_view kind, std::string row, std::string body) const {
  partition::Write write;
  write.verb = partition::Verb::upsert;
  write.placement = kind;
  write.row = std::move(row);
  write.body = std::move(body);
  write.schema = schema_;
  return write;
}

partition::Write Catalog::put(std::string_view kind, uint32_t number, std::string body) const {
  return put(kind, std::to_string(number), std::move(body));
}

partition::Write Catalog::remove(std::string_view kind, std::string row) const {
  partition::Write write = put(kind, std::move(row), "");
  write.verb = partition::Verb::remove;
  return write;
}

partition::Write Catalog::remove(std::string_view kind, uint32_t number) const {
  return remove(kind, std::to_string(number));
}

uint32_t Catalog::take_number(std::vector<partition::Write>& writes) {
  std::unique_lock lock(lookup_mutex_);
  const uint32_t number = tables_.next_number++;
  writes.push_back(put(kAccount, std::string(kNextNumber), std::to_string(tables_.next_number)));
  return number;
}

DatabasePtr Catalog::database(DatabaseName name) const {
  std::shared_lock lock(lookup_mutex_);
  const auto of_face = tables_.databases_by_name.find(name.face);
  if (of_face == tables_.databases_by_name.end()) return nullptr;
  const auto found = of_face->second.find(name.name);
  return found == of_face->second.end() ? nullptr : found->second;
}

DatabasePtr Catalog::database(uint32_t number) const {
  std::shared_lock lock(lookup_mutex_);
  auto found = tables_.databases.find(number);
  return found == tables_.databases.end() ? nullptr : found->second;
}

std::vector<DatabasePtr> Catalog::databases(std::string_view face) const {
  std::shared_lock lock(lookup_mutex_);
  std::vector<DatabasePtr> all;
  const auto of_face = tables_.databases_by_name.find(face);
  if (of_face == tables_.databases_by_name.end()) return all;
  all.reserve(of_face->second.size());
  for (const auto& [name, database] : of_face->second) all.push_back(database);
  return all;
}

std::vector<DatabasePtr> Catalog::all_databases() const {
  std::shared_lock lock(lookup_mutex_);
  std::vector<DatabasePtr> all;
  all.reserve(tables_.databases.size());
  for (const auto& [face, of_face] : tables_.databases_by_name) {
    for (const auto& [name, database] : of_face) all.push_back(database);
  }
  return all;
}

size_t Catalog::database_count() const {
  std::shared_lock lock(lookup_mutex_);
  return tables_.databases.size();
}

ContainerPtr Catalog::container(uint32_t database, std::string_view name) const {
  std::shared_lock lock(lookup_mutex_);
  auto found = tables_.by_database.find(database);
  if (found == tables_.by_database.end()) return nullptr;
  auto container = found->second.find(name);
  return container == found->second.end() ? nullptr : container->second;
}

ContainerPtr Catalog::container(uint32_t number) const {
  std::shared_lock lock(lookup_mutex_);
  auto found = tables_.containers.find(number);
  return found == tables_.containers.end() ? nullptr : found->second;
}

std::vector<ContainerPtr> Catalog::containers(uint32_t database) const {
  std::shared_lock lock(lookup_mutex_);
  std::vector<ContainerPtr> all;
  auto found = tables_.by_database.find(database);
  if (found == tables_.by_database.end()) return all;
  for (const auto& [name, container] : found->second) all.push_back(container);
  return all;
}

std::vector<ContainerPtr> Catalog::all_containers() const {
  std::shared_lock lock(lookup_mutex_);
  std::vector<ContainerPtr> all;
  all.reserve(tables_.containers.size());
  for (const auto& [number, container] : tables_.containers) all.push_back(container);
  return all;
}

Result<DatabasePtr> Catalog::create_database(DatabaseName name,
                                             std::optional<Throughput> throughput) {
  MutexLock change(change_mutex_);
  if (database(name)) {
    return fail(Code::conflict, fmt::format("a database with id '{}' exists already", name.name));
  }
  std::vector<partition::Write> writes;
  auto made = std::make_shared<Database>();
  made->number = take_number(writes);
  made->face = name.face;
  made->name = name.name;
  made->changed_s = clock_.now_s();
  made->revision = next_revision();
  made->throughput = throughput;
  writes.push_back(put(kDatabases, made->number, encode(*made)));
  if (auto committed = commit(std::move(writes)); !committed) return pass(committed.error());
  return database(made->number);
}

Status Catalog::remove_database(uint32_t number) {
  MutexLock change(change_mutex_);
  if (!database(number)) return fail(Code::not_found, "the database is not there");
  std::vector<partition::Write> writes;
  writes.push_back(remove(kDatabases, number));
  remove_owned(number, writes);
  for (const ContainerPtr& container : containers(number)) {
    writes.push_back(remove(kContainers, container->number));
    remove_owned(container->number, writes);
    retire(*container->map, nullptr, writes);
  }
  return commit(std::move(writes));
}

Result<DatabasePtr> Catalog::set_throughput(uint32_t number, const Throughput& throughput) {
  MutexLock change(change_mutex_);
  DatabasePtr before = database(number);
  if (!before) return fail(Code::not_found, "the database is not there");
  auto after = std::make_shared<Database>(*before);
  after->throughput = throughput;
  std::vector<partition::Write> writes;
  writes.push_back(put(kDatabases, number, encode(*after)));
  if (auto committed = commit(std::move(writes)); !committed) return pass(committed.error());
  return database(number);
}

Result<ContainerPtr> Catalog::create_container(uint32_t database_number, ContainerSpec spec,
                                               std::optional<Throughput> throughput,
                                               const std::vector<std::string>& boundaries) {
  MutexLock change(change_mutex_);
  if (!database(database_number)) return fail(Code::not_found, "the database is not there");
  if (container(database_number, spec.name)) {
    return fail(Code::conflict, fmt::format("a container with id '{}' exists already", spec.name));
  }
  std::vector<partition::Write> writes;
  auto made = std::make_shared<Container>();
  made->database = database_number;
  made->number = take_number(writes);
  made->spec = std::move(spec);
  made->changed_s = clock_.now_s();
  made->revision = next_revision();
  made->throughput = throughput;
  auto map = std::make_shared<PartitionMap>();
  for (size_t i = 0; i <= boundaries.size(); ++i) {
    PartitionRange& range = map->ranges.emplace_back();
    range.id = map->next_id++;
    range.min = i == 0 ? value::placement_min() : std::string_view(boundaries[i - 1]);
    range.max = i == boundaries.size() ? value::placement_max() : std::string_view(boundaries[i]);
    range.volume_name = fmt::format("c{}-p{}", made->number, range.id);
  }
  if (!covers_everything(*map)) {
    return fail(Code::internal, "the boundaries of a new container are out of order");
  }
  made->map = std::move(map);
  return store(*made, std::move(writes));
}

Status Catalog::remove_container(uint32_t number) {
  MutexLock change(change_mutex_);
  const ContainerPtr gone = container(number);
  if (!gone) return fail(Code::not_found, "the container is not there");
  std::vector<partition::Write> writes;
  writes.push_back(remove(kContainers, number));
  retire(*gone->map, nullptr, writes);
  remove_owned(number, writes);
  return commit(std::move(writes));
}

Result<ContainerPtr> Catalog::update_container(uint32_t number,
                                               const std::function<Status(Container&)>& change) {
  MutexLock serial(change_mutex_);
  ContainerPtr before = container(number);
  if (!before) return fail(Code::not_found, "the container is not there");
  return update(*before, change, {});
}

Result<ContainerPtr> Catalog::update(const Container& before,
                                     const std::function<Status(Container&)>& change,
                                     std::vector<partition::Write> writes) {
  auto after = std::make_shared<Container>(before);
  after->changed_s = clock_.now_s();
  after->revision = next_revision();
  if (auto changed = change(*after); !changed) return pass(changed.error());
  const std::string& name = after->spec.name;
  if (name != before.spec.name && container(before.database, name)) {
    return fail(Code::conflict, "a container with this name exists already: '" + name + "'");
  }
  if (!covers_everything(*after->map)) {
    return fail(Code::internal, "a change to a container's record does not keep its invariants");
  }
  return store(*after, std::move(writes));
}

Result<ContainerPtr> Catalog::note_indexed_here(uint32_t number, uint32_t index_version) {
  const ContainerPtr before = container(number);
  if (!before) return fail(Code::not_found, "the container is not there");
  Container after = *before;
  after.indexed_version = std::max(before->indexed_version, index_version);
  return store(after, {});
}

uint32_t Catalog::read_replicas() const {
  std::shared_lock lock(lookup_mutex_);
  return tables_.read_replicas;
}

Status Catalog::set_read_replicas_here(uint32_t count) {
  if (count > kReadReplicasMax) {
    return fail(Code::invalid, fmt::format("{} read replicas of each partition are too many: {} at "
                                           "most",
                                           count, kReadReplicasMax));
  }
  std::vector<partition::Write> writes;
  writes.push_back(put(kAccount, std::string(kReadReplicas), std::to_string(count)));
  return commit(std::move(writes));
}

Result<ContainerPtr> Catalog::store(const Container& changed,
                                    std::vector<partition::Write> writes) {
  writes.push_back(put(kContainers, changed.number, encode(changed)));
  if (auto committed = commit(std::move(writes)); !committed) return pass(committed.error());
  return container(changed.number);
}

}  // namespace orrery::catalog

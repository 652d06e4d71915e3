// See catalog.h. Records: placement "databases", "containers" or "resources" with the number as
// row; placement "files" or "removals" with a partition's name in the volume as row (see
// catalog_files.cc and catalog_removals.cc); and placement "account", row "next-number".
#include "catalog/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <mutex>

#include "base/await.h"
#include "base/survive.h"
#include "catalog/codec.h"
#include "value/placement.h"

namespace orrery::catalog {
namespace {

constexpr std::string_view kDatabases = "databases";
constexpr std::string_view kContainers = "containers";
constexpr std::string_view kAccount = "account";
constexpr std::string_view kNextNumber = "next-number";

std::shared_ptr<const partition::Schema> catalog_schema() {
  auto schema = std::make_shared<partition::Schema>();
  schema->indexed = false;
  return schema;
}

}  // namespace

bool covers_everything(const PartitionMap& map) {
  if (map.ranges.empty() || map.ranges.front().min != value::placement_min() ||
      map.ranges.back().max != value::placement_max()) {
    return false;
  }
  for (size_t i = 0; i < map.ranges.size(); ++i) {
    if (map.ranges[i].min >= map.ranges[i].max) return false;
    if (i > 0 && map.ranges[i].min != map.ranges[i - 1].max) return false;
  }
  return true;
}

Result<std::unique_ptr<Catalog>> Catalog::open(partition::Shared& shared, volume::Volume& volume) {
  auto partition = partition::Partition::open(
      shared, volume, kCatalogVolumeName,
      {0, std::string(value::placement_min()), std::string(value::placement_max())});
  if (!partition) return pass(partition.error());
  std::unique_ptr<Catalog> catalog(new Catalog(std::move(*partition), shared.clock));
  if (auto loaded = catalog->load(); !loaded) return pass(loaded.error());
  return catalog;
}

Catalog::Catalog(std::shared_ptr<partition::Partition> partition, const Clock& clock)
    : partition_(std::move(partition)), clock_(clock), schema_(catalog_schema()) {}

Status Catalog::load() {
  MutexLock change(change_mutex_);
  std::optional<partition::ItemKey> after;
  for (bool more = true; more;) {
    auto page = partition_->scan(value::placement_min(), value::placement_max(),
                                 after ? &*after : nullptr, 1000, SIZE_MAX, *schema_);
    if (!page) return pass(page.error());
    for (const auto& [key, item] : page->items) {
      if (key.placement == kDatabases) {
        auto database = decode_database(item.body);
        if (!database) return pass(database.error());
        insert(std::make_shared<const Database>(std::move(*database)));
      } else if (key.placement == kContainers) {
        auto container = decode_container(item.body);
        if (!container) return pass(container.error());
        if (!covers_everything(*container->map)) {
          return fail(Code::corrupt, fmt::format("the partition map of container '{}' has a gap or "
                                                 "an overlap",
                                                 container->spec.name));
        }
        insert(std::make_shared<const Container>(std::move(*container)));
      } else if (key.placement == kResources) {
        auto resource = decode_resource(item.body);
        if (!resource) return pass(resource.error());
        std::unique_lock lock(lookup_mutex_);
        resources_.put(std::make_shared<const Resource>(std::move(*resource)));
      } else if (key.placement == kRemovals) {
        auto removal = decode_removal(item.body);
        if (!removal) return pass(removal.error());
        insert(std::vector{std::move(*removal)});
      } else if (key.row == kNextNumber) {
        const char* end = item.body.data() + item.body.size();
        auto [read_to, error] = std::from_chars(item.body.data(), end, next_number_);
        if (error != std::errc() || read_to != end) {
          return fail(Code::corrupt, "the catalog's record of the next number is damaged");
        }
      }
    }
    more = page->more;
    if (!page->items.empty()) after = page->items.back().first;
  }
  return check_loaded();
}

// What no record can show by itself.
Status Catalog::check_loaded() const {
  auto refuse = [](std::string_view what, uint32_t number, std::string_view problem) {
    return fail(Code::corrupt,
                fmt::format("the catalog is damaged: {} {} {}", what, number, problem));
  };
  for (const auto& [number, database] : databases_) {
    if (number >= next_number_) return refuse("database", number, "is beyond the next number");
  }
  for (const auto& [number, container] : containers_) {
    if (number >= next_number_) return refuse("container", number, "is beyond the next number");
    if (!databases_.contains(container->database)) {
      return refuse("container", number, "belongs to a database that is not there");
    }
    for (const PartitionRange& range : container->map->ranges) {
      if (has_removal(range.volume_name)) {
        return refuse("container", number, "has a range whose files are to be removed");
      }
    }
  }
  for (const ResourcePtr& resource : resources_.all()) {
    if (resource->number >= next_number_) {
      return refuse("resource", resource->number, "is beyond the next number");
    }
    if (!has_owner(resource->parent)) {
      return refuse("resource", resource->number, "belongs to something that is not there");
    }
  }
  return {};
}

Status Catalog::commit(std::vector<partition::Write> writes) {
  // On a full disk nothing new is made. The rest is small, and what frees space or was begun while
  // there was some must be written.
  const bool creates = std::ranges::any_of(
      writes, [](const partition::Write& write) { return write.row == kNextNumber; });
  for (partition::Write& write : writes) write.needs_room = creates;
  auto outcome = await<partition::Outcome>(
      [&](auto done) { partition_->submit(std::move(writes), std::move(done)); });
  if (!outcome) return pass(outcome.error());
  if (outcome->error) return pass(std::move(*outcome->error));
  return {};
}

partition::Write Catalog::put(std::string_view kind, uint32_t number, std::string body) const {
  partition::Write write;
  write.verb = partition::Verb::upsert;
  write.placement = kind;
  write.row = std::to_string(number);
  write.body = std::move(body);
  write.schema = schema_;
  return write;
}

partition::Write Catalog::remove(std::string_view kind, uint32_t number) const {
  partition::Write write = put(kind, number, "");
  write.verb = partition::Verb::remove;
  return write;
}

uint32_t Catalog::take_number(std::vector<partition::Write>& writes) {
  uint32_t number = next_number_++;
  partition::Write write = put(kAccount, 0, std::to_string(next_number_));
  write.row = kNextNumber;
  writes.push_back(std::move(write));
  return number;
}

uint64_t Catalog::next_revision() const {
  return partition_->lsn() + 1;
}

DatabasePtr Catalog::database(DatabaseName name) const {
  std::shared_lock lock(lookup_mutex_);
  const auto of_face = databases_by_name_.find(name.face);
  if (of_face == databases_by_name_.end()) return nullptr;
  const auto found = of_face->second.find(name.name);
  return found == of_face->second.end() ? nullptr : found->second;
}

DatabasePtr Catalog::database(uint32_t number) const {
  std::shared_lock lock(lookup_mutex_);
  auto found = databases_.find(number);
  return found == databases_.end() ? nullptr : found->second;
}

std::vector<DatabasePtr> Catalog::databases(std::string_view face) const {
  std::shared_lock lock(lookup_mutex_);
  std::vector<DatabasePtr> all;
  const auto of_face = databases_by_name_.find(face);
  if (of_face == databases_by_name_.end()) return all;
  all.reserve(of_face->second.size());
  for (const auto& [name, database] : of_face->second) all.push_back(database);
  return all;
}

std::vector<DatabasePtr> Catalog::all_databases() const {
  std::shared_lock lock(lookup_mutex_);
  std::vector<DatabasePtr> all;
  all.reserve(databases_.size());
  for (const auto& [face, of_face] : databases_by_name_) {
    for (const auto& [name, database] : of_face) all.push_back(database);
  }
  return all;
}

size_t Catalog::database_count() const {
  std::shared_lock lock(lookup_mutex_);
  return databases_.size();
}

ContainerPtr Catalog::container(uint32_t database, std::string_view name) const {
  std::shared_lock lock(lookup_mutex_);
  auto found = by_database_.find(database);
  if (found == by_database_.end()) return nullptr;
  auto container = found->second.find(name);
  return container == found->second.end() ? nullptr : container->second;
}

ContainerPtr Catalog::container(uint32_t number) const {
  std::shared_lock lock(lookup_mutex_);
  auto found = containers_.find(number);
  return found == containers_.end() ? nullptr : found->second;
}

std::vector<ContainerPtr> Catalog::containers(uint32_t database) const {
  std::shared_lock lock(lookup_mutex_);
  std::vector<ContainerPtr> all;
  auto found = by_database_.find(database);
  if (found == by_database_.end()) return all;
  for (const auto& [name, container] : found->second) all.push_back(container);
  return all;
}

std::vector<ContainerPtr> Catalog::all_containers() const {
  std::shared_lock lock(lookup_mutex_);
  std::vector<ContainerPtr> all;
  all.reserve(containers_.size());
  for (const auto& [number, container] : containers_) all.push_back(container);
  return all;
}

// It is durable: whatever happens, lookups must find it.
void Catalog::insert(const DatabasePtr& database) {
  persist("entering a database", [&] {
    std::unique_lock lock(lookup_mutex_);
    databases_[database->number] = database;
    databases_by_name_[database->face][database->name] = database;
  });
}

void Catalog::insert(const ContainerPtr& container) {
  persist("entering a container", [&] {
    std::unique_lock lock(lookup_mutex_);
    containers_[container->number] = container;
    by_database_[container->database][container->spec.name] = container;
  });
}

void Catalog::insert(const ResourcePtr& resource) {
  persist("entering a resource", [&] {
    std::unique_lock lock(lookup_mutex_);
    resources_.put(resource);
  });
}

void Catalog::erase_container(uint32_t number) {
  std::unique_lock lock(lookup_mutex_);
  auto found = containers_.find(number);
  if (found == containers_.end()) return;
  if (auto in = by_database_.find(found->second->database); in != by_database_.end()) {
    in->second.erase(found->second->spec.name);
  }
  containers_.erase(found);
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
  insert(made);
  return made;
}

Status Catalog::remove_database(uint32_t number) {
  MutexLock change(change_mutex_);
  DatabasePtr gone = database(number);
  if (!gone) return fail(Code::not_found, "the database is not there");
  std::vector<partition::Write> writes;
  writes.push_back(remove(kDatabases, number));
  std::vector<ResourcePtr> owned = remove_owned(number, writes);
  const std::vector<ContainerPtr> inside = containers(number);
  std::vector<Removal> removals;
  for (const ContainerPtr& container : inside) {
    writes.push_back(remove(kContainers, container->number));
    std::ranges::move(remove_owned(container->number, writes), std::back_inserter(owned));
    auto retired = retire(*container->map, nullptr, writes);
    if (!retired) return pass(retired.error());
    std::ranges::move(*retired, std::back_inserter(removals));
  }
  if (auto committed = commit(std::move(writes)); !committed) return committed;
  insert(std::move(removals));
  erase_resources(owned);
  for (const ContainerPtr& container : inside) erase_container(container->number);
  std::unique_lock lock(lookup_mutex_);
  by_database_.erase(number);
  databases_by_name_[gone->face].erase(gone->name);
  databases_.erase(number);
  return {};
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
  insert(after);
  return after;
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
  writes.push_back(put(kContainers, made->number, encode(*made)));
  if (auto committed = commit(std::move(writes)); !committed) return pass(committed.error());
  insert(made);
  return made;
}

Status Catalog::remove_container(uint32_t number) {
  MutexLock change(change_mutex_);
  const ContainerPtr gone = container(number);
  if (!gone) return fail(Code::not_found, "the container is not there");
  std::vector<partition::Write> writes;
  writes.push_back(remove(kContainers, number));
  auto removals = retire(*gone->map, nullptr, writes);
  if (!removals) return pass(removals.error());
  const std::vector<ResourcePtr> owned = remove_owned(number, writes);
  if (auto committed = commit(std::move(writes)); !committed) return committed;
  insert(std::move(*removals));
  erase_resources(owned);
  erase_container(number);
  return {};
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
  if (!covers_everything(*after->map) || after->spec.name != before.spec.name) {
    return fail(Code::internal, "a change to a container's record does not keep its invariants");
  }
  return store(std::move(after), std::move(writes));
}

Result<ContainerPtr> Catalog::note_indexed(uint32_t number, uint32_t index_version) {
  MutexLock serial(change_mutex_);
  ContainerPtr before = container(number);
  if (!before) return fail(Code::not_found, "the container is not there");
  auto after = std::make_shared<Container>(*before);
  after->indexed_version = std::max(before->indexed_version, index_version);
  return store(std::move(after), {});
}

Result<ContainerPtr> Catalog::store(std::shared_ptr<Container> container,
                                    std::vector<partition::Write> writes) {
  writes.push_back(put(kContainers, container->number, encode(*container)));
  if (auto committed = commit(std::move(writes)); !committed) return pass(committed.error());
  insert(container);
  return container;
}

}  // namespace orrery::catalog

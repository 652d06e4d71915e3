// The catalog's resources: the small named documents that belong to a database, a container, or one
// another. See catalog.h.
#include <fmt/format.h>

#include <mutex>

#include "catalog/catalog.h"
#include "catalog/codec.h"

namespace orrery::catalog {
namespace {

Status check_revision(const Resource& resource, std::optional<uint64_t> if_revision) {
  if (!if_revision || *if_revision == resource.revision) return {};
  return fail(Code::precondition_failed,
              fmt::format("'{}' has changed since the version that is asked for: read it again and "
                          "retry",
                          resource.name));
}

std::unexpected<Error> name_taken(std::string_view name) {
  return fail(Code::conflict, fmt::format("'{}' exists already", name));
}

std::unexpected<Error> gone() {
  return fail(Code::not_found, "the resource is not there any more");
}

}  // namespace

ResourcePtr Catalog::resource(uint8_t kind, uint32_t parent, std::string_view name) const {
  std::shared_lock lock(lookup_mutex_);
  return tables_.resources.find(kind, parent, name);
}

ResourcePtr Catalog::resource(uint32_t number) const {
  std::shared_lock lock(lookup_mutex_);
  return tables_.resources.find(number);
}

std::vector<ResourcePtr> Catalog::resources(uint8_t kind, uint32_t parent) const {
  std::shared_lock lock(lookup_mutex_);
  return tables_.resources.list(kind, parent);
}

ResourceTotals Catalog::resource_totals() const {
  std::shared_lock lock(lookup_mutex_);
  return tables_.resources.totals();
}

bool Catalog::has_owner(uint32_t number) const {
  std::shared_lock lock(lookup_mutex_);
  return tables_.databases.contains(number) || tables_.containers.contains(number) ||
         tables_.resources.find(number) != nullptr;
}

void Catalog::remove_owned(uint32_t parent, std::vector<partition::Write>& writes) const {
  std::shared_lock lock(lookup_mutex_);
  for (const ResourcePtr& resource : tables_.resources.owned_by(parent)) {
    writes.push_back(remove(kResources, resource->number));
  }
}

Result<ResourcePtr> Catalog::create_resource(uint8_t kind, uint32_t parent, std::string_view name,
                                             std::string body) {
  MutexLock change(change_mutex_);
  if (!has_owner(parent)) return gone();
  if (resource(kind, parent, name)) return name_taken(name);
  std::vector<partition::Write> writes;
  auto made = std::make_shared<Resource>();
  made->number = take_number(writes);
  made->parent = parent;
  made->kind = kind;
  made->name = name;
  made->changed_s = clock_.now_s();
  made->revision = next_revision();
  made->body = std::move(body);
  writes.push_back(put(kResources, made->number, encode(*made)));
  if (auto committed = commit(std::move(writes)); !committed) return pass(committed.error());
  return resource(made->number);
}

Result<ResourcePtr> Catalog::replace_resource(uint32_t number, std::string_view name,
                                              std::string body,
                                              std::optional<uint64_t> if_revision) {
  MutexLock change(change_mutex_);
  const ResourcePtr before = resource(number);
  if (!before) return gone();
  if (auto checked = check_revision(*before, if_revision); !checked) return pass(checked.error());
  if (name != before->name && resource(before->kind, before->parent, name)) {
    return name_taken(name);
  }
  auto after = std::make_shared<Resource>(*before);
  after->name = name;
  after->changed_s = clock_.now_s();
  after->revision = next_revision();
  after->body = std::move(body);
  std::vector<partition::Write> writes;
  writes.push_back(put(kResources, number, encode(*after)));
  if (auto committed = commit(std::move(writes)); !committed) return pass(committed.error());
  return resource(number);
}

Status Catalog::remove_resource(uint32_t number, std::optional<uint64_t> if_revision) {
  MutexLock change(change_mutex_);
  const ResourcePtr before = resource(number);
  if (!before) return gone();
  if (auto checked = check_revision(*before, if_revision); !checked) return checked;
  std::vector<partition::Write> writes;
  writes.push_back(remove(kResources, number));
  remove_owned(number, writes);
  return commit(std::move(writes));
}

}  // namespace orrery::catalog

// See resource_index.h.
#include "catalog/resource_index.h"

namespace orrery::catalog {
namespace {

uint64_t size_of(const Resource& resource) {
  return resource.name.size() + resource.body.size();
}

}  // namespace

ResourcePtr ResourceIndex::find(uint32_t number) const {
  auto found = by_number_.find(number);
  return found == by_number_.end() ? nullptr : found->second;
}

ResourcePtr ResourceIndex::find(uint8_t kind, uint32_t parent, std::string_view name) const {
  auto kinds = by_parent_.find(parent);
  if (kinds == by_parent_.end()) return nullptr;
  auto names = kinds->second.find(kind);
  if (names == kinds->second.end()) return nullptr;
  auto found = names->second.find(name);
  return found == names->second.end() ? nullptr : found->second;
}

std::vector<ResourcePtr> ResourceIndex::list(uint8_t kind, uint32_t parent) const {
  std::vector<ResourcePtr> all;
  auto kinds = by_parent_.find(parent);
  if (kinds == by_parent_.end()) return all;
  auto names = kinds->second.find(kind);
  if (names == kinds->second.end()) return all;
  all.reserve(names->second.size());
  for (const auto& [name, resource] : names->second) all.push_back(resource);
  return all;
}

std::vector<ResourcePtr> ResourceIndex::owned_by(uint32_t parent) const {
  std::vector<ResourcePtr> owned;
  auto add_children = [&](uint32_t owner) {
    auto kinds = by_parent_.find(owner);
    if (kinds == by_parent_.end()) return;
    for (const auto& [kind, names] : kinds->second) {
      for (const auto& [name, resource] : names) owned.push_back(resource);
    }
  };
  add_children(parent);
  // NOLINTNEXTLINE(modernize-loop-convert): each step may lengthen the list
  for (size_t i = 0; i < owned.size(); ++i) add_children(owned[i]->number);
  return owned;
}

std::vector<ResourcePtr> ResourceIndex::all() const {
  std::vector<ResourcePtr> all;
  all.reserve(by_number_.size());
  for (const auto& [number, resource] : by_number_) all.push_back(resource);
  return all;
}

void ResourceIndex::put(const ResourcePtr& resource) {
  erase(resource->number);
  // In this order: should memory run out in between, it can be put again.
  by_parent_[resource->parent][resource->kind][resource->name] = resource;
  by_number_[resource->number] = resource;
  ++totals_.count;
  totals_.bytes += size_of(*resource);
}

void ResourceIndex::erase(uint32_t number) {
  auto found = by_number_.find(number);
  if (found == by_number_.end()) return;
  const ResourcePtr gone = found->second;
  --totals_.count;
  totals_.bytes -= size_of(*gone);
  by_number_.erase(found);
  auto kinds = by_parent_.find(gone->parent);
  auto names = kinds->second.find(gone->kind);
  names->second.erase(gone->name);
  if (names->second.empty()) kinds->second.erase(names);
  if (kinds->second.empty()) by_parent_.erase(kinds);
}

}  // namespace orrery::catalog

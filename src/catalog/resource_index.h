// The catalog's resources in memory: found by number, or by kind, parent and name.
//
// Not locked: the catalog guards it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "catalog/model.h"

namespace orrery::catalog {

using ResourcePtr = std::shared_ptr<const Resource>;

inline constexpr std::string_view kResources = "resources";  // their placement in the partition

// How many there are in the account, and how large together (names and bodies).
struct ResourceTotals {
  uint64_t count = 0;
  uint64_t bytes = 0;
};

class ResourceIndex {
 public:
  ResourcePtr find(uint32_t number) const;
  ResourcePtr find(uint8_t kind, uint32_t parent, std::string_view name) const;
  std::vector<ResourcePtr> list(uint8_t kind, uint32_t parent) const;  // by name
  // All that belong to `parent`, however indirectly; owners come before what they own.
  std::vector<ResourcePtr> owned_by(uint32_t parent) const;
  std::vector<ResourcePtr> all() const;
  ResourceTotals totals() const { return totals_; }

  // Takes the place of the one with the same number.
  void put(const ResourcePtr& resource);
  void erase(uint32_t number);

 private:
  using ByName = std::map<std::string, ResourcePtr, std::less<>>;

  std::unordered_map<uint32_t, ResourcePtr> by_number_;
  std::unordered_map<uint32_t, std::map<uint8_t, ByName>> by_parent_;
  ResourceTotals totals_;
};

}  // namespace orrery::catalog

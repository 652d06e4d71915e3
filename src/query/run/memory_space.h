// An ItemSpace over a list in memory, for lists that are not stored as items, and for tests. One
// view, in key order, without an index.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "query/plan/item_view.h"

namespace orrery::query {

class MemorySpace final : public ItemSpace {
 public:
  struct Item {
    std::string key;
    std::string body;  // JSON
  };

  // Their keys are their indexes in the list.
  explicit MemorySpace(std::vector<std::string> bodies);
  // Sorted by the keys made of placement key and row.
  struct Placed {
    std::string placement;
    std::string row;
    std::string body;
  };
  explicit MemorySpace(std::vector<Placed> items);

  Result<std::unique_ptr<ItemView>> open(std::string_view from_placement,
                                         std::string& end) override;

 private:
  std::vector<Item> items_;
};

}  // namespace orrery::query

// Items in memory as something to query: lists that are made for the occasion, and tests. They are
// in the order of their keys, in one view, and have no index.
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

  // In the order in which they are given; their keys are their places.
  explicit MemorySpace(std::vector<std::string> bodies);
  // In the order of their keys, which are made of these placement keys and rows.
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

// Which indexes a query uses, and which it would use if they existed: for people who tune an index
// policy.
#pragma once

#include <string>
#include <vector>

#include "query/plan/index_plan.h"

namespace orrery::query {

struct IndexUse {
  enum class Impact : uint8_t { high, low };
  struct Single {
    std::string path;  // /name/?, /place/*
    Impact impact = Impact::high;
    bool is_exact = false;
    bool operator==(const Single&) const = default;
  };
  struct Composite {
    std::vector<std::string> parts;  // /age ASC
    bool operator==(const Composite&) const = default;
  };
  std::vector<Single> used;
  std::vector<Composite> used_composites;
  std::vector<Single> missing;
  std::vector<Composite> missing_composites;
};

IndexUse index_use_of(const BoundQuery& query, const IndexPlan& plan);

}  // namespace orrery::query

// A container in memory for tests of queries: items with the key /id, in one partition or spread
// over several.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/cosmos/query/gateway_plan.h"
#include "base/result.h"
#include "query/bind/bind.h"
#include "query/plan/item_view.h"
#include "query/run/execute.h"
#include "value/value.h"

namespace orrery::query {

// Whether the index is there and is used to find items wherever it can be, or only to walk along;
// or used where it can be and without entries for some paths.
enum class Index : uint8_t { off, on, walked, partial };

class TestContainer {
 public:
  TestContainer(const std::vector<std::string>& items, uint32_t partitions, Index index);

  // All rows of a query, in pages of so many: of all partitions as if they were one, or of one.
  Result<std::vector<Value>> run(const std::string& text, const Parameters& parameters,
                                 size_t page_rows) const;
  Result<std::vector<Value>> run_on(size_t partition, const std::string& text,
                                    const Parameters& parameters, size_t page_rows) const;

  static cosmos::PlanContext plan_context();
  // The partitions that hold a part of the ranges; the first one when there are no ranges.
  std::vector<size_t> partitions_of(const std::vector<PlacementRange>& ranges) const;

 private:
  std::vector<std::string> bounds_;  // of the partitions: one more than there are
  std::unique_ptr<ItemSpace> all_;   // in the order in which they were given
  std::vector<std::unique_ptr<ItemSpace>> partitions_;
};

// From JSON; fails the test when it is none.
Value parse_value(const std::string& text);

}  // namespace orrery::query

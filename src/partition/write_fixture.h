// A partition that tests write to.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "partition/partition_fixture.h"

namespace orrery::partition {

class WriteTest : public PartitionTest {
 protected:
  std::shared_ptr<Partition> partition_ = open();

  Outcome run(Write write) { return commit(*partition_, std::move(write)); }
  std::string body(std::string_view key, std::string_view row) const {
    auto item = partition_->read(key, row);
    EXPECT_TRUE(item.has_value());
    return item->has_value() ? (*item)->body : "";
  }
  void expect_consistent() const {
    EXPECT_EQ(sorted_terms(*partition_), expected_terms(*partition_, schema_->index));
    const Usage usage = recomputed_usage(*partition_);
    EXPECT_EQ(partition_->usage().bytes, usage.bytes);
    EXPECT_EQ(partition_->usage().items, usage.items);
  }
};

}  // namespace orrery::partition

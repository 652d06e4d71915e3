// The engine of a simulated node: a catalog that is a toy partition of records, and toy partitions
// that the catalog names.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "nodes/seat.h"
#include "nodes/simulation/toy_partition.h"

namespace orrery::nodes::simulation {

class ToySeat final : public Seat {
 public:
  explicit ToySeat(Room& room) : room_(room), catalog_(room, kCatalogName, kCatalogRef) {}

  Result<uint64_t> own_catalog() override;
  void disown_catalog() override;
  uint64_t catalog_lsn() const override;
  Result<News> news(uint64_t since) override;
  Status apply(const News& news) override;
  std::vector<RangeFacts> ranges() const override;
  void follow(std::shared_ptr<const Plan> plan) override;
  bool is_quiet() const override;
  Result<std::string> owner_incarnation(const std::string& volume_name) override;

  // --- what clients do ---------------------------------------------------------------------------
  enum class Change : uint8_t { create, drop };
  // At the owner of the catalog: the LSN of the commit.
  std::optional<uint64_t> change_catalog(Change change, uint32_t range);
  uint32_t ranges_made() const;
  // A write or a strong read, if the plan names this node, or `misrouted`.
  void use(RangeRef ref, uint64_t value, bool writes, bool misrouted);
  // After a tick in which the catalog has not changed: the plan knows all of it.
  void check_plan() const;
  // A fiber of its own: closes and releases what the plan took away.
  void keep_to_plan();

 private:
  bool is_owner() const { return owns_catalog_; }
  const std::vector<uint64_t>& records() const { return owns_catalog_ ? catalog_.writes() : copy_; }
  bool has(RangeRef ref) const;
  bool is_planned_here(RangeRef ref) const;
  ToyPartition& partition(RangeRef ref);

  Room& room_;
  ToyPartition catalog_;
  bool owns_catalog_ = false;
  std::vector<uint64_t> copy_;
  std::shared_ptr<const Plan> plan_;
  std::map<RangeRef, std::unique_ptr<ToyPartition>> partitions_;
};

}  // namespace orrery::nodes::simulation

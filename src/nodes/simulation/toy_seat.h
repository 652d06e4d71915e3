// The engine of a simulated node: a catalog that is a toy partition of records, and toy partitions
// that the catalog names.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "nodes/seat.h"
#include "nodes/simulation/toy_catalog.h"
#include "nodes/simulation/toy_partition.h"
#include "peer/link.h"

namespace orrery::nodes::simulation {

class ToySeat final : public Seat {
 public:
  // `coordinator`: the address of who has the catalog.
  ToySeat(Room& room, peer::Link& link, std::function<std::optional<std::string>()> coordinator);

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
  struct Changed {
    uint64_t lsn = 0;
    uint32_t range = 0;  // that was made, or the left one of two
  };
  // At the owner of the catalog. Code::conflict: refused. Otherwise nobody knows.
  Result<Changed> change_here(CatalogChange change);
  // The same at any node.
  Result<Changed> change_anywhere(CatalogChange change);
  void answer(const std::string& bytes, peer::Done done);
  const ToyCatalog& catalog() const;
  // A write, a strong read or a split of some range, if the plan names this node, or `misrouted`.
  enum class Use : uint8_t { write, read, split };
  void use(uint64_t choice, Use use, bool misrouted);
  // A write, if the catalog and the plan have it here. Whether it was acknowledged.
  bool write(RangeRef ref);
  bool serves_something() const {
    return std::ranges::any_of(partitions_,
                               [](const auto& entry) { return entry.second->is_open(); });
  }
  // After a tick in which the catalog has not changed: the plan knows all of it.
  void check_plan() const;
  // A fiber of its own: closes and releases what the plan took away.
  void keep_to_plan();

 private:
  const std::vector<uint64_t>& records() const { return owns_catalog_ ? catalog_.writes() : copy_; }
  void split(RangeRef ref, ToyPartition& parent);
  bool is_planned_here(RangeRef ref) const;
  ToyPartition::Told write_to(ToyPartition& partition);
  ToyPartition& partition(RangeRef ref);

  Room& room_;
  peer::Link& link_;
  const std::function<std::optional<std::string>()> coordinator_;
  ToyPartition catalog_;
  bool owns_catalog_ = false;
  bool is_changing_ = false;
  mutable ToyCatalog tables_;  // of as many records as
  mutable size_t tables_lsn_ = 0;
  std::set<uint32_t> children_;  // that this process has published, and not opened yet
  std::vector<uint64_t> copy_;
  std::shared_ptr<const Plan> plan_;
  std::map<RangeRef, std::unique_ptr<ToyPartition>> partitions_;
};

}  // namespace orrery::nodes::simulation

// What the records of the simulated catalog say: which ranges there are, and which splits are
// intended. A record is a number, as everything in a toy partition.
//
// Splits are as in the real catalog. An intent comes before the clones. Opening a partition at an
// epoch ends the intents of earlier ones, so that their splits cannot be published any more: what
// is written from then on would not be in the clones.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace orrery::nodes::simulation {

struct CatalogChange {
  enum class Kind : uint8_t { create = 1, drop, intend, publish, opened };
  Kind kind = Kind::create;
  uint32_t range = 0;
  uint32_t child = 0;  // the left one; the right one has the next number
  uint64_t epoch = 0;
};

// No two records are alike: `number` is never used again.
uint64_t encode(const CatalogChange& change, uint64_t number);
CatalogChange decode_change(uint64_t record);

class ToyCatalog {
 public:
  explicit ToyCatalog(const std::vector<uint64_t>& records = {});

  const std::set<uint32_t>& ranges() const { return ranges_; }
  bool has(uint32_t range) const { return ranges_.contains(range); }
  uint32_t next() const { return next_; }

  enum class Verdict : uint8_t { commit, nothing_to_do, refused };
  // Fills in what the catalog decides: the numbers of new ranges.
  Verdict judge(CatalogChange& change) const;

 private:
  struct Intent {
    uint32_t parent = 0;
    uint64_t epoch = 0;
  };
  std::set<uint32_t> ranges_;
  std::map<uint32_t, Intent> intents_;  // by the left child
  std::set<uint32_t> published_;        // left children, also those that are gone again
  uint32_t next_ = 1;
};

}  // namespace orrery::nodes::simulation

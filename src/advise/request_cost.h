// What requests cost with a key: how many partitions each asks, and which value it goes to.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "advise/facts.h"
#include "advise/key_expression.h"
#include "advise/key_values.h"
#include "advise/spread.h"

namespace orrery::advise {

// Which items and requests to judge by: all, or a half of them.
struct Rows {
  std::vector<uint32_t> items;
  std::vector<uint32_t> requests;
};
Rows all_rows(const Facts& facts);

// What of the bytes each value of the key has, by number of levels.
class Holdings {
 public:
  Holdings(const Facts& facts, const KeyValues& values, const Rows& rows) {
    for (const uint32_t row : rows.items) {
      const LevelHashes hashes = values.of_item(facts.items[row]);
      first_.push_back({hashes[0], facts.items[row].bytes, row});
      full_.push_back({hashes[values.levels() - 1], facts.items[row].bytes, row});
      total_ += facts.items[row].bytes;
      for (size_t level = 0; level + 1 < values.levels(); ++level) {
        prefixes_[level][hashes[level]] += facts.items[row].bytes;
      }
    }
  }
  const std::vector<Entry>& first() const { return first_; }
  const std::vector<Entry>& full() const { return full_; }
  // The share of the bytes that a prefix of `levels` levels has.
  double share(size_t levels, uint64_t hash) const {
    const auto found = prefixes_[levels - 1].find(hash);
    return found == prefixes_[levels - 1].end() || total_ <= 0 ? 0 : found->second / total_;
  }
  // That of the largest value of the first level, of several.
  double largest_share() const {
    double most = 0;
    for (const auto& [hash, bytes] : prefixes_[0]) most = std::max(most, bytes);
    return total_ > 0 ? most / total_ : 0;
  }

 private:
  std::vector<Entry> first_;
  std::vector<Entry> full_;
  std::array<std::unordered_map<uint64_t, double>, value::kMaxKeyLevels> prefixes_;
  double total_ = 0;
};

// What one request would be and cost with a key.
struct Asked {
  uint64_t first = 0;  // the first level's value
  uint64_t full = 0;   // the whole key's value; 0: not known
  double partitions = 1;
  double cost = 0;
  bool keyed = false;  // it goes to values that are known
};
Asked ask(const Facts& facts, const KeyValues& values, const Holdings& holdings, uint32_t row);
// With a key that it names in full.
double ideal_cost(const Facts& facts, const FactRequest& request);
std::vector<Asked> requests_with(const Facts& facts, const KeyExpression& key,
                                 std::span<const uint32_t> rows);

inline constexpr double kPageRu = 2;  // a query's page costs so much in each partition

}  // namespace orrery::advise

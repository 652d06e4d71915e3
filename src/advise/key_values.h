// The values that a key takes in items and in requests, as hashes, and where its values are placed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advise/facts.h"
#include "value/placement.h"

namespace orrery::advise {

// By number of levels: [0] the first level's value, the last one the whole key's.
using LevelHashes = std::array<uint64_t, value::kMaxKeyLevels>;

// What a request has of a key.
struct RequestKey {
  size_t levels = 0;     // that are known, from the first on
  double values = 1;     // that these may have: several for lists, suffixes and ranges of time
  LevelHashes hashes{};  // of one of those values
};

class KeyValues {
 public:
  KeyValues(const Facts& facts, const KeyExpression& key);

  size_t levels() const { return levels_.size(); }
  LevelHashes of_item(const FactItem& item) const;
  // `number`: the request's place, from which choices among several values follow.
  RequestKey of_request(const FactRequest& request, uint32_t number) const;
  // Whether all items of a batch have one value.
  bool keeps_together(const FactRequest& request, uint32_t number) const;

  // The value of an item or request, for people. `levels`: how many of them.
  std::string text_of(const FactItem& item, size_t levels) const;
  std::string text_of(const FactRequest& request, uint32_t number, size_t levels) const;

  // The partition of `count` even ranges that has the first level's value, by the real hash; where
  // only a mark is known, by that.
  uint32_t place(const FactItem& item, uint32_t count) const;
  uint32_t place(const FactRequest& request, uint32_t number, uint32_t count) const;

 private:
  struct Part {
    uint32_t place = 0;  // of the tracked path
    Period period = Period::none;
  };
  struct Level {
    std::vector<Part> parts;
    uint32_t suffix = 0;
  };
  // What a part or a level has in one row.
  struct Chosen {
    bool known = false;
    double values = 1;
    uint64_t hash = 0;
    std::optional<std::string> bytes;  // placement bytes, if asked for and known
  };

  Chosen item_level(const FactItem& item, const Level& level, bool with_bytes) const;
  Chosen request_part(const FactRequest& request, const std::vector<uint32_t>& values,
                      const Part& part, uint64_t salt, bool with_bytes) const;
  Chosen request_level(const FactRequest& request, const std::vector<uint32_t>& values,
                       const Level& level, uint64_t salt, bool with_bytes) const;
  RequestKey key_of(const FactRequest& request, const std::vector<uint32_t>& values,
                    uint32_t number) const;
  uint32_t place(const Chosen& chosen, uint32_t count) const;

  const Facts& facts_;
  std::vector<Level> levels_;
  // Made when it is first asked for: the boundaries of `count` even ranges.
  mutable std::vector<std::string> boundaries_;
  mutable uint32_t boundaries_for_ = 0;
};

}  // namespace orrery::advise

// What steps have in common that work on a collection within a traverser (Scope.local) or on all
// traversers (Scope.global).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "api/gremlin/traversal/step.h"

namespace orrery::gremlin {

// The elements of a list, the entries of a map, the objects of a path; nothing for what is no
// collection.
std::optional<std::vector<Value>> collection_of(const Value& value);
// A value of the kind of `like` with these elements.
Value collection_like(const Value& like, std::vector<Value> elements);

// sum, min, max, mean of numbers (min and max of anything that can be compared); nothing of none.
// Each value counts as often as its number says.
class Reduction {
 public:
  explicit Reduction(std::string_view name) : name_(name) {}
  Status add(const Value& value, uint64_t count);
  std::optional<Value> result() const;

 private:
  std::string name_;
  std::optional<Value> value_;
  double sum_ = 0;
  uint64_t count_ = 0;
};

// Sorts by all modulators, stably; `at` gives each element as a traverser.
Status sort_by(Run& run, const std::vector<Modulator>& by, Batch& batch);

}  // namespace orrery::gremlin

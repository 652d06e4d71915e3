// What each step of a traversal did, for executionProfile() and explain().
#pragma once

#include <memory>
#include <vector>

#include "api/gremlin/traversal/step.h"
#include "base/clock.h"

namespace orrery::gremlin {

class Profile {
 public:
  // From now on the steps of the traversal are measured. All outlive it.
  Profile(Traversal& traversal, Graph& graph, const Clock& clock);
  ~Profile();
  Value report() const;

 private:
  class Meter;
  Graph& graph_;
  const Clock& clock_;
  const int64_t started_us_;
  std::vector<Meter*> meters_;  // the traversal's
};

Value explain(const Traversal& traversal);

}  // namespace orrery::gremlin

// What must be true of rows, roots and logs after each step of the simulation, and of each copy of
// the catalog.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "nodes/simulation/history.h"
#include "nodes/simulation/life.h"
#include "nodes/simulation/sim_store.h"
#include "nodes/simulation/world.h"

namespace orrery::nodes::simulation {

class Invariants {
 public:
  // `lives` are all that there were, `current` the newest of each node, or null.
  Invariants(World& world, History& history, const Objects& objects,
             const std::vector<std::unique_ptr<Life>>& lives, const std::vector<Life*>& current)
      : world_(world), history_(history), objects_(objects), lives_(lives), current_(current) {}

  // After each step: nobody believes in a lease that is over.
  void check_leases();
  // After a change of an object; null: it was not there, or is not there any more.
  void check_change(const std::string& name, const Objects::Object* before,
                    const Objects::Object* after);
  // Nothing is written that somebody who may use the volume cannot read.
  void check_readable(const Life& life);
  // A copy of the catalog has all that was acknowledged before the moment that it is of.
  void check_freshness(Life& life);

  // Of each root, the newest epoch that has read its logs.
  std::map<std::string, uint64_t> sealed;

 private:
  void check_row(const std::string& incarnation, const Objects::Object* before,
                 const Objects::Object* after);
  void check_root(const std::string& name, const Objects::Object* before,
                  const Objects::Object* after);

  World& world_;
  History& history_;
  const Objects& objects_;
  const std::vector<std::unique_ptr<Life>>& lives_;
  const std::vector<Life*>& current_;
};

}  // namespace orrery::nodes::simulation

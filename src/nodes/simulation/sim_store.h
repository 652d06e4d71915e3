// A store of objects whose operations have a moment when they are sent, one when they are applied
// and one when they are answered. The answer may be lost, and the operation applied then, later, or
// never.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "nodes/simulation/world.h"
#include "volume/objects/object_store.h"

namespace orrery::nodes::simulation {

// What all processes share.
class Objects {
 public:
  struct Object {
    std::string bytes;
    std::map<std::string, std::string> attributes;
    std::map<std::string, std::string, std::less<>> entries;
  };

  volume::Outcome apply(const std::string& name, const volume::ObjectChange& change);
  const Object* find(const std::string& name) const;
  const std::map<std::string, Object>& all() const { return objects_; }

  // Before and after a change that was applied; null: it is not there.
  std::function<void(const std::string&, const Object*, const Object*)> on_change;

 private:
  std::map<std::string, Object> objects_;
};

// As one process has it.
class SimStore final : public volume::ObjectStore {
 public:
  SimStore(World& world, Process& process, Objects& objects)
      : world_(world), process_(process), objects_(objects) {}

  volume::Outcome apply(const std::string& object, const volume::ObjectChange& change) override;
  Result<volume::ObjectState> inspect(const std::string& object) override;
  Result<std::optional<std::string>> entry(const std::string& object,
                                           const std::string& name) override;
  Result<size_t> read(const std::string& object, uint64_t offset, std::span<char> into) override;
  Result<std::vector<std::string>> list(std::string_view prefix) override;
  Result<double> free_share() override { return 1.0; }
  std::string place() const override { return "the simulation"; }

 private:
  // Waits until `look` was called, at some moment, and its answer came. False: it did not.
  bool ask(std::move_only_function<void()> look);
  int64_t delay_us();

  World& world_;
  Process& process_;
  Objects& objects_;
};

}  // namespace orrery::nodes::simulation

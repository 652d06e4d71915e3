// A partition that is a log of numbers, in files of a claim of the volume; and what its owner does
// with it: open, write, read strongly, close. The real one has RocksDB in the same place.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nodes/simulation/history.h"
#include "nodes/simulation/sim_store.h"
#include "nodes/simulation/world.h"
#include "volume/objects/lease.h"
#include "volume/objects/object_file_system.h"
#include "volume/volume.h"

namespace orrery::nodes::simulation {

// What a partition needs of its process.
struct Room {
  World& world;
  Process& process;
  History& history;
  Objects& objects;
  SimStore& store;
  volume::Volume& volume;
  volume::Lease& lease;
  std::map<std::string, uint64_t>& sealed;  // of each root, the newest epoch that has read it
  // Tells the catalog, which ends the splits of earlier epochs. False: it may not be served.
  std::function<bool(RangeRef, uint64_t epoch)> note_opened = {};
  int64_t open_us_max = 0;  // how long reading a partition takes besides
};

class ToyPartition {
 public:
  enum class State : uint8_t { closed, opening, open, closing };
  enum class Told : uint8_t { done, failed, unknown };

  ToyPartition(Room& room, std::string name, RangeRef ref)
      : room_(room), name_(std::move(name)), ref_(ref) {}

  State state() const { return state_; }
  bool is_open() const { return state_ == State::open; }
  uint64_t epoch() const { return epoch_; }
  const std::vector<uint64_t>& writes() const { return writes_; }
  const std::string& name() const { return name_; }

  // Claims it if need be. False: another has it, or the store fails.
  bool open();
  // It must have been open.
  Told write(uint64_t value);
  // The sequence, if it may be told. `is_there`: asked last.
  std::optional<std::vector<uint64_t>> read(const std::function<bool()>& is_there = [] {
    return true;
  });
  // Waits for what is under way, and releases it.
  void close();
  // Makes two clones of it, while writes wait, and has them published. `intend` gives the number of
  // the left one; `publish` tells what became of it, or nothing when nobody knows.
  struct Split {
    std::function<std::optional<uint32_t>(uint64_t epoch)> intend;
    std::function<std::optional<bool>(uint32_t child)> publish;
  };
  // The left child's number if it was published. The partition is closed for good then.
  std::optional<uint32_t> split(const Split& split);
  // Set by the plan: it is to be closed.
  bool unwanted = false;

 private:
  bool load();
  bool begin_log();
  bool clone(uint32_t child);
  Told settle(uint64_t value);
  void drop_claim();
  bool may_answer(uint64_t epoch) const;
  std::string root_id() const;

  Room& room_;
  const std::string name_;
  const RangeRef ref_;
  State state_ = State::closed;
  std::unique_ptr<volume::Claim> claim_;
  std::unique_ptr<rocksdb::FSWritableFile> log_;
  std::vector<uint64_t> writes_;
  uint64_t epoch_ = 0;
  uint32_t next_log_ = 1;
  uint32_t in_log_ = 0;
  uint32_t users_ = 0;
  bool writing_ = false;
  bool is_cloning_ = false;
};

}  // namespace orrery::nodes::simulation

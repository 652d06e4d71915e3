// The simulated world: time, chance, processes that pause and die, and what happens next. All of it
// follows from the seed.
//
// Code of a process runs in fibers of that process. What it asks of its surroundings (the store,
// the network, time) makes it wait, and others run meanwhile. A process that is dead gets an error
// from everything at once, so that its fibers come to their ends, and nothing that they do has an
// effect.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "nodes/simulation/fiber.h"

namespace orrery::nodes::simulation {

// How often what goes wrong. Each seed draws its own, and some are calm.
struct Troubles {
  double operation_slow = 0;     // an operation, or its answer, takes up to seconds
  double operation_unknown = 0;  // no answer; applied, or never, or late
  double operation_failed = 0;
  double message_lost = 0;
  double message_slow = 0;
  double message_doubled = 0;
  int64_t node_every_us = 0;  // on average, between two troubles of a node; 0: none
};

struct Counts {
  uint64_t steps = 0;
  uint64_t operations_slow = 0, operations_unknown = 0, operations_late = 0, operations_failed = 0;
  uint64_t messages = 0, messages_lost = 0, messages_slow = 0, messages_doubled = 0;
  uint64_t crashes = 0, pauses = 0, cuts_of_network = 0, cuts_of_store = 0;
  uint64_t leases_ended = 0, claims = 0, catalogs_claimed = 0, plans = 0, releases = 0;
  uint64_t writes = 0, writes_failed = 0, writes_unknown = 0, reads = 0, reads_refused = 0;
  uint64_t drops = 0, drains = 0, splits = 0, two_coordinators = 0, versions_changed = 0;

  void add(const Counts& other);
};

class World;

struct Process {
  World* world = nullptr;
  uint32_t number = 0;  // of all lives
  uint32_t node = 0;
  bool dead = false;
  int64_t paused_until_us = 0;
  int64_t no_store_until_us = 0;
  int64_t clock_offset_us = 0;
  double clock_rate = 1;
  std::vector<Fiber*> fibers;  // that have not ended, in the order of their making

  int64_t clock_us() const;  // its own
};

class World {
 public:
  World(uint64_t seed, Fibers& fibers);
  ~World();

  int64_t now_us() const { return now_us_; }
  Troubles troubles;
  // Of a run with one fault: what a process sends to a store that it cannot reach is lost, or comes
  // when it can again, reads take no longer than usual, and a process that lost its lease, or is
  // started again, ends what was its own.
  bool is_orderly = false;
  Counts counts;
  std::map<std::pair<uint32_t, uint32_t>, int64_t> cut_until_us;  // between nodes, lower first
  bool is_cut(uint32_t a, uint32_t b) const;

  // --- chance ------------------------------------------------------------------------------------
  double chance() { return static_cast<double>(random_() >> 11) * 0x1.0p-53; }
  bool happens(double probability) { return probability > 0 && chance() < probability; }
  int64_t between(int64_t low, int64_t high);  // both included
  bool random_bytes(std::span<char> into);
  uint64_t new_number() { return ++number_; }  // no two are equal

  // --- what happens ------------------------------------------------------------------------------
  // Later, on no fiber.
  void at(int64_t time_us, std::move_only_function<void()> what);
  void spawn(Process& process, std::move_only_function<void()> work);
  // Of the running fiber: until somebody calls `wake` with what it got from begin_wait().
  struct Waiting {
    Fiber* fiber = nullptr;
    Process* process = nullptr;
    uint64_t ticket = 0;
  };
  Waiting begin_wait();
  void wait(const Waiting& waiting);
  void wake(const Waiting& waiting, int64_t at_us);
  // So long, by the process's own clock.
  void sleep(int64_t us);
  Process* running() const { return running_process_; }

  // Everything of the process ends now.
  void kill(Process& process);
  // Until then, or until somebody has failed the run. False: failed.
  bool run_until(int64_t time_us);
  // Invariants that are asked for after each step.
  std::function<void()> after_step;

  void fail(std::string why);
  const std::string& failure() const { return failure_; }
  // For a run that is looked at: what happened when.
  bool tells = false;
  void tell(const std::string& what);

 private:
  struct Event {
    int64_t time_us = 0;
    uint64_t order = 0;
    Waiting waiting;
    std::move_only_function<void()> what;
  };
  struct Later {
    bool operator()(const std::unique_ptr<Event>& a, const std::unique_ptr<Event>& b) const {
      return a->time_us != b->time_us ? a->time_us > b->time_us : a->order > b->order;
    }
  };
  void push(int64_t time_us, Waiting waiting, std::move_only_function<void()> what);
  void resume(const Waiting& waiting);
  void run_fiber(Fiber* fiber, Process& process);

  Fibers& fibers_;
  std::mt19937_64 random_;
  int64_t now_us_ = 1'000'000'000;
  uint64_t order_ = 0;
  std::vector<std::unique_ptr<Event>> events_;  // a heap
  std::map<Fiber*, uint64_t> tickets_;          // what each waits for
  uint64_t ticket_ = 0;
  uint64_t number_ = 0;
  Process* running_process_ = nullptr;
  std::string failure_;
};

}  // namespace orrery::nodes::simulation

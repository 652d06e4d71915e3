// Threads of control that take turns on one real thread, so that code which blocks can be run in
// any order that a seed says, and again in the same one. A switch takes less than a microsecond.
//
// A mutex that one fiber holds while another locks it would block for ever: what the simulation
// runs must not share an object, whose lock is held over a call of the store, between two fibers.
#pragma once

#include <ucontext.h>

#include <functional>
#include <memory>
#include <vector>

namespace orrery::nodes::simulation {

class Fibers;

class Fiber {
 public:
  bool is_done() const { return done_; }

 private:
  friend class Fibers;
  ucontext_t context_ = {};
  std::move_only_function<void()> work_;
  void* stack_ = nullptr;
  [[maybe_unused]] void* fake_stack_ = nullptr;  // of the address sanitizer
  [[maybe_unused]] void* thread_ = nullptr;      // of the thread sanitizer
  bool done_ = true;
};

// Stacks are kept and used again.
class Fibers {
 public:
  Fibers();
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  // Does not run it yet.
  Fiber* make(std::move_only_function<void()> work);
  // Runs it until it suspends itself, or ends; it may be used for something else then. Called by
  // no fiber.
  void resume(Fiber* fiber);
  // Called by the running fiber.
  void suspend();
  Fiber* running() const { return running_; }

 private:
  static void enter(unsigned low, unsigned high);
  void run(Fiber* fiber);
  void switch_to(Fiber* fiber);
  void switch_back(Fiber* fiber);

  ucontext_t main_ = {};
  [[maybe_unused]] void* main_fake_stack_ = nullptr;
  [[maybe_unused]] const void* main_stack_ = nullptr;
  [[maybe_unused]] size_t main_stack_size_ = 0;
  [[maybe_unused]] void* main_thread_ = nullptr;
  Fiber* running_ = nullptr;
  std::vector<std::unique_ptr<Fiber>> all_;
  std::vector<Fiber*> free_;
};

}  // namespace orrery::nodes::simulation

// See world.h.
#include "nodes/simulation/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>
#include <utility>

namespace orrery::nodes::simulation {

void Counts::add(const Counts& other) {
  constexpr size_t kCount = sizeof(Counts) / sizeof(uint64_t);
  uint64_t mine[kCount];
  uint64_t theirs[kCount];
  std::memcpy(mine, this, sizeof mine);
  std::memcpy(theirs, &other, sizeof theirs);
  for (size_t i = 0; i < kCount; ++i) mine[i] += theirs[i];
  std::memcpy(this, mine, sizeof mine);
}

int64_t Process::clock_us() const {
  return clock_offset_us + static_cast<int64_t>(static_cast<double>(world->now_us()) * clock_rate);
}

World::World(uint64_t seed, Fibers& fibers) : fibers_(fibers), random_(seed) {
  events_.reserve(256);
}

World::~World() = default;

bool World::is_cut(uint32_t a, uint32_t b) const {
  if (a == b || cut_until_us.empty()) return false;
  const auto found = cut_until_us.find({std::min(a, b), std::max(a, b)});
  return found != cut_until_us.end() && found->second > now_us_;
}

int64_t World::between(int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
}

bool World::random_bytes(std::span<char> into) {
  for (char& byte : into) byte = static_cast<char>(random_());
  return true;
}

void World::push(int64_t time_us, Waiting waiting, std::move_only_function<void()> what) {
  auto event = std::make_unique<Event>();
  event->time_us = std::max(time_us, now_us_);
  event->order = order_++;
  event->waiting = waiting;
  event->what = std::move(what);
  events_.push_back(std::move(event));
  std::push_heap(events_.begin(), events_.end(), Later());
}

void World::at(int64_t time_us, std::move_only_function<void()> what) {
  push(time_us, {}, std::move(what));
}

void World::spawn(Process& process, std::move_only_function<void()> work) {
  if (process.dead) return;
  Fiber* fiber = fibers_.make(std::move(work));
  process.fibers.push_back(fiber);
  const uint64_t ticket = ++ticket_;
  tickets_[fiber] = ticket;
  push(now_us_, {.fiber = fiber, .process = &process, .ticket = ticket}, nullptr);
}

World::Waiting World::begin_wait() {
  const uint64_t ticket = ++ticket_;
  tickets_[fibers_.running()] = ticket;
  return {.fiber = fibers_.running(), .process = running_process_, .ticket = ticket};
}

void World::wait(const Waiting& waiting) {
  if (waiting.process->dead) return;
  fibers_.suspend();
}

void World::wake(const Waiting& waiting, int64_t at_us) {
  push(at_us, waiting, nullptr);
}

void World::sleep(int64_t us) {
  Process& process = *running_process_;
  if (process.dead) return;
  const Waiting waiting = begin_wait();
  wake(waiting, now_us_ + static_cast<int64_t>(static_cast<double>(us) / process.clock_rate));
  wait(waiting);
}

void World::run_fiber(Fiber* fiber, Process& process) {
  running_process_ = &process;
  fibers_.resume(fiber);
  running_process_ = nullptr;
  if (!fiber->is_done()) return;
  tickets_.erase(fiber);
  std::erase(process.fibers, fiber);
}

void World::resume(const Waiting& waiting) {
  const auto found = tickets_.find(waiting.fiber);
  if (found == tickets_.end() || found->second != waiting.ticket) return;  // woken before
  if (!waiting.process->dead && waiting.process->paused_until_us > now_us_) {
    push(waiting.process->paused_until_us, waiting, nullptr);
    return;
  }
  found->second = ++ticket_;
  run_fiber(waiting.fiber, *waiting.process);
}

// Each fiber of it is somewhere in a wait. Nothing makes it wait from here on, so it ends.
void World::kill(Process& process) {
  process.dead = true;
  while (!process.fibers.empty()) {
    Fiber* const fiber = process.fibers.front();
    tickets_[fiber] = ++ticket_;
    run_fiber(fiber, process);
    if (!process.fibers.empty() && process.fibers.front() == fiber) {
      fail("a fiber of a dead process waits");
      return;
    }
  }
}

bool World::run_until(int64_t time_us) {
  while (failure_.empty() && !events_.empty() && events_.front()->time_us <= time_us) {
    std::pop_heap(events_.begin(), events_.end(), Later());
    const std::unique_ptr<Event> event = std::move(events_.back());
    events_.pop_back();
    now_us_ = std::max(now_us_, event->time_us);
    ++counts.steps;
    if (event->waiting.fiber) {
      resume(event->waiting);
    } else {
      event->what();
    }
    if (after_step) after_step();
  }
  if (failure_.empty()) now_us_ = std::max(now_us_, time_us);
  return failure_.empty();
}

void World::fail(std::string why) {
  if (failure_.empty()) failure_ = fmt::format("at {} us: {}", now_us_, why);
  tell("FAILED: " + failure_);
}

void World::tell(const std::string& what) {
  if (tells) std::fprintf(stderr, "%12lld  %s\n", static_cast<long long>(now_us_), what.c_str());
}

}  // namespace orrery::nodes::simulation

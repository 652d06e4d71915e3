// The registry is the one piece of process-wide state in the program: a fault point must be
// reachable from anywhere without being threaded through every constructor.
#include "base/fault.h"

#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <string>

namespace orrery::fault {
namespace {

struct Armed {
  Action action;
  uint32_t on_pass;
};

struct Registry {
  std::atomic<bool> active{false};
  std::mutex mutex;
  std::map<std::string, Armed, std::less<>> armed;
  std::map<std::string, uint64_t, std::less<>> passes;
};

std::optional<Action> parse_action(std::string_view text) {
  if (text == "error") return Action::error;
  if (text == "kill") return Action::kill;
  if (text == "memory") return Action::memory;
  return std::nullopt;
}

Registry& registry() {
  static Registry instance;
  return instance;
}

}  // namespace

Status point(std::string_view name) {
  Registry& faults = registry();
  if (!faults.active.load(std::memory_order_relaxed)) return {};
  std::lock_guard lock(faults.mutex);
  auto [count, fresh] = faults.passes.try_emplace(std::string(name), 0);
  ++count->second;
  auto found = faults.armed.find(name);
  if (found == faults.armed.end() || count->second != found->second.on_pass) return {};
  if (found->second.action == Action::kill) std::raise(SIGKILL);
  if (found->second.action == Action::memory) throw std::bad_alloc();
  return fail(Code::internal, fmt::format("fault injected at '{}'", name));
}

void arm(std::string_view name, Action action, uint32_t on_pass) {
  Registry& faults = registry();
  std::lock_guard lock(faults.mutex);
  faults.armed.insert_or_assign(std::string(name), Armed{action, on_pass});
  faults.active = true;
}

void disarm_all() {
  Registry& faults = registry();
  std::lock_guard lock(faults.mutex);
  faults.armed.clear();
  faults.passes.clear();
  faults.active = false;
}

uint64_t passes(std::string_view name) {
  Registry& faults = registry();
  std::lock_guard lock(faults.mutex);
  auto found = faults.passes.find(name);
  return found == faults.passes.end() ? 0 : found->second;
}

Status arm_from_environment() {
  // Read once at start, before any thread that could change the environment.
  const char* text = std::getenv("ORRERY_FAULT");  // NOLINT(concurrency-mt-unsafe)
  if (text == nullptr) return {};
  std::string_view rest = text;
  while (!rest.empty()) {
    std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    size_t equals = one.find('=');
    size_t at = one.find('@');
    const std::optional<Action> action = parse_action(
        equals == std::string_view::npos ? "" : one.substr(equals + 1, at - equals - 1));
    uint32_t on_pass = 1;
    bool count_ok = true;
    if (at != std::string_view::npos) {
      auto [end, error] = std::from_chars(one.data() + at + 1, one.data() + one.size(), on_pass);
      count_ok = error == std::errc() && end == one.data() + one.size() && on_pass > 0;
    }
    if (!action || !count_ok) {
      return fail(
          Code::invalid,
          fmt::format("ORRERY_FAULT: '{}' is not NAME=kill, NAME=error or NAME=memory, with @COUNT",
                      one));
    }
    arm(one.substr(0, equals), *action, on_pass);
  }
  return {};
}

}  // namespace orrery::fault

// Faults injected by name: a step that must survive a crash or an error says its name, and a test
// can arrange for the process to die, or for the step to fail, exactly there.
//
// Arrange with arm() in a unit test, or for a server process with the environment variable
// ORRERY_FAULT, "name=kill", "name=error" or "name=memory" (several joined with commas;
// "name=kill@3" acts on the third time). Each point counts how often it was passed, so that a test
// can prove that it was. Unarmed, a point costs one relaxed atomic load.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace orrery::fault {

enum class Action : uint8_t {
  error,   // the point fails
  kill,    // the process dies with SIGKILL
  memory,  // std::bad_alloc is thrown, as by an allocation at this point
};

// Passes the point: does nothing, unless it was armed.
Status point(std::string_view name);

void arm(std::string_view name, Action action, uint32_t on_pass = 1);
void disarm_all();
uint64_t passes(std::string_view name);  // counted only while anything is armed
// Reads ORRERY_FAULT. An unreadable value is an error, so that a typo cannot make a test pass.
Status arm_from_environment();

}  // namespace orrery::fault

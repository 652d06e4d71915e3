// Asks other nodes the same question at once, and waits for their answers.
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "peer/link.h"

namespace orrery::ops {

// Operators wait no longer than that for a node that does not answer.
inline constexpr std::chrono::milliseconds kAnswerDeadline{2'000};

// What those said that answered in time. Blocks.
std::vector<std::string> ask_nodes(peer::Link& link, const std::set<std::string>& addresses,
                                   const char* kind, const std::string& question);

}  // namespace orrery::ops

// A call's way between nodes. Calls of a server alone have none.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "face/forward.h"

namespace orrery::mongo {

struct Hop {
  std::chrono::steady_clock::time_point deadline;
  int tries = 0;
  face::Sending sending;  // of a write
  // The placement keys of the one partition that it concerns; nothing: not one.
  std::optional<std::pair<std::string, std::string>> range;

  // Of a call that another node sent: it is run here, or sent back. Null: a client's own.
  std::function<void(std::string_view document, int32_t code, double charge, int64_t cursor)>
      answer;
  std::function<void()> send_back;
  bool is_forwarded() const { return answer != nullptr; }
};

}  // namespace orrery::mongo

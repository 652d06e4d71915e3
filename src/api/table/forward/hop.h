// A call's way between nodes. Calls of a server alone have none.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "face/forward.h"
#include "net/http.h"

namespace orrery::table {

struct Call;

struct Hop {
  bool is_forwarded = false;  // another node sent it: it is run here, or sent back
  std::chrono::steady_clock::time_point deadline;
  int tries = 0;
  face::Sending sending;             // of a write
  std::vector<net::Header> headers;  // as they came; views as those of the call
  // Asked when the engine has done nothing, since the partition is not here. True: the call was
  // taken over, to be answered elsewhere or later.
  std::function<bool(Call&, Code)> take_if_elsewhere;
};

}  // namespace orrery::table

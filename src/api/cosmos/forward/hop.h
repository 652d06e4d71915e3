// A call's way between nodes. Calls of a server alone have none.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "face/forward.h"
#include "net/http.h"

namespace orrery::cosmos {

struct Call;
using CallPtr = std::unique_ptr<Call>;

struct Hop {
  // Another node sent it: it is run here, or sent back.
  bool is_forwarded = false;
  // By what it was authorized: travels with it.
  std::string principal;
  std::string request_id;
  std::chrono::steady_clock::time_point deadline;
  int tries = 0;
  face::Sending sending;  // of a write
  // A replica of this node's may answer it, though another node has the partition.
  bool reads_replica = false;
  // As they came; views as those of the call.
  std::vector<net::Header> headers;
  // Runs the call from the beginning.
  std::function<void(CallPtr)> run;
  // Asked when the engine has done nothing, since the partition is not here (Code::elsewhere) or
  // the map has changed (Code::moved). True: the call was taken over, to be answered elsewhere or
  // later.
  std::function<bool(Call&, Code)> take_if_elsewhere;
};

}  // namespace orrery::cosmos

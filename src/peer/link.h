// How one node calls another, and what a node answers: bytes of a kind, and bytes back. What the
// bytes mean is the business of who calls and who answers. Over gRPC in grpc/; a simulation has its
// own.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/result.h"

namespace orrery::peer {

// Called once, on any thread. It must not block.
using Done = std::move_only_function<void(Result<std::string>)>;

class Link {
 public:
  virtual ~Link() = default;

  // Asks the node at `address` (HOST:PORT). `done` is called once, on any thread and perhaps before
  // call() returns. What the other node said comes back as it was given there, an Error with its
  // code too. Beside that there is:
  //   Code::overloaded  it was not run there: the node cannot be reached, or has too many calls
  //   Code::internal    no answer, by the deadline or at all: it may have been run, now or later
  // After `deadline` an answer does not come any more.
  virtual void call(const std::string& address, std::string kind, std::string bytes,
                    std::chrono::milliseconds deadline, Done done) = 0;
};

// What a node answers to calls of others. Implemented by who knows the kinds.
class Answerer {
 public:
  virtual ~Answerer() = default;

  // On a thread of a small pool: it may block for a short time (a claim, a commit). An answer that
  // has to wait for news is given later, through `done`, from any thread. `done` destroyed uncalled
  // answers Code::internal.
  virtual void answer(std::string kind, std::string bytes, Done done) = 0;
};

}  // namespace orrery::peer

// A client of an account over https: many requests in flight on one thread.
//
// It signs what it sends, and sends nothing before the server has shown a certificate that the
// endpoint trusts. It waits and sends again what was not done:
//   429, 503 that names a wait   after the wait that the server names
//   503, 449, 408                after a wait that doubles
//   broken connections, timeouts likewise, if the request is repeatable or never left
// Every other answer is the caller's, errors and 410 included. Before the first answer nothing is
// repeated: a server that is not there is said at once.
//
// Threading: one thread. Completions run in turn() and call(), and may submit more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "client/endpoint.h"
#include "client/message.h"

namespace orrery::client {

struct ClientOptions {
  size_t connections = 16;  // at once; more requests wait in a queue
  // How long one request is tried for, its waits included: over throttling, and over a server that
  // is away or overloaded.
  int64_t throttled_ms = 600'000;
  int64_t away_ms = 60'000;
  int64_t answer_ms = 70'000;             // that one answer may take
  size_t answer_bytes_max = 64ULL << 20;  // of one answer
  // Asked now and then while a call waits: true ends it with Code::would_wait.
  std::function<bool()> stopped;
};

// What was sent so far.
struct ClientCounts {
  uint64_t requests = 0;   // with an answer
  uint64_t throttled = 0;  // answers with 429, or the like of tables
  uint64_t repeated = 0;   // sent again for any other reason
  double charge = 0;       // in request units
};

class Client {
 public:
  using Done = std::move_only_function<void(Result<Response>)>;

  static Result<std::unique_ptr<Client>> open(Endpoint endpoint, ClientOptions options = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const Endpoint& endpoint() const;
  const ClientCounts& counts() const;

  // Queues a request. `done` is called by turn() or call(), once; not after the client is gone.
  void submit(Request request, Done done);
  // Requests that are queued, under way, or waiting to be repeated.
  size_t pending() const;
  // Moves all requests on, and waits up to `wait_ms` for something to happen.
  void turn(int wait_ms);
  // Until there is nothing pending, or options.stopped() says so: then false.
  bool finish();

  // One request from beginning to end, with turns for the others meanwhile. Not in a completion.
  Result<Response> call(Request request);

 private:
  struct Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace orrery::client

// What the loops of a server share, and what the connections of one listener share. Immutable while
// the server runs, but for the counts and budgets.
#pragma once

#include <openssl/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "net/buffer_budget.h"
#include "net/listener_spec.h"
#include "net/server.h"

namespace orrery::net {

// Counted by one thread each, so that threads do not share a cache line for every request.
struct alignas(64) LoopCounters {
  std::atomic<uint64_t> requests{0};
  std::atomic<uint64_t> bad_requests{0};
  std::atomic<uint64_t> tls_failures{0};
  std::atomic<uint64_t> failures{0};  // exceptions, each of which ended a connection
  std::atomic<uint64_t> slow_readers{0};

  static void count(std::atomic<uint64_t>& counter) {
    counter.fetch_add(1, std::memory_order_relaxed);
  }
};

struct ListenerState {
  ListenerState(ListenerSpec spec_in, size_t loops) : spec(std::move(spec_in)), of_loops(loops) {}

  const ListenerSpec spec;
  std::atomic<uint64_t> connections_open{0};  // without those over the limit that are being told so
  std::atomic<uint64_t> connections_accepted{0};
  std::atomic<uint64_t> connections_refused{0};
  std::atomic<bool> tls_refusal_logged{false};
  std::vector<LoopCounters> of_loops;  // by the loop's number
};

struct ServerState {
  explicit ServerState(ServerOptions options_in)
      : options(std::move(options_in)),
        heads(options.request_buffer_bytes / 4),
        bodies(options.request_buffer_bytes - options.request_buffer_bytes / 4) {}

  const ServerOptions options;   // with the number of threads
  std::shared_ptr<SSL_CTX> tls;  // null: no certificate was given
  // Heads and bodies have separate budgets, because clients are not authenticated before their head
  // is read. So clients that send many large heads delay one another, and not the bodies of known
  // clients.
  BufferBudget heads;
  BufferBudget bodies;
  std::atomic<uint64_t> connections_open{0};  // of all listeners
  std::atomic<uint64_t> refusals_open{0};     // connections over the limit that are being told so
  std::atomic<uint64_t> accept_pauses{0};
  std::vector<std::unique_ptr<ListenerState>> listeners;

  // A connection of the listener, or a refusal, is over.
  void ended(ListenerState& listener, bool refused) {
    if (refused) {
      refusals_open.fetch_sub(1, std::memory_order_relaxed);
    } else {
      connections_open.fetch_sub(1, std::memory_order_relaxed);
      listener.connections_open.fetch_sub(1, std::memory_order_relaxed);
    }
  }
};

}  // namespace orrery::net

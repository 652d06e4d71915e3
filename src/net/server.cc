// Puts the parts together: loops and their threads, the listeners, the TLS context; and takes them
// apart again in order.
#include "net/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "net/event_loop.h"
#include "net/listener.h"
#include "net/tls.h"

namespace orrery::net {

struct Server::Impl {
  std::shared_ptr<ServerState> state;
  std::vector<std::shared_ptr<EventLoop>> loops;
  std::vector<std::unique_ptr<Listener>> listeners;  // after the loops, which watch them
  std::vector<std::thread> threads;

  std::mutex mutex;
  std::condition_variable ended;
  size_t running = 0;  // under mutex

  Status run_threads() {
    for (const std::shared_ptr<EventLoop>& loop : loops) {
      try {
        const std::lock_guard lock(mutex);
        threads.emplace_back([this, loop] {
          loop->run();
          const std::lock_guard ending(mutex);
          --running;
          ended.notify_all();
        });
        ++running;
      } catch (const std::system_error& error) {
        return fail(Code::overloaded,
                    std::string("cannot start a thread for connections: ") + error.what());
      }
    }
    return {};
  }

  void close_listeners() {
    for (const std::unique_ptr<Listener>& listener : listeners) listener->close();
  }

  void stop(std::chrono::milliseconds grace) {
    if (threads.empty()) return;
    // The listeners' loop hands over their last connections before any loop hears of the end.
    loops.front()->post([this] {
      close_listeners();
      for (const std::shared_ptr<EventLoop>& loop : loops) {
        loop->post([loop] { loop->begin_stop(); });
      }
    });
    {
      std::unique_lock lock(mutex);
      ended.wait_for(lock, grace, [this] { return running == 0; });
    }
    loops.front()->post([this] { close_listeners(); });
    for (const std::shared_ptr<EventLoop>& loop : loops) {
      loop->post([loop] { loop->close_all(); });
    }
    for (std::thread& thread : threads) thread.join();
    threads.clear();
  }
};

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  stop(std::chrono::milliseconds(0));
}

Result<std::unique_ptr<Server>> Server::create(const ServerOptions& options) {
  auto impl = std::make_unique<Impl>();
  ServerOptions settled = options;
  if (settled.threads == 0) settled.threads = std::max(1U, std::thread::hardware_concurrency());
  impl->state = std::make_shared<ServerState>(std::move(settled));
  if (options.certificate_file.empty() != options.private_key_file.empty()) {
    return fail(Code::invalid, "TLS needs both a certificate and its private key: only one is set");
  }
  if (!options.certificate_file.empty()) {
    auto context = make_tls_context(options.certificate_file, options.private_key_file);
    if (!context) return pass(std::move(context).error());
    impl->state->tls = std::move(*context);
  }
  for (uint32_t i = 0; i < impl->state->options.threads; ++i) {
    auto loop = EventLoop::create(impl->state, i);
    if (!loop) return pass(std::move(loop).error());
    impl->loops.push_back(std::move(*loop));
  }
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Result<uint16_t> Server::listen(ListenerSpec spec) {
  if (spec.tls == TlsMode::on && !impl_->state->tls) {
    return fail(Code::invalid,
                fmt::format("the listener `{}` is for TLS alone, and the server has no certificate",
                            spec.name));
  }
  auto& states = impl_->state->listeners;
  states.push_back(std::make_unique<ListenerState>(std::move(spec), impl_->loops.size()));
  auto listener = std::make_unique<Listener>(impl_->loops, impl_->state, *states.back());
  if (Status opened = listener->open(); !opened) {
    listener.reset();
    states.pop_back();
    return pass(std::move(opened).error());
  }
  impl_->listeners.push_back(std::move(listener));
  return impl_->listeners.back()->port();
}

Status Server::start() {
  return impl_->run_threads();
}

std::vector<ListenerStatus> Server::listeners() const {
  std::vector<ListenerStatus> all;
  for (const std::unique_ptr<Listener>& listener : impl_->listeners) {
    const ListenerState& state = listener->state();
    ListenerStatus& status = all.emplace_back();
    status.name = state.spec.name;
    status.address = state.spec.address;
    status.port = listener->port();
    ListenerCounters& counters = status.counters;
    counters.connections_open = state.connections_open.load(std::memory_order_relaxed);
    counters.connections_accepted = state.connections_accepted.load(std::memory_order_relaxed);
    counters.connections_refused = state.connections_refused.load(std::memory_order_relaxed);
    for (const LoopCounters& counted : state.of_loops) {
      counters.requests += counted.requests.load(std::memory_order_relaxed);
      counters.bad_requests += counted.bad_requests.load(std::memory_order_relaxed);
      counters.tls_failures += counted.tls_failures.load(std::memory_order_relaxed);
      counters.failures += counted.failures.load(std::memory_order_relaxed);
      counters.slow_readers += counted.slow_readers.load(std::memory_order_relaxed);
    }
  }
  return all;
}

ServerCounters Server::counters() const {
  const ServerState& state = *impl_->state;
  ServerCounters sums;
  for (const ListenerStatus& listener : listeners()) {
    const ListenerCounters& counters = listener.counters;
    sums.connections_open += counters.connections_open;
    sums.connections_accepted += counters.connections_accepted;
    sums.connections_refused += counters.connections_refused;
    sums.requests += counters.requests;
    sums.bad_requests += counters.bad_requests;
    sums.tls_failures += counters.tls_failures;
    sums.failures += counters.failures;
    sums.slow_readers += counters.slow_readers;
  }
  sums.accept_pauses = state.accept_pauses.load(std::memory_order_relaxed);
  sums.request_buffer_bytes = state.heads.bytes_held() + state.bodies.bytes_held();
  return sums;
}

void Server::stop(std::chrono::milliseconds grace) {
  impl_->stop(grace);
}

}  // namespace orrery::net

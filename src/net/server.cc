// Puts the parts together: loops and their threads, the listener, the TLS context; and takes them
// apart again in order.
#include "net/server.h"

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
  std::shared_ptr<ServerShared> shared;
  std::vector<std::shared_ptr<EventLoop>> loops;
  std::unique_ptr<Listener> listener;  // after the loops, which watch it
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

  void stop(std::chrono::milliseconds grace) {
    if (threads.empty()) return;
    // The listener's loop hands over its last connections before any loop hears of the end.
    loops.front()->post([this] {
      listener->close();
      for (const std::shared_ptr<EventLoop>& loop : loops) {
        loop->post([loop] { loop->begin_stop(); });
      }
    });
    {
      std::unique_lock lock(mutex);
      ended.wait_for(lock, grace, [this] { return running == 0; });
    }
    loops.front()->post([this] { listener->close(); });
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

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options, Handler& handler) {
  auto impl = std::make_unique<Impl>();
  ServerOptions settled = options;
  if (settled.threads == 0) settled.threads = std::max(1U, std::thread::hardware_concurrency());
  impl->shared = std::make_shared<ServerShared>(std::move(settled), handler);
  if (options.certificate_file.empty() != options.private_key_file.empty()) {
    return fail(Code::invalid, "TLS needs both a certificate and its private key: only one is set");
  }
  if (!options.certificate_file.empty()) {
    auto context = make_tls_context(options.certificate_file, options.private_key_file);
    if (!context) return pass(std::move(context).error());
    impl->shared->tls = std::move(*context);
  }
  for (uint32_t i = 0; i < impl->shared->options.threads; ++i) {
    auto loop = EventLoop::create(impl->shared);
    if (!loop) return pass(std::move(loop).error());
    impl->loops.push_back(std::move(*loop));
  }
  impl->listener = std::make_unique<Listener>(impl->loops, impl->shared);
  if (Status opened = impl->listener->open(); !opened) return pass(std::move(opened).error());
  std::unique_ptr<Server> server(new Server(std::move(impl)));
  if (Status running = server->impl_->run_threads(); !running) {
    return pass(std::move(running).error());
  }
  return server;
}

uint16_t Server::port() const {
  return impl_->listener->port();
}

ServerCounters Server::counters() const {
  const ServerShared& shared = *impl_->shared;
  ServerCounters counters;
  counters.connections_open = shared.connections_open.load(std::memory_order_relaxed);
  counters.connections_accepted = shared.connections_accepted.load(std::memory_order_relaxed);
  counters.connections_refused = shared.connections_refused.load(std::memory_order_relaxed);
  counters.accept_pauses = shared.accept_pauses.load(std::memory_order_relaxed);
  for (const std::shared_ptr<EventLoop>& loop : impl_->loops) {
    const LoopCounters& counted = loop->counters();
    counters.requests += counted.requests.load(std::memory_order_relaxed);
    counters.bad_requests += counted.bad_requests.load(std::memory_order_relaxed);
    counters.tls_failures += counted.tls_failures.load(std::memory_order_relaxed);
    counters.failures += counted.failures.load(std::memory_order_relaxed);
    counters.slow_readers += counted.slow_readers.load(std::memory_order_relaxed);
  }
  counters.request_buffer_bytes = shared.heads.bytes_held() + shared.bodies.bytes_held();
  return counters;
}

void Server::stop(std::chrono::milliseconds grace) {
  impl_->stop(grace);
}

}  // namespace orrery::net

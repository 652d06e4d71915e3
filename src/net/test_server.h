// A server with one HTTP listener, for the tests of this folder; all that can be set about it in
// one struct.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "net/http_session.h"
#include "net/server.h"

namespace orrery::net {

struct HttpTestOptions : ServerOptions, ListenerLimits, HttpLimits {
  using ListenerLimits::connections_max;
  std::string address = "127.0.0.1";
  uint16_t port = 0;

  ListenerSpec listener(Handler& handler) const {
    ListenerSpec spec;
    spec.address = address;
    spec.port = port;
    const HttpLimits& http = *this;
    const ListenerLimits& limits = *this;
    spec.sessions = http_sessions(handler, http);
    spec.limits = limits;
    return spec;
  }
};

class HttpTestServer {
 public:
  static Result<std::unique_ptr<HttpTestServer>> start(const HttpTestOptions& options,
                                                       Handler& handler) {
    auto server = Server::create(options);
    if (!server) return pass(std::move(server).error());
    auto port = (*server)->listen(options.listener(handler));
    if (!port) return pass(std::move(port).error());
    if (Status started = (*server)->start(); !started) return pass(std::move(started).error());
    return std::unique_ptr<HttpTestServer>(new HttpTestServer(std::move(*server), *port));
  }

  uint16_t port() const { return port_; }
  ServerCounters counters() const { return server_->counters(); }
  void stop(std::chrono::milliseconds grace) { server_->stop(grace); }

 private:
  HttpTestServer(std::unique_ptr<Server> server, uint16_t port)
      : server_(std::move(server)), port_(port) {}

  std::unique_ptr<Server> server_;
  uint16_t port_;
};

}  // namespace orrery::net

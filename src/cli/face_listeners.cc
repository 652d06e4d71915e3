// See face_listeners.h.
#include "cli/face_listeners.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"
#include "net/http_session.h"

namespace orrery::cli {
namespace {

constexpr uint16_t kUsualDirectPort = 10251;

bool is_main(const KnownFace& known) {
  return &known == &known_faces().front();
}

}  // namespace

Status FaceListeners::listen(net::Server& server, std::string metrics_token) {
  std::vector<const face::Face*> all;
  for (const KnownFace& known : known_faces()) {
    if (!port_of(known)) continue;
    faces_.push_back(known.make(context_, options_));
    known_.push_back(&known);
    all.push_back(faces_.back().get());
  }
  pages_ = std::make_unique<ops::Pages>(context_, std::move(all), std::move(metrics_token),
                                        options_.data);
  for (size_t i = 0; i < faces_.size(); ++i) {
    if (auto listening = listen_at(server, *known_[i], *faces_[i]); !listening) return listening;
  }
  if (auto listening = listen_direct(server); !listening) return listening;
  if (!options_.ops_port) return {};
  net::ListenerSpec spec;
  spec.name = "ops";
  spec.port = *options_.ops_port;
  spec.port_option = "--ops-port";
  spec.sessions = http_sessions(front(pages_.get(), nullptr, true), nullptr);
  return listen_at(server, std::move(spec));
}

Status FaceListeners::listen_direct(net::Server& server) {
  if (!options_.direct_port && !options_.all_faces) return {};
  face::Face& main = *faces_.front();
  net::ListenerSpec spec = main.second_listener();
  spec.name = "direct";
  spec.port = options_.direct_port.value_or(kUsualDirectPort);
  spec.port_option = "--direct-port";
  auto port = bind(server, std::move(spec));
  if (port) {
    main.set_second_port(*port);
    return {};
  }
  if (options_.direct_port) return pass(port.error());
  log::warn("direct mode is left out: its usual port cannot be had",
            {{"error", port.error().message}});
  return {};
}

void FaceListeners::stop() {
  for (const auto& one : faces_) one->stop();
  pages_->set_server(nullptr);
  pages_->stop();
}

std::optional<uint16_t> FaceListeners::port_of(const KnownFace& known) const {
  if (is_main(known)) return options_.port;
  const auto given = options_.face_ports.find(known.name);
  if (given != options_.face_ports.end()) return given->second;
  return options_.all_faces ? std::optional(known.usual_port) : std::nullopt;
}

net::Handler& FaceListeners::front(ops::Pages* pages, net::Handler* face, bool is_own_port) {
  fronts_.push_back(std::make_unique<ops::Front>(
      pages, face,
      ops::Front::Options{.is_own_port = is_own_port, .local_names_only = options_.dev}));
  return *fronts_.back();
}

net::SessionFactory FaceListeners::http_sessions(net::Handler& handler,
                                                 const KnownFace* known) const {
  return net::http_sessions(
      handler, {.header_bytes_max = static_cast<uint32_t>(limits_.request_header_bytes),
                .body_bytes_max = limits_.request_body_bytes,
                .error_body = known != nullptr ? known->http_error : nullptr});
}

Status FaceListeners::listen_at(net::Server& server, const KnownFace& known, face::Face& one) {
  net::ListenerSpec spec = one.listener();
  spec.name = known.name;
  spec.port = *port_of(known);
  if (one.http_handler() != nullptr) {
    net::Handler* handler =
        &front(is_main(known) ? pages_.get() : nullptr, one.http_handler(), false);
    if (is_main(known) && !options_.no_console) {
      console::GateOptions gate{.dev = options_.dev, .version = options_.version};
      for (const KnownFace& other : known_faces().subspan(1)) {
        gate.other_faces.emplace_back(other.name);
      }
      auto made =
          console::Gate::create(context_.account, context_.clock, *handler, std::move(gate));
      if (!made) return pass(made.error());
      console_ = std::move(*made);
      handler = console_.get();
    }
    spec.sessions = http_sessions(*handler, &known);
  }
  if (is_main(known)) return listen_at(server, std::move(spec));
  spec.port_option = fmt::format("--{}-port", known.name);
  auto listening = listen_at(server, std::move(spec));
  if (listening || options_.face_ports.contains(known.name)) return listening;
  // Nobody asked for this port in particular.
  log::warn("a face is left out: its usual port cannot be had",
            {{"face", known.name}, {"error", listening.error().message}});
  return {};
}

Status FaceListeners::listen_at(net::Server& server, net::ListenerSpec spec) {
  auto port = bind(server, std::move(spec));
  if (!port) return pass(port.error());
  return {};
}

Result<uint16_t> FaceListeners::bind(net::Server& server, net::ListenerSpec spec) const {
  spec.address = options_.address;
  spec.limits.connections_max = static_cast<uint32_t>(limits_.connections);
  return server.listen(std::move(spec));
}

}  // namespace orrery::cli

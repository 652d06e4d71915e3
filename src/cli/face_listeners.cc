// See face_listeners.h.
#include "cli/face_listeners.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"
#include "net/http_session.h"

namespace orrery::cli {
namespace {

bool is_main(const KnownFace& known) {
  return &known == &known_faces().front();
}

bool is_main(const face::Port& port) {
  return &port == &known_faces().front().ports.front();
}

}  // namespace

Status FaceListeners::listen(net::Server& server, std::string metrics_token) {
  std::vector<const face::Face*> all;
  face::TextRunners text_runners;
  for (const KnownFace& known : known_faces()) {
    if (!number_of(known.ports.front())) continue;
    faces_.push_back(make_face(known, context_, options_));
    known_.push_back(&known);
    all.push_back(faces_.back().get());
    if (auto* const runner = dynamic_cast<face::TextRunner*>(faces_.back().get())) {
      text_runners.emplace_back(known.name, runner);
      languages_.emplace_back(known.name);
    }
  }
  pages_ = std::make_unique<ops::Pages>(context_, std::move(all), std::move(metrics_token),
                                        options_.data, std::move(text_runners));
  for (size_t i = 0; i < faces_.size(); ++i) {
    for (const face::Port& port : known_[i]->ports) {
      if (!number_of(port)) continue;
      auto listening = listen_at(server, *known_[i], port, *faces_[i]);
      if (!listening) return listening;
    }
  }
  if (!options_.ops_port) return {};
  net::ListenerSpec spec;
  spec.name = "ops";
  spec.port = *options_.ops_port;
  spec.port_option = "--ops-port";
  spec.sessions = http_sessions(front(pages_.get(), nullptr, true), nullptr);
  if (auto bound = bind(server, std::move(spec)); !bound) return pass(bound.error());
  return {};
}

void FaceListeners::stop() {
  for (const auto& one : faces_) one->stop();
  pages_->set_server(nullptr);
  pages_->stop();
}

std::optional<uint16_t> FaceListeners::number_of(const face::Port& port) const {
  if (is_main(port)) return options_.port;
  const auto given = options_.face_ports.find(port.name);
  if (given != options_.face_ports.end()) return given->second;
  return options_.all_faces ? std::optional(port.usual) : std::nullopt;
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

// The main face has the pages of no face and the console before it.
Result<net::SessionFactory> FaceListeners::http_sessions_of(const KnownFace& known,
                                                            net::Handler& handler) {
  net::Handler* first = &front(is_main(known) ? pages_.get() : nullptr, &handler, false);
  if (is_main(known) && !options_.no_console) {
    console::GateOptions gate{.dev = options_.dev, .version = options_.version};
    for (const KnownFace& other : known_faces().subspan(1)) {
      gate.other_faces.emplace_back(other.name);
    }
    gate.languages = languages_;
    auto made = console::Gate::create(context_.account, context_.clock, *first, std::move(gate));
    if (!made) return pass(made.error());
    console_ = std::move(*made);
    first = console_.get();
  }
  return http_sessions(*first, &known);
}

Status FaceListeners::listen_at(net::Server& server, const KnownFace& known, const face::Port& port,
                                face::Face& one) {
  net::ListenerSpec spec = one.listener(port.name);
  spec.name = port.name;
  spec.port = *number_of(port);
  if (!is_main(port)) spec.port_option = fmt::format("--{}-port", port.name);
  if (&port == &known.ports.front() && one.http_handler() != nullptr) {
    auto sessions = http_sessions_of(known, *one.http_handler());
    if (!sessions) return pass(sessions.error());
    spec.sessions = std::move(*sessions);
  }
  const auto bound = bind(server, std::move(spec));
  if (bound) {
    one.listens_at(port.name, *bound);
    return {};
  }
  if (is_main(port) || options_.face_ports.contains(port.name)) return pass(bound.error());
  // Nobody asked for this number in particular.
  log::warn("a listener is left out: its usual port cannot be had",
            {{"listener", port.name}, {"error", bound.error().message}});
  return {};
}

Result<uint16_t> FaceListeners::bind(net::Server& server, net::ListenerSpec spec) const {
  spec.address = options_.address;
  spec.limits.connections_max = static_cast<uint32_t>(limits_.connections);
  return server.listen(std::move(spec));
}

}  // namespace orrery::cli

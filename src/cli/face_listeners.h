// The faces of a running server, each behind its listener, the pages that belong to none, and
// the console.
//
// Lifecycle: listen() before the server starts, stop() after the server and the lanes have stopped.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "cli/faces.h"
#include "cli/serve.h"
#include "console/gate.h"
#include "face/face.h"
#include "net/server.h"
#include "ops/pages.h"

namespace orrery::cli {

class FaceListeners {
 public:
  // All of these outlive it.
  FaceListeners(const face::Context& context, const ServeOptions& options, const Limits& limits)
      : context_(context), options_(options), limits_(limits) {}

  // The main port is the first of the server's listeners.
  Status listen(net::Server& server, std::string metrics_token);
  void stop();

  ops::Pages& pages() { return *pages_; }
  std::vector<face::Face*> faces() const {
    std::vector<face::Face*> all;
    for (const auto& one : faces_) all.push_back(one.get());
    return all;
  }

 private:
  // Nothing when it is off.
  std::optional<uint16_t> number_of(const face::Port& port) const;
  net::Handler& front(ops::Pages* pages, net::Handler* face, bool is_own_port);
  net::SessionFactory http_sessions(net::Handler& handler, const KnownFace* known) const;
  Result<net::SessionFactory> http_sessions_of(const KnownFace& known, net::Handler& handler);
  Status listen_at(net::Server& server, const KnownFace& known, const face::Port& port,
                   face::Face& one);
  Result<uint16_t> bind(net::Server& server, net::ListenerSpec spec) const;

  const face::Context& context_;
  const ServeOptions& options_;
  const Limits& limits_;
  std::vector<std::unique_ptr<face::Face>> faces_;
  std::vector<const KnownFace*> known_;  // of each face
  std::vector<std::string> languages_;   // faces that run texts for the console
  std::unique_ptr<ops::Pages> pages_;
  std::vector<std::unique_ptr<ops::Front>> fronts_;
  std::unique_ptr<console::Gate> console_;  // in front of the main port's
};

}  // namespace orrery::cli

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
  // Nothing when the face is off.
  std::optional<uint16_t> port_of(const KnownFace& known) const;
  net::Handler& front(ops::Pages* pages, net::Handler* face, bool is_own_port);
  net::SessionFactory http_sessions(net::Handler& handler, const KnownFace* known) const;
  Status listen_at(net::Server& server, const KnownFace& known, face::Face& one);
  Status listen_at(net::Server& server, net::ListenerSpec spec);
  Status listen_direct(net::Server& server);
  Result<uint16_t> bind(net::Server& server, net::ListenerSpec spec) const;

  const face::Context& context_;
  const ServeOptions& options_;
  const Limits& limits_;
  std::vector<std::unique_ptr<face::Face>> faces_;
  std::vector<const KnownFace*> known_;  // of each face
  std::unique_ptr<ops::Pages> pages_;
  std::vector<std::unique_ptr<ops::Front>> fronts_;
  std::unique_ptr<console::Gate> console_;  // in front of the main port's
};

}  // namespace orrery::cli

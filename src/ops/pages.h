// The pages that belong to no face: /healthz, /metrics, /admin/…. They are on the main port, before
// the face of that, and on a port of their own where one is asked for.
//
// /admin/…, for the command line and the console, is signed by a read-write key in a way of its own
// (admin_signature.h):
//   POST /admin/split             {"database":…,"container":…,"range":n}; without range the largest
//   GET  /admin/partitions        ?database=…&container=…: how storage and load are spread
//   both with the face whose database it is, unless that is the main one's: "face":NAME, &face=NAME
//   POST /admin/keys/regenerate   {"key":"primary"}
//
// Threading: handle() and refuse() on event-loop threads; what blocks goes through the lanes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "account/account.h"
#include "base/clock.h"
#include "cluster/engine.h"
#include "face/face.h"
#include "face/lanes.h"
#include "face/request_metrics.h"
#include "net/http.h"
#include "net/server.h"
#include "ops/admin_signature.h"
#include "ops/call.h"
#include "ops/metrics_page.h"

namespace orrery::ops {

class Pages {
 public:
  // The first face is the main one. `metrics_token`: what /metrics asks for; empty: nothing.
  Pages(const face::Context& context, std::vector<const face::Face*> faces,
        std::string metrics_token);

  // Where /metrics finds the listeners' own counters; null: there are none yet, or any more.
  void set_server(const net::Server* server) { metrics_page_.set_server(server); }

  static bool has(std::string_view target);
  // `is_own_port`: whoever reaches that may read the metrics.
  void handle(const net::Request& request, net::Responder responder, bool is_own_port);
  // None has a large body.
  net::Response refuse(const net::Request& head);

 private:
  using Job = void (Pages::*)(CallPtr);

  void admin(CallPtr call);
  void later(CallPtr call, Job job);
  void split(CallPtr call);
  void partitions(CallPtr call);
  void regenerate_key(CallPtr call);
  // `face`: empty for the main one.
  cluster::RoutingPtr find(std::string_view face, std::string_view database,
                           std::string_view container) const;

  cluster::Engine& engine_;
  account::Account& account_;
  face::Lanes& lanes_;
  const Clock& clock_;
  const std::string main_face_;
  AdminSignatures signatures_;
  face::RequestMetrics metrics_;
  MetricsPage metrics_page_;  // last: it tells of the others
};

// A port's requests: those for these pages to them, the others to the face that is there.
class Front final : public net::Handler {
 public:
  struct Options {
    bool is_own_port = false;  // of the pages
    // Serve only clients that call this machine by a name of its own. With a key that everybody
    // knows it is all that keeps out a web page whose own name leads to this machine (DNS
    // rebinding).
    bool local_names_only = false;
  };
  // Either may be null: on a port of the pages' own, and on one of a face alone.
  Front(Pages* pages, net::Handler* face, Options options)
      : pages_(pages), face_(face), options_(options) {}

  void handle(const net::Request& request, net::Responder responder) override;
  std::optional<net::Response> refuse(const net::Request& head) override;

 private:
  // An answer to who calls this machine by a foreign name, or asks a port of the pages for more.
  std::optional<net::Response> turn_away(const net::Request& request) const;

  bool is_for_pages(const net::Request& request) const {
    return pages_ != nullptr && Pages::has(request.target);
  }

  Pages* pages_;
  net::Handler* face_;
  const Options options_;
};

}  // namespace orrery::ops

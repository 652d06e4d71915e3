// A face: one protocol over the engine, in a folder of its own under src/api.
// docs/guides/adding-a-face.md describes how to add one.
//
// A face decides how bytes become requests, who is authorized for what, how a key becomes a
// placement key and a row, what an operation is charged, and how errors are reported. Code that two
// faces would share is in this folder, or in a layer below.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "account/account.h"
#include "base/clock.h"
#include "cluster/engine.h"
#include "face/forward.h"
#include "face/lanes.h"
#include "face/metric_families.h"
#include "net/http.h"
#include "net/listener_spec.h"
#include "script/host.h"

namespace orrery::advise {
class Recorder;
}
namespace orrery::query {
class Helpers;
}

namespace orrery::face {

// What the program lends to its faces. All of it outlives them.
struct Context {
  cluster::Engine& engine;
  script::Host& scripts;
  account::Account& account;
  Lanes& lanes;
  const Clock& clock;
  Forwarder* forwarder = nullptr;  // of a node among others; null in a server alone
  // The node's threads that help queries over several partitions; null: there are none.
  query::Helpers* query_helpers = nullptr;
};

// It serves from when it is made, and its listeners are open, until stop().
class Face {
 public:
  virtual ~Face() = default;

  // table, mongo: in options, logs and metrics.
  virtual std::string_view name() const = 0;
  // What it serves at its first port, if that is HTTP.
  virtual net::Handler* http_handler() { return nullptr; }
  // What it serves at another of its ports (settings.h), or at its first if that is not HTTP. The
  // address and the number are set by the program.
  virtual net::ListenerSpec listener(std::string_view /*port*/) { return {}; }
  // The number that a port got; called before the first request.
  virtual void listens_at(std::string_view /*port*/, uint16_t /*number*/) {}
  // A request that another node took and sent here. The answer is the client's, or kMovedStatus.
  // What the views point to stays in place as for net::Handler. On any thread; must not block.
  virtual void handle_forwarded(const net::Request& /*request*/, const Forwarded& /*forwarded*/,
                                net::Responder responder) {
    net::Response moved;
    moved.status = kMovedStatus;
    responder.send(std::move(moved));
  }
  // Adds its metrics; called on the thread that renders the page.
  virtual void add_metrics(MetricFamilies& all) const = 0;
  // What it has recorded of its containers' requests; null: it does not record.
  virtual const advise::Recorder* recorder() const { return nullptr; }
  // Waits for work on its own threads to finish. No request comes after this.
  virtual void stop() {}
};

}  // namespace orrery::face

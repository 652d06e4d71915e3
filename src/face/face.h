// What a face is to the program: one protocol over the engine, in a folder of its own under
// src/api. docs/guides/adding-a-face.md goes through it step by step.
//
// A face owns how bytes become requests, who may do what in that protocol's terms, how a key
// becomes placement and row, what is charged, and how errors are said. What two faces would both
// write is in this folder, or below it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "account/account.h"
#include "base/clock.h"
#include "cluster/engine.h"
#include "face/lanes.h"
#include "face/metric_families.h"
#include "net/http.h"
#include "net/listener_spec.h"
#include "script/host.h"

namespace orrery::face {

// What the program lends to its faces. All of it outlives them.
struct Context {
  cluster::Engine& engine;
  script::Host& scripts;
  account::Account& account;
  Lanes& lanes;
  const Clock& clock;
};

class Face {
 public:
  virtual ~Face() = default;

  // cosmos, table, mongo: in options, logs and metrics.
  virtual std::string_view name() const = 0;
  // What it speaks at its port: an HTTP face has a handler, another one a listener of its own kind,
  // whose address and port are for the program to say.
  virtual net::Handler* http_handler() { return nullptr; }
  virtual net::ListenerSpec listener() { return {}; }
  // What it counts; on the thread that renders the metrics.
  virtual void add_metrics(MetricFamilies& all) const = 0;
  // Waits for what it has under way on threads of its own. No request comes any more.
  virtual void stop() {}
};

}  // namespace orrery::face

// The pages that belong to no face: /healthz, /metrics, /admin/…. They are served on the main port,
// in front of its face, and on a port of their own if one is configured.
//
// /admin/…, for the command line and the console, is signed by a key in a way of its own
// (admin_signature.h); what changes something needs a read-write key:
//   GET  /admin/containers        all of them, with what is stored and charged
//   GET  /admin/partitions        ?database=…&container=…: how storage and load are spread;
//                                 &keys=n: so many of the largest keys of each partition
//   GET  /admin/history           ?from=…&step=5|60: the server's figures over time
//   GET  /admin/workload          ?database=…&container=…: what was recorded of its requests;
//                                 &key=1: with the secret of its marks
//   GET  /admin/advise            ?database=…&container=…: what the advisor says of its partition
//                                 key; &key=EXPRESSION: of that one too
//   POST /admin/run               {"face":NAME,"database":…,"container":…,"text":…,"bindings":…}: a
//                                 text in the language of a face, run by it (face/text_runner.h),
//                                 with an object of values for its names, if it has any. Also with
//                                 a read-only key: the face refuses what would write
//   POST /admin/split             {"database":…,"container":…,"range":n}; without range the largest
//   POST /admin/merge             {"database":…,"container":…,"ranges":[n,n]}: two neighbours
//   POST /admin/keys/regenerate   {"key":"primary"}
//   POST /admin/export            copies of partitions' files, for backups: the bytes of
//                                 cluster/exporting/export_messages.h
//   GET  /admin/cluster           the nodes, as this one knows them: cluster_pages.cc
//   POST /admin/cluster/drain     {"node":NAME}; "draining":false lets it serve again
//   POST /admin/cluster/move      {"database":…,"container":…,"range":n,"node":NAME}
//   POST /admin/cluster/rebalance
//   POST /admin/cluster/replicas  {"count":n}: of each partition, in the whole account
// Partitions, split and merge with the face whose database it is, unless that is the main one's:
// "face":NAME, &face=NAME. The first three are in admin_views.cc, the advisor's in
// advisor_pages.cc.
//
// Threading: handle() and refuse() on event-loop threads; what blocks goes through the lanes.
#pragma once

#include <atomic>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "account/account.h"
#include "base/clock.h"
#include "cluster/engine.h"
#include "face/face.h"
#include "face/lanes.h"
#include "face/request_metrics.h"
#include "face/text_runner.h"
#include "net/http.h"
#include "net/server.h"
#include "ops/admin_signature.h"
#include "ops/container_figures.h"
#include "ops/metrics_page.h"
#include "ops/metrics_sampler.h"
#include "ops/page_request.h"
#include "ops/partition_figures.h"

namespace orrery::nodes {
class Node;
}

namespace orrery::ops {

class Pages {
 public:
  // The first face is the main one. `metrics_token`: what /metrics requires; empty: no token.
  // `history_folder`: where the history of metrics is kept; empty: in memory alone.
  Pages(const face::Context& context, std::vector<const face::Face*> faces,
        std::string metrics_token, std::string history_folder, face::TextRunners text_runners = {});

  // The server whose counters are shown; null: it has not started, or is stopping.
  void set_server(const net::Server* server) {
    metrics_page_.set_server(server);
    sampler_.set_server(server);
  }
  // Of a server among others; null: it is alone, or is stopping.
  void set_node(nodes::Node* node, peer::Link* link) {
    node_ = node;
    metrics_page_.set_node(node);
    figures_.set_link(link);
    all_containers_.set_link(link);
  }
  // Who answers what other nodes ask: by the kind of the call.
  std::vector<std::pair<std::string, peer::Answerer*>> answerers() {
    return {{PartitionFigures::kCall, &figures_}, {AllContainers::kCall, &all_containers_}};
  }
  // Before the engine goes.
  void stop() { sampler_.stop(); }

  static bool has(std::string_view target);
  // `is_own_port`: the request came to the pages' own port, where /metrics needs no token.
  void handle(const net::Request& request, net::Responder responder, bool is_own_port);
  // The answer to a request whose body is too large: no page takes a large one.
  net::Response refuse(const net::Request& head);

 private:
  using Job = void (Pages::*)(PageRequestPtr);

  void admin(PageRequestPtr call);
  void later(PageRequestPtr call, Job job);
  void run_text(PageRequestPtr call, bool may_write);
  void split(PageRequestPtr call);
  void merge(PageRequestPtr call);
  void partitions(PageRequestPtr call);
  void containers(PageRequestPtr call);
  void history(PageRequestPtr call);
  void regenerate_key(PageRequestPtr call);
  void export_files(PageRequestPtr call);
  void cluster(PageRequestPtr call);
  void drain(PageRequestPtr call);
  void move_partition(PageRequestPtr call);
  void rebalance(PageRequestPtr call);
  void set_read_replicas(PageRequestPtr call);
  // Null, and the call has failed, in a server alone.
  nodes::Node* node_or_fail(PageRequest& call) const;
  void workload(PageRequestPtr call);
  void advise(PageRequestPtr call);
  // The container that a request names, with its partitions, opened.
  struct Watched {
    cluster::RoutingPtr routing;
    std::vector<cluster::PartitionStatus> partitions;
  };
  Result<Watched> watched(const PageRequest& call);
  // Addresses of the other nodes that live. None: it is alone.
  std::set<std::string> other_nodes() const;
  // The container's own throughput, or what its database has for all of its containers.
  std::optional<catalog::Throughput> throughput_of(const cluster::Routing& routing) const;
  // `face`: empty for the main one.
  cluster::RoutingPtr find(std::string_view face, std::string_view database,
                           std::string_view container) const;

  cluster::Engine& engine_;
  account::Account& account_;
  face::Lanes& lanes_;
  const Clock& clock_;
  const face::TextRunners text_runners_;
  const std::string main_face_;
  std::atomic<nodes::Node*> node_{nullptr};
  const advise::Recorder* const recorder_;  // the main face's; null: it has none
  PartitionFigures figures_;
  AllContainers all_containers_;
  AdminSignatures signatures_;
  face::RequestMetrics metrics_;
  MetricsPage metrics_page_;  // it tells of the others
  MetricsSampler sampler_;    // last: its thread uses the rest
};

// Dispatches the requests of a port: to the pages, or to the face that is there.
class Front final : public net::Handler {
 public:
  struct Options {
    bool is_own_port = false;  // of the pages
    // Refuse clients that call this machine by a name that is not its own. Where everybody knows
    // the key, that is the only protection against DNS rebinding: a web page whose own name
    // resolves to this machine.
    bool local_names_only = false;
  };
  // Either may be null: no face on the pages' own port, no pages on the port of another face.
  Front(Pages* pages, net::Handler* face, Options options)
      : pages_(pages), face_(face), options_(options) {}

  void handle(const net::Request& request, net::Responder responder) override;
  std::optional<net::Response> refuse(const net::Request& head) override;

 private:
  // The refusal of a foreign host name, or of a path that the pages' own port does not have.
  std::optional<net::Response> turn_away(const net::Request& request) const;

  bool is_for_pages(const net::Request& request) const {
    return pages_ != nullptr && Pages::has(request.target);
  }

  Pages* pages_;
  net::Handler* face_;
  const Options options_;
};

}  // namespace orrery::ops

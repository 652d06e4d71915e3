// The Cosmos DB face: HTTP requests of the official SDKs to engine operations and back.
//
// handle() runs on an event-loop thread: it checks the signature, finds the operation, and either
// answers at once, or hands over to the engine, which answers later. What blocks (databases,
// containers, feeds) goes to the engine's control threads. One file per resource: account.cc,
// databases.cc, containers.cc, partition_ranges.cc, items.cc, item_feed.cc, offers.cc, admin.cc.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/cosmos/authorization.h"
#include "api/cosmos/call.h"
#include "api/cosmos/continuation.h"
#include "api/cosmos/metrics.h"
#include "base/clock.h"
#include "cluster/engine.h"
#include "net/http.h"
#include "net/server.h"

namespace orrery::cosmos {

enum class Consistency : uint8_t {
  strong,
  bounded_staleness,
  session,
  consistent_prefix,
  eventual
};
Result<Consistency> parse_consistency(std::string_view text);
std::string_view to_string(Consistency level);

struct ServiceOptions {
  std::string account = "orrery";
  std::string region = "Local";
  Consistency consistency = Consistency::session;
};

class Service final : public net::Handler {
 public:
  Service(cluster::Engine& engine, const Clock& clock, Authorizer authorizer,
          std::string continuation_secret, ServiceOptions options);

  void handle(const net::Request& request, net::Responder responder) override;

  // Where /metrics finds the listener's own counters; set once it listens.
  void set_server(const net::Server* server) { server_ = server; }

 private:
  using Job = void (Service::*)(CallPtr);

  Status authorize(Call& call, bool admin) const;
  void dispatch(CallPtr call);
  void dispatch_in_container(CallPtr call);
  // Runs a member function on a thread that may block.
  void later(CallPtr call, Job job);
  static void unsupported(CallPtr call, std::string_view what);

  // The resources that a path names, by name or by resource id. On failure the call is answered.
  catalog::DatabasePtr database_of(CallPtr& call) const;
  cluster::RoutingPtr container_of(CallPtr& call) const;
  // Whether the level asked for is one that this account gives. Doubles the charge for the strong.
  Result<double> consistency_factor(const Call& call) const;

  void read_account(CallPtr call);

  void create_database(CallPtr call);
  void list_databases(CallPtr call);
  void read_database(CallPtr call);
  void delete_database(CallPtr call);

  void create_container(CallPtr call);
  void list_containers(CallPtr call);
  void read_container(CallPtr call);
  void replace_container(CallPtr call);
  void delete_container(CallPtr call);

  void read_partition_ranges(CallPtr call);

  void create_item(CallPtr call, bool upsert);
  void read_item(CallPtr call);
  void replace_item(CallPtr call);
  void delete_item(CallPtr call);
  void write_item(CallPtr call, cluster::RoutingPtr routing, partition::Write write);
  struct ItemAddress {
    std::string placement;
    std::string row;
  };
  // From the path and the key header; by resource id it may block. On failure the call is answered.
  std::optional<ItemAddress> item_address(CallPtr& call, const cluster::RoutingPtr& routing);

  void read_item_feed(CallPtr call);

  void query_items(CallPtr call);
  void read_query_plan(CallPtr call);

  void list_offers(CallPtr call);
  void query_offers(CallPtr call);
  void read_offer(CallPtr call);
  void replace_offer(CallPtr call);
  void reply_offers(CallPtr call, const std::function<bool(const struct OfferSubject&)>& wanted);

  void admin(CallPtr call);
  void admin_split(CallPtr call);
  void admin_partitions(CallPtr call);

  cluster::Engine& engine_;
  const Clock& clock_;
  const Authorizer authorizer_;
  const Continuations continuations_;
  const ServiceOptions options_;
  Metrics metrics_;
  const net::Server* server_ = nullptr;
};

// What a session token demands of each range; a malformed one is an error.
Result<cluster::LsnDemand> demand_of(std::string_view session_token);

// A page of at most this many, from x-ms-max-item-count (-1 or absent: the default).
Result<size_t> page_size(std::string_view header, size_t default_size, size_t most);

}  // namespace orrery::cosmos

// The Cosmos DB face: translates HTTP requests of the official SDKs into engine operations, and the
// results back.
//
// handle() runs on an event-loop thread. It checks the signature, finds the operation, and answers
// at once, or calls the engine, which answers later. Operations that block (databases, containers,
// feeds, scripts) run on the threads of the lanes (face/lanes.h). One file per resource:
// account.cc, databases.cc, containers.cc, named_resources.cc (users, permissions, scripts,
// encryption keys), attachments.cc, permissions.cc, scripts.cc (running JavaScript),
// partition_ranges.cc, conflicts.cc, items.cc, partition_key_delete.cc, batch.cc, item_feed.cc,
// change_feed.cc, query_items.cc, offers.cc.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/cosmos/auth/authorization.h"
#include "api/cosmos/auth/resource_token.h"
#include "api/cosmos/call.h"
#include "api/cosmos/items/item_write.h"
#include "api/cosmos/query/service_rules.h"
#include "api/cosmos/resources/resource_kinds.h"
#include "api/cosmos/wire/batch_body.h"
#include "api/cosmos/wire/consistency.h"
#include "api/cosmos/wire/continuation.h"
#include "base/clock.h"
#include "cluster/engine.h"
#include "face/face.h"
#include "face/lanes.h"
#include "face/request_metrics.h"
#include "net/http.h"
#include "script/host.h"

namespace orrery::cosmos {

struct ServiceOptions {
  Consistency consistency = Consistency::session;
  QueryRules query_rules = QueryRules::service;
};

class Service final : public face::Face, public net::Handler {
 public:
  Service(const face::Context& context, ServiceOptions options);

  std::string_view name() const override { return kFaceName; }
  net::Handler* http_handler() override { return this; }
  void add_metrics(face::MetricFamilies& all) const override { metrics_.collect(all); }

  void handle(const net::Request& request, net::Responder responder) override;
  // Authorizes a request with a large body before the body is read into memory.
  std::optional<net::Response> refuse(const net::Request& head) override;

 private:
  using Job = void (Service::*)(CallPtr);
  using WaitingJob = face::WaitingCall<Call>::Job;
  using Lane = face::Lane;

  // Checks the request's head, above all its authorization. Null: the call was refused and
  // answered.
  CallPtr pass_head(CallPtr call) const;
  Status authorize(const Call& call) const;
  // By a permission's token: see grant.h for what it covers.
  Status authorize_by_token(const Call& call, std::string_view signature) const;
  // Whether a replace may change the item's id to this one: a token for one item may not.
  Status check_renaming(Call& call, const std::string& id) const;
  void dispatch(CallPtr call);
  void dispatch_in_container(CallPtr call);
  // Runs a job on a thread that may block. One of a container's takes turns with other containers'.
  void later(CallPtr call, Lane lane, Job job);
  void later_in_container(CallPtr call, Lane lane, WaitingJob job);
  void later_in_container(CallPtr call, Lane lane, Job job);

  // The resources that a path names, by name or by resource id. On failure the call is answered.
  catalog::DatabasePtr database_of(CallPtr& call) const;
  cluster::RoutingPtr container_of(CallPtr& call) const;
  cluster::RoutingPtr find_container(const ResourceAddress& address) const;

  void read_account(CallPtr call);

  void create_database(CallPtr call);
  void list_databases(CallPtr call);
  void query_databases(CallPtr call);
  void read_database(CallPtr call);
  void delete_database(CallPtr call);

  void create_container(CallPtr call);
  Status check_encryption_keys(const catalog::Database& database,
                               const catalog::ContainerSpec& spec) const;
  void list_containers(CallPtr call);
  void query_containers(CallPtr call);
  void read_container(CallPtr call);
  void replace_container(CallPtr call);
  void delete_container(CallPtr call);

  // Users, permissions, scripts: all that resource_kinds.h lists.
  void named_resources(CallPtr call);
  struct ResourceOwner {
    uint32_t number;         // in the catalog; 0: of an item that has no attachments yet
    uint32_t database;       // the number of the database that all is in
    uint32_t container = 0;  // of an item
    std::string rid;
    std::string self;   // dbs/{rid}/…/
    std::string names;  // the same by names: dbs/shop/users/ann
  };
  // What the resources of a path belong to. On failure the call is answered.
  std::optional<ResourceOwner> resource_owner(CallPtr& call, const ResourceKind& kind);
  std::optional<ResourceOwner> item_owner(CallPtr& call);
  // By name or by resource id.
  catalog::ResourcePtr find_resource(const ResourceKind& kind, const ResourceOwner& owner,
                                     std::string_view name) const;
  // The resource as it is returned; for a permission, with a token that is valid this long.
  std::string resource_json(const ResourceKind& kind, const ResourceOwner& owner,
                            const catalog::Resource& resource, int64_t token_life_s) const;
  std::string permission_token(const catalog::Resource& permission, int64_t life_s) const;
  // Checks a permission: its container must exist, and its user must not have another permission
  // for the same. `replaced`: the number of the permission that this one replaces, or 0. The engine
  // calls it inside the change, so that no other change comes in between.
  Status check_resource(const ResourceKind& kind, const ResourceOwner& owner,
                        const ResourceDefinition& definition, uint32_t replaced) const;
  void list_resources(CallPtr call, const ResourceKind& kind, const ResourceOwner& owner,
                      int64_t token_life_s);
  void create_resource(CallPtr call, const ResourceKind& kind, ResourceOwner owner,
                       int64_t token_life_s);
  // Enters an item among those that have attachments.
  Status begin_attaching(ResourceOwner& owner);
  void replace_resource(CallPtr call, const ResourceKind& kind, const ResourceOwner& owner,
                        const catalog::Resource& before, int64_t token_life_s);

  void execute_procedure(CallPtr call);
  void write_with_triggers(CallPtr call, ItemVerb verb);

  void read_partition_ranges(CallPtr call);
  void conflicts(CallPtr call);

  void delete_partition_key(CallPtr call);

  void read_item(CallPtr call);
  void write_item(CallPtr call, ItemVerb verb);

  void batch_items(CallPtr call);
  void transact(CallPtr call, cluster::RoutingPtr routing, BatchRequest request,
                cluster::ReadTerms reads);
  struct Bulk;
  void begin_bulk(const std::shared_ptr<Bulk>& bulk);
  void submit_of_bulk(const std::shared_ptr<Bulk>& bulk, size_t i,
                      std::move_only_function<void()> then);
  void submit_rest_of_bulk(const std::shared_ptr<Bulk>& bulk, size_t from);
  void go_on_with_bulk(const std::shared_ptr<Bulk>& bulk, size_t i);
  struct ItemAddress {
    std::string placement;
    std::string row;
  };
  // From the path and the key header; by resource id it may block. On failure the call is answered.
  std::optional<ItemAddress> item_address(CallPtr& call, const cluster::RoutingPtr& routing);
  void read_from_files(CallPtr call, const cluster::RoutingPtr& routing, ItemAddress address,
                       double factor);

  void read_item_feed(CallPtr call);
  void read_change_feed(CallPtr call);

  void query_items(CallPtr call);
  void query_items_patiently(CallPtr call);
  void run_item_query(CallPtr call, partition::Reach reach);
  void read_query_plan(CallPtr call);

  void list_offers(CallPtr call);
  void query_offers(CallPtr call);
  void read_offer(CallPtr call);
  void replace_offer(CallPtr call);
  std::vector<std::string> all_offers() const;

  cluster::Engine& engine_;
  script::Host& scripts_;
  const Clock& clock_;
  account::Account& account_;
  face::Lanes& lanes_;
  const Continuations continuations_;
  const ResourceTokens tokens_;
  const ServiceOptions options_;
  face::RequestMetrics metrics_;
};

}  // namespace orrery::cosmos

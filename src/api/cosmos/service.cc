// Dispatch: from method and path to the operation. See service.h.
#include "api/cosmos/service.h"

#include <fmt/format.h>

#include "api/cosmos/wire/error_body.h"
#include "api/cosmos/wire/rid.h"
#include "base/bytes.h"

namespace orrery::cosmos {
namespace {

bool is_write(const Call& call) {
  return call.method != "GET" && call.method != "HEAD" && !call.is_query();
}

// It changes nothing: items are indexed by the container's policy, as the vendor's service answers
// queries whatever the directive was. A value that is none would be a mistake of the client's.
Status check_indexing_directive(std::string_view text) {
  for (std::string_view known : {"", "Default", "Include", "Exclude"}) {
    if (equals_ignore_case(text, known)) return {};
  }
  return fail(
      Code::invalid,
      fmt::format("x-ms-indexing-directive '{}' is not one of Include, Exclude, Default", text));
}

}  // namespace

Service::Service(const face::Context& context, ServiceOptions options)
    : engine_(context.engine),
      scripts_(context.scripts),
      clock_(context.clock),
      account_(context.account),
      lanes_(context.lanes),
      continuations_(account_.secret()),
      tokens_(account_.secret()),
      options_(options),
      metrics_(std::string(name()), kOperationNames) {}

void Service::handle(const net::Request& request, net::Responder responder) {
  auto call = pass_head(
      std::make_unique<Call>(request, std::move(responder), metrics_, clock_.steady_us()));
  if (!call) return;
  // The same answer; the connection leaves its body out.
  if (call->method == "HEAD") call->method = "GET";
  dispatch(std::move(call));
}

std::optional<net::Response> Service::refuse(const net::Request& head) {
  struct Answer final : net::ResponseSink {
    void send(net::Response&& response_in) noexcept override { response = std::move(response_in); }
    void abandon() noexcept override { response.status = 500; }
    net::Response response;
  };
  const auto answer = std::make_shared<Answer>();
  if (pass_head(
          std::make_unique<Call>(head, net::Responder(answer), metrics_, clock_.steady_us()))) {
    return std::nullopt;
  }
  return std::move(answer->response);
}

CallPtr Service::pass_head(CallPtr call) const {
  const auto refused = [&](const Error& error) {
    call->fail(error);
    return nullptr;
  };
  auto address = address_of(call->target);
  if (!address) return refused(address.error());
  call->address = std::move(*address);
  if (auto authorized = authorize(*call); !authorized) return refused(authorized.error());
  // Said of every request, though only reads cost more or less by it.
  if (!call->headers.consistency.empty()) {
    if (auto level = consistency_factor(call->headers.consistency, options_.consistency); !level)
      return refused(level.error());
  }
  if (auto known = check_indexing_directive(call->headers.indexing_directive); !known) {
    return refused(known.error());
  }
  return call;
}

Status Service::authorize(const Call& call) const {
  if (auto signature = resource_signature(call.headers.authorization)) {
    return authorize_by_token(call, *signature);
  }
  auto access =
      verify(account_.keys(),
             {.verb = call.method,
              .authorization = call.headers.authorization,
              .date = call.headers.xms_date.empty() ? call.headers.date : call.headers.xms_date,
              .address = &call.address,
              .now_s = clock_.now_s()});
  if (!access) return pass(access.error());
  if (*access == account::Access::read_write) return {};
  if (is_write(call)) {
    return fail(Code::forbidden,
                fmt::format("this key may only read, and {} {} writes: use a read-write key",
                            call.method, call.path()));
  }
  // A permission is read with a token in it, which may write.
  if (call.address.segments[2] == "users" && call.address.segments[4] == "permissions") {
    return fail(Code::forbidden,
                "this key may only read, and whoever reads permissions gets their tokens: use a "
                "read-write key");
  }
  return {};
}

void Service::later(CallPtr call, Lane lane, Job job) {
  lanes_.submit(
      lane, 0,
      std::make_unique<face::WaitingCall<Call>>(
          std::move(call), [this, job](CallPtr running) { (this->*job)(std::move(running)); }));
}

void Service::later_in_container(CallPtr call, Lane lane, WaitingJob job) {
  // By its number: whoever names containers that are not there would get a share for each.
  const cluster::RoutingPtr routing = container_of(call);
  if (!routing) return;
  lanes_.submit(lane, routing->container->number,
                std::make_unique<face::WaitingCall<Call>>(std::move(call), std::move(job)));
}

void Service::later_in_container(CallPtr call, Lane lane, Job job) {
  later_in_container(std::move(call), lane,
                     [this, job](CallPtr running) { (this->*job)(std::move(running)); });
}

void Service::dispatch(CallPtr call) {
  const ResourceAddress& address = call->address;
  const std::string_view method = call->method;

  if (address.count == 0) {
    call->operation = Operation::account;
    if (method == "GET") return read_account(std::move(call));
    return call->method_not_allowed();
  }
  const std::string_view root = address.segments[0];
  if (root == "offers") {
    call->operation = Operation::offer;
    if (address.count == 1 && method == "GET")
      return later(std::move(call), Lane::management, &Service::list_offers);
    if (address.count == 1 && method == "POST") {
      return later(std::move(call), Lane::management, &Service::query_offers);
    }
    if (address.count == 2 && method == "GET")
      return later(std::move(call), Lane::management, &Service::read_offer);
    if (address.count == 2 && method == "PUT") {
      return later(std::move(call), Lane::management, &Service::replace_offer);
    }
    return call->method_not_allowed();
  }
  if (root != "dbs") {
    return call->fail(Error{.code = Code::invalid,
                            .message = fmt::format("the path {} is not one of this API: it begins "
                                                   "with /dbs or /offers",
                                                   call->path())});
  }
  if (address.count <= 2) {
    call->operation = Operation::database;
    if (address.count == 1) {
      if (method == "GET")
        return later(std::move(call), Lane::management, &Service::list_databases);
      if (call->is_query())
        return later(std::move(call), Lane::management, &Service::query_databases);
      if (method == "POST")
        return later(std::move(call), Lane::management, &Service::create_database);
    } else {
      if (method == "GET") return later(std::move(call), Lane::management, &Service::read_database);
      if (method == "DELETE")
        return later(std::move(call), Lane::management, &Service::delete_database);
    }
    return call->method_not_allowed();
  }
  if (address.segments[2] != "colls") {
    if (kind_of(address) != nullptr)
      return later(std::move(call), Lane::management, &Service::named_resources);
    return call->unsupported(fmt::format("resources of type '{}'", address.segments[2]));
  }
  if (address.count <= 4) {
    call->operation = Operation::container;
    if (address.count == 3) {
      if (method == "GET")
        return later(std::move(call), Lane::management, &Service::list_containers);
      if (call->is_query())
        return later(std::move(call), Lane::management, &Service::query_containers);
      if (method == "POST")
        return later(std::move(call), Lane::management, &Service::create_container);
    } else {
      if (method == "GET")
        return later(std::move(call), Lane::management, &Service::read_container);
      if (method == "PUT")
        return later(std::move(call), Lane::management, &Service::replace_container);
      if (method == "DELETE")
        return later(std::move(call), Lane::management, &Service::delete_container);
    }
    return call->method_not_allowed();
  }
  dispatch_in_container(std::move(call));
}

void Service::dispatch_in_container(CallPtr call) {
  const ResourceAddress& address = call->address;
  const std::string_view method = call->method;
  const std::string_view kind = address.segments[4];
  if (kind == "pkranges" && address.count == 5) {
    call->operation = Operation::partition_ranges;
    if (method != "GET") return call->method_not_allowed();
    return later(std::move(call), Lane::management, &Service::read_partition_ranges);
  }
  if (kind == "operations" && address.count == 6 && address.child() == "partitionkeydelete") {
    call->operation = Operation::partition_key_delete;
    if (method != "POST") return call->method_not_allowed();
    return delete_partition_key(std::move(call));
  }
  if (kind == "conflicts" && address.count <= 6) {
    call->operation = Operation::resource;
    return later(std::move(call), Lane::management, &Service::conflicts);
  }
  if (kind != "docs") {
    if (kind == "sprocs" && address.count == 6 && method == "POST") {
      call->operation = Operation::script_run;
      return later_in_container(std::move(call), Lane::scripts, &Service::execute_procedure);
    }
    if (kind_of(address) != nullptr)
      return later(std::move(call), Lane::management, &Service::named_resources);
    return call->unsupported(fmt::format("resources of type '{}'", kind));
  }
  if (address.count > 6) {
    // Their item is read, which may block.
    if (kind_of(address) != nullptr)
      return later_in_container(std::move(call), Lane::queries, &Service::named_resources);
    return call->unsupported(fmt::format("resources of type '{}'", address.segments[6]));
  }
  if (address.count == 5) {
    if (method == "GET") {
      call->operation = Operation::item_feed;
      if (!call->headers.a_im.empty())
        return later_in_container(std::move(call), Lane::queries, &Service::read_change_feed);
      return later_in_container(std::move(call), Lane::queries, &Service::read_item_feed);
    }
    if (method == "POST") {
      if (is_true(call->headers.is_query_plan)) {
        call->operation = Operation::item_query;
        return later_in_container(std::move(call), Lane::queries, &Service::read_query_plan);
      }
      if (is_true(call->headers.is_query)) {
        call->operation = Operation::item_query;
        return query_items(std::move(call));
      }
      if (is_true(call->headers.is_batch)) {
        if (has_triggers(call->headers)) {
          return call->fail(
              Error{.code = Code::invalid,
                    .message = "One of the specified inputs is invalid: a batch runs no triggers. "
                               "Leave them out, or send its operations one by one"});
        }
        return batch_items(std::move(call));
      }
      const bool upsert = is_true(call->headers.is_upsert);
      call->operation = upsert ? Operation::item_upsert : Operation::item_create;
      const ItemVerb verb = upsert ? ItemVerb::upsert : ItemVerb::create;
      if (has_triggers(call->headers)) {
        return later_in_container(std::move(call), Lane::scripts, [this, verb](CallPtr running) {
          write_with_triggers(std::move(running), verb);
        });
      }
      return write_item(std::move(call), verb);
    }
  } else {
    if (method == "GET") {
      call->operation = Operation::item_read;
      // By resource id the item has to be looked for, which may block.
      if (address.by_rid)
        return later_in_container(std::move(call), Lane::queries, &Service::read_item);
      return read_item(std::move(call));
    }
    if (method == "PUT" || method == "DELETE" || method == "PATCH") {
      const auto [operation, verb] =
          method == "PUT"      ? std::pair(Operation::item_replace, ItemVerb::replace)
          : method == "DELETE" ? std::pair(Operation::item_delete, ItemVerb::remove)
                               : std::pair(Operation::item_patch, ItemVerb::patch);
      call->operation = operation;
      if (has_triggers(call->headers)) {
        return later_in_container(std::move(call), Lane::scripts, [this, verb](CallPtr running) {
          write_with_triggers(std::move(running), verb);
        });
      }
      if (address.by_rid) {
        return later_in_container(std::move(call), Lane::queries, [this, verb](CallPtr running) {
          write_item(std::move(running), verb);
        });
      }
      return write_item(std::move(call), verb);
    }
  }
  call->method_not_allowed();
}

catalog::DatabasePtr Service::database_of(CallPtr& call) const {
  const std::string_view name = call->address.database();
  catalog::DatabasePtr database = engine_.catalog().database({kFaceName, name});
  if (!database) {
    if (auto rid = parse_rid(name); rid && rid->kind == RidKind::database) {
      database = engine_.catalog().database(rid->database);
      if (database && database->face != kFaceName) database = nullptr;
    }
  }
  if (!database) {
    call->fail(
        Error{.code = Code::not_found, .message = fmt::format("there is no database '{}'", name)},
        call->address.count > 2 ? kSubstatusOwnerNotFound : 0);
    call = nullptr;
  }
  return database;
}

cluster::RoutingPtr Service::find_container(const ResourceAddress& address) const {
  cluster::RoutingPtr routing = engine_.find({kFaceName, address.database()}, address.container());
  if (routing) return routing;
  auto rid = parse_rid(address.container());
  if (!rid || rid->kind != RidKind::container) return nullptr;
  routing = engine_.find(rid->container);
  if (!routing || routing->container->database != rid->database) return nullptr;
  return routing->database->face == kFaceName ? routing : nullptr;
}

cluster::RoutingPtr Service::container_of(CallPtr& call) const {
  const ResourceAddress& address = call->address;
  cluster::RoutingPtr routing = find_container(address);
  const std::string_view intended = call->headers.intended_container;
  if (routing && !intended.empty() &&
      intended != container_rid(routing->container->database, routing->container->number)) {
    // The client encrypts by the policy of a container that was deleted: it reads the new one's.
    call->fail(Error{.code = Code::invalid,
                     .message = fmt::format("the request is meant for the container with resource "
                                            "id '{}', and '{}' is another one now: read it again",
                                            intended, address.container())},
               kSubstatusOtherContainer);
    call = nullptr;
    return nullptr;
  }
  if (routing) return routing;
  const std::string message =
      engine_.catalog().database({kFaceName, address.database()}) || address.by_rid
          ? fmt::format("there is no container '{}' in database '{}'", address.container(),
                        address.database())
          : fmt::format("there is no database '{}'", address.database());
  call->fail(Error{.code = Code::not_found, .message = message},
             address.count > 4 ? kSubstatusOwnerNotFound : 0);
  call = nullptr;
  return nullptr;
}

}  // namespace orrery::cosmos

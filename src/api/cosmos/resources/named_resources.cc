// Users, permissions, scripts, client encryption keys, attachments: what all small named resources
// have in common. See resource_kinds.h for how a kind is described.
#include <fmt/format.h>

#include "api/cosmos/query/query_documents.h"
#include "api/cosmos/resources/definition_fields.h"
#include "api/cosmos/service.h"
#include "api/cosmos/wire/error_body.h"
#include "api/cosmos/wire/etag.h"
#include "api/cosmos/wire/feed_json.h"
#include "api/cosmos/wire/resource_json.h"
#include "api/cosmos/wire/rid.h"
#include "prices/request_units.h"

namespace orrery::cosmos {
namespace {

// The revision that If-Match or If-None-Match asks for; nothing when any will do.
std::optional<uint64_t> asked_revision(std::string_view header) {
  if (header.empty()) return std::nullopt;
  const auto version = parse_etag_condition(header);
  if (!version) return std::nullopt;
  return version->lsn;
}

double write_charge(const ResourceDefinition& definition) {
  return prices::create_charge(definition.name.size() + definition.members.size(), 0);
}

}  // namespace

std::optional<Service::ResourceOwner> Service::resource_owner(CallPtr& call,
                                                              const ResourceKind& kind) {
  if (kind.owner == "docs") return item_owner(call);
  if (kind.owner == "colls") {
    cluster::RoutingPtr routing = container_of(call);
    if (!routing) return std::nullopt;
    const catalog::Container& container = *routing->container;
    return ResourceOwner{
        .number = container.number,
        .database = routing->database->number,
        .rid = container_rid(container.database, container.number),
        .self = container_self(container.database, container.number),
        .names = fmt::format("dbs/{}/colls/{}", routing->database->name, container.spec.name)};
  }
  catalog::DatabasePtr database = database_of(call);
  if (!database) return std::nullopt;
  ResourceOwner owner{.number = database->number,
                      .database = database->number,
                      .rid = database_rid(database->number),
                      .self = database_self(database->number),
                      .names = "dbs/" + database->name};
  if (kind.owner == "dbs") return owner;
  const ResourceKind& owners_kind = *kind_of(kUserKind);
  catalog::ResourcePtr user = find_resource(owners_kind, owner, call->address.segments[3]);
  if (!user) {
    call->fail(
        Error{.code = Code::not_found,
              .message = fmt::format("there is no {} '{}' in database '{}'", owners_kind.noun,
                                     call->address.segments[3], database->name)},
        kSubstatusOwnerNotFound);
    call = nullptr;
    return std::nullopt;
  }
  owner.number = user->number;
  owner.rid = resource_rid(owners_kind.rid, database->number, database->number, user->number);
  owner.self += fmt::format("{}/{}/", owners_kind.segment, owner.rid);
  owner.names += fmt::format("/{}/{}", owners_kind.segment, user->name);
  return owner;
}

catalog::ResourcePtr Service::find_resource(const ResourceKind& kind, const ResourceOwner& owner,
                                            std::string_view name) const {
  const catalog::Catalog& catalog = engine_.catalog();
  if (catalog::ResourcePtr named = catalog.resource(kind.number, owner.number, name)) return named;
  auto rid = parse_rid(name);
  if (!rid || rid->kind != kind.rid) return nullptr;
  catalog::ResourcePtr numbered = catalog.resource(rid->number());
  if (!numbered || numbered->kind != kind.number || numbered->parent != owner.number) {
    return nullptr;
  }
  return numbered;
}

std::string Service::resource_json(const ResourceKind& kind, const ResourceOwner& owner,
                                   const catalog::Resource& resource, int64_t token_life_s) const {
  const std::string rid =
      kind.number == kAttachmentKind
          ? attachment_rid(owner.rid, resource.number)
          : resource_rid(kind.rid, owner.database, owner.number, resource.number);
  const std::string self = fmt::format("{}{}/{}/", owner.self, kind.segment, rid);
  if (kind.number != kPermissionKind) return named_resource_json(resource, rid, self, kind.links);
  std::string token;
  append_member(token, "_token", quoted(permission_token(resource, token_life_s)));
  return named_resource_json(resource, rid, self, token);
}

void Service::named_resources(CallPtr call) {
  call->operation = Operation::resource;
  const ResourceKind& kind = *kind_of(call->address);
  const std::string_view method = call->method;
  const bool feed = call->address.is_feed();
  const bool known =
      feed ? method == "GET" || method == "POST"
           : method == "GET" || method == "PUT" || (method == "DELETE" && kind.can_be_deleted);
  if (!known) return call->method_not_allowed();
  auto token_life_s = token_life(call->headers.token_expiry);
  if (!token_life_s) return call->fail(token_life_s.error());
  std::optional<ResourceOwner> owner = resource_owner(call, kind);
  if (!owner) return;
  call->response.add("x-ms-content-path", owner->rid);
  call->response.add("x-ms-alt-content-path", owner->names);
  if (feed && call->is_query()) {
    std::vector<std::string> documents;
    for (const catalog::ResourcePtr& one :
         engine_.catalog().resources(kind.number, owner->number)) {
      documents.push_back(resource_json(kind, *owner, *one, *token_life_s));
    }
    return query_documents(std::move(call), continuations_,
                           {owner->rid, kind.feed, engine_.limits().query_time_ms}, documents);
  }
  if (feed && method == "GET") return list_resources(std::move(call), kind, *owner, *token_life_s);
  if (feed) return create_resource(std::move(call), kind, *owner, *token_life_s);

  const std::string& name = call->address.segments[call->address.count - 1];
  catalog::ResourcePtr resource = find_resource(kind, *owner, name);
  if (!resource) {
    return call->fail(
        Error{.code = Code::not_found,
              .message = fmt::format("there is no {} '{}' in {}", kind.noun, name, owner->names)});
  }
  if (method == "PUT")
    return replace_resource(std::move(call), kind, *owner, *resource, *token_life_s);
  if (method == "DELETE") {
    if (auto removed =
            engine_.remove_resource(resource->number, asked_revision(call->headers.if_match));
        !removed) {
      return call->fail(removed.error());
    }
    call->charge(prices::remove_charge(0, 0));
    return call->reply_empty(204);
  }
  call->charge(prices::read_charge(resource->body.size()));
  call->etag(etag_of(*resource));
  if (!call->headers.if_none_match.empty() &&
      asked_revision(call->headers.if_none_match).value_or(resource->revision) ==
          resource->revision) {
    return call->reply_empty(304);
  }
  call->reply(200, resource_json(kind, *owner, *resource, *token_life_s));
}

void Service::list_resources(CallPtr call, const ResourceKind& kind, const ResourceOwner& owner,
                             int64_t token_life_s) {
  auto page = page_of_names(
      call->headers, continuations_, engine_.catalog().resources(kind.number, owner.number),
      [](const catalog::ResourcePtr& one) -> std::string_view { return one->name; });
  if (!page) return call->fail(page.error());
  std::string json = feed_head(owner.rid, kind.feed);
  for (const catalog::ResourcePtr& one : page->resources) {
    append_feed_element(json, resource_json(kind, owner, *one, token_life_s));
  }
  if (!page->continuation.empty()) call->response.add("x-ms-continuation", page->continuation);
  call->charge(prices::feed_charge(json.size(), page->resources.size()));
  finish_feed(json, page->resources.size());
  call->response.add("x-ms-item-count", std::to_string(page->resources.size()));
  call->reply(200, std::move(json));
}

void Service::create_resource(CallPtr call, const ResourceKind& kind, ResourceOwner owner,
                              int64_t token_life_s) {
  auto definition = parse_resource(kind, call->body);
  if (!definition) return call->fail(definition.error());
  if (owner.number == 0) {
    if (auto begun = begin_attaching(owner); !begun) return call->fail(begun.error());
  }
  if (is_true(call->headers.is_upsert)) {
    catalog::ResourcePtr before =
        engine_.catalog().resource(kind.number, owner.number, definition->name);
    if (before) return replace_resource(std::move(call), kind, owner, *before, token_life_s);
  }
  auto made = engine_.create_resource(kind.number, owner.number, definition->name,
                                      definition->members, engine_.limits().*kind.most,
                                      [&] { return check_resource(kind, owner, *definition, 0); });
  if (!made) return call->fail(made.error());
  call->etag(etag_of(**made));
  call->charge(write_charge(*definition));
  call->reply(201, resource_json(kind, owner, **made, token_life_s));
}

void Service::replace_resource(CallPtr call, const ResourceKind& kind, const ResourceOwner& owner,
                               const catalog::Resource& before, int64_t token_life_s) {
  auto definition = parse_resource(kind, call->body);
  if (!definition) return call->fail(definition.error());
  auto replaced = engine_.replace_resource(
      before.number, definition->name, definition->members, asked_revision(call->headers.if_match),
      [&] { return check_resource(kind, owner, *definition, before.number); });
  if (!replaced) return call->fail(replaced.error());
  call->etag(etag_of(**replaced));
  call->charge(write_charge(*definition));
  call->reply(200, resource_json(kind, owner, **replaced, token_life_s));
}

}  // namespace orrery::cosmos

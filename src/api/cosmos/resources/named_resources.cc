// See named_resources.h.
#include "api/cosmos/resources/named_resources.h"

#include <fmt/format.h>

#include "api/cosmos/auth/permissions.h"
#include "api/cosmos/later.h"
#include "api/cosmos/query/query_documents.h"
#include "api/cosmos/resources/attachments.h"
#include "api/cosmos/resources/definition_fields.h"
#include "api/cosmos/resources/list_answer.h"
#include "api/cosmos/resources/resource_kinds.h"
#include "api/cosmos/resources/resource_owner.h"
#include "api/cosmos/wire/error_body.h"
#include "api/cosmos/wire/etag.h"
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

// A request about the resources of one kind and owner.
struct ResourceCall {
  const HandlerContext& context;
  const ResourceKind& kind;
  ResourceOwner owner;
  int64_t token_life_s;  // of a permission's token

  const catalog::Catalog& catalog() const { return context.engine.catalog(); }
};

// The resource as it is returned; a permission with a token.
std::string resource_json(const ResourceCall& about, const catalog::Resource& resource) {
  const ResourceKind& kind = about.kind;
  const ResourceOwner& owner = about.owner;
  const std::string rid =
      kind.number == kAttachmentKind
          ? attachment_rid(owner.rid, resource.number)
          : resource_rid(kind.rid, owner.database, owner.number, resource.number);
  const std::string self = fmt::format("{}{}/{}/", owner.self, kind.segment, rid);
  if (kind.number != kPermissionKind) return named_resource_json(resource, rid, self, kind.links);
  std::string token;
  append_member(token, "_token",
                quoted(permission_token(about.context, resource, about.token_life_s)));
  return named_resource_json(resource, rid, self, token);
}

// What a definition must agree with in the catalog. The engine calls it inside the change.
Status check_resource(const ResourceCall& about, const ResourceDefinition& definition,
                      uint32_t replaced) {
  if (about.kind.number != kPermissionKind) return {};
  return check_permission(about.context.engine, {about.owner.database, about.owner.number},
                          definition.members, replaced);
}

void query_resources(const ResourceCall& about, CallPtr call) {
  std::vector<std::string> documents;
  for (const catalog::ResourcePtr& one : resources_of(about.catalog(), about.kind, about.owner)) {
    documents.push_back(resource_json(about, *one));
  }
  query_documents(std::move(call), about.context.continuations,
                  {about.owner.rid, about.kind.feed, about.context.engine.limits().query_time_ms},
                  documents);
}

void list_resources(const ResourceCall& about, CallPtr call) {
  answer_list(
      *call, about.context.continuations, about.owner.rid, about.kind.feed,
      resources_of(about.catalog(), about.kind, about.owner),
      [](const catalog::ResourcePtr& one) -> std::string_view { return one->name; },
      [&](const catalog::Resource& one) { return resource_json(about, one); });
}

void read_resource(const ResourceCall& about, CallPtr call, const catalog::Resource& resource) {
  call->charge(prices::read_charge(resource.body.size()));
  call->etag(etag_of(resource));
  if (!call->headers.if_none_match.empty() &&
      asked_revision(call->headers.if_none_match).value_or(resource.revision) ==
          resource.revision) {
    return call->reply_empty(304);
  }
  call->reply(200, resource_json(about, resource));
}

void replace_resource(const ResourceCall& about, CallPtr call, const catalog::Resource& before) {
  auto definition = parse_resource(about.kind, call->body);
  if (!definition) return call->fail(definition.error());
  auto replaced = about.context.engine.replace_resource(
      before.number, definition->name, definition->members, asked_revision(call->headers.if_match),
      [&] { return check_resource(about, *definition, before.number); });
  if (!replaced) return call->fail(replaced.error());
  call->etag(etag_of(**replaced));
  call->charge(write_charge(*definition));
  call->reply(200, resource_json(about, **replaced));
}

void delete_resource(const ResourceCall& about, CallPtr call, const catalog::Resource& resource) {
  auto removed =
      about.context.engine.remove_resource(resource.number, asked_revision(call->headers.if_match));
  if (!removed) return call->fail(removed.error());
  call->charge(prices::remove_charge(0, 0));
  call->reply_empty(204);
}

// Or replaces it, if that is asked for and there is one of this name.
void create_resource(ResourceCall about, CallPtr call) {
  cluster::Engine& engine = about.context.engine;
  auto definition = parse_resource(about.kind, call->body);
  if (!definition) return call->fail(definition.error());
  if (about.owner.number == 0) {
    if (auto begun = begin_attaching(engine, about.owner); !begun) {
      return call->fail(begun.error());
    }
  }
  const uint8_t kind = about.kind.number;
  const uint32_t owner = about.owner.number;
  if (is_true(call->headers.is_upsert)) {
    catalog::ResourcePtr before = about.catalog().resource(kind, owner, definition->name);
    if (before) return replace_resource(about, std::move(call), *before);
  }
  auto made = engine.create_resource(kind, owner, definition->name, definition->members,
                                     engine.limits().*about.kind.most,
                                     [&] { return check_resource(about, *definition, 0); });
  if (!made) return call->fail(made.error());
  call->etag(etag_of(**made));
  call->charge(write_charge(*definition));
  call->reply(201, resource_json(about, **made));
}

bool has_method(const Call& call, const ResourceKind& kind) {
  const std::string_view method = call.method;
  if (call.address.is_feed()) return method == "GET" || method == "POST";
  return method == "GET" || method == "PUT" || (method == "DELETE" && kind.can_be_deleted);
}

void answer(const HandlerContext& context, CallPtr call) {
  const ResourceKind& kind = *kind_of(call->address);
  if (!has_method(*call, kind)) return call->method_not_allowed();
  auto token_life_s = token_life(call->headers.token_expiry);
  if (!token_life_s) return call->fail(token_life_s.error());
  std::optional<ResourceOwner> owner = owner_of(context, call, kind);
  if (!owner) return;
  call->response.add("x-ms-content-path", owner->rid);
  call->response.add("x-ms-alt-content-path", owner->names);
  ResourceCall about{context, kind, std::move(*owner), *token_life_s};
  if (call->address.is_feed()) {
    if (call->is_query()) return query_resources(about, std::move(call));
    if (call->method == "GET") return list_resources(about, std::move(call));
    return create_resource(std::move(about), std::move(call));
  }
  const std::string& name = call->address.segments[call->address.count - 1];
  const catalog::ResourcePtr resource =
      find_resource(context.engine.catalog(), kind, about.owner, name);
  if (!resource) {
    return call->fail(Error{
        .code = Code::not_found,
        .message = fmt::format("there is no {} '{}' in {}", kind.noun, name, about.owner.names)});
  }
  if (call->method == "PUT") return replace_resource(about, std::move(call), *resource);
  if (call->method == "DELETE") return delete_resource(about, std::move(call), *resource);
  read_resource(about, std::move(call), *resource);
}

// The first type of the path that is not that of a database, a container or an item.
std::string_view type_of(const ResourceAddress& address) {
  if (address.segments[2] != "colls") return address.segments[2];
  return address.segments[4] != "docs" ? address.segments[4] : address.segments[6];
}

}  // namespace

void handle_named_resources(const HandlerContext& context, CallPtr call) {
  const ResourceKind* kind = kind_of(call->address);
  if (kind == nullptr) {
    return call->unsupported(fmt::format("resources of type '{}'", type_of(call->address)));
  }
  call->operation = Operation::resource;
  // Of an attachment the item is read, which may take as long as a query.
  if (kind->owner == "docs") {
    return later_in_container(context, std::move(call), Lane::queries, answer);
  }
  later(context, std::move(call), Lane::management, answer);
}

}  // namespace orrery::cosmos

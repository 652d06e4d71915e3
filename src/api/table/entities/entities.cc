// See entities.h.
#include "api/table/entities/entities.h"

#include <utility>

#include "api/table/entities/apply_changes.h"
#include "api/table/entities/entity_json.h"
#include "api/table/forward/forward.h"
#include "api/table/query/key_ranges.h"
#include "api/table/query/query_entities.h"
#include "api/table/tables/table_store.h"

namespace orrery::table {
namespace {

using face::Lane;

void answer_read(Call& call, const cluster::Routing& routing, Result<cluster::ReadReply> reply) {
  if (!reply) return call.fail(reply.error());
  call.receipt(reply->receipt);
  if (!reply->item) return call.fail(table_error(ErrorCode::resource_not_found));
  auto level = metadata_of(call.parameters.format, call.headers.accept);
  if (!level) return call.fail(level.error());
  const std::vector<std::string> select = parse_select(call.parameters.select);
  const std::string base = call.base();
  const std::string table = shown_name(*routing.container);
  std::string json;
  json.reserve(reply->item->body.size() * 2 + 256);
  const EntityShape shape{.level = *level, .select = select, .base = base, .table = table};
  if (auto shown = append_entity_json(json, reply->item->body, shape, true); !shown) {
    return call.fail(shown.error());
  }
  call.response.headers += "etag: ";
  append_etag(call.response.headers, timestamp_of(reply->item->body));
  call.response.headers += "\r\n";
  call.reply_json(200, *level, std::move(json));
}

void read_entity(const HandlerContext& context, CallPtr call) {
  call->set_operation(Operation::get_entity);
  if (auto allowed = call->grant.allows(Operation::get_entity, call->address.table); !allowed) {
    return call->fail(allowed.error());
  }
  if (auto allowed = call->grant.allows_keys(call->address.partition_key, call->address.row_key);
      !allowed) {
    return call->fail(allowed.error());
  }
  cluster::RoutingPtr routing = table_of(context, call);
  if (!routing) return;
  std::string placement =
      place_partition(routing->container->spec.key, call->address.partition_key);
  if (auto reply =
          context.engine.read_in_memory(*routing, placement, call->address.row_key, {}, 1)) {
    return answer_read(*call, *routing, std::move(*reply));
  }
  const uint32_t share = routing->container->number;
  later(context, std::move(call), Lane::reads, share,
        [&context, routing, placement = std::move(placement)](CallPtr running) mutable {
          std::string row = running->address.row_key;
          context.engine.read(
              routing, std::move(placement), std::move(row), {},
              [call = std::move(running), routing](Result<cluster::ReadReply> reply) mutable {
                answer_read(*call, *routing, std::move(reply));
              });
        });
}

// Inserts that send the entity back need to know how; others need not say.
TableResult<Metadata> level_of_change(const Call& call, Change change, Prefer prefer) {
  auto level = metadata_of(call.parameters.format, call.headers.accept);
  if (change == Change::insert && prefer != Prefer::no_content) return level;
  return level.value_or(Metadata::minimal);
}

void change_entity(const HandlerContext& context, CallPtr call) {
  auto change = parse_change(call->method, call->address, call->headers.if_match, call->body);
  if (!change) return call->fail(change.error());
  call->set_operation(change->operation());
  if (auto allowed = call->grant.allows(change->operation(), call->address.table); !allowed) {
    return call->fail(allowed.error());
  }
  if (auto allowed = call->grant.allows_keys(change->partition_key, change->row_key); !allowed) {
    return call->fail(allowed.error());
  }
  const Prefer prefer = parse_prefer(call->headers.prefer);
  auto level = level_of_change(*call, change->change, prefer);
  if (!level) return call->fail(level.error());
  cluster::RoutingPtr routing = table_of(context, call);
  if (!routing) return;
  std::string table = shown_name(*routing->container);
  std::vector<EntityChange> changes;
  changes.push_back(std::move(*change));
  apply_changes(context, std::move(call), std::move(routing), std::move(changes),
                [prefer, level = *level, table = std::move(table)](CallPtr done, Applied applied) {
                  done->receipt(applied.receipt);
                  if (applied.error) return done->fail(*applied.error);
                  auto answer =
                      answer_of(applied.changes.front(), applied.written.front().item.body, prefer,
                                level, *done, table);
                  if (!answer) return done->fail(answer.error());
                  done->response.headers += answer->headers;
                  if (answer->body.empty()) return done->reply_empty(answer->status);
                  done->reply_json(answer->status, level, std::move(answer->body));
                });
}

}  // namespace

cluster::RoutingPtr table_of(const HandlerContext& context, CallPtr& call) {
  cluster::RoutingPtr routing = find_table(context.engine, call->address.table);
  if (!routing) {
    if (ask_catalog_owner(context, call)) return nullptr;
    call->fail(table_error(ErrorCode::table_not_found));
    call.reset();
    return nullptr;
  }
  call->cosmos_flavour = routing->container->spec.key.placement != value::Placement::range;
  return routing;
}

void append_link(std::string& out, std::string_view base, std::string_view table,
                 const EntityChange& change) {
  out += base;
  out += '/';
  out += table;
  out += '(';
  append_key_predicate(out, change.partition_key, change.row_key);
  out += ')';
}

TableResult<ChangeAnswer> answer_of(const EntityChange& change, std::string_view stored,
                                    Prefer prefer, Metadata level, const Call& call,
                                    std::string_view table) {
  ChangeAnswer answer;
  if (change.change == Change::remove) return answer;
  answer.headers.reserve(512);
  answer.headers += "ETag: ";  // in this case: some clients read it so in a batch
  append_etag(answer.headers, timestamp_of(stored));
  answer.headers += "\r\n";
  if (change.change != Change::insert) return answer;
  const std::string base = call.base();
  const size_t at = answer.headers.append("Location: ").size();
  append_link(answer.headers, base, table, change);
  const size_t end = answer.headers.size();
  answer.headers += "\r\nDataServiceId: ";
  answer.headers.append(std::string(answer.headers, at, end - at));
  answer.headers += "\r\n";
  if (prefer == Prefer::no_content) {
    answer.headers += "Preference-Applied: return-no-content\r\n";
    return answer;
  }
  if (prefer == Prefer::content) answer.headers += "Preference-Applied: return-content\r\n";
  answer.status = 201;
  const EntityShape shape{.level = level, .select = {}, .base = base, .table = table};
  if (auto shown = append_entity_json(answer.body, stored, shape, true); !shown) {
    return std::unexpected(from_engine(shown.error(), call.cosmos_flavour));
  }
  return answer;
}

void handle_entities(const HandlerContext& context, CallPtr call) {
  if (call->method == "GET") return handle_query(context, std::move(call));
  if (call->method == "POST") return change_entity(context, std::move(call));
  call->method_not_allowed();
}

void handle_entity(const HandlerContext& context, CallPtr call) {
  if (call->method == "GET") return read_entity(context, std::move(call));
  change_entity(context, std::move(call));
}

}  // namespace orrery::table

// See query_entities.h.
#include "api/table/query/query_entities.h"

#include <utility>

#include "api/table/forward/forward.h"
#include "api/table/query/entity_page.h"
#include "api/table/tables/table_store.h"
#include "base/await.h"
#include "value/json.h"

namespace orrery::table {
namespace {

constexpr size_t kPageMax = 1000;

TableResult<std::optional<NextKeys>> start_of(const QueryParameters& parameters) {
  if (!parameters.next_partition || parameters.next_partition->empty()) return std::nullopt;
  if (auto placement = parse_placement_continuation(*parameters.next_partition)) {
    return NextKeys{.partition_key = {}, .row_key = {}, .placement = std::move(*placement)};
  }
  auto partition_key = parse_continuation(*parameters.next_partition);
  std::optional<std::string> row_key = std::string();
  if (parameters.next_row && !parameters.next_row->empty()) {
    row_key = parse_continuation(*parameters.next_row);
  }
  if (!partition_key || !row_key) {
    return refuse(ErrorCode::invalid_input,
                  "NextPartitionKey and NextRowKey are not as this service gave them.");
  }
  return NextKeys{std::move(*partition_key), std::move(*row_key), {}};
}

// How the page of a query is read: by a thread that must not wait first, and where it would have
// to, by one that may.
struct PageProgress {
  partition::Reach reach = partition::Reach::files;
  EntityPage begun = {};    // what the first one has read
  bool would_wait = false;  // there is no answer yet, and the other one is to go on
};

TableResult<QueryAnswer> query(const HandlerContext& context, Call& call, const Address& address,
                               const QueryParameters& parameters, std::string_view accept,
                               PageProgress& progress) {
  progress.would_wait = false;
  auto level = metadata_of(parameters.format, accept);
  if (!level) return pass(level.error());
  auto filter = parse_filter(parameters.filter);
  if (!filter) return pass(filter.error());
  auto top = parse_top(parameters.top, kPageMax);
  if (!top) return pass(top.error());
  auto from = start_of(parameters);
  if (!from) return pass(from.error());
  const cluster::RoutingPtr routing = find_table(context.engine, address.table);
  if (!routing) return refuse(ErrorCode::table_not_found);
  call.cosmos_flavour = routing->container->spec.key.placement != value::Placement::range;
  const std::vector<std::string> select = parse_select(parameters.select);
  const std::string base = call.base();
  const std::string table = shown_name(*routing->container);
  const int64_t time_us = static_cast<int64_t>(context.engine.limits().query_time_ms) * 1000;
  PageRequest request{.filter = *filter,
                      .granted = call.grant.keys(),
                      .entities_max = *top,
                      .from = std::move(*from),
                      .shape = {.level = *level, .select = select, .base = base, .table = table},
                      .until_us = context.clock.steady_us() + time_us,
                      .is_wanted = [&call] { return !call.client_is_gone(); }};
  if (progress.begun.next) request.from = progress.begun.next;
  auto page = read_page(context.engine, context.clock, routing, request, progress.reach,
                        std::move(progress.begun));
  if (!page) {
    progress.begun = {};
    progress.would_wait = page.error().code == Code::would_wait;
    return std::unexpected(call.engine_error(page.error()));
  }
  if (page->is_unfinished) {
    progress.begun = std::move(*page);
    progress.would_wait = true;
    return QueryAnswer{};
  }
  QueryAnswer answer;
  answer.level = *level;
  answer.body = "{";
  if (*level != Metadata::none) {
    answer.body += "\"odata.metadata\":";
    value::append_json_string(answer.body, base + "/$metadata#" + table);
    answer.body += ',';
  }
  answer.body += "\"value\":[";
  answer.body += page->entities;
  answer.body += "]}";
  if (page->next) {
    answer.headers +=
        "x-ms-continuation-NextPartitionKey: " +
        (page->next->placement.empty() ? continuation_text(page->next->partition_key)
                                       : placement_continuation_text(page->next->placement)) +
        "\r\nx-ms-continuation-NextRowKey: " + continuation_text(page->next->row_key) + "\r\n";
  }
  call.receipt(page->receipt);
  return answer;
}

void run_query(const HandlerContext& context, CallPtr call, PageProgress progress) {
  auto answer =
      query(context, *call, call->address, call->parameters, call->headers.accept, progress);
  if (progress.would_wait && progress.reach == partition::Reach::memory) {
    const cluster::RoutingPtr routing = find_table(context.engine, call->address.table);
    const uint64_t share = routing ? routing->container->number : 0;
    progress.reach = partition::Reach::files;
    return later(context, std::move(call), face::Lane::queries, share,
                 [&context, progress = std::move(progress)](CallPtr running) mutable {
                   run_query(context, std::move(running), std::move(progress));
                 });
  }
  if (!answer) {
    if (answer.error().code == ErrorCode::table_not_found && ask_catalog_owner(context, call)) {
      return;
    }
    return call->fail(answer.error());
  }
  call->response.headers += answer->headers;
  call->reply_json(200, answer->level, std::move(answer->body));
}

}  // namespace

std::optional<std::string> place_of_page(const QueryParameters& parameters, const KeyRange& granted,
                                         const value::KeyDefinition& key) {
  auto from = start_of(parameters);
  if (!from) return std::nullopt;
  if (*from) {
    return (*from)->placement.empty() ? place_partition(key, (*from)->partition_key)
                                      : (*from)->placement;
  }
  auto filter = parse_filter(parameters.filter);
  if (!filter) return std::nullopt;
  const auto stretches = stretches_of(*filter, granted, key);
  return stretches.empty() ? std::nullopt : std::optional(stretches.front().min);
}

void handle_query(const HandlerContext& context, CallPtr call) {
  call->set_operation(Operation::query_entities);
  if (auto allowed = call->grant.allows(Operation::query_entities, call->address.table); !allowed) {
    return call->fail(allowed.error());
  }
  run_query(context, std::move(call), {.reach = partition::Reach::memory});
}

TableResult<QueryAnswer> answer_query(const HandlerContext& context, Call& call,
                                      const Address& address, const QueryParameters& parameters,
                                      std::string_view accept) {
  PageProgress progress;
  return query(context, call, address, parameters, accept, progress);
}

TableResult<QueryAnswer> answer_point(const HandlerContext& context, Call& call,
                                      const Address& address, const QueryParameters& parameters,
                                      std::string_view accept) {
  auto level = metadata_of(parameters.format, accept);
  if (!level) return pass(level.error());
  if (auto allowed = call.grant.allows_keys(address.partition_key, address.row_key); !allowed) {
    return pass(allowed.error());
  }
  const cluster::RoutingPtr routing = find_table(context.engine, address.table);
  if (!routing) return refuse(ErrorCode::table_not_found);
  auto read = await<Result<cluster::ReadReply>>([&](auto done) {
    context.engine.read(routing,
                        place_partition(routing->container->spec.key, address.partition_key),
                        address.row_key, {}, std::move(done));
  });
  if (!read) return std::unexpected(call.engine_error(read.error()));
  if (!*read) return std::unexpected(call.engine_error(read->error()));
  call.receipt((*read)->receipt);
  if (!(*read)->item) return refuse(ErrorCode::resource_not_found);
  const std::vector<std::string> select = parse_select(parameters.select);
  const std::string base = call.base();
  const std::string table = shown_name(*routing->container);
  QueryAnswer answer;
  answer.level = *level;
  answer.headers = "etag: ";
  append_etag(answer.headers, timestamp_of((*read)->item->body));
  answer.headers += "\r\n";
  const EntityShape shape{.level = *level, .select = select, .base = base, .table = table};
  if (auto shown = append_entity_json(answer.body, (*read)->item->body, shape, true); !shown) {
    return std::unexpected(from_engine(shown.error(), call.cosmos_flavour));
  }
  return answer;
}

}  // namespace orrery::table

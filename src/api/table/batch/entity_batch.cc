// See entity_batch.h.
#include "api/table/batch/entity_batch.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "api/table/batch/multipart.h"
#include "api/table/entities/apply_changes.h"
#include "api/table/entities/entities.h"
#include "api/table/entities/entity_json.h"
#include "api/table/forward/forward.h"
#include "api/table/query/query_entities.h"
#include "api/table/tables/table_store.h"
#include "base/ascii_case.h"
#include "base/bytes.h"

namespace orrery::table {
namespace {

constexpr size_t kCosmosBytesMax = 2U << 20;

// What the answer needs of each operation.
struct PartAnswer {
  Prefer prefer = Prefer::unsaid;
  Metadata level = Metadata::minimal;
  std::string content_id;
};

void reply_parts(Call& call, const std::vector<BatchAnswer>& answers, bool changeset) {
  WrittenBatch written = write_batch(answers, changeset, make_request_id());
  call.reply_with(202, written.content_type, std::move(written.body));
}

// The whole is answered 202, with one part that says what was wrong.
void reply_failure(Call& call, const TableError& error, bool changeset) {
  BatchAnswer answer;
  answer.status = error.status();
  answer.headers = fmt::format(
      "x-ms-error-code: {}\r\ncontent-type: "
      "application/json;odata=minimalmetadata;streaming=true;charset=utf-8\r\n",
      error.name());
  answer.body = call.error_text(error, true);
  reply_parts(call, {answer}, changeset);
}

std::string_view method_of(const BatchPart& part) {
  const std::string_view instead = part.header("x-http-method");
  return part.method == "POST" && !instead.empty() ? instead : part.method;
}

TableResult<Address> address_of(const Call& call, const BatchPart& part) {
  auto address = parse_address(part.path_and_query(), call.headers.host);
  if (!address) return address;
  if (address->account != call.address.account) {
    return refuse(ErrorCode::invalid_input,
                  fmt::format("The operation is for the account '{}', and the batch for '{}'.",
                              address->account.substr(0, 63), call.address.account));
  }
  return address;
}

struct ParsedBatch {
  std::vector<EntityChange> changes;
  std::vector<PartAnswer> answers;
  std::string table;
};

TableStatus check_place(const ParsedBatch& batch, const Address& address,
                        const EntityChange& change) {
  if (batch.changes.empty()) return {};
  if (!equals_ignore_case(batch.table, address.table)) {
    return refuse(ErrorCode::invalid_input,
                  fmt::format("The operation is for the table '{}', and those before it for '{}'.",
                              address.table.substr(0, 63), batch.table));
  }
  if (batch.changes.front().partition_key != change.partition_key) {
    return refuse(ErrorCode::commands_in_batch_act_on_different_partitions);
  }
  return {};
}

TableResult<ParsedBatch> parse_changes(const Call& call, const Batch& batch) {
  ParsedBatch parsed;
  parsed.changes.reserve(batch.parts.size());  // `rows` has views of them
  parsed.answers.reserve(batch.parts.size());
  std::set<std::string_view> rows;
  TableResult<Address> address;
  for (size_t i = 0; i < batch.parts.size(); ++i) {
    const BatchPart& part = batch.parts[i];
    const auto wrong = [&](TableError error) {
      return std::unexpected(at_index(i, std::move(error)));
    };
    // Inserts have the address of their table, all the same.
    if (i == 0 || part.target != batch.parts[i - 1].target) address = address_of(call, part);
    if (!address) return wrong(address.error());
    if (part.method == "GET") {
      return wrong(table_error(ErrorCode::invalid_input,
                               "A query stands alone in a batch, outside of a changeset."));
    }
    auto change = parse_change(method_of(part), *address, part.header("if-match"), part.body);
    if (!change) return wrong(change.error());
    if (auto allowed = call.grant.allows(change->operation(), address->table); !allowed) {
      return wrong(allowed.error());
    }
    if (auto allowed = call.grant.allows_keys(change->partition_key, change->row_key); !allowed) {
      return wrong(allowed.error());
    }
    if (auto placed = check_place(parsed, *address, *change); !placed) return wrong(placed.error());
    parsed.changes.push_back(std::move(*change));
    if (!rows.insert(parsed.changes.back().row_key).second) {
      return wrong(table_error(ErrorCode::invalid_duplicate_row));
    }
    PartAnswer answer;
    answer.prefer = parse_prefer(part.header("prefer"));
    answer.level = metadata_of("", part.header("accept")).value_or(Metadata::minimal);
    answer.content_id = part.content_id;
    if (i == 0) parsed.table = address->table;
    parsed.answers.push_back(std::move(answer));
  }
  return parsed;
}

// An update has no link in its answer alone; in a batch clients find the row by it.
void add_link(std::string& headers, const Call& call, std::string_view table,
              const EntityChange& named) {
  if (named.change == Change::insert) return;  // it has one
  headers += "DataServiceId: ";
  append_link(headers, call.base(), table, named);
  headers += "\r\n";
}

void reply_applied(Call& call, const Applied& applied, const std::vector<PartAnswer>& parts,
                   std::string_view table) {
  call.receipt(applied.receipt);
  if (applied.error) {
    const TableError& error = *applied.error;
    // Of no operation in particular: over budget, say. Then it is not a batch that is answered.
    if (!applied.failed || call.is_elsewhere()) return call.fail(error);
    return reply_failure(call, at_index(*applied.failed, error), true);
  }
  std::vector<BatchAnswer> answers;
  answers.reserve(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    const PartAnswer& part = parts[i];
    const EntityChange& change = applied.changes[i];
    auto made =
        answer_of(change, applied.written[i].item.body, part.prefer, part.level, call, table);
    if (!made) return call.fail(made.error());
    BatchAnswer answer;
    answer.status = made->status;
    answer.headers = std::move(made->headers);
    add_link(answer.headers, call, table, change);
    answer.headers += "cache-control: no-cache\r\nx-content-type-options: nosniff\r\n";
    if (!made->body.empty()) {
      answer.headers += "content-type: ";
      answer.headers += content_type_of(part.level);
      answer.headers += "\r\n";
      answer.body = std::move(made->body);
    }
    answer.content_id = part.content_id;
    answers.push_back(std::move(answer));
  }
  reply_parts(call, answers, true);
}

// One query, outside of a changeset. Blocks.
void run_lone_query(const HandlerContext& context, CallPtr call) {
  auto batch = parse_batch(call->headers.content_type, call->body);
  if (!batch || batch->parts.empty()) return call->fail(table_error(ErrorCode::invalid_input));
  const BatchPart& part = batch->parts.front();
  auto address = address_of(*call, part);
  if (!address) return reply_failure(*call, address.error(), false);
  if (part.method != "GET") {
    return reply_failure(*call,
                         table_error(ErrorCode::invalid_input,
                                     "Changes stand in a changeset, also when there is only one."),
                         false);
  }
  const std::string_view target = part.path_and_query();
  const size_t mark = std::min(target.find('?'), target.size() - 1);
  auto parameters = parse_query_parameters(
      target.find('?') == std::string_view::npos ? std::string_view() : target.substr(mark + 1));
  if (!parameters) return reply_failure(*call, parameters.error(), false);
  const bool is_point = address->resource == Resource::entity;
  if (!is_point && address->resource != Resource::entities) {
    return reply_failure(*call, table_error(ErrorCode::invalid_input), false);
  }
  if (auto allowed = call->grant.allows(
          is_point ? Operation::get_entity : Operation::query_entities, address->table);
      !allowed) {
    return reply_failure(*call, allowed.error(), false);
  }
  auto answer = is_point
                    ? answer_point(context, *call, *address, *parameters, part.header("accept"))
                    : answer_query(context, *call, *address, *parameters, part.header("accept"));
  if (!answer) {
    if (call->is_elsewhere()) return call->fail(answer.error());
    return reply_failure(*call, at_index(0, answer.error()), false);
  }
  BatchAnswer shown;
  shown.status = 200;
  shown.headers = std::move(answer->headers);
  shown.headers += "content-type: ";
  shown.headers += content_type_of(answer->level);
  shown.headers += "\r\n";
  shown.body = std::move(answer->body);
  shown.content_id = part.content_id;
  reply_parts(*call, {shown}, false);
}

}  // namespace

void handle_batch(const HandlerContext& context, CallPtr call) {
  call->metric = kBatchMetric;
  if (call->method != "POST") return call->method_not_allowed();
  auto batch = parse_batch(call->headers.content_type, call->body);
  if (!batch) return call->fail(batch.error());
  if (!batch->changeset) {
    return later(context, std::move(call), face::Lane::queries, run_lone_query);
  }
  if (batch->parts.empty()) {
    return call->fail(table_error(ErrorCode::invalid_input, "The changeset has no operation."));
  }
  auto parsed = parse_changes(*call, *batch);
  if (!parsed) return reply_failure(*call, parsed.error(), true);
  const cluster::RoutingPtr routing = find_table(context.engine, parsed->table);
  if (!routing) {
    if (ask_catalog_owner(context, call)) return;
    return reply_failure(*call, at_index(0, table_error(ErrorCode::table_not_found)), true);
  }
  call->cosmos_flavour = routing->container->spec.key.placement != value::Placement::range;
  if (call->cosmos_flavour && call->body.size() > kCosmosBytesMax) {
    return call->fail(table_error(ErrorCode::request_body_too_large,
                                  fmt::format("The batch has {} bytes; {} is the limit of a table "
                                              "that is placed by hash.",
                                              call->body.size(), kCosmosBytesMax)));
  }
  std::string table = shown_name(*routing->container);
  apply_changes(
      context, std::move(call), routing, std::move(parsed->changes),
      [parts = std::move(parsed->answers), table = std::move(table)](
          CallPtr done, Applied applied) { reply_applied(*done, applied, parts, table); });
}

}  // namespace orrery::table

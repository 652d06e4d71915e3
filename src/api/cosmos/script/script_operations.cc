// See script_operations.h.
#include "api/cosmos/script/script_operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/cosmos/query/prepared_query.h"
#include "api/cosmos/query/query_request.h"
#include "api/cosmos/wire/error_body.h"
#include "api/cosmos/wire/etag.h"
#include "api/cosmos/wire/rid.h"
#include "cluster/query/transaction_space.h"
#include "face/http_error.h"
#include "prices/request_units.h"
#include "query/run/execute.h"
#include "value/terms.h"

namespace orrery::cosmos {
namespace {

using script::ItemOperation;
using script::OperationKind;
using script::Reply;

Reply refused(const Error& error) {
  const auto status = static_cast<uint16_t>(face::http_status(error.code));
  return {.status = status, .body = error_body(face::status_name(status), error.message, "")};
}

Error no_item(const std::string& document) {
  return {
      .code = Code::not_found,
      .message = fmt::format("there is no item '{}' under the script's partition key", document)};
}

std::string array_of(const StringList& rows) {
  std::string json = "[";
  for (std::string_view row : rows) {
    if (json.size() > 1) json += ',';
    json += row;
  }
  json += ']';
  return json;
}

}  // namespace

ScriptOperations::ScriptOperations(cluster::Engine& engine, script::Host& host, const Clock& clock,
                                   const Continuations& continuations, const ScriptScope& scope,
                                   partition::Transaction& transaction)
    : engine_(engine),
      host_(host),
      clock_(clock),
      continuations_(continuations),
      scope_(scope),
      transaction_(transaction),
      finisher_(scope.routing->container->database, scope.routing->container->number),
      names_(std::make_shared<ProvisionalNames>(scope.routing->container->database,
                                                scope.routing->container->number)) {}

Reply ScriptOperations::perform(const ItemOperation& operation) {
  switch (operation.kind) {
    case OperationKind::create:
      return write(operation, ItemVerb::create);
    case OperationKind::upsert:
      return write(operation, ItemVerb::upsert);
    case OperationKind::replace:
      return write(operation, ItemVerb::replace);
    case OperationKind::remove:
      return write(operation, ItemVerb::remove);
    case OperationKind::read:
      return read(operation);
    case OperationKind::query:
      return query(operation);
    case OperationKind::read_feed:
      return read_feed(operation);
  }
  return refused({.code = Code::internal, .message = "an operation of no known kind"});
}

void ScriptOperations::start_clock() {
  deadline_us_ = clock_.steady_us() + static_cast<int64_t>(engine_.limits().script_time_ms) * 1000;
}

Result<bool> ScriptOperations::has(const std::string& row) const {
  auto item = transaction_.read(scope_.placement, row);
  if (!item) return pass(item.error());
  return item->has_value();
}

Result<std::string> ScriptOperations::edited(const std::string& row,
                                             const partition::Editor& editor) const {
  auto item = transaction_.read(scope_.placement, row);
  if (!item) return pass(item.error());
  if (!*item) return pass(no_item(row));
  auto edited = editor.edit(**item);
  if (!edited) return pass(edited.error());
  return std::move(edited->body);
}

// Items that the script has written are completed here, as the writer will complete them.
std::string ScriptOperations::body_of(const std::string& row, partition::Item& item) const {
  const auto written = written_.find(row);
  if (written == written_.end()) return std::move(item.body);
  return finisher_.finish(item.body, written->second.version, written->second.origin);
}

Result<std::string> ScriptOperations::row_of(const ItemOperation& operation) const {
  if (operation.by_name) return operation.document;
  if (auto made = made_.find(operation.document); made != made_.end()) return made->second;
  const value::Path rid_path{.steps = {{.name = "_rid"}}};
  std::string term = value::term_path(rid_path);
  value::append_term_value(term, operation.document);
  auto found = engine_.find_by_term(scope_.routing, term);
  if (!found) return pass(found.error());
  if (!*found || (*found)->placement != scope_.placement) {
    return pass(no_item(operation.document));
  }
  // It may have been written by others since the transaction began.
  auto item = transaction_.read(scope_.placement, (*found)->row);
  if (!item) return pass(item.error());
  if (!*item || names_->rid((*item)->origin) != operation.document) {
    return pass(no_item(operation.document));
  }
  return std::move((*found)->row);
}

std::expected<ScriptOperations::Staged, Refusal> ScriptOperations::stage(
    const ItemRequest& request) {
  auto write = make_write(request, *scope_.routing, engine_.limits());
  if (!write) return std::unexpected(write.error());
  if (write->placement != scope_.placement) {
    return std::unexpected(Refusal{
        {.code = Code::invalid,
         .message = fmt::format("the item's partition key {} is not that of the transaction, {}: "
                                "a script writes items of one partition key",
                                write->key_text, scope_.key)},
        kSubstatusKeyMismatch});
  }
  const std::string row = write->row;
  auto before = transaction_.read(scope_.placement, row);
  if (!before) return std::unexpected(Refusal{before.error()});
  const auto known = written_.find(row);
  if (known != written_.end() && write->if_version && *before) {
    if (*write->if_version != known->second.version) {
      return std::unexpected(
          Refusal{{.code = Code::precondition_failed,
                   .message = fmt::format("the item '{}' has another etag since this script wrote "
                                          "it: use that of the last write",
                                          row)}});
    }
    write->if_version.reset();
  }

  Staged staged;
  Known now;
  if (request.verb != ItemVerb::remove) {
    staged.replaced = before->has_value();
    now.version = names_->next_version(clock_.now_s());
    if (!*before) {
      now.origin = names_->next_origin();
    } else {
      now.origin = known == written_.end() ? (*before)->origin : known->second.origin;
    }
    staged.body = finisher_.finish(write->body, now.version, now.origin);
    write->finisher = std::make_shared<ScriptFinisher>(names_, finisher_, now.version, now.origin);
    write->prepared.reset();  // the provisional names in the body will be others
  }
  if (auto done = transaction_.stage(std::move(*write)); !done) {
    return std::unexpected(Refusal{done.error()});
  }
  if (request.verb == ItemVerb::remove) {
    written_.erase(row);
  } else {
    if (ProvisionalNames::is_provisional(now.origin)) made_[names_->rid(now.origin)] = row;
    written_[row] = now;
  }
  return staged;
}

Reply ScriptOperations::write(const ItemOperation& operation, ItemVerb verb) {
  ItemRequest request;
  request.verb = verb;
  request.body = operation.body;
  request.key = scope_.key;
  request.placement = verb == ItemVerb::remove ? scope_.placement : "";
  request.if_match = operation.condition;
  std::string row;
  if (verb == ItemVerb::replace || verb == ItemVerb::remove) {
    auto found = row_of(operation);
    if (!found) return refused(found.error());
    row = std::move(*found);
    request.id = row;
  }
  auto staged = stage(request);
  if (!staged) {
    charge_ += prices::miss_charge();
    return refused(staged.error().error);
  }
  return {.status = static_cast<uint16_t>(success_status(verb, staged->replaced)),
          .body = std::move(staged->body)};
}

Reply ScriptOperations::read(const ItemOperation& operation) {
  auto row = row_of(operation);
  auto item = row ? transaction_.read(scope_.placement, *row)
                  : Result<std::optional<partition::Item>>(pass(row.error()));
  if (!item || !*item) {
    charge_ += prices::miss_charge() * scope_.charge_factor;
    return refused(item ? no_item(operation.document) : item.error());
  }
  const auto written = written_.find(*row);
  const partition::Version version =
      written == written_.end() ? (*item)->version : written->second.version;
  if (!operation.condition.empty()) {
    auto known = parse_etag_condition(operation.condition);
    if (!known || *known == version) {
      charge_ += prices::miss_charge() * scope_.charge_factor;
      return {.status = 304};
    }
  }
  std::string body = body_of(*row, **item);
  charge_ += prices::read_charge(prices::charged_bytes(body.size())) * scope_.charge_factor;
  return {.status = 200, .body = std::move(body)};
}

size_t ScriptOperations::page_size(const ItemOperation& operation) const {
  const uint64_t most = engine_.limits().feed_items;
  if (operation.page_size <= 0) return most;
  return std::min<uint64_t>(static_cast<uint64_t>(operation.page_size), most);
}

Reply ScriptOperations::query(const ItemOperation& operation) {
  PreparedQuery prepared(host_, engine_.catalog(), *scope_.routing);
  if (auto parsed = prepared.parse(operation.body, scope_.query_rules); !parsed) {
    return refused(parsed.error());
  }
  const QueryRequest* request = &prepared.request();
  query::PageLimits limits;
  limits.stop = [this] { return clock_.steady_us() > deadline_us_ || !is_wanted(); };
  if (auto bound = prepared.bind(limits); !bound) return refused(bound.error());
  const uint32_t container = scope_.routing->container->number;
  std::optional<query::Position> position;
  if (!operation.continuation.empty()) {
    auto from = continuations_.decode_query(operation.continuation, container, request->hash);
    if (!from) return refused(from.error());
    position = std::move(from->at);
  }
  limits.rows = page_size(operation);
  limits.bytes = engine_.limits().response_bytes;
  limits.position_bytes = position_bytes(kMaxContinuationBytes);
  cluster::TransactionSpace space(transaction_, scope_.placement,
                                  [this](const partition::ItemKey& key, partition::Item& item) {
                                    return body_of(key.row, item);
                                  });
  auto page = query::run_page(prepared.bound(), space, position ? &*position : nullptr, limits,
                              prepared.context());
  if (!page) return refused(page.error());
  Reply reply{.status = 200, .body = array_of(page->rows)};
  charge_ += scope_.charge_factor * prices::query_charge({.items = page->read.items,
                                                          .bytes = page->read.bytes,
                                                          .entries_read = page->read.entries,
                                                          .bytes_returned = reply.body.size(),
                                                          .bytes_asked = operation.body.size()});
  if (page->next) {
    auto token = continuations_.encode(QueryPosition{container, request->hash, 0, *page->next},
                                       kMaxContinuationBytes);
    if (!token) return refused(token.error());
    reply.continuation = std::move(*token);
  }
  return reply;
}

Reply ScriptOperations::read_feed(const ItemOperation& operation) {
  const uint32_t container = scope_.routing->container->number;
  std::optional<std::string> after;
  if (!operation.continuation.empty()) {
    auto from = continuations_.decode(operation.continuation, container);
    if (!from) return refused(from.error());
    if (from->after_placement != scope_.placement) {
      return refused(
          {.code = Code::invalid, .message = "the continuation belongs to another partition key"});
    }
    after = std::move(from->after_row);
  }
  auto page = transaction_.scan(scope_.placement, after ? &*after : nullptr, page_size(operation),
                                engine_.limits().response_bytes);
  if (!page) return refused(page.error());
  StringList rows;
  uint64_t bytes = 0;
  for (auto& [key, item] : page->items) {
    rows.push_back(body_of(key.row, item));
    bytes += prices::charged_bytes(rows.back().size());
  }
  charge_ += prices::feed_charge(bytes, rows.size()) * scope_.charge_factor;
  Reply reply{.status = 200, .body = array_of(rows)};
  if (page->more && page->last) {
    reply.continuation =
        continuations_.encode(FeedPosition{container, scope_.placement, page->last->row});
  }
  return reply;
}

}  // namespace orrery::cosmos

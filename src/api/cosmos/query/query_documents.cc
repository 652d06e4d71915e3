// See query_documents.h. The query runs over the whole list, so that all of the language can be
// used. The limits of an account bound the list.
#include "api/cosmos/query/query_documents.h"

#include <chrono>
#include <optional>
#include <utility>

#include "api/cosmos/query/query_request.h"
#include "api/cosmos/wire/feed_json.h"
#include "api/cosmos/wire/query_error.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "prices/request_units.h"
#include "query/bind/bind.h"
#include "query/run/execute.h"
#include "query/run/memory_space.h"
#include "value/json.h"

namespace orrery::cosmos {
namespace {

Result<std::vector<query::MemorySpace::Placed>> by_id(const std::vector<std::string>& documents) {
  std::vector<query::MemorySpace::Placed> placed;
  placed.reserve(documents.size());
  for (const std::string& document : documents) {
    auto json = value::JsonDocument::parse(document);
    if (!json) return fail(Code::internal, "a resource is not JSON: " + json.error().message);
    const value::Node* id = json->root().find("id");
    placed.push_back({"", id == nullptr ? "" : std::string(id->text), document});
  }
  return placed;
}

}  // namespace

void query_documents(CallPtr call, const Continuations& continuations, const FeedOf& feed,
                     const std::vector<std::string>& documents) {
  if (is_true(call->headers.is_query_plan)) {
    return call->fail({.code = Code::invalid,
                       .message = "only queries over items have plans: send the query itself"});
  }
  auto request = parse_query_request(call->body);
  if (!request) return call->fail(request.error());
  query::PageLimits limits;
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(feed.time_ms);
  limits.stop = [&] { return std::chrono::steady_clock::now() > until || call->client_is_gone(); };
  query::Context context;
  prepare(context);
  context.budget.start({.stop = limits.stop, .bytes = query::kEvaluationBytesMax});
  auto bound = query::bind_query(*request->parsed, request->parameters, {}, nullptr, {}, &context);
  if (!bound) return call->fail(query_error(bound.error()));
  auto size = page_size(call->headers.max_item_count, kDefaultPage, kLargestPage);
  if (!size) return call->fail(size.error());
  limits.rows = *size;

  // A continuation is for this query over this feed.
  const auto feed_hash = murmur3_x64_128(feed.rid + '/' + std::string(feed.name), 0);
  const uint64_t seal = request->hash ^ load_u64_be(feed_hash.data());
  std::optional<query::Position> position;
  if (!call->headers.continuation.empty()) {
    auto from = continuations.decode_query(call->headers.continuation, 0, seal);
    if (!from) return call->fail(from.error());
    position = std::move(from->at);
  }
  auto most = continuation_limit(call->headers.continuation_limit_kb);
  if (!most) return call->fail(most.error());
  limits.position_bytes = position_bytes(*most);
  auto items = by_id(documents);
  if (!items) return call->fail(items.error());
  query::MemorySpace space(std::move(*items));
  auto page = query::run_page(**bound, space, position ? &*position : nullptr, limits, context);
  if (!page) return call->fail(page.error());

  std::string json = feed_head(feed.rid, feed.name);
  append_feed_elements(json, page->rows);
  call->charge(prices::feed_charge(json.size(), page->rows.size()));
  finish_feed(json, page->rows.size());
  if (page->next) {
    auto token = continuations.encode(QueryPosition{0, seal, 0, *page->next}, *most);
    if (!token) return call->fail(token.error());
    call->response.add("x-ms-continuation", *token);
  }
  call->response.add("x-ms-item-count", std::to_string(page->rows.size()));
  call->reply(200, std::move(json));
}

}  // namespace orrery::cosmos

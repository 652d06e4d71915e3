// See feed.h.
#include "client/feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "client/table.h"
#include "value/json_quoted.h"

namespace orrery::client {
namespace {

constexpr std::string_view kNoItems = R"({"Documents":[]})";
// In a row, of one range: a range that is still moving after that many looks is an error.
constexpr size_t kMaxMoves = 100;

const value::Node* documents_of(const value::JsonDocument& document) {
  const value::Node* documents = document.root().find("Documents");
  return documents != nullptr ? documents : document.root().find("value");
}

// Continuations of tables are the query parameters that ask for the rest.
Request entities_request(const Endpoint& endpoint, const FeedSpec& spec, const FeedCursor& cursor) {
  std::string path = fmt::format("{}()?$top={}", spec.name.container, spec.items_max);
  if (!spec.query.empty()) path += "&$filter=" + percent_encode(spec.query);
  if (!cursor.continuation.empty()) path += "&" + cursor.continuation;
  return table_request(endpoint, "GET", path);
}

std::string entities_continuation(const Response& answer) {
  std::string continuation;
  for (const auto& [header, parameter] :
       {std::pair("x-ms-continuation-nextpartitionkey", "NextPartitionKey"),
        std::pair("x-ms-continuation-nextrowkey", "NextRowKey")}) {
    const std::string_view given = answer.header(header);
    if (given.empty()) continue;
    continuation +=
        fmt::format("{}{}={}", continuation.empty() ? "" : "&", parameter, percent_encode(given));
  }
  return continuation;
}

}  // namespace

const value::Node* FeedPage::first() const {
  const value::Node* items = documents_of(document);
  return items == nullptr ? nullptr : items->first;
}

size_t FeedPage::count() const {
  const value::Node* items = documents_of(document);
  return items == nullptr ? 0 : items->count;
}

Result<std::vector<FeedCursor>> first_cursors(Client& client, const FeedSpec& spec) {
  std::vector<FeedCursor> cursors;
  if (spec.kind == FeedKind::entities) {
    cursors.push_back(
        {.range = {.id = "0", .min = "", .max = "FF", .parents = {}}, .continuation = {}});
    return cursors;
  }
  auto ranges = read_ranges(client, spec.name);
  if (!ranges) return pass(ranges.error());
  for (KeyRange& range : *ranges) {
    cursors.push_back({.range = std::move(range), .continuation = {}});
  }
  return cursors;
}

Request feed_request(const Endpoint& endpoint, const FeedSpec& spec, const FeedCursor& cursor) {
  if (spec.kind == FeedKind::entities) return entities_request(endpoint, spec, cursor);
  Request request =
      container_request(spec.name, spec.kind == FeedKind::query ? "POST" : "GET", "docs");
  auto& headers = request.headers;
  headers.emplace_back("x-ms-documentdb-partitionkeyrangeid", cursor.range.id);
  headers.emplace_back("x-ms-max-item-count", std::to_string(spec.items_max));
  if (cursor.is_part) {
    headers.emplace_back("x-ms-read-key-type", "EffectivePartitionKeyRange");
    if (!cursor.range.min.empty()) headers.emplace_back("x-ms-start-epk", cursor.range.min);
    headers.emplace_back("x-ms-end-epk", cursor.range.max);
  }
  switch (spec.kind) {
    case FeedKind::changes:
      headers.emplace_back("A-IM", "Incremental Feed");
      if (!cursor.continuation.empty()) headers.emplace_back("If-None-Match", cursor.continuation);
      return request;
    case FeedKind::query:
      headers.emplace_back("content-type", "application/query+json");
      headers.emplace_back("x-ms-documentdb-isquery", "True");
      headers.emplace_back("x-ms-documentdb-query-enablecrosspartition", "True");
      request.body =
          fmt::format("{{\"query\":{},\"parameters\":{}}}", value::quoted(spec.query),
                      spec.parameters_json.empty() ? std::string_view("[]") : spec.parameters_json);
      break;
    case FeedKind::items:
    case FeedKind::entities:
      break;
  }
  if (!cursor.continuation.empty()) {
    headers.emplace_back("x-ms-continuation", cursor.continuation);
  }
  return request;
}

Result<FeedPage> feed_page(const FeedSpec& spec, const FeedCursor& cursor, Result<Response> answer,
                           const std::string& where) {
  if (!answer) return pass(answer.error());
  const bool is_changes = spec.kind == FeedKind::changes;
  const bool nothing_new = is_changes && answer->status == 304;
  if (!nothing_new) {
    answer = succeeded(std::move(answer), where);
    if (!answer) return pass(answer.error());
  }
  auto document = value::JsonDocument::parse(nothing_new ? kNoItems : answer->body);
  if (!document || documents_of(*document) == nullptr) {
    return fail(Code::internal,
                fmt::format("the answer of {} is no page of {}: {}", where, spec.name.text(),
                            document ? "it has no Documents" : document.error().message));
  }
  FeedPage page{
      .document = std::move(*document),
      .charge = answer->charge(),
      .continuation = spec.kind == FeedKind::entities
                          ? entities_continuation(*answer)
                          : std::string(answer->header(is_changes ? "etag" : "x-ms-continuation")),
      .is_end = false};
  if (is_changes && page.continuation.empty()) page.continuation = cursor.continuation;
  page.is_end = is_changes ? nothing_new : page.continuation.empty();
  return page;
}

Result<std::vector<FeedCursor>> children_of(const FeedCursor& gone,
                                            const std::vector<KeyRange>& ranges) {
  std::vector<FeedCursor> children;
  std::string covered = gone.range.min;
  for (const KeyRange& range : ranges) {
    if (range.max <= gone.range.min || range.min >= gone.range.max) continue;
    FeedCursor child{.range = range, .continuation = gone.continuation};
    child.range.min = std::max(range.min, gone.range.min);
    child.range.max = std::min(range.max, gone.range.max);
    child.is_part = child.range.min != range.min || child.range.max != range.max;
    if (child.range.min != covered) break;
    covered = child.range.max;
    children.push_back(std::move(child));
  }
  if (covered != gone.range.max) {
    return fail(Code::internal,
                fmt::format("the partition key range {} is gone, and those that are there now do "
                            "not make up for it",
                            gone.range.id));
  }
  return children;
}

Result<FeedReader> FeedReader::open(Client& client, FeedSpec spec) {
  auto cursors = first_cursors(client, spec);
  if (!cursors) return pass(cursors.error());
  std::ranges::reverse(*cursors);
  return FeedReader(client, std::move(spec), std::move(*cursors));
}

Result<std::optional<FeedPage>> FeedReader::next() {
  for (size_t moves = 0; !left_.empty();) {
    const std::string where = client_->endpoint().where();
    FeedCursor& cursor = left_.back();
    auto page = feed_page(spec_, cursor,
                          client_->call(feed_request(client_->endpoint(), spec_, cursor)), where);
    if (page) {
      if (page->is_end) {
        left_.pop_back();
      } else {
        cursor.continuation = page->continuation;
      }
      return std::optional(std::move(*page));
    }
    if (page.error().code != Code::moved || ++moves > kMaxMoves) return pass(page.error());
    auto ranges = read_ranges(*client_, spec_.name);
    if (!ranges) return pass(ranges.error());
    auto children = children_of(cursor, *ranges);
    if (!children) return pass(children.error());
    left_.pop_back();
    left_.insert(left_.end(), std::make_move_iterator(children->rbegin()),
                 std::make_move_iterator(children->rend()));
  }
  return std::nullopt;
}

}  // namespace orrery::client

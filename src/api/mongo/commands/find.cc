// find, count, distinct.
#include <fmt/format.h>

#include <set>
#include <unordered_set>
#include <utility>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/bson/types.h"
#include "api/mongo/collections/collections.h"
#include "api/mongo/commands/arguments.h"
#include "api/mongo/commands/batches.h"
#include "api/mongo/commands/command.h"
#include "api/mongo/commands/find_command.h"
#include "api/mongo/documents/document_key.h"
#include "api/mongo/documents/find_stream.h"
#include "api/mongo/match/filter_fields.h"
#include "api/mongo/match/path.h"
#include "api/mongo/transactions/snapshot_store.h"

namespace orrery::mongo {
namespace {

using value::Type;
using value::Value;

constexpr size_t kDistinctBytesMax = size_t{16} << 20;
constexpr size_t kAtOnceBytesMax =
    4096;  // of a find command that is looked at on the loop's thread

// {_id: scalar} and nothing else: what it is, or undefined.
Value only_id(const Value& filter) {
  if (!filter.is_object() || filter.size() != 1) return {};
  const Value id = filter.find("_id");
  switch (id.type()) {
    case Type::object:
      for (const Value::Member& member : id.members()) {
        if (member.name.starts_with('$')) return {};
      }
      return id;
    case Type::array:
    case Type::regex:
      return {};
    default:
      return id;
  }
}

bool is_plain(const Value& given) {
  return given.is_undefined() || (given.is_object() && given.size() == 0);
}

void answer_point(Call& call, const cluster::ReadReply& reply) {
  call.charge += reply.receipt.charge;
  call.answer.begin_document("cursor").begin_array("firstBatch");
  if (reply.item) call.answer.document("0", reply.item->body);
  call.answer.end().int64("id", 0).string("ns", call.ns()).end();
}

}  // namespace

Answer<FindQuery> parse_query(const Value& filter, const Value& command) {
  auto collation = collation_argument(command);
  if (!collation) return pass(std::move(collation.error()));
  return FindQuery{.filter = filter,
                   .let = command.find("let"),
                   .collation = *collation,
                   .hint = command.find("hint")};
}

Answer<FindCommand> parse_find(const Value& command) {
  FindCommand find;
  auto filter = object_argument(command, "filter");
  if (!filter) return pass(std::move(filter.error()));
  auto query = parse_query(*filter, command);
  if (!query) return pass(std::move(query.error()));
  find.query = std::move(*query);
  for (const std::string_view member : {"projection", "sort"}) {
    auto given = object_argument(command, member);
    if (!given) return pass(std::move(given.error()));
    (member == "sort" ? find.options.sort : find.options.projection) = *given;
  }
  if (find.options.projection.size() == 0) find.options.projection = {};
  auto skip = integer_argument(command, "skip", 0);
  if (!skip) return pass(std::move(skip.error()));
  auto limit = integer_argument(command, "limit", 0);
  if (!limit) return pass(std::move(limit.error()));
  auto size = integer_argument(command, "batchSize", kFirstBatch);
  if (!size) return pass(std::move(size.error()));
  if (*skip < 0)
    return refuse(51024, fmt::format("BSON field 'skip' value must be >= 0, actual "
                                     "value '{}'",
                                     *skip));
  if (*size < 0)
    return refuse(51024, fmt::format("BSON field 'batchSize' value must be >= 0, "
                                     "actual value '{}'",
                                     *size));
  find.is_single = flag_argument(command, "singleBatch", false) || *limit < 0;
  find.options.skip = *skip;
  find.options.limit = *limit < 0 ? -*limit : *limit;
  find.batch_size = *size;
  if (flag_argument(command, "tailable", false)) {
    return refuse(kBadValue,
                  "error processing query: tailable cursor requested on non capped "
                  "collection");
  }
  for (const std::string_view unsupported : {"min", "max"}) {
    if (!is_plain(command.find(unsupported))) {
      return refuse(kNotImplemented, fmt::format("find with '{}' is not implemented", unsupported));
    }
  }
  for (const std::string_view unsupported : {"returnKey", "showRecordId"}) {
    if (flag_argument(command, unsupported, false)) {
      return refuse(kNotImplemented, fmt::format("find with '{}' is not implemented", unsupported));
    }
  }
  return find;
}

Answer<void> run_find(const HandlerContext& context, Call& call) {
  auto name = collection_argument(call);
  if (!name) return pass(std::move(name.error()));
  auto find = parse_find(call.command);
  if (!find) return pass(std::move(find.error()));
  find->query.pinned = call.pinned();
  const auto routing = find_collection(context, call.database, *name);
  if (find->query.pinned) {
    auto checked = find->query.pinned->check_name(call.database, *name, routing);
    if (!checked) return checked;
  }
  auto rows = FindStream::open(context, routing, find->query, find->options, call.now_ms());
  if (!rows) return pass(std::move(rows.error()));
  return reply_first_batch(
      context, call, std::move(*rows),
      {.ns = call.ns(),
       .size = find->batch_size,
       .is_single = find->is_single,
       .never_expires = flag_argument(call.command, "noCursorTimeout", false)});
}

bool try_find_at_once(const HandlerContext& context, CallPtr& call) {
  if (call->message.body.size() > kAtOnceBytesMax || call->collection().empty()) return false;
  const Value id = only_id((*call)["filter"]);
  if (id.is_undefined()) return false;
  for (const std::string_view member :
       {"projection", "sort", "skip", "collation", "let", "tailable", "batchSize", "min", "max",
        "returnKey", "showRecordId", "hint"}) {
    if (!is_plain((*call)[member])) {
      // A first batch of any size but 0 holds one document.
      const Value given = (*call)[member];
      if (member == "batchSize" && given.is_number() && given.number() >= 1) continue;
      return false;
    }
  }
  if (const Value limit = (*call)["limit"];
      !limit.is_undefined() && !(limit.is_number() && std::abs(limit.number()) >= 1)) {
    return false;
  }
  const auto routing = find_collection(context, call->database, call->collection());
  if (!routing || definition_of(*routing).is_sharded()) return false;
  auto reply =
      context.engine.read_in_memory(*routing, definition_of(*routing).placement, row_of(id), {}, 1);
  // What has to wait, for files or for throughput, goes the usual way.
  if (!reply || !*reply) return false;
  answer_point(*call, **reply);
  call->reply();
  call.reset();
  return true;
}

Answer<void> run_count(const HandlerContext& context, Call& call) {
  auto name = collection_argument(call);
  if (!name) return pass(std::move(name.error()));
  auto filter = object_argument(call.command, "query");
  if (!filter) return pass(std::move(filter.error()));
  auto query = parse_query(*filter, call.command);
  if (!query) return pass(std::move(query.error()));
  auto skip = integer_argument(call.command, "skip", 0);
  if (!skip) return pass(std::move(skip.error()));
  auto limit = integer_argument(call.command, "limit", 0);
  if (!limit) return pass(std::move(limit.error()));
  if (*skip < 0) return refuse(51024, "BSON field 'skip' value must be >= 0");
  const int64_t most = *limit == 0 ? INT64_MAX : std::abs(*limit);
  query->fields.emplace();
  Budget budget;
  start_budget(call, budget);
  auto documents = MatchingDocuments::open(context, find_collection(context, call.database, *name),
                                           *query, budget, call.now_ms());
  if (!documents) return pass(std::move(documents.error()));
  if (auto begun = (*documents)->begin_batch(); !begun) return begun;
  int64_t count = 0;
  int64_t skipped = 0;
  Answer<void> outcome;
  while (count < most) {
    auto found = (*documents)->next();
    if (!found) outcome = pass(std::move(found.error()));
    if (!found || !*found) break;
    if (skipped < *skip) {
      ++skipped;
    } else {
      ++count;
    }
  }
  call.charge += (*documents)->end_batch(0);
  if (!outcome) return outcome;
  if (count <= INT32_MAX) {
    call.answer.int32("n", static_cast<int32_t>(count));
  } else {
    call.answer.int64("n", count);
  }
  return {};
}

Answer<void> run_distinct(const HandlerContext& context, Call& call) {
  auto name = collection_argument(call);
  if (!name) return pass(std::move(name.error()));
  const Value key = call["key"];
  if (!key.is_string()) {
    return refuse(kTypeMismatch, "BSON field 'distinct.key' is missing or no string");
  }
  auto filter = object_argument(call.command, "query");
  if (!filter) return pass(std::move(filter.error()));
  auto query = parse_query(*filter, call.command);
  if (!query) return pass(std::move(query.error()));
  query->fields.emplace();
  add_field(key.text(), *query->fields);
  query->pinned = call.pinned();
  const auto routing = find_collection(context, call.database, *name);
  if (query->pinned) {
    auto checked = query->pinned->check_name(call.database, *name, routing);
    if (!checked) return checked;
  }
  Budget budget;
  start_budget(call, budget);
  auto documents = MatchingDocuments::open(context, routing, *query, budget, call.now_ms());
  if (!documents) return pass(std::move(documents.error()));
  if (auto begun = (*documents)->begin_batch(); !begun) return begun;
  const MatchPath path(key.text());
  const Collation* collation = query->collation.get();
  const auto before = [collation](const Value& a, const Value& b) {
    return compare(a, b, collation) < 0;
  };
  std::set<Value, decltype(before)> values(before);
  size_t bytes = 0;
  Answer<void> outcome;
  for (;;) {
    auto found = (*documents)->next();
    if (!found) outcome = pass(std::move(found.error()));
    if (!found || !*found) break;
    path.visit((*found)->document, MatchPath::Leaf::each_and_whole,
               [&](const Value& value, size_t) {
                 // Of an array its elements count, and not itself.
                 if (value.is_undefined() || value.is_array()) return false;
                 if (values.contains(value)) return false;
                 values.insert(value.to_owned());
                 bytes += value.written_bytes();
                 return false;
               });
    if (bytes > kDistinctBytesMax) {
      outcome = refuse(17217, "distinct too big, 16mb cap");
      break;
    }
  }
  call.charge += (*documents)->end_batch(bytes);
  if (!outcome) return outcome;
  call.answer.begin_array("values");
  BsonWriter::Index index;
  for (const Value& value : values) call.answer.value(index.next(), value, SIZE_MAX);
  call.answer.end();
  if (call.snapshot) call.answer.timestamp("atClusterTime", call.snapshot->time());
  return {};
}

}  // namespace orrery::mongo

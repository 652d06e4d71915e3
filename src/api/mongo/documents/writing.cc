// See writing.h.
#include "api/mongo/documents/writing.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/bson/types.h"
#include "api/mongo/call.h"
#include "api/mongo/collections/definition.h"
#include "api/mongo/documents/document_key.h"
#include "api/mongo/documents/retryable_write.h"
#include "api/mongo/documents/scan.h"
#include "api/mongo/match/match.h"
#include "api/mongo/transactions/open_transaction.h"
#include "partition/prepared_terms.h"

namespace orrery::mongo {
namespace {

using partition::Verb;
using partition::Write;
using value::Value;

constexpr size_t kDocumentBytesMax = size_t{16} << 20;
constexpr size_t kWritesInTransaction = 500;
constexpr size_t kBytesInTransaction = size_t{4} << 20;
// The year 33,658: sums of dates and lifetimes stay in range.
constexpr int64_t kFarthestMs = 1'000'000'000'000'000;
constexpr std::string_view kUniqueRefusal = "unique key (";

Answer<NewDocument> finish(const cluster::Routing& routing, NewDocument made) {
  if (made.bytes.size() > kDocumentBytesMax) {
    return refuse(10334, fmt::format("BSONObj size: {} is invalid. Size must be between 0 and {}",
                                     made.bytes.size(), kDocumentBytesMax));
  }
  if (auto checked = check_id(made.id); !checked) return pass(std::move(checked.error()));
  for (const std::string& path : definition_of(routing).places) {
    if (auto checked = check_place(made.document, path); !checked) {
      return pass(std::move(checked.error()));
    }
  }
  auto placement = placement_of(routing, made.document);
  if (!placement) return pass(std::move(placement.error()));
  made.key = {std::move(*placement), row_of(made.id)};
  return made;
}

// Of a document with its _id first.
Answer<NewDocument> from_value(const cluster::Routing& routing, const Value& document) {
  NewDocument made;
  made.document = document.to_owned();
  made.id = made.document.find("_id");
  auto bytes = to_bson(made.document, kMaxMessageDocumentBytes);
  if (!bytes) return pass(std::move(bytes.error()));
  made.bytes = std::move(*bytes);
  return finish(routing, std::move(made));
}

// With the _id first, and one made if there is none.
Answer<NewDocument> with_id_first(const cluster::Routing& routing, const Value& document,
                                  int64_t now_ms) {
  std::vector<Value::Field> fields;
  Value id = document.find("_id");
  if (id.is_undefined()) id = Value::make_bytes(value::Type::object_id, make_object_id(now_ms));
  fields.push_back({Value::make_string("_id"), id});
  for (const Value::Member& member : document.members()) {
    if (member.name == "_id") continue;
    fields.push_back({Value::make_string(std::string(member.name)), member.value});
  }
  return from_value(routing, Value::make_object(std::move(fields)));
}

bool has_id_first(const Value& document) {
  for (const Value::Member& member : document.members()) return member.name == "_id";
  return false;
}

// As the messages of MongoDB show it, which object mappers take apart: { a: 1, b: "x" }.
void append_shown(std::string& out, const Value& value) {
  switch (value.type()) {
    case value::Type::object: {
      out += "{ ";
      bool is_first = true;
      for (const Value::Member& member : value.members()) {
        if (!std::exchange(is_first, false)) out += ", ";
        out += member.name;
        out += ": ";
        append_shown(out, member.value);
      }
      out += is_first ? "}" : " }";
      return;
    }
    case value::Type::object_id:
      out += "ObjectId('";
      for (const char byte : value.bytes())
        out += fmt::format("{:02x}", static_cast<uint8_t>(byte));
      out += "')";
      return;
    default:
      out += shown(value);
  }
}

// What the partition says of a unique key: its paths.
std::string paths_text(const Value& key) {
  std::string text;
  for (const Value::Member& member : key.members()) {
    if (!text.empty()) text += ", ";
    text += '/';
    for (const char c : member.name) text += c == '.' ? '/' : c;
  }
  return text;
}

// Wherever the partition is. Of an outcome that nobody knows the client is told that it may try
// again: a write that may be retried is then done once.
cluster::WriteReply store(const HandlerContext& context, const cluster::RoutingPtr& routing,
                          std::vector<Write> transaction) {
  face::StoredItems stored = context.items.write_and_wait(routing, std::move(transaction));
  if (stored.is_unknown) stored.reply.error->code = Code::elsewhere;
  return std::move(stored.reply);
}

}  // namespace

Answer<NewDocument> prepare(const cluster::Routing& routing, std::string_view bytes,
                            int64_t now_ms) {
  auto parsed = parse_bson_in_place(bytes);
  if (!parsed) return pass(std::move(parsed.error()));
  NewDocument made;
  made.document = Value::make_document(std::move(*parsed));
  if (!has_id_first(made.document)) return with_id_first(routing, made.document, now_ms);
  made.bytes = bytes;
  made.id = made.document.find("_id");
  return finish(routing, std::move(made));
}

Answer<NewDocument> prepare(const cluster::Routing& routing, const Value& document,
                            int64_t now_ms) {
  if (!has_id_first(document)) return with_id_first(routing, document, now_ms);
  return from_value(routing, document);
}

Answer<NewDocument> prepare_next(const cluster::Routing& routing, const partition::ItemKey& key,
                                 const Value& before, const Value& after) {
  const Value id = before.find("_id");
  const Value given = after.find("_id");
  if (!given.is_undefined() && compare(given, id, value::ValueOrder::typed) != 0) {
    return refuse(kImmutableField,
                  "Performing an update on the path '_id' would modify the immutable field '_id'");
  }
  // A replacement without an _id keeps that of the document.
  auto made = prepare(routing, given.is_undefined() ? with_member(after, "_id", id) : after, 0);
  if (made && made->key != key) {
    return refuse(kImmutableField,
                  "Performing an update on the path '_id', or on the shard key, would modify "
                  "an immutable field");
  }
  return made;
}

partition::Lifetime lifetime_of(const cluster::Routing& routing, std::string_view body) {
  const IndexSpec* const index = definition_of(routing).expiring_index();
  if (index == nullptr) return {};
  partition::Lifetime life{.ms = partition::Lifetime::kForever, .from_ms = {}};
  const auto document = parse_bson_in_place(body);
  if (!document) return life;
  const auto take = [&life](const Value& value) {
    if (value.type() != value::Type::date) return;
    const int64_t ms = std::clamp(value.date().ms, -kFarthestMs, kFarthestMs);
    life.ms = partition::Lifetime::kByDefault;
    life.from_ms = std::min(life.from_ms.value_or(ms), ms);
  };
  for (const Value::Member& field : index->key.members()) {
    const Value found = find_path(Value::from(document->root()), field.name);
    take(found);
    for (const Value& element : found.elements()) take(element);
  }
  return life;
}

Write make_write(Verb verb, const cluster::RoutingPtr& routing, partition::ItemKey key,
                 std::string body) {
  Write write;
  write.verb = verb;
  write.placement = std::move(key.placement);
  write.row = std::move(key.row);
  write.body = std::move(body);
  write.schema = routing->schema;
  write.wants_item = false;
  if (verb != Verb::remove) write.lifetime = lifetime_of(*routing, write.body);
  prepare_terms(write, *routing);
  return write;
}

void prepare_terms(Write& write, const cluster::Routing& routing) {
  if (write.verb == Verb::remove) return;
  if (!routing.schema->indexed && routing.schema->unique_keys.empty()) return;
  if (auto document = parse_bson_in_place(write.body)) {
    write.prepared = partition::PreparedTerms::make(document->root(), *routing.schema, nullptr);
  }
}

WriteFailure duplicate_of(const cluster::Routing& routing, const IndexSpec& index,
                          const Value& document) {
  WriteFailure failure;
  failure.error.code = kDuplicateKey;
  std::vector<Value::Field> values;
  for (const Value::Member& member : index.key.members()) {
    Value value = find_path(document, member.name);
    if (value.is_undefined()) value = Value::make_null();
    values.push_back({Value::make_string(std::string(member.name)), value.to_owned()});
  }
  failure.key_pattern = index.key;
  failure.key_value = Value::make_object(std::move(values));
  failure.error.message = fmt::format(
      "E11000 duplicate key error collection: {}.{} index: {} dup key: ", routing.database->name,
      routing.container->spec.name, index.name);
  append_shown(failure.error.message, failure.key_value);
  return failure;
}

WriteFailure failure_of(const cluster::Routing& routing, const Value& document,
                        const orrery::Error& error) {
  WriteFailure failure;
  failure.error = engine_error(error);
  if (error.code != Code::conflict) return failure;
  IndexSpec index = id_index();
  if (error.message.starts_with(kUniqueRefusal)) {
    const std::string_view rest = std::string_view(error.message).substr(kUniqueRefusal.size());
    for (const IndexSpec& other : definition_of(routing).indexes) {
      if (is_truthy(other.spec.find("unique")) && rest.starts_with(paths_text(other.key) + ")")) {
        index = other;
      }
    }
  }
  return duplicate_of(routing, index, document);
}

Answer<void> ask_to_retry(const Call& call, const std::vector<WriteFailure>& failures) {
  for (const WriteFailure& failure : failures) {
    if (call.retry && is_retryable(failure.error.code)) return pass(failure.error);
    if (call.transaction && ends_transaction(failure.error.code)) return pass(failure.error);
  }
  return {};
}

void append_failures(BsonWriter& answer, const std::vector<WriteFailure>& failures) {
  if (failures.empty()) return;
  answer.begin_array("writeErrors");
  BsonWriter::Index index;
  for (const WriteFailure& failure : failures) {
    answer.begin_document(index.next())
        .int32("index", static_cast<int32_t>(failure.index))
        .int32("code", failure.error.code);
    answer.value("keyPattern", failure.key_pattern, SIZE_MAX);
    answer.value("keyValue", failure.key_value, SIZE_MAX);
    answer.string("errmsg", failure.error.message).end();
  }
  answer.end();
}

cluster::WriteReply write_one(const HandlerContext& context, const cluster::RoutingPtr& routing,
                              const Write& write) {
  int64_t left_ms = kThrottledWaitMs;
  for (;;) {
    std::vector<Write> transaction;
    transaction.push_back(write);
    cluster::WriteReply reply = store(context, routing, std::move(transaction));
    if (!reply.error || !wait_for_throughput(*reply.error, left_ms)) return reply;
  }
}

void WriteBatch::add(Write write, size_t statement) {
  const bool is_full = pending_.size() >= kWritesInTransaction || bytes_ >= kBytesInTransaction;
  if (!pending_.empty() && (is_full || pending_.front().placement != write.placement)) flush();
  if (outcome_.is_stopped) return;
  bytes_ += write.body.size();
  pending_.push_back(std::move(write));
  statements_.push_back(statement);
}

WriteBatch::Outcome& WriteBatch::finish() {
  flush();
  return outcome_;
}

std::vector<Write> WriteBatch::take(std::vector<Write>& pending,
                                    const std::vector<size_t>& statements, size_t from,
                                    size_t to) const {
  // Mostly none is refused.
  if (remake_ && pending.size() == to - from) return std::exchange(pending, {});
  std::vector<Write> taken;
  taken.reserve(to - from);
  for (size_t i = from; i < to; ++i) {
    taken.push_back(remake_ ? remake_(statements[i]) : pending[i]);
  }
  return taken;
}

void WriteBatch::flush() {
  std::vector<Write> pending = std::move(pending_);
  pending_.clear();
  const std::vector<size_t> statements = std::exchange(statements_, {});
  bytes_ = 0;
  const size_t count = pending.size();
  size_t from = 0;
  size_t to = count;
  while (from < count && !outcome_.is_stopped) {
    if (from == to) {
      // What was before the refused one is done. Goes on behind it.
      ++from;
      to = count;
      outcome_.is_stopped = stops_;
      continue;
    }
    std::vector<Write> transaction = take(pending, statements, from, to);
    if (retry_ != nullptr) {
      const std::span<const size_t> taken = std::span(statements).subspan(from, to - from);
      transaction.back().note = retry_->note_of_inserts({taken.begin(), taken.end()});
    }
    cluster::WriteReply reply = store(context_, routing_, std::move(transaction));
    if (!reply.error) {
      outcome_.done += to - from;
      outcome_.charge += reply.receipt.charge;
      from = to;
      if (to == count) break;
      continue;
    }
    if (wait_for_throughput(*reply.error, wait_left_ms_)) continue;
    // Of all of them, if it does not say of which: the first is told of.
    to = from + reply.failed_write.value_or(0);
    outcome_.refused.emplace_back(first_ + to, std::move(*reply.error));
  }
  first_ += count;
}

}  // namespace orrery::mongo

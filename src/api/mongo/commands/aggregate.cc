// aggregate, with $out and $merge.
#include <fmt/format.h>

#include <utility>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/bson/types.h"
#include "api/mongo/changes/change_stream.h"
#include "api/mongo/collections/collections.h"
#include "api/mongo/commands/access.h"
#include "api/mongo/commands/aggregate_command.h"
#include "api/mongo/commands/arguments.h"
#include "api/mongo/commands/batches.h"
#include "api/mongo/commands/command.h"
#include "api/mongo/commands/server_stages.h"
#include "api/mongo/documents/document_key.h"
#include "api/mongo/documents/modify.h"
#include "api/mongo/documents/pipeline_stream.h"

namespace orrery::mongo {
namespace {

using value::Value;

constexpr size_t kOutBytesMax = size_t{256} << 20;

// All that comes out, within kOutBytesMax: the collection that is written may be one that is read.
Answer<std::vector<Value>> collect(Call& call, PipelineStream& rows) {
  start_budget(call, rows);
  if (auto begun = rows.begin_batch(); !begun) return pass(std::move(begun.error()));
  std::vector<Value> all;
  size_t bytes = 0;
  Answer<std::vector<Value>> outcome;
  for (;;) {
    auto document = rows.next_document();
    if (!document) {
      outcome = pass(std::move(document.error()));
      break;
    }
    if (!*document) break;
    bytes += (*document)->memory();
    if (bytes > kOutBytesMax) {
      outcome = refuse(kQueryExceededMemory,
                       fmt::format("$out and $merge take {} bytes of documents at once: select "
                                   "fewer",
                                   kOutBytesMax));
      break;
    }
    all.push_back((*document)->to_owned());
  }
  call.charge += rows.end_batch(0);
  if (!outcome) return outcome;
  return all;
}

Answer<void> write_out(const HandlerContext& context, Call& call, const Output& output,
                       const std::vector<Value>& documents) {
  Definition definition;
  std::optional<catalog::Throughput> throughput;
  if (const auto found = find_collection(context, output.database, output.collection)) {
    definition = definition_of(*found);
    if (definition.is_sharded()) {
      return refuse(28769, fmt::format("{}.{} cannot be sharded and the target of $out",
                                       output.database, output.collection));
    }
    throughput = found->container->throughput;
    auto removed = context.engine.remove_container(found->container->number);
    if (!removed) return pass(engine_error(removed.error()));
  }
  auto routing = create_collection(context, {.database = output.database,
                                             .name = output.collection,
                                             .definition = std::move(definition),
                                             .throughput = throughput});
  if (!routing) return pass(std::move(routing.error()));
  WriteBatch batch(context, *routing, true);
  std::vector<Value> added;
  for (const Value& document : documents) {
    auto made = prepare(**routing, document, call.now_ms());
    if (!made) return pass(std::move(made.error()));
    batch.add(make_write(partition::Verb::create, *routing, made->key, std::move(made->bytes)));
    added.push_back(made->document);
    if (batch.is_stopped()) break;
  }
  WriteBatch::Outcome& outcome = batch.finish();
  call.charge += outcome.charge;
  if (outcome.refused.empty()) return {};
  const auto& [at, error] = outcome.refused.front();
  return pass(failure_of(**routing, added[at], error).error);
}

// A document as an update: [{$replaceWith: …}].
Value update_of(const Value& document, bool merges) {
  const Value literal = Value::make_object({{text_value("$literal"), document}});
  const Value merged = Value::make_object(
      {{text_value("$mergeObjects"), Value::make_array({Value::make_string("$$ROOT"), literal})}});
  return Value::make_array(
      {Value::make_object({{text_value("$replaceWith"), merges ? merged : literal}})});
}

Answer<void> merge_one(const HandlerContext& context, Call& call, const Output& output,
                       const Value& document) {
  using When = Output::When;
  Modification modification;
  std::vector<Value::Field> filter;
  for (const std::string& path : output.on) {
    const Value value = find_path(document, path);
    if (is_nullish(value) || value.is_array()) {
      return refuse(51132, fmt::format("$merge write error: 'on' field '{}' cannot be missing, "
                                       "null, undefined or an array",
                                       path));
    }
    filter.push_back({text_value(path), Value::make_object({{text_value("$eq"), value}})});
  }
  modification.query.filter = Value::make_object(std::move(filter));
  modification.upserts = output.when_not_matched == When::insert;
  const auto routing = find_collection(context, output.database, output.collection);
  switch (output.when_matched) {
    case When::replace:
      modification.update = update_of(document, false);
      break;
    case When::merge:
      modification.update = update_of(document, true);
      break;
    case When::keep_existing:
    case When::fail: {
      // Nothing of a document that is there changes; a new one is the document.
      modification.update = Value::make_object({{text_value("$setOnInsert"), document}});
      break;
    }
    default:
      return refuse(kNotImplemented, "$merge with a pipeline in whenMatched is not implemented");
  }
  auto modified = modify(context, call, routing, modification);
  if (!modified) return pass(std::move(modified.error().error));
  if (modified->matched > 0 && output.when_matched == When::fail) {
    return refuse(kDuplicateKey, fmt::format("$merge: a document that is there matches, in {}.{}",
                                             output.database, output.collection));
  }
  if (modified->matched == 0 && output.when_not_matched == When::fail) {
    return refuse(13113,
                  "$merge could not find a matching document in the target collection for "
                  "at least one document in the source collection");
  }
  return {};
}

Answer<void> merge_out(const HandlerContext& context, Call& call, const Output& output,
                       const std::vector<Value>& documents) {
  auto routing = ensure_collection(context, output.database, output.collection);
  if (!routing) return pass(std::move(routing.error()));
  for (Value document : documents) {
    if (document.find("_id").is_undefined()) {
      document =
          with_member(document, "_id",
                      Value::make_bytes(value::Type::object_id, make_object_id(call.now_ms())));
    }
    if (auto merged = merge_one(context, call, output, document); !merged) return merged;
  }
  return {};
}

bool watches_all(const Value& stages) {
  if (stages.size() == 0) return false;
  return flag_argument(stages.at(0).find("$changeStream"), "allChangesForCluster", false);
}

}  // namespace

Answer<PipelineQuery> parse_aggregate(const Call& call, const Value& command) {
  PipelineQuery query;
  query.database = call.database;
  const Value target = command.find("aggregate");
  if (target.is_string()) {
    query.collection = target.text();
  } else if (!target.is_number() || target.number() != 1) {
    return refuse(kFailedToParse,
                  "Invalid command format: the 'aggregate' field must specify a collection name "
                  "or 1");
  }
  query.stages = command.find("pipeline");
  if (!query.stages.is_array()) {
    return refuse(kTypeMismatch, "'pipeline' option must be specified as an array");
  }
  query.let = command.find("let");
  query.hint = command.find("hint");
  query.pinned = call.pinned();
  auto collation = collation_argument(command);
  if (!collation) return pass(std::move(collation.error()));
  query.collation = *collation;
  return query;
}

Answer<void> run_aggregate(const HandlerContext& context, Call& call) {
  auto query = parse_aggregate(call, call.command);
  if (!query) return pass(std::move(query.error()));
  if (flag_argument(call.command, "explain", false)) return run_explain(context, call);
  if (auto told = answer_server_stage(context, call, *query); !told) return told;
  std::optional<int64_t> size;
  const Value cursor = call["cursor"];
  if (!cursor.is_object()) {
    return refuse(kFailedToParse,
                  "The 'cursor' option is required, except for aggregate with the "
                  "explain argument");
  }
  auto asked = integer_argument(cursor, "batchSize", kFirstBatch);
  if (!asked) return pass(std::move(asked.error()));
  if (*asked < 0) return refuse(kBadValue, "BSON field 'cursor.batchSize' value must be >= 0");
  size = *asked;
  const std::string ns = fmt::format(
      "{}.{}", call.database,
      query->collection.empty() ? std::string_view("$cmd.aggregate") : query->collection);
  if (call.connection.identity && watches_all(query->stages) &&
      !allow_everywhere(roles_of(context, call.connection), Action::read)) {
    return refuse(kUnauthorized, "not authorized to watch the changes of all databases");
  }
  auto changes = ChangeStream::open(context, *query, call.now_ms());
  if (!changes) return pass(std::move(changes.error()));
  if (*changes && call.transaction) {
    return refuse(kOperationNotSupportedInTransaction,
                  "$changeStream cannot be used in a transaction");
  }
  if (*changes) {
    return reply_first_batch(context, call, std::move(*changes), {.ns = ns, .size = size});
  }
  auto rows = PipelineStream::open(context, *query, call.now_ms());
  if (!rows) return pass(std::move(rows.error()));
  if (const auto& output = (*rows)->pipeline().output()) {
    if (call.transaction) {
      return refuse(kOperationNotSupportedInTransaction,
                    "$out and $merge cannot be used in a transaction");
    }
    const Value level = call["readConcern"].find("level");
    if (level.is_string() && (level.text() == "linearizable" || level.text() == "snapshot")) {
      return refuse(kInvalidOptions,
                    fmt::format("$out and $merge cannot be used with a '{}' read concern level",
                                level.text()));
    }
    Output target = *output;
    if (target.database.empty()) target.database = call.database;
    if (auto may = check_may(context, call, Action::write, target.database); !may) return may;
    auto documents = collect(call, **rows);
    if (!documents) return pass(std::move(documents.error()));
    auto written = target.is_merge ? merge_out(context, call, target, *documents)
                                   : write_out(context, call, target, *documents);
    if (!written) return written;
    return reply_first_batch(context, call, rows_of({}), {.ns = ns});
  }
  return reply_first_batch(context, call, std::move(*rows), {.ns = ns, .size = size});
}

}  // namespace orrery::mongo

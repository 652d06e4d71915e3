// Databases and collections: listed, made, dropped, described.
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/collections/collections.h"
#include "api/mongo/commands/access.h"
#include "api/mongo/commands/arguments.h"
#include "api/mongo/commands/batches.h"
#include "api/mongo/commands/command.h"
#include "api/mongo/commands/server_stages.h"
#include "api/mongo/match/match.h"

namespace orrery::mongo {
namespace {

using value::Value;

constexpr uint8_t kUuid = 4;
constexpr std::string_view kCollectionOptions[] = {
    "validator", "validationLevel",    "validationAction",
    "collation", "expireAfterSeconds", "changeStreamPreAndPostImages"};
// What create is given for the server and not kept.
constexpr size_t kMaxListed = 100'000;

struct Usage {
  int64_t documents = 0;
  int64_t bytes = 0;
  int64_t index_bytes = 0;  // of all indexes but _id's, which is the documents' own order
};

// Of what is open now; the rest has not been used since the start, and is opened for it.
Answer<Usage> usage_of(const HandlerContext& context, uint32_t container) {
  const auto routing = context.engine.find(container);
  if (!routing) return Usage{};
  auto all = context.items.usage(routing);
  if (!all) return pass(engine_error(all.error()));
  return Usage{.documents = static_cast<int64_t>(all->items),
               .bytes = static_cast<int64_t>(all->bytes),
               .index_bytes = static_cast<int64_t>(all->index_bytes)};
}

// Which of the rows that a command lists match its filter.
Answer<std::vector<std::string>> filtered(Call& call, std::vector<std::string> rows) {
  const Value filter = call["filter"];
  if (!filter.is_object() || filter.size() == 0) return rows;
  auto matcher = Matcher::parse(filter);
  if (!matcher) return pass(std::move(matcher.error()));
  Budget budget;
  start_budget(call, budget);
  Evaluation evaluation(budget);
  std::vector<std::string> left;
  for (std::string& row : rows) {
    auto document = from_bson(row);
    if (!document) return pass(std::move(document.error()));
    auto matches = matcher->matches(*document, evaluation);
    if (!matches) return pass(std::move(matches.error()));
    if (*matches) left.push_back(std::move(row));
  }
  return left;
}

double scale_of(const Call& call) {
  const Value scale = call["scale"];
  return scale.is_number() && scale.number() >= 1 ? std::floor(scale.number()) : 1;
}

}  // namespace

Answer<void> run_list_databases(const HandlerContext& context, Call& call) {
  const bool names_only = flag_argument(call.command, "nameOnly", false);
  std::vector<std::string> rows;
  for (const auto& database : context.engine.catalog().databases(kFaceName)) {
    const auto containers = context.engine.catalog().containers(database->number);
    if (containers.empty()) continue;  // as if it were not there, as in MongoDB
    if (!check_may(context, call, Action::statistics, database->name)) continue;
    BsonWriter row;
    row.string("name", database->name);
    if (!names_only) {
      Usage all;
      for (const auto& container : containers) {
        auto usage = usage_of(context, container->number);
        if (!usage) return pass(std::move(usage.error()));
        all.documents += usage->documents;
        all.bytes += usage->bytes;
      }
      row.int64("sizeOnDisk", all.bytes).boolean("empty", all.documents == 0);
    }
    rows.push_back(row.take());
  }
  auto left = filtered(call, std::move(rows));
  if (!left) return pass(std::move(left.error()));
  int64_t total = 0;
  call.answer.begin_array("databases");
  BsonWriter::Index index;
  for (const std::string& row : *left) {
    call.answer.document(index.next(), row);
    if (auto document = from_bson(row)) {
      const Value size = document->find("sizeOnDisk");
      if (size.is_number()) total += size.integer();
    }
  }
  call.answer.end();
  if (!names_only) call.answer.int64("totalSize", total).int64("totalSizeMb", total >> 20);
  return {};
}

Answer<void> run_list_collections(const HandlerContext& context, Call& call) {
  const bool names_only = flag_argument(call.command, "nameOnly", false);
  std::vector<std::string> rows;
  const auto database = context.engine.catalog().database({kFaceName, call.database});
  const auto containers = database ? context.engine.catalog().containers(database->number)
                                   : std::vector<catalog::ContainerPtr>();
  for (const auto& container : containers) {
    if (rows.size() >= kMaxListed) break;
    BsonWriter row;
    row.string("name", container->spec.name).string("type", "collection");
    if (!names_only) {
      const Definition definition = read_definition(container->spec);
      row.begin_document("options");
      row.members(definition.options, kMaxMessageDocumentBytes);
      row.end();
      row.begin_document("info").boolean("readOnly", false);
      row.binary("uuid", definition.uuid, kUuid).end();
      row.value("idIndex", id_index().spec, kMaxMessageDocumentBytes);
    }
    rows.push_back(row.take());
  }
  auto left = filtered(call, std::move(rows));
  if (!left) return pass(std::move(left.error()));
  std::optional<int64_t> size;
  if (const Value cursor = call["cursor"]; cursor.is_object()) {
    auto asked = integer_argument(cursor, "batchSize", kFirstBatch);
    if (!asked) return pass(std::move(asked.error()));
    size = *asked;
  }
  return reply_first_batch(
      context, call, rows_of(std::move(*left)),
      {.ns = fmt::format("{}.$cmd.listCollections", call.database), .size = size});
}

Answer<void> run_create(const HandlerContext& context, Call& call) {
  auto name = collection_argument(call);
  if (!name) return pass(std::move(name.error()));
  for (const std::string_view unsupported :
       {"viewOn", "timeseries", "clusteredIndex", "encryptedFields"}) {
    if (!call[unsupported].is_undefined()) {
      return refuse(kNotImplemented,
                    fmt::format("create with '{}' is not implemented", unsupported));
    }
  }
  if (flag_argument(call.command, "capped", false)) {
    return refuse(kNotImplemented, "capped collections are not implemented");
  }
  for (const std::string_view unsupported : {"validator", "collation", "expireAfterSeconds"}) {
    const Value given = call[unsupported];
    if (given.is_undefined() || (given.is_object() && given.size() == 0)) continue;
    return refuse(kNotImplemented,
                  fmt::format("create with '{}' is not implemented: documents would not be "
                              "treated as it says",
                              unsupported));
  }
  Definition definition;
  std::vector<Value::Field> options;
  for (const std::string_view option : kCollectionOptions) {
    const Value given = call[option];
    if (!given.is_undefined()) {
      options.push_back({Value::make_string(std::string(option)), given.to_owned()});
    }
  }
  definition.options = Value::make_object(std::move(options));
  auto made = create_collection(
      context, {.database = call.database, .name = *name, .definition = std::move(definition)});
  if (!made) return pass(std::move(made.error()));
  return {};
}

Answer<void> run_drop(const HandlerContext& context, Call& call) {
  auto name = collection_argument(call);
  if (!name) return pass(std::move(name.error()));
  const auto routing = find_collection(context, call.database, *name);
  if (!routing) return refuse(kNamespaceNotFound, "ns not found");
  const auto indexes = static_cast<int32_t>(definition_of(*routing).indexes.size() + 1);
  auto removed = context.engine.remove_container(routing->container->number);
  if (!removed) return pass(engine_error(removed.error()));
  call.answer.int32("nIndexesWas", indexes).string("ns", call.ns());
  return {};
}

Answer<void> run_drop_database(const HandlerContext& context, Call& call) {
  // The users of all databases are there.
  if (call.database == "admin") {
    return refuse(kIllegalOperation, "Dropping the 'admin' database is prohibited.");
  }
  if (const auto found = context.engine.catalog().database({kFaceName, call.database})) {
    auto removed = context.engine.remove_database(found->number);
    if (!removed && removed.error().code != Code::not_found) {
      return pass(engine_error(removed.error()));
    }
    call.answer.string("dropped", call.database);
  }
  return {};
}

Answer<void> run_coll_mod(const HandlerContext& context, Call& call) {
  auto name = collection_argument(call);
  if (!name) return pass(std::move(name.error()));
  const auto routing = find_collection(context, call.database, *name);
  if (!routing) return refuse(kNamespaceNotFound, fmt::format("ns does not exist: {}", call.ns()));
  for (const std::string_view unsupported :
       {"index", "validator", "viewOn", "pipeline", "cappedSize", "cappedMax", "timeseries"}) {
    if (!call[unsupported].is_undefined()) {
      return refuse(kNotImplemented,
                    fmt::format("collMod with '{}' is not implemented", unsupported));
    }
  }
  return {};
}

Answer<void> append_collection_stats(const HandlerContext& context, std::string_view database,
                                     std::string_view name, double scale, BsonWriter& out) {
  const auto routing = find_collection(context, database, name);
  Usage usage;
  size_t indexes = 0;
  if (routing) {
    auto found = usage_of(context, routing->container->number);
    if (!found) return pass(std::move(found.error()));
    usage = *found;
    indexes = definition_of(*routing).indexes.size() + 1;
  }
  const auto size = static_cast<int64_t>(static_cast<double>(usage.bytes) / scale);
  const int64_t index_size =
      indexes > 1 ? static_cast<int64_t>(static_cast<double>(usage.index_bytes) / scale) : 0;
  out.string("ns", fmt::format("{}.{}", database, name))
      .int64("size", size)
      .int64("count", usage.documents)
      .int64("avgObjSize", usage.documents > 0 ? usage.bytes / usage.documents : 0)
      .int64("storageSize", size)
      .boolean("capped", false)
      .int32("nindexes", static_cast<int32_t>(indexes))
      .boolean("sharded", routing && definition_of(*routing).is_sharded())
      .int64("totalIndexSize", index_size)
      .int64("totalSize", size + index_size)
      .int32("scaleFactor", static_cast<int32_t>(scale));
  out.begin_document("indexSizes");
  if (routing) {
    // They share their entries, field by field: each is given an equal part.
    out.int64("_id_", 0);
    for (const IndexSpec& index : definition_of(*routing).indexes) {
      out.int64(index.name, index_size / static_cast<int64_t>(indexes - 1));
    }
  }
  out.end();
  return {};
}

Answer<void> run_coll_stats(const HandlerContext& context, Call& call) {
  auto name = collection_argument(call);
  if (!name) return pass(std::move(name.error()));
  return append_collection_stats(context, call.database, *name, scale_of(call), call.answer);
}

Answer<void> run_db_stats(const HandlerContext& context, Call& call) {
  const double scale = scale_of(call);
  const auto database = context.engine.catalog().database({kFaceName, call.database});
  const auto containers = database ? context.engine.catalog().containers(database->number)
                                   : std::vector<catalog::ContainerPtr>();
  Usage all;
  int64_t indexes = 0;
  for (const auto& container : containers) {
    auto usage = usage_of(context, container->number);
    if (!usage) return pass(std::move(usage.error()));
    all.documents += usage->documents;
    all.bytes += usage->bytes;
    const auto others = static_cast<int64_t>(read_definition(container->spec).indexes.size());
    if (others > 0) all.index_bytes += usage->index_bytes;
    indexes += others + 1;
  }
  const double size = static_cast<double>(all.bytes) / scale;
  const double index_size = static_cast<double>(all.index_bytes) / scale;
  call.answer.string("db", call.database)
      .int64("collections", static_cast<int64_t>(containers.size()))
      .int64("views", 0)
      .int64("objects", all.documents)
      .real("avgObjSize", all.documents > 0
                              ? static_cast<double>(all.bytes) / static_cast<double>(all.documents)
                              : 0)
      .real("dataSize", size)
      .real("storageSize", size)
      .int64("indexes", indexes)
      .real("indexSize", index_size)
      .real("totalSize", size + index_size)
      .real("scaleFactor", scale);
  return {};
}

}  // namespace orrery::mongo

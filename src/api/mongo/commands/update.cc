// update, delete, findAndModify.
#include <fmt/format.h>

#include <utility>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/collections/collections.h"
#include "api/mongo/commands/arguments.h"
#include "api/mongo/commands/command.h"
#include "api/mongo/commands/find_command.h"
#include "api/mongo/documents/modify.h"
#include "api/mongo/match/projection.h"

namespace orrery::mongo {
namespace {

using value::Value;

constexpr size_t kBatchMax = 100'000;

Answer<void> check_batch(size_t size) {
  if (size >= 1 && size <= kBatchMax) return {};
  return refuse(kInvalidLength,
                fmt::format("Write batch sizes must be between 1 and {}. Got {} operations.",
                            kBatchMax, size));
}

Answer<Modification> parse_update(const Call& call, const Value& given) {
  Modification update;
  const Value filter = given.find("q");
  if (!filter.is_object()) {
    return refuse(filter.is_undefined() ? 40414 : kTypeMismatch,
                  "BSON field 'update.updates.q' is missing, or not an object");
  }
  auto query = parse_query(filter, given);
  if (!query) return pass(std::move(query.error()));
  update.query = std::move(*query);
  update.query.let = call["let"];
  update.update = given.find("u");
  if (!update.update.is_object() && !update.update.is_array()) {
    return refuse(update.update.is_undefined() ? 40414 : kFailedToParse,
                  "Update argument must be either an object or an array");
  }
  update.array_filters = given.find("arrayFilters");
  update.constants = given.find("c");
  update.is_multi = flag_argument(given, "multi", false);
  update.upserts = flag_argument(given, "upsert", false);
  return update;
}

Answer<Modification> parse_delete(const Call& call, const Value& given) {
  Modification removal;
  const Value filter = given.find("q");
  if (!filter.is_object()) {
    return refuse(filter.is_undefined() ? 40414 : kTypeMismatch,
                  "BSON field 'delete.deletes.q' is missing, or not an object");
  }
  auto query = parse_query(filter, given);
  if (!query) return pass(std::move(query.error()));
  removal.query = std::move(*query);
  removal.query.let = call["let"];
  auto limit = integer_argument(given, "limit", 0);
  if (!limit) return pass(std::move(limit.error()));
  if (*limit != 0 && *limit != 1) {
    return refuse(kFailedToParse,
                  fmt::format("The limit field in delete objects must be 0 or 1. Got {}", *limit));
  }
  removal.is_multi = *limit == 0;
  return removal;
}

// Runs each statement of a command; `take` is given the number and what came of it.
template <class Parse, class Take>
Answer<void> run_all(const Context& context, Call& call, std::string_view member,
                     const Parse& parse, const Take& take) {
  auto name = collection_argument(call);
  if (!name) return pass(std::move(name.error()));
  if (auto checked = check_collection_name(call.database, *name); !checked) return checked;
  std::vector<std::string> kept;
  auto statements = call.documents(member, kept);
  if (!statements) return pass(std::move(statements.error()));
  if (auto checked = check_batch(statements->size()); !checked) return checked;
  const bool is_ordered = flag_argument(call.command, "ordered", true);
  // A statement that is malformed fails the command before any is done.
  const bool are_several = statements->size() > 1;
  for (size_t i = 0; are_several && i < statements->size(); ++i) {
    auto statement = from_bson((*statements)[i]);
    if (!statement) return pass(std::move(statement.error()));
    if (auto parsed = parse(call, *statement); !parsed) return pass(std::move(parsed.error()));
  }
  std::vector<WriteFailure> failures;
  for (size_t i = 0; i < statements->size(); ++i) {
    auto statement = from_bson((*statements)[i]);
    if (!statement) return pass(std::move(statement.error()));
    auto parsed = parse(call, *statement);
    if (!parsed) return pass(std::move(parsed.error()));
    auto modified = modify(context, call, find_collection(context, call.database, *name), *parsed);
    if (modified) {
      take(i, *modified);
      continue;
    }
    modified.error().index = i;
    failures.push_back(std::move(modified.error()));
    if (is_ordered) break;
  }
  append_failures(call.answer, failures);
  return {};
}

}  // namespace

Answer<void> run_update(const Context& context, Call& call) {
  int64_t matched = 0;
  int64_t changed = 0;
  std::vector<std::pair<size_t, Value>> upserted;
  auto outcome =
      run_all(context, call, "updates", parse_update, [&](size_t index, Modified& modified) {
        matched += modified.matched;
        changed += modified.changed;
        if (!modified.upserted_id.is_undefined()) {
          ++matched;
          upserted.emplace_back(index, modified.upserted_id.to_owned());
        }
      });
  if (!outcome) return outcome;
  call.answer.int32("n", static_cast<int32_t>(matched));
  if (!upserted.empty()) {
    call.answer.begin_array("upserted");
    BsonWriter::Index at;
    for (const auto& [index, id] : upserted) {
      call.answer.begin_document(at.next()).int32("index", static_cast<int32_t>(index));
      call.answer.value("_id", id, SIZE_MAX);
      call.answer.end();
    }
    call.answer.end();
  }
  call.answer.int32("nModified", static_cast<int32_t>(changed));
  return {};
}

Answer<void> run_delete(const Context& context, Call& call) {
  int64_t removed = 0;
  auto outcome = run_all(context, call, "deletes", parse_delete,
                         [&](size_t, Modified& modified) { removed += modified.matched; });
  if (!outcome) return outcome;
  call.answer.int32("n", static_cast<int32_t>(removed));
  return {};
}

Answer<void> run_find_and_modify(const Context& context, Call& call) {
  auto name = collection_argument(call);
  if (!name) return pass(std::move(name.error()));
  if (auto checked = check_collection_name(call.database, *name); !checked) return checked;
  auto filter = object_argument(call.command, "query");
  if (!filter) return pass(std::move(filter.error()));
  Modification modification;
  auto query = parse_query(*filter, call.command);
  if (!query) return pass(std::move(query.error()));
  modification.query = std::move(*query);
  const bool removes = flag_argument(call.command, "remove", false);
  const bool returns_new = flag_argument(call.command, "new", false);
  modification.upserts = flag_argument(call.command, "upsert", false);
  modification.update = call["update"];
  modification.array_filters = call["arrayFilters"];
  if (removes && !modification.update.is_undefined()) {
    return refuse(kFailedToParse, "Cannot specify both an update and remove=true");
  }
  if (removes && (modification.upserts || returns_new)) {
    return refuse(kFailedToParse, "Cannot specify both upsert or new, and remove=true");
  }
  if (!removes && !modification.update.is_object() && !modification.update.is_array()) {
    return refuse(kFailedToParse, "Either an update or remove=true must be specified");
  }
  auto sort = object_argument(call.command, "sort");
  if (!sort) return pass(std::move(sort.error()));
  if (sort->size() > 0) {
    auto parsed = Sort::parse(*sort, modification.query.collation);
    if (!parsed) return pass(std::move(parsed.error()));
    modification.sort = std::move(*parsed);
  }
  auto fields = object_argument(call.command, "fields");
  if (!fields) return pass(std::move(fields.error()));
  Projection projection;
  if (fields->size() > 0) {
    auto parsed = Projection::parse(*fields);
    if (!parsed) return pass(std::move(parsed.error()));
    if (parsed->uses_position()) {
      return refuse(kNotImplemented,
                    "findAndModify with a positional projection is not implemented");
    }
    projection = std::move(*parsed);
  }
  auto modified =
      modify(context, call, find_collection(context, call.database, *name), modification);
  if (!modified) return pass(std::move(modified.error().error));
  const bool was_inserted = !modified->upserted_id.is_undefined();
  call.answer.begin_document("lastErrorObject")
      .int32("n", modified->matched > 0 || was_inserted ? 1 : 0);
  if (!removes) call.answer.boolean("updatedExisting", modified->matched > 0);
  if (was_inserted) call.answer.value("upserted", modified->upserted_id, SIZE_MAX);
  call.answer.end();
  Value shown = returns_new ? modified->after : modified->before;
  if (shown.is_undefined()) {
    call.answer.null("value");
    return {};
  }
  if (!projection.is_everything()) {
    Budget budget;
    Evaluation evaluation(budget);
    auto projected = projection.apply(shown, std::nullopt, evaluation);
    if (!projected) return pass(std::move(projected.error()));
    shown = std::move(*projected);
  }
  call.answer.value("value", shown, SIZE_MAX);
  return {};
}

}  // namespace orrery::mongo

// update, delete, findAndModify.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
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

constexpr std::array<std::string_view, 10> kUpdateMembers = {
    "q", "u", "c", "multi", "upsert", "arrayFilters", "collation", "hint", "comment", "sampleId"};
constexpr std::array<std::string_view, 6> kDeleteMembers = {"q",    "limit",   "collation",
                                                            "hint", "comment", "sampleId"};

// What a statement asks for and nobody does would be a wrong result.
Answer<void> check_members(std::string_view of, const Value& given,
                           std::span<const std::string_view> known) {
  for (const Value::Member& member : given.members()) {
    if (std::ranges::find(known, member.name) != known.end()) continue;
    return refuse(40415, fmt::format("BSON field '{}.{}' is an unknown field.", of, member.name));
  }
  return {};
}

Answer<Modification> parse_update(const Call& call, const Value& given) {
  Modification update;
  if (auto checked = check_members("update.updates", given, kUpdateMembers); !checked) {
    return pass(std::move(checked.error()));
  }
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
  if (auto checked = check_members("delete.deletes", given, kDeleteMembers); !checked) {
    return pass(std::move(checked.error()));
  }
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

Answer<void> check_retry(const Call& call, const Modification& modification) {
  if (!call.retry || !modification.is_multi) return {};
  return refuse(kInvalidOptions, "a statement for many documents cannot have a txnNumber");
}

Value count_of(int64_t count) {
  return Value::make_integer(count, value::NumberKind::int32);
}

Value member_name(std::string_view name) {
  return Value::make_string(std::string(name));
}

// What the note of an update or a delete says that it did.
NotePtr note_of(const RetryableWrite& retry, size_t statement, const Modified& modified) {
  const bool inserts = !modified.upserted_id.is_undefined();
  std::vector<Value::Field> members = {{member_name("n"), count_of(inserts ? 1 : modified.matched)},
                                       {member_name("nModified"), count_of(modified.changed)}};
  if (inserts) members.push_back({member_name("upserted"), modified.upserted_id});
  return retry.note_of(statement, std::move(members));
}

Modified read_note(const Value& note) {
  Modified modified;
  modified.upserted_id = note.find("upserted").to_owned();
  modified.changed = note.find("nModified").integer();
  modified.matched = modified.upserted_id.is_undefined() ? note.find("n").integer() : 0;
  return modified;
}

// What the statement did when it was run before, if it was; otherwise it is run.
std::expected<Modified, WriteFailure> run_once(const HandlerContext& context, Call& call,
                                               size_t statement, Modification& modification) {
  if (call.retry) {
    if (const Value done = call.retry->result_of(statement); done.is_object()) {
      call.has_written = true;
      return read_note(done);
    }
    modification.note = [&call, statement](const Modified& modified) {
      return note_of(*call.retry, statement, modified);
    };
  }
  return modify(context, call, find_collection(context, call.database, call.collection()),
                modification);
}

// Runs each statement of a command; `take` is given the number and what came of it.
template <class Parse, class Take>
Answer<void> run_all(const HandlerContext& context, Call& call, std::string_view member,
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
    auto parsed = parse(call, *statement);
    if (!parsed) return pass(std::move(parsed.error()));
    if (auto checked = check_retry(call, *parsed); !checked) return checked;
  }
  if (call.retry) {
    auto loaded = call.retry->load(context, find_collection(context, call.database, *name), call);
    if (!loaded) return loaded;
  }
  std::vector<WriteFailure> failures;
  for (size_t i = 0; i < statements->size(); ++i) {
    auto statement = from_bson((*statements)[i]);
    if (!statement) return pass(std::move(statement.error()));
    auto parsed = parse(call, *statement);
    if (!parsed) return pass(std::move(parsed.error()));
    if (auto checked = check_retry(call, *parsed); !checked) return checked;
    auto modified = run_once(context, call, i, *parsed);
    if (modified) {
      take(i, *modified);
      continue;
    }
    modified.error().index = i;
    failures.push_back(std::move(modified.error()));
    if (is_ordered) break;
  }
  if (auto again = ask_to_retry(call, failures); !again) return again;
  call.has_write_errors = !failures.empty();
  append_failures(call.answer, failures);
  return {};
}

// The members of an answer to findAndModify.
Answer<void> append_found(BsonWriter& answer, const Modified& modified, bool removes,
                          bool returns_new, const Projection& projection) {
  const bool was_inserted = !modified.upserted_id.is_undefined();
  answer.begin_document("lastErrorObject").int32("n", modified.matched > 0 || was_inserted ? 1 : 0);
  if (!removes) answer.boolean("updatedExisting", modified.matched > 0);
  if (was_inserted) answer.value("upserted", modified.upserted_id, SIZE_MAX);
  answer.end();
  Value shown = returns_new ? modified.after : modified.before;
  if (shown.is_undefined()) {
    answer.null("value");
    return {};
  }
  if (!projection.is_everything()) {
    Budget budget;
    Evaluation evaluation(budget);
    auto projected = projection.apply(shown, std::nullopt, evaluation);
    if (!projected) return pass(std::move(projected.error()));
    shown = std::move(*projected);
  }
  answer.value("value", shown, SIZE_MAX);
  return {};
}

// Its note has the answer, as the document is not what it was when it is asked again.
NotePtr note_of_found(const RetryableWrite& retry, const Modified& modified, bool removes,
                      bool returns_new, const Projection& projection) {
  BsonWriter answer;
  if (!append_found(answer, modified, removes, returns_new, projection)) return nullptr;
  auto document = from_bson(answer.take());
  if (!document) return nullptr;
  return retry.note_of(0, {{member_name("answer"), *document}});
}

}  // namespace

Answer<void> run_update(const HandlerContext& context, Call& call) {
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

Answer<void> run_delete(const HandlerContext& context, Call& call) {
  int64_t removed = 0;
  auto outcome = run_all(context, call, "deletes", parse_delete,
                         [&](size_t, Modified& modified) { removed += modified.matched; });
  if (!outcome) return outcome;
  call.answer.int32("n", static_cast<int32_t>(removed));
  return {};
}

Answer<void> run_find_and_modify(const HandlerContext& context, Call& call) {
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
  const auto routing = find_collection(context, call.database, *name);
  if (call.retry) {
    if (auto loaded = call.retry->load(context, routing, call); !loaded) return loaded;
    if (const Value done = call.retry->result_of(0); done.is_object()) {
      call.answer.members(done.find("answer"), SIZE_MAX);
      return {};
    }
    modification.note = [&](const Modified& modified) {
      return note_of_found(*call.retry, modified, removes, returns_new, projection);
    };
  }
  auto modified = modify(context, call, routing, modification);
  if (!modified) {
    const WriteFailure& failure = modified.error();
    if (failure.key_pattern.is_object()) {
      call.error_members = Value::make_object({{member_name("keyPattern"), failure.key_pattern},
                                               {member_name("keyValue"), failure.key_value}});
    }
    return pass(failure.error);
  }
  return append_found(call.answer, *modified, removes, returns_new, projection);
}

}  // namespace orrery::mongo

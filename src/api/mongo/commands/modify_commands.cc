// See modify_commands.h.
#include "api/mongo/commands/modify_commands.h"
#include "api/mongo/bson/types.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/commands/arguments.h"
#include "api/mongo/commands/find_command.h"

namespace orrery::mongo {
namespace {

using value::Value;

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

Value count_of(int64_t count) {
  return Value::make_integer(count, value::NumberKind::int32);
}

// What the note of an update or a delete says that it did.
NotePtr note_of(const RetryableWrite& retry, size_t statement, const Modified& modified) {
  const bool inserts = !modified.upserted_id.is_undefined();
  std::vector<Value::Field> members = {{text_value("n"), count_of(inserts ? 1 : modified.matched)},
                                       {text_value("nModified"), count_of(modified.changed)}};
  if (inserts) members.push_back({text_value("upserted"), modified.upserted_id});
  return retry.note_of(statement, std::move(members));
}

// Its note has the answer, as the document is not what it was when it is asked again.
NotePtr make_note_of_found(const RetryableWrite& retry, const FindAndModify& asked,
                           const Modified& modified) {
  BsonWriter answer;
  if (!append_found(answer, asked, modified)) return nullptr;
  auto document = from_bson(answer.take());
  if (!document) return nullptr;
  return retry.note_of(0, {{text_value("answer"), *document}});
}

}  // namespace

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

std::function<NotePtr(const Modified&)> note_of_statement(const Call& call, size_t statement) {
  if (!call.retry) return nullptr;
  return [&retry = *call.retry, statement](const Modified& modified) {
    return note_of(retry, statement, modified);
  };
}

Error error_of_found(Call& call, const WriteFailure& failure) {
  if (failure.key_pattern.is_object()) {
    call.error_members = Value::make_object({{text_value("keyPattern"), failure.key_pattern},
                                             {text_value("keyValue"), failure.key_value}});
  }
  return failure.error;
}

std::function<NotePtr(const Modified&)> note_of_found(const Call& call,
                                                      const FindAndModify& asked) {
  if (!call.retry) return nullptr;
  return [&retry = *call.retry, &asked](const Modified& modified) {
    return make_note_of_found(retry, asked, modified);
  };
}

void Updated::add(size_t statement, const Modified& modified) {
  matched += modified.matched;
  changed += modified.changed;
  if (modified.upserted_id.is_undefined()) return;
  ++matched;
  upserted.emplace_back(statement, modified.upserted_id.to_owned());
}

void append_updated(BsonWriter& answer, const Updated& updated) {
  answer.int32("n", static_cast<int32_t>(updated.matched));
  if (!updated.upserted.empty()) {
    answer.begin_array("upserted");
    BsonWriter::Index at;
    for (const auto& [index, id] : updated.upserted) {
      answer.begin_document(at.next()).int32("index", static_cast<int32_t>(index));
      answer.value("_id", id, SIZE_MAX);
      answer.end();
    }
    answer.end();
  }
  answer.int32("nModified", static_cast<int32_t>(updated.changed));
}

Answer<FindAndModify> parse_find_and_modify(const Call& call) {
  auto filter = object_argument(call.command, "query");
  if (!filter) return pass(std::move(filter.error()));
  FindAndModify asked;
  Modification& modification = asked.modification;
  auto query = parse_query(*filter, call.command);
  if (!query) return pass(std::move(query.error()));
  modification.query = std::move(*query);
  asked.removes = flag_argument(call.command, "remove", false);
  asked.returns_new = flag_argument(call.command, "new", false);
  modification.upserts = flag_argument(call.command, "upsert", false);
  modification.update = call["update"];
  modification.array_filters = call["arrayFilters"];
  if (asked.removes && !modification.update.is_undefined()) {
    return refuse(kFailedToParse, "Cannot specify both an update and remove=true");
  }
  if (asked.removes && (modification.upserts || asked.returns_new)) {
    return refuse(kFailedToParse, "Cannot specify both upsert or new, and remove=true");
  }
  if (!asked.removes && !modification.update.is_object() && !modification.update.is_array()) {
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
  if (fields->size() > 0) {
    auto parsed = Projection::parse(*fields);
    if (!parsed) return pass(std::move(parsed.error()));
    if (parsed->uses_position()) {
      return refuse(kNotImplemented,
                    "findAndModify with a positional projection is not implemented");
    }
    asked.projection = std::move(*parsed);
  }
  return asked;
}

Answer<void> append_found(BsonWriter& answer, const FindAndModify& asked,
                          const Modified& modified) {
  const bool was_inserted = !modified.upserted_id.is_undefined();
  answer.begin_document("lastErrorObject").int32("n", modified.matched > 0 || was_inserted ? 1 : 0);
  if (!asked.removes) answer.boolean("updatedExisting", modified.matched > 0);
  if (was_inserted) answer.value("upserted", modified.upserted_id, SIZE_MAX);
  answer.end();
  Value shown = asked.returns_new ? modified.after : modified.before;
  if (shown.is_undefined()) {
    answer.null("value");
    return {};
  }
  if (!asked.projection.is_everything()) {
    Budget budget;
    Evaluation evaluation(budget);
    auto projected = asked.projection.apply(shown, std::nullopt, evaluation);
    if (!projected) return pass(std::move(projected.error()));
    shown = std::move(*projected);
  }
  answer.value("value", shown, SIZE_MAX);
  return {};
}

}  // namespace orrery::mongo

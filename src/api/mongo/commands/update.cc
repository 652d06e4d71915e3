// update, delete, findAndModify.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/collections/collections.h"
#include "api/mongo/commands/arguments.h"
#include "api/mongo/commands/command.h"
#include "api/mongo/commands/modify_commands.h"
#include "api/mongo/documents/modify.h"

namespace orrery::mongo {
namespace {

using value::Value;

constexpr size_t kOperationsMax = 100'000;

Answer<void> check_operations(size_t size) {
  if (size >= 1 && size <= kOperationsMax) return {};
  return refuse(kInvalidLength,
                fmt::format("Write batch sizes must be between 1 and {}. Got {} operations.",
                            kOperationsMax, size));
}

Answer<void> check_retry(const Call& call, const Modification& modification) {
  if (!call.retry || !modification.is_multi) return {};
  return refuse(kInvalidOptions, "a statement for many documents cannot have a txnNumber");
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
    modification.note = note_of_statement(call, statement);
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
  if (auto checked = check_operations(statements->size()); !checked) return checked;
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

}  // namespace

Answer<void> run_update(const HandlerContext& context, Call& call) {
  Updated updated;
  auto outcome =
      run_all(context, call, "updates", parse_update,
              [&](size_t index, const Modified& modified) { updated.add(index, modified); });
  if (!outcome) return outcome;
  append_updated(call.answer, updated);
  return {};
}

Answer<void> run_delete(const HandlerContext& context, Call& call) {
  int64_t removed = 0;
  auto outcome = run_all(context, call, "deletes", parse_delete,
                         [&](size_t, const Modified& modified) { removed += modified.matched; });
  if (!outcome) return outcome;
  call.answer.int32("n", static_cast<int32_t>(removed));
  return {};
}

Answer<void> run_find_and_modify(const HandlerContext& context, Call& call) {
  auto name = collection_argument(call);
  if (!name) return pass(std::move(name.error()));
  if (auto checked = check_collection_name(call.database, *name); !checked) return checked;
  auto asked = parse_find_and_modify(call);
  if (!asked) return pass(std::move(asked.error()));
  const auto routing = find_collection(context, call.database, *name);
  if (call.retry) {
    if (auto loaded = call.retry->load(context, routing, call); !loaded) return loaded;
    if (const Value done = call.retry->result_of(0); done.is_object()) {
      call.answer.members(done.find("answer"), SIZE_MAX);
      return {};
    }
    asked->modification.note = note_of_found(call, *asked);
  }
  auto modified = modify(context, call, routing, asked->modification);
  if (!modified) return pass(error_of_found(call, modified.error()));
  return append_found(call.answer, *asked, *modified);
}

}  // namespace orrery::mongo

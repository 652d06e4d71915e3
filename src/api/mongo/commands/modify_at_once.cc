// Updates, deletes and findAndModify of one document by its _id, which are handed to the engine
// from the loop's thread (documents/point_change.h). Everything else of them is in update.cc.
#include <utility>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/collections/collections.h"
#include "api/mongo/commands/command.h"
#include "api/mongo/commands/modify_commands.h"
#include "api/mongo/documents/point_change.h"

namespace orrery::mongo {
namespace {

using value::Value;
using RunCommand = Answer<void> (*)(const HandlerContext&, Call&);

// Of a statement that is looked at on the loop's thread.
constexpr size_t kStatementBytesMax = 16 * 1024;

// The one statement of an update or a delete; undefined: it has several, or a large one.
Value only_statement(const Call& call, std::string_view member) {
  if (call.message.body.size() > kStatementBytesMax) return {};
  if (call.message.sequences.empty()) {
    const Value statements = call[member];
    return statements.size() == 1 ? statements.at(0) : Value();
  }
  const DocumentSequence& sequence = call.message.sequences.front();
  if (call.message.sequences.size() != 1 || sequence.name != member ||
      sequence.documents.size() != 1 || sequence.documents.front().size() > kStatementBytesMax) {
    return {};
  }
  auto statement = from_bson(sequence.documents.front());
  return statement ? *statement : Value();
}

// A projection that chooses members: expressions may take long, and the writer has others waiting.
bool is_quick_projection(const Value& fields) {
  for (const Value::Member& member : fields.members()) {
    if (!member.value.is_number() && !member.value.is_bool()) return false;
  }
  return true;
}

// Whatever was asked for, as a findAndModify would: of the others, the modification alone.
Answer<FindAndModify> parse_only(const Call& call, RunCommand run) {
  if (run == run_find_and_modify) {
    if (call.message.body.size() > kStatementBytesMax || !is_quick_projection(call["fields"])) {
      return refuse(kInvalidLength, "");
    }
    return parse_find_and_modify(call);
  }
  const bool updates = run == run_update;
  const Value statement = only_statement(call, updates ? "updates" : "deletes");
  if (!statement.is_object()) return refuse(kInvalidLength, "");
  auto parsed = updates ? parse_update(call, statement) : parse_delete(call, statement);
  if (!parsed) return pass(std::move(parsed.error()));
  return FindAndModify{.modification = std::move(*parsed)};
}

void append_answer(Call& call, RunCommand run, const FindAndModify& asked,
                   const Modified& modified) {
  if (run == run_find_and_modify) {
    return call.finish(append_found(call.answer, asked, modified));
  }
  if (run == run_delete) {
    call.answer.int32("n", static_cast<int32_t>(modified.matched));
  } else {
    append_updated(call.answer, {.matched = modified.matched, .changed = modified.changed});
  }
  call.reply();
}

void answer_failure(Call& call, RunCommand run, const WriteFailure& failure) {
  if (run == run_find_and_modify) return call.fail(error_of_found(call, failure));
  if (auto again = ask_to_retry(call, {failure}); !again) return call.fail(again.error());
  call.has_write_errors = true;
  append_failures(call.answer, {failure});
  append_answer(call, run, {}, {});
}

}  // namespace

bool try_modify_at_once(const HandlerContext& context, CallPtr& call, RunCommand run) {
  if (call->collection().empty() || !check_collection_name(call->database, call->collection())) {
    return false;
  }
  // What may have been done has to be looked for, which may wait.
  if (call->retry && call->retry->may_be_done()) return false;
  const auto routing = find_collection(context, call->database, call->collection());
  auto parsed = parse_only(*call, run);
  if (!parsed || !routing) return false;
  auto asked = std::make_unique<FindAndModify>(std::move(*parsed));
  asked->modification.note =
      run == run_find_and_modify ? note_of_found(*call, *asked) : note_of_statement(*call, 0);
  const auto change = PointChange::plan(routing, asked->modification, call->now_ms());
  if (!change) return false;
  std::vector<partition::Write> transaction;
  transaction.push_back(PointChange::write_of(change));
  context.engine.write(
      routing, std::move(transaction),
      [&context, run, change, asked = std::move(asked), call = std::move(call),
       share = routing->container->number](const cluster::WriteReply& reply) mutable {
        auto outcome = change->outcome(reply);
        if (!outcome) return run_later(context, std::move(call), Runs::writes, run, share);
        call->charge += reply.receipt.charge;
        if (!*outcome) return answer_failure(*call, run, outcome->error());
        call->has_written = (*outcome)->changed > 0;
        append_answer(*call, run, *asked, **outcome);
      });
  return true;
}

}  // namespace orrery::mongo

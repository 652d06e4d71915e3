// Transactions of sessions: their statements, commitTransaction and abortTransaction; the end of
// sessions.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/collections/collections.h"
#include "api/mongo/commands/arguments.h"
#include "api/mongo/commands/command.h"
#include "api/mongo/documents/retryable_write.h"
#include "api/mongo/documents/writing.h"
#include "api/mongo/transactions/transaction_store.h"
#include "value/placement.h"

namespace orrery::mongo {
namespace {

using End = TransactionStore::End;
using Found = TransactionStore::Found;
using value::Value;

// As long as the driver's session lives: hello says it to drivers.
constexpr uint32_t kNoteKeptS = 30 * 60;
constexpr std::string_view kTransient = "TransientTransactionError";
constexpr std::string_view kCommitIsUnknown = "UnknownTransactionCommitResult";
constexpr std::array<std::string_view, 11> kStatements = {
    "find",   "getMore",       "aggregate",   "distinct",          "insert",          "update",
    "delete", "findAndModify", "killCursors", "commitTransaction", "abortTransaction"};

struct Numbered {
  std::string session;
  int64_t number = 0;
};

Answer<Numbered> number_of(const Call& call) {
  const Value number = call["txnNumber"];
  std::string session = call.session();
  if (session.empty() || number.number_kind() != value::NumberKind::int64 || number.number() < 0) {
    return refuse(kInvalidOptions, "a transaction has an lsid, and a txnNumber that is a long");
  }
  return Numbered{std::move(session), number.integer()};
}

// What a statement must and must not say.
Answer<void> check_statement(const Call& call, bool starts) {
  const Value autocommit = call["autocommit"];
  if (autocommit.type() != value::Type::boolean || is_true(autocommit)) {
    return refuse(kInvalidOptions, "a statement of a transaction has autocommit: false");
  }
  if (!starts && !call["startTransaction"].is_undefined()) {
    return refuse(kInvalidOptions, "startTransaction may only be true");
  }
  const bool is_end = call.name == "commitTransaction" || call.name == "abortTransaction";
  if (starts && is_end) {
    return refuse(kInvalidOptions, fmt::format("{} cannot start a transaction", call.name));
  }
  if (!starts && !call["readConcern"].is_undefined()) {
    return refuse(kInvalidOptions,
                  "Only the first command in a transaction may specify a readConcern");
  }
  if (!is_end && !call["writeConcern"].is_undefined()) {
    return refuse(kInvalidOptions,
                  "a statement of a transaction has no writeConcern: commitTransaction has");
  }
  return {};
}

Answer<bool> wants_snapshot(const Call& call) {
  const Value level = call["readConcern"].find("level");
  if (level.is_undefined()) return false;
  const std::string_view name = level.is_string() ? level.text() : std::string_view();
  if (name == "snapshot") return true;
  if (name == "local" || name == "majority") return false;
  return refuse(kInvalidOptions,
                fmt::format("read concern '{}' is none of a transaction's: local, majority and "
                            "snapshot are",
                            name));
}

std::unexpected<Error> no_transaction(const Numbered& at, std::string_view why) {
  return refuse(kNoSuchTransaction,
                fmt::format("Given transaction number {} does not match any in-progress "
                            "transactions: {}",
                            at.number, why));
}

std::unexpected<Error> not_lent(const Numbered& at, Found found) {
  switch (found) {
    case Found::committed:
      return refuse(kTransactionCommitted,
                    fmt::format("Transaction {} has been committed.", at.number));
    case Found::aborted:
      return no_transaction(at, "it has been aborted");
    case Found::old:
      return refuse(
          kTransactionTooOld,
          fmt::format("transaction {} is older than one that this session has begun", at.number));
    default:
      return no_transaction(at, "nothing is known of it");
  }
}

NotePtr commit_note(const Numbered& at) {
  BsonWriter body;
  body.int32("commitTransaction", 1);
  return std::make_shared<const partition::Note>(
      partition::Note{.owner = at.session,
                      .number = static_cast<uint64_t>(at.number),
                      .part = 0,
                      .body = body.take(),
                      .life_s = kNoteKeptS});
}

// Whether a note of a commit is in this collection.
Answer<bool> is_committed_in(const HandlerContext& context, const cluster::RoutingPtr& routing,
                             const Numbered& at) {
  if (!routing) return false;
  auto notes = context.items.notes(routing, value::placement_min(), value::placement_max(),
                                   at.session, static_cast<uint64_t>(at.number));
  if (!notes) return pass(engine_error(notes.error()));
  for (const partition::KeptNote& note : *notes) {
    auto body = from_bson(note.body);
    if (body && body->find("commitTransaction").is_number()) return true;
  }
  return false;
}

// Of a transaction that this process does not know: what it wrote has a note, if it was committed.
// The token that its statements were answered with names the collection; without it all are asked.
Answer<bool> was_committed(const HandlerContext& context, const Call& call, const Numbered& at) {
  const Value ns = call["recoveryToken"].find("namespace");
  if (ns.is_string()) {
    const std::string_view name = ns.text();
    const size_t dot = name.find('.');
    if (dot == std::string_view::npos) return false;
    return is_committed_in(context,
                           find_collection(context, name.substr(0, dot), name.substr(dot + 1)), at);
  }
  for (const catalog::DatabasePtr& database : context.engine.catalog().databases(kFaceName)) {
    for (const catalog::ContainerPtr& container :
         context.engine.catalog().containers(database->number)) {
      auto found = is_committed_in(context, context.engine.find(container->number), at);
      if (!found || *found) return found;
    }
  }
  return false;
}

Answer<void> commit(Call& call, TransactionStore::Lent& lent, const Numbered& at) {
  using Kind = OpenTransaction::Outcome::Kind;
  const auto outcome = lent.transaction()->commit(commit_note(at), lent.may_be_done());
  call.charge += outcome.charge;
  switch (outcome.kind) {
    case Kind::committed:
      lent.set_end(End::committed);
      return {};
    case Kind::unknown:
      lent.set_end(End::unknown);
      call.error_labels.emplace_back(kCommitIsUnknown);
      return pass(engine_error(*outcome.error));
    case Kind::refused:
      break;
  }
  Value document;
  if (outcome.refused != nullptr) {
    if (auto parsed = from_bson(outcome.refused->body)) document = std::move(*parsed);
  }
  Error error = failure_of(*outcome.routing, document, *outcome.error).error;
  // What the writer refused was right for the transaction's own view, which is out of date then.
  if (outcome.error->code == Code::not_found) error.code = kWriteConflict;
  return pass(std::move(error));
}

// What is left of an answer to a statement: where the commit is to be looked for.
void append_token(const HandlerContext& context, Call& call) {
  // Drivers keep it for a mongos alone.
  if (!context.options.replica_set.empty()) return;
  const std::string ns = call.transaction->written_namespace();
  call.answer.begin_document("recoveryToken");
  if (!ns.empty()) call.answer.string("namespace", ns);
  call.answer.end();
}

Answer<void> run_statement(const HandlerContext& context, Call& call, const Numbered& at,
                           bool starts) {
  std::unique_ptr<TransactionStore::Lent> lent;
  if (starts) {
    auto is_snapshot = wants_snapshot(call);
    if (!is_snapshot) return pass(std::move(is_snapshot.error()));
    auto begun = context.transactions.begin(at.session, at.number, *is_snapshot);
    if (!begun) return pass(std::move(begun.error()));
    lent = std::move(*begun);
  } else {
    auto lending = context.transactions.lend(at.session, at.number);
    if (lending.found == Found::busy) {
      call.is_waiting = true;
      return {};
    }
    if (lending.found != Found::open) return not_lent(at, lending.found);
    if (lending.lent->may_be_done()) {
      lending.lent->set_end(End::unknown);
      return refuse(kTransactionCommitted, "the transaction is being committed");
    }
    lent = std::move(lending.lent);
  }
  call.transaction = lent->transaction();
  Answer<void> outcome = find_command(call.name)->run(context, call);
  // As in MongoDB, a statement that fails ends its transaction.
  if (outcome && !call.has_write_errors) lent->set_end(End::none);
  if (outcome) append_token(context, call);
  return outcome;
}

Answer<void> run_any(const HandlerContext& context, Call& call) {
  if (std::ranges::find(kStatements, find_command(call.name)->name) == kStatements.end()) {
    return refuse(kOperationNotSupportedInTransaction,
                  fmt::format("Cannot run '{}' in a multi-document transaction.", call.name));
  }
  const bool starts = flag_argument(call.command, "startTransaction", false);
  if (auto checked = check_statement(call, starts); !checked) return checked;
  auto at = number_of(call);
  if (!at) return pass(std::move(at.error()));
  if (call.name == "commitTransaction" || call.name == "abortTransaction") {
    return find_command(call.name)->run(context, call);
  }
  return run_statement(context, call, *at, starts);
}

}  // namespace

Answer<void> run_in_transaction(const HandlerContext& context, Call& call) {
  Answer<void> outcome = run_any(context, call);
  // Whether the outcome of a commit is known is told already.
  if (!outcome && call.error_labels.empty() && is_transient(outcome.error().code)) {
    call.error_labels.emplace_back(kTransient);
  }
  return outcome;
}

Answer<void> run_commit_transaction(const HandlerContext& context, Call& call) {
  auto at = number_of(call);
  if (!at) return pass(std::move(at.error()));
  auto lending = context.transactions.lend(at->session, at->number);
  switch (lending.found) {
    case Found::open:
      return commit(call, *lending.lent, *at);
    case Found::busy:
      call.is_waiting = true;
      return {};
    case Found::committed:
      return {};
    case Found::none: {
      auto committed = was_committed(context, call, *at);
      if (!committed) {
        call.error_labels.emplace_back(kCommitIsUnknown);
        return pass(std::move(committed.error()));
      }
      if (*committed) return {};
      break;
    }
    default:
      break;
  }
  return not_lent(*at, lending.found);
}

Answer<void> run_abort_transaction(const HandlerContext& context, Call& call) {
  auto at = number_of(call);
  if (!at) return pass(std::move(at.error()));
  auto lending = context.transactions.lend(at->session, at->number);
  if (lending.found == Found::busy) {
    call.is_waiting = true;
    return {};
  }
  if (lending.found != Found::open) return not_lent(*at, lending.found);
  if (lending.lent->may_be_done()) {
    lending.lent->set_end(End::unknown);
    return refuse(kTransactionCommitted, "the transaction is being committed");
  }
  lending.lent->set_end(End::aborted);
  return {};
}

Answer<void> run_end_sessions(const HandlerContext& context, Call& call) {
  const Value sessions = call[call.name];
  if (!sessions.is_array()) {
    return refuse(kTypeMismatch, fmt::format("BSON field '{}' must be an array", call.name));
  }
  std::vector<std::string> names;
  for (const Value& session : sessions.elements()) {
    const Value id = session.find("id");
    if (id.type() == value::Type::binary) {
      names.push_back(session_name(call.connection.user, id.bytes()));
    }
  }
  std::ranges::sort(names);
  context.transactions.abort_if(
      [&](std::string_view session) { return std::ranges::binary_search(names, session); });
  return {};
}

// With names of users: theirs. Without any: all.
Answer<void> run_kill_all_sessions(const HandlerContext& context, Call& call) {
  const Value users = call[call.name];
  if (!users.is_array()) {
    return refuse(kTypeMismatch, fmt::format("BSON field '{}' must be an array", call.name));
  }
  std::vector<std::string> prefixes;
  for (const Value& user : users.elements()) {
    const Value name = user.find("user");
    if (name.is_string()) prefixes.push_back(session_name(name.text(), {}));
  }
  context.transactions.abort_if([&](std::string_view session) {
    return users.size() == 0 || std::ranges::any_of(prefixes, [&](const std::string& prefix) {
             return session.starts_with(prefix);
           });
  });
  return {};
}

}  // namespace orrery::mongo

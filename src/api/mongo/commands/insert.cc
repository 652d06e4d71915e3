// insert.
#include <fmt/format.h>

#include <utility>

#include "api/mongo/collections/collections.h"
#include "api/mongo/commands/arguments.h"
#include "api/mongo/commands/command.h"
#include "api/mongo/documents/retryable_write.h"
#include "api/mongo/documents/writing.h"
#include "api/mongo/transactions/open_transaction.h"

namespace orrery::mongo {
namespace {

using partition::Verb;
using value::Value;

constexpr size_t kBatchMax = 100'000;
// A document that is written from the loop's thread.
constexpr size_t kInsertAtOnceBytesMax = 16 * 1024;

Answer<void> check_batch(size_t size) {
  if (size >= 1 && size <= kBatchMax) return {};
  return refuse(kInvalidLength,
                fmt::format("Write batch sizes must be between 1 and {}. Got {} operations.",
                            kBatchMax, size));
}

Answer<void> insert_in_transaction(Call& call, const cluster::RoutingPtr& routing,
                                   const std::vector<std::string_view>& documents,
                                   bool is_ordered) {
  std::vector<WriteFailure> failures;
  for (size_t i = 0; i < documents.size(); ++i) {
    auto made = prepare(*routing, documents[i], call.now_ms());
    if (!made) {
      failures.push_back({.index = i, .error = std::move(made.error())});
      if (is_ordered) break;
      continue;
    }
    auto staged = call.transaction->stage(
        routing, make_write(Verb::create, routing, std::move(made->key), std::move(made->bytes)));
    if (!staged) return pass(std::move(staged.error()));
    if (*staged) continue;
    failures.push_back(failure_of(*routing, made->document, staged->error()));
    failures.back().index = i;
    if (is_ordered) break;
  }
  const size_t tried = is_ordered && !failures.empty() ? failures.back().index : documents.size();
  const size_t failed = is_ordered ? 0 : failures.size();
  call.has_write_errors = !failures.empty();
  call.answer.int32("n", static_cast<int32_t>(tried - failed));
  append_failures(call.answer, failures);
  return {};
}

}  // namespace

Answer<void> run_insert(const HandlerContext& context, Call& call) {
  auto name = collection_argument(call);
  if (!name) return pass(std::move(name.error()));
  std::vector<std::string> kept;
  auto documents = call.documents("documents", kept);
  if (!documents) return pass(std::move(documents.error()));
  if (auto checked = check_batch(documents->size()); !checked) return checked;
  const bool is_ordered = flag_argument(call.command, "ordered", true);
  auto routing = ensure_collection(context, call.database, *name);
  if (!routing) return pass(std::move(routing.error()));
  std::vector<WriteFailure> failures;
  std::vector<size_t> numbers;  // of the documents in the batch
  size_t done_before = 0;
  if (call.retry) {
    if (auto loaded = call.retry->load(context, *routing, call); !loaded) return loaded;
  }
  if (call.transaction) return insert_in_transaction(call, *routing, *documents, is_ordered);
  const auto write_of = [&routing](NewDocument made) {
    return make_write(Verb::create, *routing, std::move(made.key), std::move(made.bytes));
  };
  WriteBatch batch(context, *routing, is_ordered, call.retry.get(), [&](size_t i) {
    return write_of(prepare(**routing, (*documents)[i], call.now_ms()).value());
  });
  for (size_t i = 0; i < documents->size() && !batch.is_stopped(); ++i) {
    if (call.retry && call.retry->is_inserted(i)) {
      ++done_before;
      continue;
    }
    auto made = prepare(**routing, (*documents)[i], call.now_ms());
    if (!made) {
      failures.push_back({.index = i, .error = std::move(made.error())});
      if (is_ordered) break;
      continue;
    }
    numbers.push_back(i);
    batch.add(write_of(std::move(*made)), i);
  }
  WriteBatch::Outcome& outcome = batch.finish();
  call.charge += outcome.charge;
  call.has_written = outcome.done + done_before > 0;
  for (const auto& [at, error] : outcome.refused) {
    const size_t number = numbers[at];
    auto made = prepare(**routing, (*documents)[number], call.now_ms());
    WriteFailure failure = failure_of(**routing, made ? made->document : Value(), error);
    failure.index = number;
    failures.push_back(std::move(failure));
  }
  std::ranges::sort(failures, {}, &WriteFailure::index);
  if (is_ordered && failures.size() > 1) failures.resize(1);
  if (auto again = ask_to_retry(call, failures); !again) return again;
  call.answer.int32("n", static_cast<int32_t>(outcome.done + done_before));
  append_failures(call.answer, failures);
  return {};
}

bool try_insert_at_once(const HandlerContext& context, CallPtr& call) {
  if (call->message.sequences.size() != 1 || call->collection().empty()) return false;
  const DocumentSequence& sequence = call->message.sequences.front();
  if (sequence.name != "documents" || sequence.documents.size() != 1 ||
      sequence.documents.front().size() > kInsertAtOnceBytesMax) {
    return false;
  }
  // What may have been done has to be looked for, which may wait.
  if (call->retry && call->retry->may_be_done()) return false;
  const auto routing = find_collection(context, call->database, call->collection());
  if (!routing) return false;
  auto made = prepare(*routing, sequence.documents.front(), call->now_ms());
  if (!made) return false;
  std::vector<partition::Write> transaction;
  transaction.push_back(
      make_write(Verb::create, routing, std::move(made->key), std::move(made->bytes)));
  if (call->retry) transaction.back().note = call->retry->note_of_inserts({0});
  context.engine.write(
      routing, std::move(transaction),
      [&context, routing, document = std::move(made->document),
       call = std::move(call)](cluster::WriteReply reply) mutable {
        const Code code = reply.error ? reply.error->code : Code::internal;
        const bool waits = reply.error && (code == Code::throttled || code == Code::elsewhere);
        const bool fails =
            reply.error && !waits && call->retry && is_retryable(engine_error(*reply.error).code);
        if (fails) return call->fail(*reply.error);
        if (waits) {
          // Where it may wait.
          return run_later(context, std::move(call), Runs::writes, run_insert,
                           routing->container->number);
        }
        call->charge += reply.receipt.charge;
        call->answer.int32("n", reply.error ? 0 : 1);
        if (reply.error) {
          append_failures(call->answer, {failure_of(*routing, document, *reply.error)});
        }
        call->reply();
      });
  return true;
}

}  // namespace orrery::mongo

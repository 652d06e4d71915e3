// See batches.h. Also the commands getMore and killCursors.
#include "api/mongo/commands/batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/mongo/bson/numbers.h"
#include "api/mongo/commands/arguments.h"
#include "api/mongo/commands/command.h"
#include "api/mongo/forward/forward.h"
#include "api/mongo/transactions/snapshot_store.h"

namespace orrery::mongo {
namespace {

using value::Value;

constexpr size_t kBatchBytesMax = size_t{16} << 20;
constexpr size_t kBudgetBytes = size_t{512} << 20;
// How long getMore waits for news when it does not say so.
constexpr int64_t kAwaitMs = 1'000;

class VectorRows final : public RowStream {
 public:
  explicit VectorRows(std::vector<std::string> documents) : documents_(std::move(documents)) {
    for (const std::string& document : documents_) bytes_ += document.size();
  }
  Answer<bool> next(std::string& bson) override {
    if (next_ >= documents_.size()) return false;
    bson = std::move(documents_[next_++]);
    return true;
  }
  size_t memory() const override { return bytes_; }

 private:
  std::vector<std::string> documents_;
  size_t next_ = 0;
  size_t bytes_ = 0;
};

// What is there now of a stream that stays open, within a batch.
Answer<std::vector<std::string>> take_news(Call& call, Cursor& cursor, int64_t most) {
  // maxTimeMS is how long to wait for news.
  const int64_t until_us = call.steady_us() + kCommandTimeMs * 1000;
  start_budget(call, cursor.rows->budget, until_us);
  std::vector<std::string> rows;
  size_t bytes = 0;
  std::string row;
  while (static_cast<int64_t>(rows.size()) < most) {
    if (cursor.pending) {
      row = std::move(*cursor.pending);
      cursor.pending.reset();
    } else {
      auto more = cursor.rows->next(row);
      if (!more) return pass(std::move(more.error()));
      if (!*more) break;
    }
    if (!rows.empty() && bytes + row.size() > kBatchBytesMax) {
      cursor.pending = std::move(row);
      break;
    }
    bytes += row.size();
    rows.push_back(std::move(row));
  }
  call.charge += cursor.rows->end_batch(bytes);
  return rows;
}

// The end of a batch of a stream that stays open: its token, and the cursor's id, or 0 when what it
// watches is gone.
void append_end(BsonWriter& answer, const Cursor& cursor, int64_t id) {
  answer.end();
  if (const auto token = cursor.rows->resume_token()) {
    answer.value("postBatchResumeToken", *token, SIZE_MAX);
  }
  answer.int64("id", id).string("ns", cursor.ns).end();
}

void append_rows(BsonWriter& answer, const std::vector<std::string>& rows) {
  BsonWriter::Index index;
  for (const std::string& row : rows) answer.document(index.next(), row);
}

Answer<void> reply_first_news(const HandlerContext& context, Call& call,
                              std::unique_ptr<Cursor> cursor, int64_t size) {
  auto rows = take_news(call, *cursor, size);
  if (!rows) return pass(std::move(rows.error()));
  call.answer.begin_document("cursor").begin_array("firstBatch");
  append_rows(call.answer, *rows);
  if (!cursor->rows->stays_open() && !cursor->pending) {
    append_end(call.answer, *cursor, 0);
    return {};
  }
  const std::string ns = cursor->ns;
  const auto token = cursor->rows->resume_token();
  auto id = context.cursors.add(std::move(cursor));
  if (!id) return pass(std::move(id.error()));
  call.answer.end();
  if (token) call.answer.value("postBatchResumeToken", *token, SIZE_MAX);
  call.answer.int64("id", *id).string("ns", ns).end();
  call.cursor_id = *id;
  return {};
}

// The next batch, as soon as there is one; an empty one when maxTimeMS is over.
Answer<void> reply_news(const HandlerContext& context, Call& call, int64_t id,
                        std::unique_ptr<Cursor> cursor, int64_t most) {
  auto rows = take_news(call, *cursor, most);
  if (!rows) {
    context.cursors.remove(id);
    return pass(std::move(rows.error()));
  }
  const bool stays = cursor->rows->stays_open() || cursor->pending;
  const int64_t asked_ms = call.max_time_ms();
  const int64_t until_us = call.started_us() + (asked_ms > 0 ? asked_ms : kAwaitMs) * 1000;
  if (rows->empty() && stays && call.steady_us() < until_us) {
    context.cursors.put_back(id, std::move(cursor));
    call.is_waiting = true;
    return {};
  }
  call.answer.begin_document("cursor").begin_array("nextBatch");
  append_rows(call.answer, *rows);
  append_end(call.answer, *cursor, stays ? id : 0);
  call.cursor_id = stays ? id : 0;
  if (stays) {
    context.cursors.put_back(id, std::move(cursor));
  } else {
    context.cursors.remove(id);
  }
  return {};
}

// Fills the array that is open. True when there is more.
Answer<bool> fill_batch(Call& call, Cursor& cursor, int64_t most) {
  start_budget(call, *cursor.rows);
  if (auto begun = cursor.rows->begin_batch(); !begun) return pass(std::move(begun.error()));
  BsonWriter::Index index;
  size_t bytes = 0;
  Answer<bool> is_more = true;
  std::string row;
  for (int64_t count = 0; count < most; ++count) {
    if (cursor.pending) {
      row = std::move(*cursor.pending);
      cursor.pending.reset();
    } else {
      is_more = cursor.rows->next(row);
      if (!is_more || !*is_more) break;
    }
    if (count > 0 && bytes + row.size() > kBatchBytesMax) {
      cursor.pending = std::move(row);
      break;
    }
    bytes += row.size();
    call.answer.document(index.next(), row);
  }
  call.charge += cursor.rows->end_batch(bytes);
  return is_more;
}

// A cursor of a transaction reads for that one alone, and other cursors for none.
bool belongs_here(const Cursor& cursor, const Call& call) {
  if (!cursor.is_in_transaction) return call.transaction == nullptr;
  return call.transaction != nullptr && cursor.transaction.lock() == call.transaction;
}

// Whether there is one more, which is kept.
Answer<bool> has_more(Cursor& cursor) {
  if (cursor.pending) return true;
  std::string row;
  auto more = cursor.rows->next(row);
  if (!more || !*more) return more;
  cursor.pending = std::move(row);
  cursor.rows->end_batch(0);
  return true;
}

// When the command has to be done.
int64_t end_of(const Call& call) {
  const int64_t asked_ms = call.max_time_ms();
  return call.started_us() + (asked_ms > 0 ? asked_ms : kCommandTimeMs) * 1000;
}

std::function<bool()> stop_of(const Call& call, int64_t until_us) {
  return [&call, until_us] { return call.steady_us() > until_us || call.client_is_gone(); };
}

}  // namespace

std::unique_ptr<RowStream> rows_of(std::vector<std::string> documents) {
  return std::make_unique<VectorRows>(std::move(documents));
}

void start_budget(const Call& call, Budget& budget) {
  start_budget(call, budget, end_of(call));
}

void start_budget(const Call& call, Budget& budget, int64_t until_us) {
  budget.start({.stop = stop_of(call, until_us), .free_steps = 0, .bytes = kBudgetBytes});
}

void start_budget(const Call& call, RowStream& rows) {
  start_budget(call, rows.budget);
  rows.stop = stop_of(call, end_of(call));
}

Answer<void> reply_first_batch(const HandlerContext& context, Call& call,
                               std::unique_ptr<RowStream> rows, const BatchOptions& options) {
  auto cursor = std::make_unique<Cursor>();
  cursor->ns = options.ns;
  cursor->user = call.connection.user;
  cursor->rows = std::move(rows);
  cursor->never_expires = options.never_expires;
  cursor->is_in_transaction = call.transaction != nullptr;
  cursor->transaction = call.transaction;
  const int64_t size = options.size.value_or(kFirstBatch);
  if (cursor->rows->stays_open()) return reply_first_news(context, call, std::move(cursor), size);
  call.answer.begin_document("cursor").begin_array("firstBatch");
  auto more = fill_batch(call, *cursor, size);
  if (!more) return pass(std::move(more.error()));
  if (*more && !options.is_single && size > 0) {
    more = has_more(*cursor);
    if (!more) return pass(std::move(more.error()));
  }
  int64_t id = 0;
  if (*more && !options.is_single) {
    auto added = context.cursors.add(std::move(cursor));
    if (!added) return pass(std::move(added.error()));
    id = *added;
  }
  call.answer.end().int64("id", id).string("ns", options.ns);
  if (call.snapshot) call.answer.timestamp("atClusterTime", call.snapshot->time());
  call.answer.end();
  call.cursor_id = id;
  return {};
}

Answer<void> run_get_more(const HandlerContext& context, Call& call) {
  const Value id_value = call["getMore"].is_undefined() ? call["getmore"] : call["getMore"];
  if (!id_value.is_number()) {
    return refuse(kTypeMismatch, "BSON field 'getMore.getMore' is no cursor's id");
  }
  auto id = integer_argument(call.command, call.name, 0);
  if (!id) return pass(std::move(id.error()));
  auto size = integer_argument(call.command, "batchSize", 0);
  if (!size) return pass(std::move(size.error()));
  if (*size < 0) return refuse(kBadValue, "BSON field 'batchSize' value must be >= 0");
  const Value collection = call["collection"];
  if (!collection.is_string()) {
    return refuse(40414, "BSON field 'getMore.collection' is missing but a required field");
  }
  auto cursor = context.cursors.take(*id);
  if (!cursor) return pass(std::move(cursor.error()));
  const std::string asked = fmt::format("{}.{}", call.database, collection.text());
  if ((*cursor)->user != call.connection.user || (*cursor)->ns != asked) {
    const std::string ns = (*cursor)->ns;
    context.cursors.put_back(*id, std::move(*cursor));
    return refuse(kUnauthorized,
                  fmt::format("Requested getMore on namespace '{}', but cursor belongs to a "
                              "different namespace {}, or to another user",
                              asked, ns));
  }
  if (!belongs_here(**cursor, call)) {
    context.cursors.put_back(*id, std::move(*cursor));
    return refuse(50740, fmt::format("Cannot run getMore on cursor {}, which was opened in another "
                                     "transaction, or in none",
                                     *id));
  }
  const int64_t most = *size == 0 ? INT64_MAX : *size;
  if ((*cursor)->rows->stays_open() || (*cursor)->rows->resume_token()) {
    return reply_news(context, call, *id, std::move(*cursor), most);
  }
  const std::string ns = (*cursor)->ns;
  call.answer.begin_document("cursor").begin_array("nextBatch");
  auto more = fill_batch(call, **cursor, most);
  if (more && *more) more = has_more(**cursor);
  if (!more) {
    context.cursors.remove(*id);
    return pass(std::move(more.error()));
  }
  if (*more) {
    context.cursors.put_back(*id, std::move(*cursor));
  } else {
    context.cursors.remove(*id);
  }
  call.cursor_id = *more ? *id : 0;
  call.answer.end().int64("id", call.cursor_id).string("ns", ns).end();
  return {};
}

Answer<void> run_kill_cursors(const HandlerContext& context, Call& call) {
  const Value ids = call["cursors"];
  if (!ids.is_array()) {
    return refuse(kTypeMismatch, "BSON field 'killCursors.cursors' must be an array of ids");
  }
  std::vector<int64_t> killed;
  std::vector<int64_t> unknown;
  for (const Value& id : ids.elements()) {
    const auto number = exact_integer(id);
    if (!number) return refuse(kTypeMismatch, "a cursor's id must be a whole number");
    const bool was_there = context.cursors.remove_of(call.connection.user, *number) ||
                           kill_far_cursor(context, call, *number);
    (was_there ? killed : unknown).push_back(*number);
  }
  const auto list = [&call](std::string_view name, const std::vector<int64_t>& all) {
    call.answer.begin_array(name);
    BsonWriter::Index index;
    for (const int64_t id : all) call.answer.int64(index.next(), id);
    call.answer.end();
  };
  list("cursorsKilled", killed);
  list("cursorsNotFound", unknown);
  list("cursorsAlive", {});
  list("cursorsUnknown", {});
  return {};
}

}  // namespace orrery::mongo

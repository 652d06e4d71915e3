// See batches.h. Also the commands getMore and killCursors.
#include "api/mongo/commands/batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/mongo/commands/arguments.h"
#include "api/mongo/commands/command.h"

namespace orrery::mongo {
namespace {

using value::Value;

constexpr size_t kBatchBytesMax = size_t{16} << 20;
constexpr size_t kBudgetBytes = size_t{512} << 20;

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

// Fills the array that is open. True when there is more.
Answer<bool> fill_batch(Call& call, Cursor& cursor, int64_t most) {
  start_budget(call, cursor.rows->budget);
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

}  // namespace

std::unique_ptr<RowStream> rows_of(std::vector<std::string> documents) {
  return std::make_unique<VectorRows>(std::move(documents));
}

void start_budget(const Call& call, Budget& budget) {
  const int64_t asked_ms = call.max_time_ms();
  const int64_t until_us = call.started_us() + (asked_ms > 0 ? asked_ms : kCommandTimeMs) * 1000;
  budget.start(
      {.stop = [&call, until_us] { return call.steady_us() > until_us || call.client_is_gone(); },
       .free_steps = 0,
       .bytes = kBudgetBytes});
}

Answer<void> reply_first_batch(const Context& context, Call& call, std::unique_ptr<RowStream> rows,
                               const BatchOptions& options) {
  auto cursor = std::make_unique<Cursor>();
  cursor->ns = options.ns;
  cursor->user = call.connection.user;
  cursor->rows = std::move(rows);
  cursor->never_expires = options.never_expires;
  call.answer.begin_document("cursor").begin_array("firstBatch");
  const int64_t size = options.size.value_or(kFirstBatch);
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
  call.answer.end().int64("id", id).string("ns", options.ns).end();
  return {};
}

Answer<void> run_get_more(const Context& context, Call& call) {
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
  const std::string ns = (*cursor)->ns;
  call.answer.begin_document("cursor").begin_array("nextBatch");
  auto more = fill_batch(call, **cursor, *size == 0 ? INT64_MAX : *size);
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
  call.answer.end().int64("id", *more ? *id : 0).string("ns", ns).end();
  return {};
}

Answer<void> run_kill_cursors(const Context& context, Call& call) {
  const Value ids = call["cursors"];
  if (!ids.is_array()) {
    return refuse(kTypeMismatch, "BSON field 'killCursors.cursors' must be an array of ids");
  }
  std::vector<int64_t> killed;
  std::vector<int64_t> unknown;
  for (const Value& id : ids.elements()) {
    if (!id.is_number()) return refuse(kTypeMismatch, "a cursor's id must be a number");
    const int64_t number = id.number_kind() == value::NumberKind::int64
                               ? id.integer()
                               : static_cast<int64_t>(id.number());
    (context.cursors.remove(number) ? killed : unknown).push_back(number);
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

// The batches of cursors: the first one of a command, and those of getMore.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "api/mongo/call.h"
#include "api/mongo/cursors/row_stream.h"
#include "api/mongo/handler_context.h"

namespace orrery::mongo {

inline constexpr int64_t kFirstBatch = 101;
// How long a command may take that does not say so.
inline constexpr int64_t kCommandTimeMs = 60'000;

// Starts a budget for what a command does: its time, and until its client has gone.
void start_budget(const Call& call, Budget& budget);
void start_budget(const Call& call, Budget& budget, int64_t until_us);
// The same for a batch of rows.
void start_budget(const Call& call, RowStream& rows);

struct BatchOptions {
  std::string ns;
  std::optional<int64_t> size = {};  // documents; unset: kFirstBatch
  bool is_single = false;            // the cursor is closed after it
  bool never_expires = false;
};
// Answers with the first batch, and keeps a cursor when there is more.
Answer<void> reply_first_batch(const HandlerContext& context, Call& call,
                               std::unique_ptr<RowStream> rows, const BatchOptions& options);

// Rows that are there already.
std::unique_ptr<RowStream> rows_of(std::vector<std::string> documents);

}  // namespace orrery::mongo

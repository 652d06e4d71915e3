// The statements of update and delete, and the command findAndModify: what they ask for, and what
// is answered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "api/mongo/bson/error.h"
#include "api/mongo/call.h"
#include "api/mongo/documents/modify.h"
#include "api/mongo/match/projection.h"
#include "value/value.h"

namespace orrery::mongo {

Answer<Modification> parse_update(const Call& call, const value::Value& statement);
Answer<Modification> parse_delete(const Call& call, const value::Value& statement);
// The note that a statement leaves, if the call may be retried. The call outlives the function.
std::function<NotePtr(const Modified&)> note_of_statement(const Call& call, size_t statement);

// What the statements of an update did together.
struct Updated {
  int64_t matched = 0;
  int64_t changed = 0;
  std::vector<std::pair<size_t, value::Value>> upserted = {};  // by their statements

  void add(size_t statement, const Modified& modified);
};
void append_updated(BsonWriter& answer, const Updated& updated);

struct FindAndModify {
  Modification modification;
  Projection projection = {};
  bool removes = false;
  bool returns_new = false;
};
Answer<FindAndModify> parse_find_and_modify(const Call& call);
Answer<void> append_found(BsonWriter& answer, const FindAndModify& asked, const Modified& modified);
// What the command answers; the call keeps what of the failure goes beside it.
Error error_of_found(Call& call, const WriteFailure& failure);
// As note_of_statement(). `asked` outlives the function, too.
std::function<NotePtr(const Modified&)> note_of_found(const Call& call, const FindAndModify& asked);

}  // namespace orrery::mongo

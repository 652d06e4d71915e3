// A write that its client may send again, with the same session and number, because it lost the
// answer. What each statement did is kept in a note of the write itself (partition/note.h), so that
// it is known wherever the write is: after a crash, a split or a move. Of each session the newest
// number is kept, for as long as sessions live.
//
// A note's body is BSON, with the command's name first:
//   {insert: [from, to, …]}                       the statements' ids, from and to included
//   {update: id, n, nModified, upserted}          upserted: the _id, if there is one
//   {delete: id, n}
//   {findAndModify: id, answer: {…}}              what it was answered
//
// Threading: one thread at a time, that of its call.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/mongo/bson/error.h"
#include "api/mongo/handler_context.h"
#include "cluster/routing.h"
#include "partition/note.h"
#include "value/value.h"

namespace orrery::mongo {

class Call;
using NotePtr = std::shared_ptr<const partition::Note>;

// Whether a command's stmtIds and stmtId are what they may be. 14 when not: two statements with one
// number would be taken for one.
Answer<void> check_statement_ids(const value::Value& command);

class RetryableWrite {
 public:
  // Of a command whose statement ids were checked.
  // `may_be_done`: another process may have run it before, so load() has to look.
  RetryableWrite(std::string session, int64_t number, const value::Value& command,
                 bool may_be_done);

  // The number that the client gives a statement: stmtIds, stmtId, or its place in the command.
  int32_t id_of(size_t statement) const;

  bool may_be_done() const { return may_be_done_; }
  // Finds what was done before, in the partitions that the call concerns. Blocks. 217 when the
  // number was another command's.
  Answer<void> load(const HandlerContext& context, const cluster::RoutingPtr& routing,
                    const Call& call);
  bool is_inserted(size_t statement) const;
  // The body of a statement's note; undefined: it was not done.
  value::Value result_of(size_t statement) const;

  NotePtr note_of_inserts(const std::vector<size_t>& statements) const;
  // `members`: what comes after the statement's id.
  NotePtr note_of(size_t statement, std::vector<value::Value::Field> members) const;

 private:
  NotePtr make_note(size_t first_statement, value::Value body) const;

  const std::string session_;
  const int64_t number_;
  const std::string command_;
  const bool may_be_done_;
  std::vector<int32_t> ids_;  // stmtIds; empty: they count up from first_id_
  int32_t first_id_ = 0;
  std::vector<std::pair<int64_t, int64_t>> inserted_;  // of ids, both ends included
  std::map<int64_t, value::Value> results_;            // by id
};

}  // namespace orrery::mongo

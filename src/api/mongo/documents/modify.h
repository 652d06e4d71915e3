// Changes of documents that are there: found by a filter, updated or removed one by one.
//
// A document is read, changed, and written if it is still as it was read; if not, that is done
// again. So an update is never lost, and never applied to a document that does not match any more.
// Most changes of one document by its _id never come here: the partition's writer makes them
// (point_change.h).
//
// Threading: blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/mongo/call.h"
#include "api/mongo/documents/find_stream.h"
#include "api/mongo/documents/retryable_write.h"
#include "api/mongo/documents/writing.h"
#include "api/mongo/handler_context.h"
#include "api/mongo/match/sort.h"
#include "api/mongo/update/update.h"
#include "value/value.h"

namespace orrery::mongo {

struct Modified {
  int64_t matched = 0;
  int64_t changed = 0;
  value::Value upserted_id = {};  // undefined: nothing was inserted
  value::Value before = {};       // of the one document, if is_multi is false; owned
  value::Value after = {};
};

struct Modification {
  FindQuery query;
  value::Value update;         // undefined: removes the documents
  value::Value array_filters;  // an array, or undefined
  value::Value constants;
  std::optional<Sort> sort;  // which is taken, if one alone is
  bool is_multi = false;
  bool upserts = false;
  // Of a write that may be retried: the note that it leaves, of what it is about to do.
  std::function<NotePtr(const Modified&)> note = {};
};

// `routing` is null when the collection is not there; an upsert makes it.
std::expected<Modified, WriteFailure> modify(const HandlerContext& context, Call& call,
                                             cluster::RoutingPtr routing,
                                             const Modification& modification);

}  // namespace orrery::mongo

// The members of a find, checked.
#pragma once

#include <cstdint>

#include "api/mongo/bson/error.h"
#include "api/mongo/call.h"
#include "api/mongo/documents/find_stream.h"
#include "value/value.h"

namespace orrery::mongo {

struct FindCommand {
  FindQuery query;
  FindOptions options;
  int64_t batch_size = 0;
  bool is_single = false;
};
Answer<FindCommand> parse_find(const value::Value& command);
// A filter, and what goes with it in a command: let, collation, hint.
Answer<FindQuery> parse_query(const value::Value& filter, const value::Value& command);

}  // namespace orrery::mongo

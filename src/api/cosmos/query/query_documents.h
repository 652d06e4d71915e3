// Queries over feeds other than items: databases, containers, offers, and other lists of JSON
// documents.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/cosmos/call.h"
#include "api/cosmos/wire/continuation.h"

namespace orrery::cosmos {

// The name of the feed in the answer ("Databases"), the resource id of its owner, and the time
// limit of a page.
struct FeedOf {
  std::string rid;
  std::string_view name;
  uint64_t time_ms = 0;
};

// Runs the query that is the call's body over the documents, which have an "id" each, and answers
// with a page of its rows, in the order of the ids unless the query says otherwise.
void query_documents(CallPtr call, const Continuations& continuations, const FeedOf& feed,
                     const std::vector<std::string>& documents);

}  // namespace orrery::cosmos

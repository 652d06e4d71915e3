// Where a change stream is: how far it has read the history of each partition. It goes to clients
// as a resume token, {_data: hex}, and comes back from them.
//
// A position in a partition is good in its children, so a token survives splits.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/mongo/bson/error.h"
#include "value/value.h"

namespace orrery::mongo {

struct StreamPosition {
  struct Part {
    uint32_t container = 0;
    std::string min;  // placement keys, [min, max)
    std::string max;
    uint64_t lsn = 0;  // all writes up to here were told
    // Of the transaction after it, so many events were told.
    uint64_t begun_lsn = 0;
    uint32_t begun_events = 0;
    bool operator==(const Part&) const = default;
  };
  std::vector<Part> parts;
  // The last event was an invalidation: only startAfter goes on from here.
  bool is_invalidated = false;
  bool operator==(const StreamPosition&) const = default;
};

inline constexpr int32_t kInvalidResumeToken = 260;

value::Value token_of(const StreamPosition& position);
// 260 when it is none.
Answer<StreamPosition> read_token(const value::Value& token);

}  // namespace orrery::mongo

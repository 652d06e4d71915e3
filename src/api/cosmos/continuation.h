// Continuation tokens: where a feed goes on. Opaque to clients; only the server that made one (the
// holder of the secret) takes it back, so that a forged, damaged or foreign one is a clear error
// and never a wrong page.
//
//   token = base64url without padding of:
//     1 byte   version, 1
//     1 byte   kind: 1 items, 2 names, 3 query
//     items:   u32 big-endian container number, then two strings: placement key, row key
//     names:   one string
//     query:   u32 container number, u64 hash of the query, u64 rows of the last item, u64 rows
//              skipped, u64 rows given (all big-endian), then one string: the item's key
//     8 bytes  the start of HMAC-SHA256(secret, all before)
//   string = u16 big-endian size, bytes
// A token for an id of 255 bytes and a placement key of 48 has 428 characters; clients ask for at
// most 1 KB.
//
// A Continuations object is immutable and may be used by any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "query/execute.h"

namespace orrery::cosmos {

inline constexpr size_t kMaxContinuationBytes = 8 * 1024;

// The feed goes on after this item.
struct FeedPosition {
  uint32_t container = 0;
  std::string after_placement;
  std::string after_row;
  bool operator==(const FeedPosition&) const = default;
};

// A query goes on from here.
struct QueryPosition {
  uint32_t container = 0;   // 0: not over items
  uint64_t query_hash = 0;  // of its text and parameters: another query cannot go on from it
  query::Position at;
  bool operator==(const QueryPosition&) const = default;
};

class Continuations {
 public:
  explicit Continuations(std::string secret) : secret_(std::move(secret)) {}

  std::string encode(const FeedPosition& position) const;
  // Code::invalid also when the token belongs to another container.
  Result<FeedPosition> decode(std::string_view token, uint32_t container) const;

  std::string encode(const QueryPosition& position) const;
  // Code::invalid also when the token belongs to another container or another query.
  Result<query::Position> decode_query(std::string_view token, uint32_t container,
                                       uint64_t query_hash) const;

  // For lists of databases and containers: the list goes on after this name.
  std::string encode_name(std::string_view after) const;
  Result<std::string> decode_name(std::string_view token) const;

 private:
  std::string sealed(std::string bytes) const;
  Result<std::string> opened(std::string_view token, uint8_t kind) const;

  std::string secret_;
};

}  // namespace orrery::cosmos

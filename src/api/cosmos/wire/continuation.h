// Continuation tokens: where a feed resumes. They are opaque to clients and sealed by the account,
// so that a forged, damaged or foreign one is an error and never a wrong page.
//
//   token = base64url without padding of:
//     1 byte   version, 1
//     1 byte   kind: 1 items, 2 names, 3 query
//     items:   u32 big-endian container number, then two strings: placement key, row key
//     names:   one string
//     query:   u32 container number, u64 hash of the query, u64 hash of the range (0: any), u64
//              row number, u64 rows skipped, u64 rows given (all big-endian), 1 byte of flags, then
//              if flags say so two fingerprints of 16 bytes (1: of the order values, 2: of the
//              result) and the u32 tie number (4), then three strings: key, order values, what
//              was gathered
//     8 bytes  the account's seal (account/seal.h)
//   string = u16 big-endian size, bytes
// That of a query is given as {"token":"…"}: the vendor's are JSON too, and some clients parse
// them. A token for an id of 255 bytes and a placement key of 123 (three levels of long texts) has
// 528 characters; clients ask for at most 1 KB.
//
// To fit a limit, a token may leave out the order values: they are read again from the row where
// the page ended.
//
// A Continuations object is immutable and may be used by any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "account/seal.h"
#include "base/result.h"
#include "query/run/position.h"

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
  uint64_t query_hash = 0;  // QueryRequest::identity(): another query cannot go on from it
  uint64_t range_hash = 0;  // of what was read, range and filter, where it matters; otherwise 0
  query::Position at;
  bool operator==(const QueryPosition&) const = default;
};

// The most characters that a client allows (x-ms-documentdb-responsecontinuationtokenlimitinkb).
Result<size_t> continuation_limit(std::string_view header);
// The size of a position that fits into a token of this many characters.
size_t position_bytes(size_t characters);

class Continuations {
 public:
  explicit Continuations(const account::Secret& secret);

  std::string encode(const FeedPosition& position) const;
  // Code::invalid also when the token belongs to another container.
  Result<FeedPosition> decode(std::string_view token, uint32_t container) const;

  // A token of at most this many characters, if need be without the order values; Code::invalid
  // when even that does not fit.
  Result<std::string> encode(const QueryPosition& position, size_t characters_max) const;
  // Code::invalid also when the token belongs to another container or another query.
  Result<QueryPosition> decode_query(std::string_view token, uint32_t container,
                                     uint64_t query_hash) const;

  // For lists of databases and containers: the list goes on after this name.
  std::string encode_name(std::string_view after) const;
  Result<std::string> decode_name(std::string_view token) const;

 private:
  std::string sealed(std::string bytes) const;
  Result<std::string> opened(std::string_view token, uint8_t kind) const;

  account::Seal seal_;
};

}  // namespace orrery::cosmos

// Batches and bulk requests in HybridRow, the binary form that .NET clients send and expect back.
//
// The body is a RecordIO stream; all numbers are little-endian:
//   segment   81 F0D8FF7F · presence (bit 0: length) · u32 bytes of this row, from 81 on
//   record    81 F1D8FF7F · u32 bytes of the row · u32 CRC-32 (zlib's) of the row
//   row       81 · u32 schema · presence · fixed fields · variable fields · sparse fields
// A variable field is a varuint of its bytes (7 bits each, low first) and these. A sparse field is
// a type, a varuint and a value; the varuint is the field's number, or, from kPathCount on, that
// many more bytes of its name. A segment may have more fields, which nobody needs; more segments
// may follow.
//
//   operation (schema 7054E17F)                  result (schema 7154E17F)
//   1 operationType   int32   presence 01        1 statusCode     int32    presence 01
//   2 resourceType    int32            02        2 subStatusCode  int32             02
//   3 partitionKey    utf8             04        3 eTag           utf8              04
//   4 effectivePartitionKey            08        4 resourceBody   binary            08
//   5 id              utf8             10        5 retryAfterMilliseconds  sparse uint32
//   6 binaryId                         20        6 requestCharge           sparse float64
//   7 resourceBody    binary           40
//   8 indexingDirective utf8, 9 ifMatch utf8, 10 ifNoneMatch utf8, 11 timeToLiveInSeconds int32,
//   12 minimalReturnPreference bool: sparse
//
// Input from outside: every length is checked against what is left, and each byte is read once.
// Pure; any thread may call.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/cosmos/wire/batch_body.h"
#include "base/limits.h"
#include "base/result.h"

namespace orrery::cosmos {

// No JSON begins with this byte.
inline bool is_hybrid_batch(std::string_view body) {
  return body.starts_with('\x81');
}

// The operations have views into `body`. Code::invalid for anything that is not as above.
Result<std::vector<BatchOperation>> parse_hybrid_batch(std::string_view body, const Limits& limits);

std::string hybrid_results(const std::vector<BatchResult>& results);

}  // namespace orrery::cosmos

// The bodies of batches and bulk requests, as sent and as answered.
//
//   [{"operationType":"Create","resourceBody":{…}},
//    {"operationType":"Patch","id":"1","resourceBody":{"operations":[…]},"ifMatch":"…"}, …]
// and for each operation, in the same order,
//   {"statusCode":201,"requestCharge":4.95,"eTag":"…","resourceBody":{…}}
// .NET clients send the same in HybridRow, and get their answers in it.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/cosmos/items/item_write.h"
#include "base/limits.h"
#include "base/result.h"
#include "partition/partition.h"
#include "value/json.h"

namespace orrery::cosmos {

struct BatchOperation {
  ItemRequest request;   // `key` is the operation's own, empty when it has none
  bool minimal = false;  // answered without the item
};

enum class BatchForm : uint8_t { json, hybrid_row };

struct BatchRequest {
  BatchForm form = BatchForm::json;
  // The operations have views into it; without one, into the body that was parsed.
  std::optional<value::JsonDocument> document;
  // Bodies of operations that came as binary JSON; never moved.
  std::deque<std::string> texts;
  std::vector<BatchOperation> operations;
};

// In the form that the first byte tells: JSON, or HybridRow (hybrid_batch.h).
Result<BatchRequest> parse_batch(std::string_view body, const Limits& limits);

struct BatchResult {
  int status = 0;
  uint32_t substatus = 0;
  uint32_t retry_after_ms = 0;
  double charge = 0;
  std::optional<partition::Version> version;
  std::string body;     // an item's JSON; empty: none
  std::string message;  // of an error

  bool succeeded() const { return status < 300; }
};

inline constexpr int kStatusFailedDependency = 424;

BatchResult failed_result(const Error& error, double charge = 0, uint32_t substatus = 0);
// Of an operation that was not done since another one failed.
BatchResult skipped_result();

std::string batch_json(const std::vector<BatchResult>& results);
// 200 when all succeeded, otherwise 207.
int batch_status(const std::vector<BatchResult>& results);

}  // namespace orrery::cosmos

// An Error on the wire: HTTP status, x-ms-substatus, and the body
// {"code":"NotFound","message":"…\r\nActivityId: …"} that clients read. Where clients search a
// message for the vendor's words, it begins with them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery::cosmos {

// Substatus codes that clients act on, beyond those that a Code alone decides.
inline constexpr uint32_t kSubstatusKeyMismatch = 1001;     // with 400
inline constexpr uint32_t kSubstatusSessionBehind = 1002;   // with 404
inline constexpr uint32_t kSubstatusRangeGone = 1002;       // with 410
inline constexpr uint32_t kSubstatusOwnerNotFound = 1003;   // with 404
inline constexpr uint32_t kSubstatusCrossPartition = 1004;  // with 400
inline constexpr uint32_t kSubstatusOtherContainer = 1024;  // with 400
inline constexpr uint32_t kSubstatusPartitionFull = 1014;   // with 403
inline constexpr uint32_t kSubstatusOverBudget = 3200;      // with 429
inline constexpr uint32_t kSubstatusAnswerTooLarge = 3402;  // with 413

// What the vendor says, and clients look for, when a key is not that of the item or the container.
inline constexpr std::string_view kKeyMismatchWords =
    "Partition key provided either doesn't correspond to definition in the collection or doesn't "
    "match partition key field values specified in the document. ";

// An error with the substatus that goes with it where the code alone does not decide.
struct Refusal {
  Error error;
  uint32_t substatus = 0;
};

struct ErrorReply {
  int status = 500;
  uint32_t substatus = 0;       // 0: no header
  uint32_t retry_after_ms = 0;  // 0: no header
  std::string body;
};

std::string error_body(std::string_view code_name, std::string_view message,
                       std::string_view activity_id);

// `substatus` takes the place of the one that the code alone would have.
ErrorReply error_reply(const Error& error, std::string_view activity_id, uint32_t substatus = 0);

}  // namespace orrery::cosmos

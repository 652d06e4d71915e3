// Patches as clients send them:
//   {"condition":"from c where c.n > 1","operations":[{"op":"set","path":"/a/b","value":1},…]}
// or the array of operations alone. The operations' meaning is in value/patch.h.
//
// Parsed and checked before the write is queued; the writer only evaluates the condition and
// applies the operations. The id, the partition key and what the server keeps itself cannot be
// patched.
//
// Pure; any thread may call.
#pragma once

#include <memory>
#include <string_view>

#include "base/limits.h"
#include "base/result.h"
#include "partition/partition.h"
#include "value/placement.h"

namespace orrery::cosmos {

// Code::precondition_failed of the editor: the condition does not hold.
Result<std::shared_ptr<const partition::Editor>> make_patch(std::string_view body,
                                                            const value::KeyDefinition& definition,
                                                            const Limits& limits);

}  // namespace orrery::cosmos

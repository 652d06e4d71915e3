// What an operation of a batch or a bulk request came to.
#pragma once

#include <vector>

#include "api/cosmos/call.h"
#include "api/cosmos/wire/batch_body.h"
#include "partition/partition.h"

namespace orrery::cosmos {

bool is_read(const BatchOperation& operation);

// Of an operation that succeeded. `minimal`: the request asks for answers without the items that
// were written.
BatchResult done_result(const BatchOperation& operation, bool minimal, partition::Written& written,
                        double charge);

// In the form of the request.
void answer_results(Call& call, BatchForm form, const std::vector<BatchResult>& results);

}  // namespace orrery::cosmos

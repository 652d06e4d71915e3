// A client that runs a query over many partitions by the gateway's plan, as the vendor's libraries
// do: it sends each partition the rewritten query and merges the rows. Simple rather than fast.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "container.h"

namespace orrery::query {

Result<std::vector<Value>> run_as_client(const TestContainer& container, const std::string& text,
                                         const Parameters& parameters, size_t page_rows);

}  // namespace orrery::query

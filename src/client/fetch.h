// A document at an address, such as an issuer's keys: one GET, without signing anything.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace orrery::client {

// Over https, by the certificates that the system trusts; within the machine (loopback addresses)
// http will do. Redirects and proxies of the environment are not followed. Blocks, for ten seconds
// at most. Code::invalid for another address; Code::not_found when there is no answer, or none of
// status 200.
Result<std::string> fetch_document(const std::string& url, size_t bytes_max);

}  // namespace orrery::client

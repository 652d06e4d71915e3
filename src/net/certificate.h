// The certificate of a server that was given none.
#pragma once

#include <string>

#include "base/result.h"

namespace orrery::net {

// If neither file is there, makes a self-signed ECDSA P-256 certificate for this machine
// (localhost, 127.0.0.1, ::1 and its host name; ten years) and its private key, readable by the
// owner alone. Leaves existing files as they are. One of the two alone is an error, not
// overwritten.
Status ensure_certificate(const std::string& cert_path, const std::string& key_path);

// The certificate that a server with this chain (PEM) shows as its own: the first one, alone.
Result<std::string> first_certificate(const std::string& chain_path);

}  // namespace orrery::net

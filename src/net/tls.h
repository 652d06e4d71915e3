// The TLS side of the listener: an OpenSSL context made from a certificate and its key.
#pragma once

#include <openssl/types.h>

#include <memory>
#include <string>

#include "base/result.h"

namespace orrery::net {

// TLS 1.2 and 1.3 with forward secrecy, with session resumption. Both files are PEM; the first may
// hold a chain.
Result<std::shared_ptr<SSL_CTX>> make_tls_context(const std::string& certificate_file,
                                                  const std::string& private_key_file);

}  // namespace orrery::net

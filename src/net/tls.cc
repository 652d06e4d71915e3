// The choice of protocol versions and session settings, and errors that name the file: see tls.h.
#include "net/tls.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <string_view>

namespace orrery::net {
namespace {

constexpr std::string_view kSessionContext = "orrery";
constexpr long kSessionsMax = 20'000;
// Of TLS 1.2 what TLS 1.3 has too: keys that are forgotten after the connection, so that a private
// key that is stolen later reads nothing, and ciphers that authenticate what they hide.
constexpr const char* kCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20";

// What OpenSSL says of the last failure.
std::string last_error() {
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  return text.data();
}

}  // namespace

Result<std::shared_ptr<SSL_CTX>> make_tls_context(const std::string& certificate_file,
                                                  const std::string& private_key_file) {
  ERR_clear_error();
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (!context) return fail(Code::internal, "TLS cannot be set up: " + last_error());
  SSL_CTX* native = context.get();
  if (SSL_CTX_use_certificate_chain_file(native, certificate_file.c_str()) != 1) {
    return fail(Code::invalid, fmt::format("{} holds no PEM certificate that can be used: {}",
                                           certificate_file, last_error()));
  }
  if (SSL_CTX_use_PrivateKey_file(native, private_key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    return fail(Code::invalid, fmt::format("{} holds no PEM private key that fits {}: {}",
                                           private_key_file, certificate_file, last_error()));
  }
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  if (SSL_CTX_set_cipher_list(native, kCiphers) != 1) {
    return fail(Code::internal, "TLS cannot be set up: " + last_error());
  }
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_SERVER);
  SSL_CTX_sess_set_cache_size(native, kSessionsMax);
  SSL_CTX_set_session_id_context(native,
                                 reinterpret_cast<const unsigned char*>(kSessionContext.data()),
                                 static_cast<unsigned>(kSessionContext.size()));
  return context;
}

}  // namespace orrery::net

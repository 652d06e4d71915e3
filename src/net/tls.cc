// The choice of protocol versions and session settings, and errors that name the file: see tls.h.
#include "net/tls.h"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <exception>
#include <string_view>

namespace orrery::net {
namespace {

constexpr std::string_view kSessionContext = "orrery";
constexpr long kSessionsMax = 20'000;

}  // namespace

Result<std::shared_ptr<boost::asio::ssl::context>> make_tls_context(
    const std::string& certificate_file, const std::string& private_key_file) {
  namespace ssl = boost::asio::ssl;
  std::shared_ptr<ssl::context> context;
  try {
    context = std::make_shared<ssl::context>(ssl::context::tls_server);
  } catch (const std::exception& error) {
    return fail(Code::internal, fmt::format("TLS cannot be set up: {}", error.what()));
  }
  boost::system::error_code failed;
  context->use_certificate_chain_file(certificate_file, failed);
  if (failed) {
    return fail(Code::invalid, fmt::format("{} holds no PEM certificate that can be used: {}",
                                           certificate_file, failed.message()));
  }
  context->use_private_key_file(private_key_file, ssl::context::pem, failed);
  if (failed) {
    return fail(Code::invalid, fmt::format("{} holds no PEM private key that fits {}: {}",
                                           private_key_file, certificate_file, failed.message()));
  }
  SSL_CTX* native = context->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_SERVER);
  SSL_CTX_sess_set_cache_size(native, kSessionsMax);
  SSL_CTX_set_session_id_context(native,
                                 reinterpret_cast<const unsigned char*>(kSessionContext.data()),
                                 static_cast<unsigned>(kSessionContext.size()));
  return context;
}

}  // namespace orrery::net

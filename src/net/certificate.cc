// The key is written first, so that a certificate is never there without its key.
#include "net/certificate.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/private_file.h"

namespace orrery::net {
namespace {

constexpr long kValidSeconds = 10L * 365 * 24 * 3600;
constexpr long kClockSlackSeconds = 24L * 3600;  // clients whose clock is behind ours

template <auto Free>
struct Freer {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freer<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freer<X509_EXTENSION_free>>;
using Memory = std::unique_ptr<BIO, Freer<BIO_vfree>>;

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return {};
  const std::string text = name.data();
  // It goes into a comma-separated list: anything but a plain name is left out.
  const bool plain = std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.';
  });
  return plain && text != "localhost" ? text : std::string();
}

bool add_extension(X509* certificate, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

Certificate self_signed(EVP_PKEY* key) {
  Certificate certificate(X509_new());
  if (!certificate) return nullptr;
  X509* x = certificate.get();
  uint64_t serial = 0;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) != 1) return nullptr;
  serial >>= 1;  // a serial number is positive
  X509_NAME* name = X509_get_subject_name(x);
  std::string names = "DNS:localhost,IP:127.0.0.1,IP:::1";
  if (const std::string host = host_name(); !host.empty()) names += ",DNS:" + host;
  const bool made = X509_set_version(x, X509_VERSION_3) == 1 &&
                    ASN1_INTEGER_set_uint64(X509_get_serialNumber(x), serial) == 1 &&
                    X509_gmtime_adj(X509_getm_notBefore(x), -kClockSlackSeconds) != nullptr &&
                    X509_gmtime_adj(X509_getm_notAfter(x), kValidSeconds) != nullptr &&
                    X509_set_pubkey(x, key) == 1 &&
                    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                               reinterpret_cast<const unsigned char*>("localhost"),
                                               -1, -1, 0) == 1 &&
                    X509_set_issuer_name(x, name) == 1 &&
                    add_extension(x, NID_basic_constraints, "critical,CA:FALSE") &&
                    add_extension(x, NID_key_usage, "critical,digitalSignature") &&
                    add_extension(x, NID_ext_key_usage, "serverAuth") &&
                    add_extension(x, NID_subject_alt_name, names) &&
                    X509_sign(x, key, EVP_sha256()) != 0;
  return made ? std::move(certificate) : nullptr;
}

std::string text_of(BIO* memory) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  return size > 0 ? std::string(data, static_cast<size_t>(size)) : std::string();
}

}  // namespace

Status ensure_certificate(const std::string& cert_path, const std::string& key_path) {
  const bool have_cert = access(cert_path.c_str(), F_OK) == 0;
  const bool have_key = access(key_path.c_str(), F_OK) == 0;
  if (have_cert && have_key) return {};
  if (have_cert) {
    return fail(Code::invalid,
                fmt::format("the certificate {} is there without its key {}: restore the key, or "
                            "remove the certificate to have both made anew",
                            cert_path, key_path));
  }
  if (have_key) {
    return fail(Code::invalid,
                fmt::format("the key {} is there without its certificate {}: restore the "
                            "certificate, or remove the key to have both made anew",
                            key_path, cert_path));
  }

  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate = key ? self_signed(key.get()) : nullptr;
  const Memory cert_text(BIO_new(BIO_s_mem()));
  const Memory key_text(BIO_new(BIO_s_mem()));
  if (!certificate || !cert_text || !key_text ||
      PEM_write_bio_X509(cert_text.get(), certificate.get()) != 1 ||
      PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) !=
          1) {
    return fail(Code::internal, "OpenSSL could not make a certificate");
  }
  if (Status written = write_private_file(key_path, text_of(key_text.get())); !written) {
    return written;
  }
  return write_private_file(cert_path, text_of(cert_text.get()));
}

Result<std::string> first_certificate(const std::string& chain_path) {
  const Memory file(BIO_new_file(chain_path.c_str(), "r"));
  const Certificate certificate(file ? PEM_read_bio_X509(file.get(), nullptr, nullptr, nullptr)
                                     : nullptr);
  const Memory text(BIO_new(BIO_s_mem()));
  if (!certificate || !text || PEM_write_bio_X509(text.get(), certificate.get()) != 1) {
    return fail(Code::invalid, fmt::format("{} holds no PEM certificate", chain_path));
  }
  return text_of(text.get());
}

}  // namespace orrery::net

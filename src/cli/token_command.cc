// See token_command.h.
#include "cli/token_command.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

#include "account/signing_keys.h"
#include "base/hash.h"
#include "base/private_file.h"
#include "base/result.h"
#include "cli/data_folder.h"
#include "cli/terminal_text.h"
#include "value/json_quoted.h"

namespace orrery::cli {
namespace {

using account::to_base64url;

constexpr unsigned kKeyBits = 2048;
// Those of the emulator's tokens in the vendor's own tests.
constexpr std::string_view kEmulatorIssuer =
    "https://sts.fake-issuer.net/7b1999a1-dfd7-440e-8204-00170979b984";
constexpr std::string_view kEmulatorPrincipal = "96313034-4739-43cb-93cd-74193adbe5b6";

template <auto Free>
struct Freer {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using Memory = std::unique_ptr<BIO, Freer<BIO_vfree>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, Freer<EVP_MD_CTX_free>>;

std::unexpected<Error> no_openssl() {
  return fail(Code::internal, "OpenSSL could not make or use a key");
}

Result<Key> ensure_key(const std::string& file) {
  if (std::filesystem::exists(file)) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    const std::string pem = text.str();
    const Memory memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    Key key(memory ? PEM_read_bio_PrivateKey(memory.get(), nullptr, nullptr, nullptr) : nullptr);
    if (!key || EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_RSA) {
      return fail(Code::invalid, fmt::format("{} has no private RSA key in PEM", file));
    }
    return key;
  }
  Key key(EVP_RSA_gen(kKeyBits));
  const Memory memory(BIO_new(BIO_s_mem()));
  if (!key || !memory ||
      PEM_write_bio_PrivateKey(memory.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) !=
          1) {
    return no_openssl();
  }
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &data);
  if (auto written = write_private_file(file, std::string_view(data, static_cast<size_t>(size)));
      !written) {
    return pass(written.error());
  }
  return key;
}

// A number of the key, in base64url.
Result<std::string> number_of(const EVP_PKEY* key, const char* name) {
  BIGNUM* found = nullptr;
  if (EVP_PKEY_get_bn_param(key, name, &found) != 1) return no_openssl();
  const std::unique_ptr<BIGNUM, Freer<BN_free>> number(found);
  std::string bytes(static_cast<size_t>(BN_num_bytes(number.get())), '\0');
  BN_bn2bin(number.get(), reinterpret_cast<unsigned char*>(bytes.data()));
  return to_base64url(bytes);
}

Result<std::string> sign(EVP_PKEY* key, std::string_view text) {
  const DigestContext context(EVP_MD_CTX_new());
  size_t size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  if (!context || EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size()) != 1) {
    return no_openssl();
  }
  std::string signature(size, '\0');
  if (EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                     bytes, text.size()) != 1) {
    return no_openssl();
  }
  signature.resize(size);
  return signature;
}

std::string claims_of(const TokenOptions& options, int64_t now_s) {
  std::string groups;
  for (const std::string& group : options.groups) {
    groups += (groups.empty() ? "" : ",") + value::quoted(group);
  }
  return fmt::format(
      R"({{"aud":{},"iss":{},"oid":{},"groups":[{}],"scp":"user_impersonation","iat":{},"nbf":{},"exp":{}}})",
      value::quoted(options.audience), value::quoted(options.issuer),
      value::quoted(options.principal), groups, now_s, now_s, now_s + options.lifetime_s);
}

std::string emulator_token(TokenOptions options, int64_t now_s) {
  options.issuer = kEmulatorIssuer;
  options.audience = "https://localhost.localhost";
  if (options.principal.empty()) options.principal = kEmulatorPrincipal;
  constexpr std::string_view kHeader =
      R"({"typ":"JWT","alg":"RS256","x5t":"CosmosEmulatorPrimaryMaster","kid":"CosmosEmulatorPrimaryMaster"})";
  return to_base64url(kHeader) + "." + to_base64url(claims_of(options, now_s)) + "." +
         to_base64url(kEmulatorKey);
}

Result<std::string> signed_token(const TokenOptions& options, int64_t now_s) {
  if (options.folder.empty() || options.principal.empty()) {
    return fail(Code::invalid,
                "give --emulator for a token that serve --dev takes, or --folder and --principal");
  }
  std::error_code ignored;
  std::filesystem::create_directories(options.folder, ignored);
  auto key = ensure_key(options.folder + "/signing-key.pem");
  if (!key) return pass(key.error());
  auto modulus = number_of(key->get(), OSSL_PKEY_PARAM_RSA_N);
  if (!modulus) return pass(modulus.error());
  auto exponent = number_of(key->get(), OSSL_PKEY_PARAM_RSA_E);
  if (!exponent) return pass(exponent.error());
  const auto hash = sha256(*modulus);
  const std::string id =
      to_base64url({reinterpret_cast<const char*>(hash.data()), hash.size()}).substr(0, 16);
  const std::string jwks = fmt::format(
      R"({{"keys":[{{"kty":"RSA","use":"sig","alg":"RS256","kid":"{}","n":"{}","e":"{}"}}]}})", id,
      *modulus, *exponent);
  if (auto written = write_private_file(options.folder + "/jwks.json", jwks + "\n"); !written) {
    return pass(written.error());
  }
  const std::string text =
      to_base64url(fmt::format(R"({{"typ":"JWT","alg":"RS256","kid":"{}"}})", id)) + "." +
      to_base64url(claims_of(options, now_s));
  auto signature = sign(key->get(), text);
  if (!signature) return pass(signature.error());
  return text + "." + to_base64url(*signature);
}

}  // namespace

void add_token_options(CLI::App& command, TokenOptions& options) {
  command.add_flag("--emulator", options.emulator,
                   "A token of the emulator's kind, which serve --dev takes");
  command
      .add_option(
          "--folder", options.folder,
          "Where the signing key is, or is made: signing-key.pem, and jwks.json for servers")
      ->type_name("FOLDER");
  command.add_option("--principal", options.principal, "Whose token it is (oid)")->type_name("ID");
  command.add_option("--group", options.groups, "A group that they are in; may be repeated")
      ->type_name("ID");
  command.add_option("--issuer", options.issuer, "Who issues it (iss)")
      ->type_name("URL")
      ->capture_default_str();
  command.add_option("--audience", options.audience, "Whom it is for (aud)")
      ->type_name("URL")
      ->capture_default_str();
  command
      .add_option("--lifetime", options.lifetime_s,
                  "Seconds from now until it expires; less than 0 for one that has")
      ->type_name("SECONDS")
      ->capture_default_str();
  command.add_flag("--json", options.json, "Print JSON: the token, and when it expires");
}

int make_token(const TokenOptions& options) {
  const auto now_s = static_cast<int64_t>(std::time(nullptr));
  auto token = options.emulator ? Result<std::string>(emulator_token(options, now_s))
                                : signed_token(options, now_s);
  if (!token) return complain("token", token.error());
  if (options.json) {
    fmt::print(R"({{"token":{},"expiresAt":{}}})"
               "\n",
               value::quoted(*token), now_s + options.lifetime_s);
  } else {
    fmt::print("{}\n", *token);
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace orrery::cli

// Tokens of an issuer, and its key sets. No key of the rules here has ever signed anything, so
// nothing may be taken; what has the emulator's key in the place of a signature is only as good as
// the key.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "account/bearer_token.h"
#include "account/test_issuer.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::account;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  static const TokenRules rules = [] {
    TokenRules made;
    made.issuers = {"https://i"};
    made.audiences = {"https://a"};
    made.keys = std::move(*SigningKeys::parse(test::TestIssuer("k1").jwks()));
    return made;
  }();
  check(!check_token(rules, input, 1'800'000'000));
  const auto bearer = check_token_with_key("key", input, 1'800'000'000);
  check(!bearer || input.ends_with(".a2V5"));
  (void)signing_key_named_by(input);
  if (const auto keys = SigningKeys::parse(input)) check(!keys->empty());
  if (const auto bytes = from_base64url(input)) check(to_base64url(*bytes) == input);
  return 0;
}

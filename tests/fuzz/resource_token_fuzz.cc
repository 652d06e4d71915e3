// A resource token as a client sends it, and after a line end the definition of a permission.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/cosmos/auth/authorization.h"
#include "api/cosmos/auth/grant.h"
#include "api/cosmos/auth/resource_token.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::cosmos;
  static const ResourceTokens tokens{orrery::account::Secret("the secret of a fuzzer")};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t end = text.find('\n');
  const std::string_view header = text.substr(0, end);

  if (const auto signature = resource_signature(header)) {
    // One that opens is one that we made: sealing it again gives the same.
    if (const auto token = tokens.open(*signature)) {
      if (!tokens.seal(*token).ends_with(*signature)) std::abort();
    }
  }
  (void)token_life(header);
  if (end == std::string_view::npos) return 0;
  const std::string_view definition = text.substr(end + 1);
  const auto grant = parse_grant(definition);
  if (!grant) return 0;
  if (grant->resource.count != 4 && grant->resource.count != 6) std::abort();
  // A grant covers its own subject, and nothing outside of the container.
  RequestHeaders headers;
  const auto read = [&](bool in_container) {
    return check_grant(*grant, {.method = "GET",
                                .address = grant->resource,
                                .headers = headers,
                                .query = false,
                                .in_container = in_container});
  };
  if (read(false)) std::abort();
  if (!grant->key && !read(true)) std::abort();
  return 0;
}

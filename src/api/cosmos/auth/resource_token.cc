// Making and taking back resource tokens: see resource_token.h for their bytes. The seal is checked
// before anything in a token is believed.
#include "api/cosmos/auth/resource_token.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "base/bytes.h"
#include "base/hash.h"

namespace orrery::cosmos {
namespace {

constexpr char kTokenVersion = 1;
constexpr size_t kBodyBytes = 25;
constexpr size_t kTokenSealBytes = 32;

}  // namespace

Result<int64_t> token_life(std::string_view header) {
  if (header.empty()) return kDefaultTokenLifeS;
  int64_t seconds = 0;
  const char* end = header.data() + header.size();
  auto [read_to, error] = std::from_chars(header.data(), end, seconds);
  if (error != std::errc() || read_to != end || seconds < kShortestTokenLifeS ||
      seconds > kLongestTokenLifeS) {
    return fail(Code::invalid,
                fmt::format("x-ms-documentdb-expiry-seconds '{}' is not a whole number of seconds "
                            "from {} to {}",
                            header.substr(0, 64), kShortestTokenLifeS, kLongestTokenLifeS));
  }
  return seconds;
}

uint64_t fingerprint_of(std::string_view definition) {
  return load_u64_le(murmur3_x64_128(definition, 0).data());
}

ResourceTokens::ResourceTokens(const account::Secret& secret)
    : seal_(secret.seal("resource tokens", kTokenSealBytes)) {}

std::string ResourceTokens::seal(const ResourceToken& token) const {
  std::string bytes(kBodyBytes, kTokenVersion);
  store_u32_be(bytes.data() + 1, token.permission);
  store_u32_be(bytes.data() + 5, token.container);
  store_u64_be(bytes.data() + 9, static_cast<uint64_t>(token.expires_s));
  store_u64_be(bytes.data() + 17, token.fingerprint);
  return "type=resource&ver=1.0&sig=" + to_base64(seal_.close(std::move(bytes)));
}

Result<ResourceToken> ResourceTokens::open(std::string_view signature) const {
  const auto bytes = from_base64(signature);
  if (bytes && bytes->size() == kBodyBytes + kTokenSealBytes) {
    const auto opened = seal_.open(*bytes);
    if (opened && opened->front() == kTokenVersion) {
      const std::string_view body = *opened;
      return ResourceToken{.permission = load_u32_be(body.data() + 1),
                           .container = load_u32_be(body.data() + 5),
                           .expires_s = static_cast<int64_t>(load_u64_be(body.data() + 9)),
                           .fingerprint = load_u64_be(body.data() + 17)};
    }
  }
  return fail(Code::unauthorized,
              "The resource token was not made by this server. Send the _token of a permission as "
              "it was returned, percent-encoded.");
}

}  // namespace orrery::cosmos

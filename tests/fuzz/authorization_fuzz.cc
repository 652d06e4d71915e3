// The authorization header, the date and the request path, one to a line. The path is the last, so
// that it may hold anything; it is also taken for the target of an administrative request.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "account/keys.h"
#include "api/cosmos/auth/authorization.h"
#include "net/http_date.h"
#include "ops/admin_signature.h"

namespace {

orrery::account::KeyRing make() {
  orrery::account::Keys keys;
  keys.primary =
      "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";
  keys.primary_readonly = "AAAA";
  auto made = orrery::account::KeyRing::create(keys);
  if (!made) std::abort();
  return std::move(*made);
}

std::string_view take_line(std::string_view& rest) {
  const size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return line;
}

// Administration: nothing from outside is taken, and what is signed for a target is, for that
// alone.
void administrate(const orrery::account::KeyRing& keys, std::string_view header,
                  std::string_view date, std::string_view target) {
  using namespace orrery::ops;
  static const AdminSignatures signatures(0);
  constexpr int64_t kNow = 1'794'717'000;
  AdminRequest request{.method = "POST",
                       .target = target,
                       .authorization = header,
                       .date = date,
                       .nonce = target.substr(0, 32),
                       .content_sha256 = target.substr(0, 64)};
  if (signatures.verify(keys, request, kNow)) std::abort();
  const auto own = sign_admin(keys, "POST", target, "", kNow);
  if (!own) std::abort();
  request.authorization = own->authorization;
  request.date = own->date;
  request.nonce = own->nonce;
  request.content_sha256 = own->content_sha256;
  if (!signatures.verify(keys, request, kNow)) std::abort();
  request.date = date;
  if (date != own->date && signatures.verify(keys, request, kNow)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::cosmos;
  static const orrery::account::KeyRing keys = make();
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::string_view header = take_line(rest);
  const std::string_view date = take_line(rest);

  administrate(keys, header, date, rest);

  const auto time = orrery::net::parse_http_date(date);
  if (time && *time >= 0 && orrery::net::parse_http_date(orrery::net::http_date(*time)) != *time)
    std::abort();

  const auto address = address_of(rest);
  if (!address) return 0;
  if (address->count > kMaxPathSegments) std::abort();
  AuthRequest request;
  request.verb = "GET";
  request.authorization = header;
  request.date = date;
  request.address = &*address;
  request.now_s = 1'794'717'000;
  (void)verify(keys, request);

  // What is signed for this address is accepted, if the date is one and near.
  const std::string own = sign(keys, "GET", address->resource_type, address->resource_link, date);
  request.authorization = own;
  const bool accepted = verify(keys, request).has_value();
  const bool near =
      time && *time >= request.now_s - kMaxClockSkewS && *time <= request.now_s + kMaxClockSkewS;
  if (accepted != near) std::abort();
  return 0;
}

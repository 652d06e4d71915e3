// The authorization header, the date, the path and the query of a request to the Table face, one to
// a line. Nothing from outside is accepted, and what is signed for a request is, for that one.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "account/keys.h"
#include "api/table/auth/authorize.h"
#include "api/table/auth/shared_access.h"
#include "base/bytes.h"
#include "net/http_date.h"

namespace {

using namespace orrery::table;

class OneAccount final : public Accounts {
 public:
  OneAccount() : keys_(make()) {}
  const orrery::account::KeyRing* keys_of(std::string_view account) const override {
    return account == "acct" ? &keys_ : nullptr;
  }
  std::optional<AccessPolicy> policy_of(std::string_view /*account*/, std::string_view /*table*/,
                                        std::string_view id) const override {
    if (id != "p") return std::nullopt;
    return AccessPolicy{.id = "p", .start = "", .expiry = "2027-01-01", .permissions = "r"};
  }

 private:
  static orrery::account::KeyRing make() {
    orrery::account::Keys keys;
    // Not the key of the tests: their signatures are in the corpus.
    keys.primary = "b3JyZXJ5";
    auto made = orrery::account::KeyRing::create(keys);
    if (!made) std::abort();
    return std::move(*made);
  }

  orrery::account::KeyRing keys_;
};

std::string_view take_line(std::string_view& rest) {
  const size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return line;
}

// The query's own terms, signed by the account: a grant then holds them.
void sign_terms(const OneAccount& accounts, RequestFacts request, std::string_view query) {
  auto terms = parse_shared_access(query);
  if (!terms) return;
  const std::string payload =
      terms->for_account()
          ? account_string_to_sign(*terms, "acct")
          : table_string_to_sign(*terms, "acct", terms->table.empty() ? "t" : terms->table);
  std::string signed_query =
      "sig=" + orrery::percent_encode(accounts.keys_of("acct")->signature_of(payload));
  for (std::string_view rest = query; !rest.empty();) {
    const size_t end = rest.find('&');
    const std::string_view parameter = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (parameter == "sig" || parameter.starts_with("sig=")) continue;
    signed_query += '&';
    signed_query += parameter;
  }
  request.authorization = {};
  request.query = signed_query;
  const auto grant = authorize(request, accounts);
  if (!grant || terms->for_account()) return;
  if (!terms->first_partition.empty() && grant->allows_keys("", "")) std::abort();
  if (!terms->last_partition.empty() && grant->allows_keys(terms->last_partition + '\x01', "")) {
    std::abort();
  }
  if (!terms->permissions.contains('d') && terms->identifier.empty() &&
      grant->allows(Operation::delete_entity, "t")) {
    std::abort();
  }
  if (grant->allows(Operation::set_access_policies, "t")) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const OneAccount accounts;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  RequestFacts request;
  request.method = "GET";
  request.authorization = take_line(rest);
  request.x_ms_date = take_line(rest);
  request.path = take_line(rest);
  request.query = rest;
  request.account = "acct";
  request.table = "t";
  request.peer = "127.0.0.1:1";
  request.now_s = 1'794'830'400;
  request.secondary = size % 2 == 0;

  if (authorize(request, accounts)) std::abort();
  sign_terms(accounts, request, request.query);

  const auto time = orrery::net::parse_http_date(request.x_ms_date);
  const bool near =
      time && *time >= request.now_s - kMaxClockSkewS && *time <= request.now_s + kMaxClockSkewS;
  for (const Scheme scheme : {Scheme::shared_key, Scheme::shared_key_lite}) {
    const std::string own = sign(*accounts.keys_of("acct"), scheme, request);
    RequestFacts again = request;
    again.authorization = own;
    if (authorize(again, accounts).has_value() != near) std::abort();
  }
  (void)address_allowed(request.x_ms_date, request.path);
  return 0;
}

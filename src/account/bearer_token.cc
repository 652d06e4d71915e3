// See bearer_token.h.
#include "account/bearer_token.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/printable.h"
#include "value/json.h"

namespace orrery::account {
namespace {

using value::JsonDocument;
using value::Node;
using value::Type;

constexpr size_t kShownBytes = 100;
constexpr double kMaxTimeS = 253'402'300'799;  // the end of the year 9999

std::unexpected<TokenRefusal> refuse(TokenFault fault, std::string message) {
  return std::unexpected(TokenRefusal{.fault = fault, .message = std::move(message)});
}

std::string shown(std::string_view text) {
  std::string out;
  append_printable(out, text.substr(0, kShownBytes));
  return out;
}

struct Parts {
  std::string_view header;
  std::string_view claims;
  std::string_view signature;
  std::string_view signed_text;
};

std::optional<Parts> parts_of(std::string_view token) {
  if (token.size() > kMaxTokenBytes) return std::nullopt;
  const size_t first = token.find('.');
  const size_t second = first == std::string_view::npos ? first : token.find('.', first + 1);
  if (second == std::string_view::npos || token.find('.', second + 1) != std::string_view::npos) {
    return std::nullopt;
  }
  return Parts{.header = token.substr(0, first),
               .claims = token.substr(first + 1, second - first - 1),
               .signature = token.substr(second + 1),
               .signed_text = token.substr(0, second)};
}

// An object; nothing when it is none.
std::optional<JsonDocument> object_of(std::string_view base64url) {
  auto text = from_base64url(base64url);
  if (!text) return std::nullopt;
  auto document = JsonDocument::parse(*text);
  if (!document || document->root().type != Type::object) return std::nullopt;
  return std::move(*document);
}

std::string_view text_of(const Node& object, std::string_view name) {
  const Node* found = object.find(name);
  return found != nullptr && found->type == Type::string ? found->text : std::string_view();
}

// Seconds since 1970; nothing when it is not there or not a time.
std::optional<int64_t> time_of(const Node& claims, std::string_view name) {
  const Node* found = claims.find(name);
  if (found == nullptr || found->type != Type::number) return std::nullopt;
  if (!(found->number >= 0 && found->number <= kMaxTimeS)) return std::nullopt;
  return static_cast<int64_t>(std::floor(found->number));
}

std::string_view without_slash(std::string_view text) {
  return text.ends_with('/') ? text.substr(0, text.size() - 1) : text;
}

bool is_one_of(const std::vector<std::string>& accepted, std::string_view text) {
  return !text.empty() && std::ranges::any_of(accepted, [&](const std::string& one) {
    return without_slash(one) == without_slash(text);
  });
}

bool is_for(const std::vector<std::string>& audiences, const Node& claims) {
  const Node* found = claims.find("aud");
  if (found == nullptr) return false;
  if (found->type == Type::string) return is_one_of(audiences, found->text);
  if (found->type != Type::array) return false;
  for (const Node* one = found->first; one != nullptr; one = one->next) {
    if (one->type == Type::string && is_one_of(audiences, one->text)) return true;
  }
  return false;
}

std::optional<TokenRefusal> check_times(const Node& claims, int64_t now_s) {
  const auto refusal = [](TokenFault fault, std::string message) {
    return TokenRefusal{.fault = fault, .message = std::move(message)};
  };
  const auto expires_s = time_of(claims, "exp");
  if (!expires_s)
    return refusal(TokenFault::format, "the token does not say when it expires (exp)");
  if (now_s >= *expires_s + kTokenClockSkewS) {
    return refusal(TokenFault::expired,
                   fmt::format("the token expired {} seconds ago: ask its issuer for a new one",
                               now_s - *expires_s));
  }
  if (claims.find("nbf") == nullptr) return std::nullopt;
  const auto from_s = time_of(claims, "nbf");
  if (!from_s) return refusal(TokenFault::format, "the token's nbf is not a time");
  if (now_s < *from_s - kTokenClockSkewS) {
    return refusal(TokenFault::not_yet,
                   fmt::format("the token is good in {} seconds only: check the clocks of its "
                               "issuer and of this server",
                               *from_s - now_s));
  }
  return std::nullopt;
}

Bearer bearer_of(const Node& claims) {
  Bearer bearer{.id = std::string(text_of(claims, "oid")), .groups = {}};
  const Node* groups = claims.find("groups");
  if (groups == nullptr || groups->type != Type::array) return bearer;
  for (const Node* one = groups->first; one != nullptr; one = one->next) {
    if (one->type == Type::string && !one->text.empty()) bearer.groups.emplace_back(one->text);
  }
  return bearer;
}

constexpr std::string_view kNoToken =
    "this is not a token: it is to have three parts in base64url with dots between, and 16 KB at "
    "most";

}  // namespace

std::expected<Bearer, TokenRefusal> check_token(const TokenRules& rules, std::string_view token,
                                                int64_t now_s) {
  const auto parts = parts_of(token);
  if (!parts) return refuse(TokenFault::format, std::string(kNoToken));
  const auto header = object_of(parts->header);
  if (!header) return refuse(TokenFault::format, "the token's header is not a JSON object");
  const std::string_view algorithm = text_of(header->root(), "alg");
  if (algorithm != "RS256") {
    return refuse(
        TokenFault::signature,
        fmt::format("the token is signed by the algorithm \"{}\", and only RS256 is taken",
                    shown(algorithm)));
  }
  // Whatever else a token says must be understood by its reader, this one does not understand.
  if (header->root().find("crit") != nullptr) {
    return refuse(TokenFault::format, "the token's header has \"crit\", of which nothing is known");
  }
  const std::string_view key_id = text_of(header->root(), "kid");
  if (!rules.keys.has(key_id)) {
    return refuse(TokenFault::signing_key,
                  fmt::format("the token is signed with the key \"{}\", which is not among the "
                              "issuer's",
                              shown(key_id)));
  }
  const auto signature = from_base64url(parts->signature);
  if (!signature || !rules.keys.is_signed(key_id, parts->signed_text, *signature)) {
    return refuse(TokenFault::signature, "the token's signature is not that of its issuer");
  }
  const auto document = object_of(parts->claims);
  if (!document) return refuse(TokenFault::format, "the token's claims are not a JSON object");
  const Node& claims = document->root();
  if (std::ranges::find(rules.issuers, text_of(claims, "iss")) == rules.issuers.end()) {
    return refuse(TokenFault::issuer, fmt::format("the token's issuer (iss) \"{}\" is not one that "
                                                  "this server trusts",
                                                  shown(text_of(claims, "iss"))));
  }
  if (!is_for(rules.audiences, claims)) {
    return refuse(TokenFault::audience,
                  "the token is for another audience (aud) than this account: ask for one with "
                  "this account's scope");
  }
  if (auto refusal = check_times(claims, now_s)) return std::unexpected(std::move(*refusal));
  Bearer bearer = bearer_of(claims);
  if (bearer.id.empty()) {
    return refuse(TokenFault::no_holder, "the token does not say whose it is (oid)");
  }
  return bearer;
}

std::string signing_key_named_by(std::string_view token) {
  const auto parts = parts_of(token);
  const auto header = parts ? object_of(parts->header) : std::nullopt;
  return header ? std::string(text_of(header->root(), "kid")) : std::string();
}

std::expected<Bearer, TokenRefusal> check_token_with_key(std::string_view key_text,
                                                         std::string_view token, int64_t now_s) {
  const auto parts = parts_of(token);
  if (!parts) return refuse(TokenFault::format, std::string(kNoToken));
  const auto header = object_of(parts->header);
  const auto document = object_of(parts->claims);
  if (!header || !document) {
    return refuse(TokenFault::format, "the token's header or claims are not a JSON object");
  }
  if (text_of(header->root(), "alg") != "RS256") {
    return refuse(TokenFault::signature, "a token with a key in it says that it is of RS256");
  }
  const auto sent = from_base64url(parts->signature);
  if (key_text.empty() || !sent || !equal_constant_time(*sent, key_text)) {
    return refuse(TokenFault::signature,
                  "a token that nobody signed has the account's key in the place of its signature, "
                  "and this one has not");
  }
  if (auto refusal = check_times(document->root(), now_s)) {
    return std::unexpected(std::move(*refusal));
  }
  return bearer_of(document->root());
}

}  // namespace orrery::account

// Reading the authorization header and the path it covers, and checking the signature: see
// authorization.h.
#include "api/cosmos/auth/authorization.h"

#include <algorithm>
#include <utility>

#include "account/authorization_token.h"
#include "api/cosmos/wire/rid.h"
#include "base/bytes.h"
#include "net/http_date.h"

namespace orrery::cosmos {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

void append_lower(std::string& out, std::string_view text) {
  const size_t before = out.size();
  out.resize(before + text.size());
  std::ranges::transform(text, out.begin() + static_cast<ptrdiff_t>(before), lower);
}

std::string lowered(std::string_view text) {
  std::string out;
  append_lower(out, text);
  return out;
}

std::string payload_of(std::string_view verb, std::string_view type, std::string_view link,
                       std::string_view date) {
  std::string payload;
  payload.reserve(verb.size() + type.size() + link.size() + date.size() + 5);
  append_lower(payload, verb);
  payload += '\n';
  append_lower(payload, type);
  payload += '\n';
  payload += link;
  payload += '\n';
  append_lower(payload, date);
  payload += "\n\n";
  return payload;
}

std::unexpected<Error> unauthorized(std::string message) {
  return fail(Code::unauthorized, std::move(message));
}

// In one line, for a message: line ends shown as \n.
std::string shown(std::string_view payload) {
  std::string out;
  for (const char c : payload.substr(0, 2048)) {
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

Status check_clock(std::string_view date, int64_t now_s) {
  const std::optional<int64_t> signed_s = net::parse_http_date(date);
  if (!signed_s) {
    return unauthorized("The date \"" + std::string(date.substr(0, 64)) +
                        "\" is not an HTTP date. Send x-ms-date like " + net::http_date(now_s) +
                        ".");
  }
  if (*signed_s > now_s + kMaxClockSkewS || *signed_s < now_s - kMaxClockSkewS) {
    return fail(Code::forbidden,
                "The authorization token is not valid now: it was signed at " +
                    net::http_date(*signed_s) + " and the server's clock says " +
                    net::http_date(now_s) +
                    "; at most 15 minutes may lie between. Set the clock of the client.");
  }
  return {};
}

}  // namespace

std::optional<std::string> resource_signature(std::string_view authorization) {
  // Most requests are signed with a key: look no further than the type for them.
  if (authorization.substr(0, 32).find("resource") == std::string_view::npos) {
    return std::nullopt;
  }
  auto token = account::parse_authorization(authorization);
  if (!token || token->type() != "resource") return std::nullopt;
  return std::string(token->signature());
}

Result<account::Access> verify(const account::KeyRing& keys, const AuthRequest& request) {
  auto parsed = account::parse_authorization(request.authorization);
  if (!parsed) return pass(parsed.error());
  const account::AuthorizationToken& token = *parsed;
  if (token.type() == "aad" || token.type() == "sas") {
    return unauthorized("Tokens of type=" + std::string(token.type()) +
                        " are not supported yet. Sign the request with an account key "
                        "(type=master), or send a permission's token (type=resource).");
  }
  if (token.type() != "master" || token.signature().empty()) {
    return unauthorized(
        "The authorization header is not of the form type=master&ver=1.0&sig=… (percent-encoded).");
  }
  if (token.version() != "1.0") {
    return unauthorized("ver=" + std::string(token.version().substr(0, 16)) +
                        " is not a known version of the authorization token. Use ver=1.0.");
  }
  if (request.date.empty()) {
    return unauthorized("Neither x-ms-date nor Date is there. Send x-ms-date like " +
                        net::http_date(request.now_s) + ".");
  }

  const ResourceAddress& address = *request.address;
  const std::string payload =
      payload_of(request.verb, address.resource_type, address.resource_link, request.date);
  std::optional<account::Access> access = keys.who_signed(payload, token.signature());
  if (!access && address.has_other) {
    access = keys.who_signed(
        payload_of(request.verb, address.other_type, address.other_link, request.date),
        token.signature());
  }
  if (!access) {
    return unauthorized(
        "The signature does not match this request. Check the account key, and that the client "
        "signs what the server does: \"" +
        shown(payload) + "\" (line ends written \\n).");
  }
  if (auto clock = check_clock(request.date, request.now_s); !clock) return pass(clock.error());
  return *access;
}

std::string sign(const account::KeyRing& keys, std::string_view verb,
                 std::string_view resource_type, std::string_view resource_link,
                 std::string_view date) {
  return percent_encode("type=master&ver=1.0&sig=" +
                        keys.signature_of(payload_of(verb, resource_type, resource_link, date)));
}

namespace {

// Without its query. There is none after an item's id, to which a question mark belongs then: the
// JavaScript SDK sends it as it is.
std::string_view without_query(std::string_view path) {
  const size_t question = path.find('?');
  if (question == std::string_view::npos) return path;
  std::string_view parts = path.substr(0, question);
  while (parts.starts_with('/')) parts.remove_prefix(1);
  for (int named = 0; named < 4; ++named) {  // dbs, its name, colls, its name
    const size_t end = parts.find('/');
    if (end == std::string_view::npos) return path.substr(0, question);
    parts.remove_prefix(end + 1);
  }
  constexpr std::string_view kDocs = "docs/";
  const size_t id = question - parts.size() + kDocs.size();
  const bool is_item = parts.starts_with(kDocs) && path.find('/', id) == std::string_view::npos;
  return is_item ? path : path.substr(0, question);
}

}  // namespace

Result<ResourceAddress> address_of(std::string_view path) {
  path = without_query(path);
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);

  ResourceAddress address;
  bool escaped = false;
  std::string_view rest = path;
  while (!rest.empty()) {
    const size_t end = rest.find('/');
    const std::string_view segment = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (segment.empty()) {
      return fail(Code::invalid, "The path \"" + std::string(path.substr(0, 256)) +
                                     "\" has an empty part: write one / between two parts.");
    }
    if (address.count == kMaxPathSegments) {
      return fail(Code::invalid, "The path \"" + std::string(path.substr(0, 256)) +
                                     "\" has more than " + std::to_string(kMaxPathSegments) +
                                     " parts.");
    }
    std::string& out = address.segments[address.count++];
    if (segment.find('%') == std::string_view::npos) {
      out = segment;
      continue;
    }
    escaped = true;
    auto decoded = percent_decode(segment);
    if (!decoded) return pass(decoded.error());
    out = std::move(*decoded);
  }
  if (address.count == 0) return address;

  const auto& segments = address.segments;
  // How much of the path is the link: all of it, or for a feed all but its last part.
  size_t linked = address.count - address.count % 2;
  address.resource_type = lowered(segments[linked == address.count ? linked - 2 : linked]);
  const bool key_delete = address.count == 6 && segments[4] == "operations";
  if (key_delete) {
    linked = 4;
    address.resource_type = "colls";
  }

  size_t sent_size = 0;  // where the linked parts of the path end
  for (size_t i = 0; i < linked; ++i) sent_size = path.find('/', sent_size + (i == 0 ? 0 : 1));
  const std::string_view sent = path.substr(0, sent_size);
  std::string link;
  if (!escaped) {
    link = sent;
  } else {
    link.reserve(sent.size());
    for (size_t i = 0; i < linked; ++i) {
      if (i != 0) link += '/';
      link += segments[i];
    }
  }
  if (segments[0] == "offers") {
    address.resource_link = linked == 2 ? lowered(segments[1]) : std::string();
    return address;
  }
  // Four bytes in base64 look like this; anything else need not be tried.
  if (segments[0] == "dbs" && address.count >= 2 && segments[1].size() == 8 &&
      segments[1].ends_with("==")) {
    const auto rid = parse_rid(segments[1]);
    address.by_rid = rid.has_value() && rid->kind == RidKind::database;
  }
  if (address.by_rid) {
    address.resource_link = lowered(segments[linked - 1]);
    address.other_type = address.resource_type;
    address.other_link = std::move(link);
    address.has_other = true;
    return address;
  }
  address.resource_link = std::move(link);
  if (key_delete) {
    address.other_type = "partitionkey";
    address.other_link = address.resource_link;
    address.has_other = true;
  } else if (escaped && linked != 0) {
    address.other_type = address.resource_type;
    address.other_link = sent;
    address.has_other = true;
  }
  return address;
}

}  // namespace orrery::cosmos

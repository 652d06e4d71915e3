// See endpoint.h. Addresses are taken apart by libcurl, which also sends to them.
#include "client/endpoint.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "base/bytes.h"
#include "client/curl_handles.h"

namespace orrery::client {
namespace {

constexpr std::string_view kScheme = "https://";

std::optional<std::string> part(const Url& url, CURLUPart what) {
  char* text = nullptr;
  if (curl_url_get(url.get(), what, &text, 0) != CURLUE_OK) return std::nullopt;
  const CurlText owner(text);
  return std::string(text);
}

}  // namespace

std::string Endpoint::where() const {
  return fmt::format("{}:{}", host, port);
}

bool looks_like_account_url(std::string_view text) {
  return text.find("://") != std::string_view::npos;
}

Result<AccountUrl> parse_account_url(const std::string& text) {
  const auto refuse = [&](std::string_view why) {
    return fail(Code::invalid, fmt::format("'{}' {}; an account is written "
                                           "https://HOST[:PORT]/DATABASE/CONTAINER",
                                           text, why));
  };
  if (!text.starts_with(kScheme)) return refuse("does not begin with https://");
  if (!curl_is_ready()) return no_curl();
  const Url url(curl_url());
  if (!url) return no_curl();
  if (curl_url_set(url.get(), CURLUPART_URL, text.c_str(), CURLU_PATH_AS_IS) != CURLUE_OK) {
    return refuse("is not an address");
  }
  if (part(url, CURLUPART_USER) || part(url, CURLUPART_QUERY) || part(url, CURLUPART_FRAGMENT)) {
    return refuse("has more than a host and two names");
  }
  AccountUrl found;
  found.host = part(url, CURLUPART_HOST).value_or("");
  // An IPv6 address comes in brackets, which only an address needs.
  if (found.host.size() > 2 && found.host.front() == '[') {
    found.host = found.host.substr(1, found.host.size() - 2);
  }
  if (const auto port = part(url, CURLUPART_PORT)) {
    std::from_chars(port->data(), port->data() + port->size(), found.port);
  }
  const std::string path = part(url, CURLUPART_PATH).value_or("/");
  std::string_view rest = std::string_view(path).substr(1);
  for (std::string* name : {&found.database, &found.container}) {
    const size_t slash = rest.find('/');
    auto decoded = percent_decode(rest.substr(0, slash));
    if (!decoded) return refuse("has a name that is not percent-encoded");
    *name = std::move(*decoded);
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  }
  if (!rest.empty()) return refuse("has more than two names");
  return found;
}

Result<Endpoint> parse_connection_string(std::string_view text) {
  Endpoint endpoint;
  while (!text.empty()) {
    const size_t end = text.find(';');
    const std::string_view one = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (one.starts_with("AccountEndpoint=")) {
      auto url = parse_account_url(std::string(one.substr(one.find('=') + 1)));
      if (!url) return pass(url.error());
      endpoint.host = url->host;
      endpoint.port = url->port;
    } else if (one.starts_with("AccountKey=")) {
      endpoint.key = one.substr(one.find('=') + 1);
    }
  }
  if (endpoint.host.empty() || endpoint.key.empty()) {
    return fail(Code::invalid,
                "the connection string must have AccountEndpoint=https://…; and AccountKey=…;");
  }
  return endpoint;
}

}  // namespace orrery::client

// See exchange.h.
#include "client/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <ctime>
#include <utility>

#include "base/bytes.h"
#include "net/http_date.h"

namespace orrery::client {
namespace {

constexpr long kConnectMs = 30'000;  // many TLS handshakes at once with a busy server take seconds
constexpr size_t kMaxHeaders = 200;
constexpr const char* kVersion = "2020-07-15";
constexpr const char* kTableVersion = "2019-02-02";

template <class T>
bool set(CURL* curl, CURLoption option, T value) {
  return curl_easy_setopt(curl, option, value) == CURLE_OK;
}

// Set part by part: no host can become another part of the address. The target is not among them:
// libcurl would write %3A as %3a, and signatures cover the target as it is.
Result<Url> url_of(const Endpoint& endpoint) {
  Url url(curl_url());
  if (!url) return no_curl();
  const std::string host =
      endpoint.host.find(':') == std::string::npos ? endpoint.host : "[" + endpoint.host + "]";
  if (curl_url_set(url.get(), CURLUPART_HOST, host.c_str(), 0) != CURLUE_OK) {
    return fail(Code::invalid, fmt::format("{}host '{}' is not a host name or an address",
                                           endpoint.option_prefix, endpoint.host));
  }
  if (curl_url_set(url.get(), CURLUPART_SCHEME, "https", 0) != CURLUE_OK ||
      curl_url_set(url.get(), CURLUPART_PORT, std::to_string(endpoint.port).c_str(), 0) !=
          CURLUE_OK) {
    return no_curl();
  }
  return url;
}

// Which certificates to trust. The server's own certificate needs no check of the host name:
// whoever has its private key is that server, at any address.
bool set_trust(CURL* curl, const Endpoint& endpoint) {
  const bool any_host = endpoint.insecure || !endpoint.certificate.empty();
  bool done = set(curl, CURLOPT_SSL_VERIFYPEER, endpoint.insecure ? 0L : 1L) &&
              set(curl, CURLOPT_SSL_VERIFYHOST, any_host ? 0L : 2L) &&
              set(curl, CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  if (endpoint.insecure) return done;
  if (!endpoint.certificate.empty()) {
    curl_blob blob{.data = const_cast<char*>(endpoint.certificate.data()),
                   .len = endpoint.certificate.size(),
                   .flags = CURL_BLOB_NOCOPY};
    done = done && set(curl, CURLOPT_CAINFO, nullptr) && set(curl, CURLOPT_CAPATH, nullptr) &&
           set(curl, CURLOPT_CAINFO_BLOB, &blob);
  } else if (!endpoint.ca.empty()) {
    done = done && set(curl, CURLOPT_CAPATH, nullptr) &&
           set(curl, CURLOPT_CAINFO, endpoint.ca.c_str());
  }
  return done;
}

// What went wrong, and what to do. `detail` is libcurl's.
Error error_of(CURLcode code, const Endpoint& endpoint, std::string_view detail) {
  const std::string where = endpoint.where();
  const std::string_view prefix = endpoint.option_prefix;
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return {Code::invalid, fmt::format("cannot find {}: {}", endpoint.host, detail)};
    case CURLE_COULDNT_CONNECT:
      return {Code::internal, fmt::format("no server answers on {} ({})", where, detail)};
    case CURLE_OPERATION_TIMEDOUT:
      return {Code::internal, fmt::format("{} did not answer in time ({})", where, detail)};
    case CURLE_WRITE_ERROR:
      return {Code::internal, fmt::format("the answer of {} is too large", where)};
    case CURLE_SSL_CACERT_BADFILE:
      return {Code::invalid, fmt::format("{}ca {} holds no PEM certificate that can be used",
                                         prefix, endpoint.ca)};
    case CURLE_SSL_CONNECT_ERROR:
      return {Code::invalid,
              fmt::format("{} does not speak https; nothing was sent to it ({})", where, detail)};
    case CURLE_PEER_FAILED_VERIFICATION:
      break;
    default:
      return {Code::internal, fmt::format("the exchange with {} failed: {}", where, detail)};
  }
  if (!endpoint.certificate.empty()) {
    return {Code::unauthorized,
            fmt::format("{} is not the server that runs on the data folder {}: its certificate is "
                        "another. Nothing was sent to it. Name the folder of that server with "
                        "{}data, or the certificate to trust with {}ca FILE ({})",
                        where, endpoint.data, prefix, prefix, detail)};
  }
  return {Code::unauthorized,
          fmt::format("the certificate of {} is not one to trust{}. Nothing was sent to it. Bring "
                      "the server's cert.pem, or that of its issuer, here in a safe way and name "
                      "it with {}ca FILE; {}host must be a name that it is made for ({})",
                      where,
                      endpoint.ca.empty() ? std::string(" by this system")
                                          : fmt::format(" by {}ca {}", prefix, endpoint.ca),
                      prefix, prefix, detail)};
}

std::string authorization_of(const account::KeyRing& signer, const Request& request,
                             std::string_view date) {
  std::string payload;
  for (const std::string_view part :
       {std::string_view(request.method), std::string_view(request.type),
        std::string_view(request.link), date}) {
    const size_t at = payload.size();
    payload += part;
    // A link by names keeps its case.
    if (part.data() != request.link.data()) {
      std::transform(payload.begin() + static_cast<long>(at), payload.end(),
                     payload.begin() + static_cast<long>(at),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    }
    payload += '\n';
  }
  payload += '\n';
  return percent_encode("type=master&ver=1.0&sig=" + signer.signature_of(payload));
}

// SharedKeyLite: the date and the path as it is sent. No request of ours has the parameter `comp`,
// which would be part of it.
std::string table_authorization_of(const account::KeyRing& signer, std::string_view account,
                                   std::string_view target, std::string_view date) {
  const std::string_view path = target.substr(0, target.find('?'));
  return fmt::format("SharedKeyLite {}:{}", account,
                     signer.signature_of(fmt::format("{}\n/{}{}", date, account, path)));
}

}  // namespace

size_t Exchange::take_body(char* data, size_t one, size_t count, void* self) {
  auto& exchange = *static_cast<Exchange*>(self);
  const size_t size = one * count;
  std::string& body = exchange.response_.body;
  if (body.size() + size > exchange.limits_.answer_bytes_max) return 0;
  body.append(data, size);
  return size;
}

size_t Exchange::take_header(char* data, size_t one, size_t count, void* self) {
  Response& response = static_cast<Exchange*>(self)->response_;
  std::string_view line(data, one * count);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  // A new head begins: what came before was not the answer yet.
  if (line.starts_with("HTTP/")) response.headers.clear();
  const size_t colon = line.find(':');
  if (colon != std::string_view::npos && response.headers.size() < kMaxHeaders) {
    std::string name(line.substr(0, colon));
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    response.headers.emplace_back(std::move(name), value);
  }
  return one * count;
}

Status Exchange::prepare(Curl curl, const Endpoint& endpoint, const account::KeyRing& signer,
                         const Request& request, ExchangeLimits limits) {
  endpoint_ = &endpoint;
  limits_ = limits;
  curl_ = std::move(curl);
  if (!curl_) return no_curl();
  curl_easy_reset(curl_.get());
  if (std::ranges::any_of(request.target, [](unsigned char c) { return c <= ' ' || c == 0x7f; })) {
    return fail(Code::internal, fmt::format("'{}' is not the target of a request", request.target));
  }
  auto url = url_of(endpoint);
  if (!url) return pass(url.error());
  url_ = std::move(*url);
  bool done = true;
  for (const auto& [name, value] : request.headers) {
    // "name;" is how libcurl is told of a header without a value.
    done = done && append(lines_, value.empty() ? name + ";" : name + ": " + value);
  }
  if (request.is_signed) {
    const std::string date = net::http_date(std::time(nullptr));
    const bool is_table = !endpoint.table_account.empty();
    const std::string authorization =
        is_table ? table_authorization_of(signer, endpoint.table_account, request.target, date)
                 : authorization_of(signer, request, date);
    done = done && append(lines_, "authorization: " + authorization) &&
           append(lines_, "x-ms-date: " + date) &&
           append(lines_, std::string("x-ms-version: ") + (is_table ? kTableVersion : kVersion));
  }
  // No extra round trip before a large body.
  done = done && append(lines_, "Expect:");
  CURL* const handle = curl_.get();
  done = done && set_trust(handle, endpoint) && set(handle, CURLOPT_CURLU, url_.get()) &&
         set(handle, CURLOPT_REQUEST_TARGET, request.target.c_str()) &&
         set(handle, CURLOPT_PROTOCOLS_STR, "https") && set(handle, CURLOPT_PROXY, "") &&
         set(handle, CURLOPT_FOLLOWLOCATION, 0L) &&
         set(handle, CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1}) &&
         set(handle, CURLOPT_CONNECTTIMEOUT_MS, kConnectMs) &&
         set(handle, CURLOPT_TIMEOUT_MS, limits.answer_ms) && set(handle, CURLOPT_NOSIGNAL, 1L) &&
         set(handle, CURLOPT_TCP_NODELAY, 1L) && set(handle, CURLOPT_ERRORBUFFER, detail_.data()) &&
         set(handle, CURLOPT_WRITEFUNCTION, take_body) && set(handle, CURLOPT_WRITEDATA, this) &&
         set(handle, CURLOPT_HEADERFUNCTION, take_header) &&
         set(handle, CURLOPT_HEADERDATA, this) && set(handle, CURLOPT_HTTPHEADER, lines_.get());
  if (request.method == "POST" || request.method == "PUT") {
    done = done && set(handle, CURLOPT_POST, 1L) &&
           set(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size())) &&
           set(handle, CURLOPT_POSTFIELDS, request.body.data());
  }
  if (request.method != "GET" && request.method != "POST") {
    done = done && set(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
  if (!done) return no_curl();
  return {};
}

Result<Response> Exchange::finish(CURLcode code) {
  if (code != CURLE_OK) {
    return pass(
        error_of(code, *endpoint_, detail_[0] != 0 ? detail_.data() : curl_easy_strerror(code)));
  }
  long status = 0;
  if (curl_easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &status) != CURLE_OK) return no_curl();
  response_.status = static_cast<int>(status);
  return std::move(response_);
}

bool never_left(CURLcode code) {
  return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST;
}

bool may_pass(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_SSL_CONNECT_ERROR:  // a server that is stopped while TLS begins
      return true;
    default:
      return false;
  }
}

}  // namespace orrery::client

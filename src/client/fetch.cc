// See fetch.h.
#include "client/fetch.h"

#include <fmt/format.h>

#include <array>

#include "client/curl_handles.h"
#include "net/loopback.h"

namespace orrery::client {
namespace {

constexpr long kTimeoutMs = 10'000;

struct Taken {
  std::string body;
  size_t bytes_max = 0;
};

size_t take(char* bytes, size_t size, size_t count, void* into) {
  auto& taken = *static_cast<Taken*>(into);
  if (taken.body.size() + size * count > taken.bytes_max) return 0;  // ends the transfer
  taken.body.append(bytes, size * count);
  return size * count;
}

bool is_allowed(const std::string& url) {
  if (url.starts_with("https://")) return true;
  constexpr std::string_view kPlain = "http://";
  if (!url.starts_with(kPlain)) return false;
  const std::string_view rest = std::string_view(url).substr(kPlain.size());
  const std::string_view host = rest.substr(0, rest.find_first_of("/?#"));
  return host.find('@') == std::string_view::npos && net::is_loopback(host);
}

}  // namespace

Result<std::string> fetch_document(const std::string& url, size_t bytes_max) {
  if (!is_allowed(url)) {
    return fail(Code::invalid,
                fmt::format("{} is not an https address (http is for this machine alone)", url));
  }
  if (!curl_is_ready()) return no_curl();
  const Curl curl(curl_easy_init());
  if (!curl) return no_curl();
  Taken taken{.body = {}, .bytes_max = bytes_max};
  std::array<char, CURL_ERROR_SIZE> detail{};
  const auto set = [&curl](CURLoption option, auto value) {
    return curl_easy_setopt(curl.get(), option, value) == CURLE_OK;
  };
  const bool done = set(CURLOPT_URL, url.c_str()) && set(CURLOPT_PROTOCOLS_STR, "http,https") &&
                    set(CURLOPT_PROXY, "") && set(CURLOPT_FOLLOWLOCATION, 0L) &&
                    set(CURLOPT_TIMEOUT_MS, kTimeoutMs) && set(CURLOPT_NOSIGNAL, 1L) &&
                    set(CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2}) &&
                    set(CURLOPT_ERRORBUFFER, detail.data()) && set(CURLOPT_WRITEFUNCTION, take) &&
                    set(CURLOPT_WRITEDATA, &taken);
  if (!done) return no_curl();
  const CURLcode ended = curl_easy_perform(curl.get());
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  if (ended == CURLE_WRITE_ERROR) {
    return fail(Code::not_found, fmt::format("{} has more than {} bytes", url, bytes_max));
  }
  if (ended != CURLE_OK) {
    return fail(Code::not_found, fmt::format("cannot get {}: {}", url, detail.data()));
  }
  if (status != 200) return fail(Code::not_found, fmt::format("{} answers {}", url, status));
  return std::move(taken.body);
}

}  // namespace orrery::client

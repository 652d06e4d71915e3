// See loopback.h.
#include "net/loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <string>

#include "base/bytes.h"

namespace orrery::net {
namespace {

std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) {
    const size_t end = host.find(']');
    return end == std::string_view::npos ? std::string_view() : host.substr(1, end - 1);
  }
  // More than one colon: an IPv6 address without brackets, which has no port.
  return std::ranges::count(host, ':') == 1 ? host.substr(0, host.find(':')) : host;
}

}  // namespace

bool is_loopback(std::string_view host) {
  constexpr std::string_view kSuffix = ".localhost";
  host = without_port(host);
  // What nearly all clients say: every request is asked for it.
  if (host == "127.0.0.1" || host == "localhost") return true;
  const std::string text(host);
  in_addr four{};
  if (::inet_pton(AF_INET, text.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
  in6_addr six{};
  if (::inet_pton(AF_INET6, text.c_str(), &six) == 1) {
    if (IN6_IS_ADDR_LOOPBACK(&six)) return true;
    return IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr[12] == 127;
  }
  if (host.ends_with('.')) host.remove_suffix(1);
  return equals_ignore_case(host, "localhost") ||
         (host.size() > kSuffix.size() &&
          equals_ignore_case(host.substr(host.size() - kSuffix.size()), kSuffix));
}

}  // namespace orrery::net

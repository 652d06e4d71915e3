// See change_start.h.
#include "api/cosmos/wire/change_start.h"

#include <fmt/format.h>

#include <charconv>

#include "net/http_date.h"

namespace orrery::cosmos {

Result<cluster::ChangesFrom> parse_change_start(std::string_view if_none_match,
                                                std::string_view if_modified_since) {
  cluster::ChangesFrom from;
  if (!if_modified_since.empty()) {
    from.since_s = net::parse_http_date(if_modified_since);
    if (!from.since_s) {
      return fail(Code::invalid,
                  fmt::format("If-Modified-Since '{}' is not a date such as 'Sun, 06 Nov 1994 "
                              "08:49:37 GMT'",
                              if_modified_since.substr(0, 64)));
    }
  }
  std::string_view etag = if_none_match;
  if (etag.empty()) return from;
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') {
    etag = etag.substr(1, etag.size() - 2);
  }
  if (etag == "*") {
    from.now = true;
    return from;
  }
  auto [end, error] = std::from_chars(etag.data(), etag.data() + etag.size(), from.position);
  if (error != std::errc() || end != etag.data() + etag.size()) {
    return fail(Code::invalid,
                fmt::format("If-None-Match '{}' is not a position in a change feed: send the etag "
                            "of the page before, * to start from now, or nothing to start from "
                            "the beginning",
                            if_none_match.substr(0, 64)));
  }
  return from;
}

}  // namespace orrery::cosmos

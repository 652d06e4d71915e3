// A request to an account, and its answer.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace orrery::client {

struct Request {
  std::string method = "GET";
  std::string target;  // path and query, percent-encoded
  // What a master key's signature covers: the type of the resource and its link, not encoded.
  std::string type;
  std::string link;
  bool is_signed = true;  // false: the authorization is among the headers
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  // Whether it may be sent again after the connection broke: it may have been done then.
  bool repeatable = true;
};

struct Response {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;

  // Empty when there is none.
  std::string_view header(std::string_view name) const;
  int substatus() const;
  double charge() const;
  uint32_t retry_after_ms() const;
  // Whether it was not done for want of throughput: 429, or the 503 of tables that names a wait.
  bool is_throttled() const;
  // What the server says went wrong, without the activity id; the status when it says nothing.
  std::string message() const;
  bool is_success() const { return status >= 200 && status < 300; }
};

// 410 with this substatus: the partition key range was split; its children have its items.
inline constexpr int kRangeGone = 1002;
inline constexpr int kCompletingSplit = 1007;

// Refuses every answer that is no success, with the server's message. `where` names the server.
Result<Response> succeeded(Result<Response> response, std::string_view where);

}  // namespace orrery::client

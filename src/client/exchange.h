// One request on its way through libcurl: its handle, what it sends and what has come back.
// libcurl's defaults are off: no proxy from the environment, no redirects, no other protocols, and
// no system certificates where others are named. Only for this folder.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "account/keys.h"
#include "base/result.h"
#include "client/curl_handles.h"
#include "client/endpoint.h"
#include "client/message.h"

namespace orrery::client {

struct ExchangeLimits {
  long answer_ms = 0;
  size_t answer_bytes_max = 0;
};

// The endpoint and the request must outlive it; it stays where it is while it is under way.
class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // Gets the handle ready to be performed, signed now. `curl` may have been used before.
  Status prepare(Curl curl, const Endpoint& endpoint, const account::KeyRing& signer,
                 const Request& request, ExchangeLimits limits);
  CURL* handle() const { return curl_.get(); }
  Curl release() { return std::move(curl_); }

  // After libcurl is done with it.
  Result<Response> finish(CURLcode code);

 private:
  static size_t take_body(char* data, size_t one, size_t count, void* self);
  static size_t take_header(char* data, size_t one, size_t count, void* self);

  const Endpoint* endpoint_ = nullptr;
  ExchangeLimits limits_;
  Curl curl_;
  Url url_;
  Lines lines_;
  std::array<char, CURL_ERROR_SIZE> detail_{};
  Response response_;
};

// Whether the request may not have left, so that it can be sent again whatever it does.
bool never_left(CURLcode code);
// Whether it is worth to try again.
bool may_pass(CURLcode code);

}  // namespace orrery::client

// From a frame's tokens to the request over HTTP that means the same: method, target, headers.
//
// The gateway's handlers run both, so a request over RNTBD is authorized, routed, forwarded and
// charged as one over HTTP. Values stay where they are in the frame, as views; the target alone is
// written anew.
//
// Pure; any thread may call. Input from outside.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/cosmos/direct/frame.h"
#include "base/result.h"
#include "net/http.h"

namespace orrery::cosmos::direct {

class DirectRequest {
 public:
  DirectRequest() = default;
  // Views into itself.
  DirectRequest(const DirectRequest&) = delete;
  DirectRequest& operator=(const DirectRequest&) = delete;

  // `frame` stays in place while `http` is used. Code::invalid when its tokens make no request;
  // what is needed to answer that is set.
  Status read(const RequestFrame& frame);

  net::Request http;
  std::array<char, kActivityIdBytes> activity_id{};  // as it came
  uint32_t transport_id = 0;                         // TransportRequestID
  std::string_view replica_path;                     // of the address that the client chose
  int64_t target_lsn = 0;                            // of a barrier
  uint16_t resource = 0;
  bool names_range = false;  // PartitionKeyRangeId: it is about a range, not about a key
  bool wants_body = true;    // not HEAD

 private:
  struct Names;

  Status take(const Token& token, Names& names);
  Status take_special(const Token& token, Names& names);
  Status set_method(uint16_t operation);
  Status set_target(const Names& names);
  Status set_target_by_rid(std::string_view rid);
  void add_number(std::string_view header, int64_t number);

  std::string target_;
  std::array<char, 36> activity_text_{};
  std::array<char, 96> digits_{};  // of numbers in headers
  size_t digits_used_ = 0;
  uint16_t operation_ = 0;
};

}  // namespace orrery::cosmos::direct

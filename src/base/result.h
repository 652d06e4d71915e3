// Errors as values. Every fallible operation returns Result<T>; exceptions are caught where a
// library throws them and turned into an Error there.
//
// A Code exists only if some caller acts differently on it. The message is for a person: it says
// what was wrong, with which value, and what to do about it.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

namespace orrery {

enum class Code : uint8_t {
  invalid,              // the request cannot be right, whatever the state
  unauthorized,         // the signature or the token does not prove who is asking
  forbidden,            // known, but not allowed to do this
  not_found,            // nothing with that name or key
  conflict,             // something with that name, key or unique value is there already
  precondition_failed,  // the state that the request asks for is not there
  too_large,            // over a size limit of one item or one request
  partition_full,       // the logical partition has reached its limit
  quota_exceeded,       // an account, database or container quota
  throttled,            // over the throughput budget; retry_after_ms says how long
  retry,                // lost a race (a transaction's snapshot is out of date): do it again
  would_wait,           // not without waiting, which this caller must not: do it where one may
  moved,                // the partition was split or moved: look the map up again and go on
  elsewhere,            // another node of the cluster has it: ask there
  behind,               // this replica has not got to the LSN that the request asks for
  read_only,            // the partition takes no writes now (full or failing disk)
  corrupt,              // stored bytes do not check
  overloaded,           // a bounded queue is full
  unsupported,          // understood, and not offered
  internal,             // a bug, or the system below us failed in an unknown way
};

struct Error {
  Code code = Code::internal;
  std::string message;
  uint32_t retry_after_ms = 0;
};

template <class T>
using Result = std::expected<T, Error>;

using Status = Result<void>;

[[nodiscard]] inline std::unexpected<Error> fail(Code code, std::string message) {
  return std::unexpected(Error{.code = code, .message = std::move(message)});
}

// Passes an Error of one Result type on as another.
[[nodiscard]] inline std::unexpected<Error> pass(Error error) {
  return std::unexpected(std::move(error));
}

}  // namespace orrery

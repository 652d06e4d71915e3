// Requests of clients that one node sends to another, whole. What a request means is the business
// of the face that it is for.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace orrery::peer {

// To be sent: views, which need not outlive the call of send().
struct OutgoingRequest {
  std::string_view face;
  std::string_view method;
  std::string_view target;
  std::vector<std::pair<std::string_view, std::string_view>> headers;
  std::string_view body;
  bool tls = false;
  std::string_view client;
  // By what the sender has authorized it. Empty: it has not, and the receiver does.
  std::string_view principal;
  std::string_view request_id;
  uint64_t catalog_lsn = 0;  // of the sender's copy
  // Of a write: this sending of it, told apart from all others of the cluster. The receiver runs it
  // once however often it comes, and remembers the answer for a while.
  std::string_view sending;
  // Not 0: for so long it has been asked for without an answer. Nothing but an answer, or `moved`,
  // tells then whether it was run; Code::not_found when the receiver does not remember.
  std::chrono::milliseconds sent_before{0};
};

// As received.
struct IncomingRequest {
  std::string face;
  std::string method;
  std::string target;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool tls = false;
  std::string client;
  std::string principal;
  std::string request_id;
  uint64_t catalog_lsn = 0;
  std::string sending;
  std::chrono::milliseconds sent_before{0};
  std::chrono::steady_clock::time_point deadline;
  // Set when the sender wants no answer any more. Null: it does.
  std::shared_ptr<const std::atomic<bool>> is_cancelled;
};

struct ForwardAnswer {
  // The receiver does not have what the request concerns, and has done nothing.
  bool moved = false;
  std::string owner;   // if moved: who has it, if the receiver knows
  uint64_t epoch = 0;  // if moved: as of which

  uint32_t status = 0;
  std::string headers;  // complete lines, "name: value\r\n"
  std::string body;

  uint64_t catalog_lsn = 0;  // of the receiver's copy when it answered
};

using ForwardDone = std::move_only_function<void(Result<ForwardAnswer>)>;

// For metrics, of calls and requests together.
struct NodeCounts {
  uint64_t sent = 0;
  uint64_t sent_failed = 0;
  uint64_t sent_under_way = 0;
  uint64_t received = 0;
  uint64_t refused = 0;  // of these: too many at a time
  uint64_t received_under_way = 0;
  uint64_t channels = 0;
};

class ForwardLink {
 public:
  virtual ~ForwardLink() = default;
  // `done` is called once, on any thread and perhaps before this returns; it must not block. Errors
  // are those of Link::call(): Code::overloaded, it was not run there; Code::internal, nobody
  // knows.
  // `stop`: nobody wants the answer any more, and the receiver is told.
  virtual void forward(const std::string& address, const OutgoingRequest& request,
                       std::chrono::milliseconds deadline, std::stop_token stop,
                       ForwardDone done) = 0;
  virtual NodeCounts counts() const { return {}; }
};

class ForwardReceiver {
 public:
  virtual ~ForwardReceiver() = default;
  // On a thread of the network: it must not block. `done` from any thread; destroyed uncalled, it
  // answers Code::internal. An Error tells the sender that nothing was done here, unless its code
  // is Code::internal.
  virtual void receive(IncomingRequest request, ForwardDone done) = 0;
};

}  // namespace orrery::peer

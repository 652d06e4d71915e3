// One request on its way through the face: what was asked, and the means to answer it once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/cosmos/operation.h"
#include "api/cosmos/wire/error_body.h"
#include "api/cosmos/wire/request_headers.h"
#include "api/cosmos/wire/resource_address.h"
#include "cluster/engine.h"
#include "face/request_metrics.h"
#include "net/http.h"

namespace orrery::advise {
class Recorder;
}

namespace orrery::cosmos {

struct Hop;  // forward/hop.h

// An item before and after a write; empty: it was not there, or is not known.
struct ItemUpdate {
  std::string_view before;
  std::string_view after;
};

struct Call {
  Call(const net::Request& request, net::Responder responder_in, face::RequestMetrics& metrics_in,
       int64_t started_us_in);
  // Answers 503 if nobody has: an exception must have ended its owner.
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Views into the request, which stays in place until the answer is sent.
  std::string_view method;
  std::string_view target;
  std::string_view body;
  // What the body was as binary JSON, in text, which `body` then is. Several calls may share it.
  std::shared_ptr<const std::string> text_body;
  bool tls = false;
  std::string_view peer;  // the client's address and port
  RequestHeaders headers;

  ResourceAddress address;
  Operation operation = Operation::other;
  std::string activity_id;
  net::Response response;                // filled in on the way
  std::unique_ptr<Hop> hop;              // its way between nodes; null in a server alone
  advise::Recorder* recorder = nullptr;  // null: the call is not recorded for the advisor
  uint32_t container = 0;                // that it was found to concern

  // The target without its query.
  std::string_view path() const { return target.substr(0, target.find('?')); }
  // A POST that only reads: a query or a query plan. Authorization of read-only keys and dispatch
  // must agree on this, so both ask here.
  bool is_query() const;
  // Whether it would change something.
  bool is_write() const { return method != "GET" && method != "HEAD" && !is_query(); }

  void charge(double request_units);
  // Whether it will be recorded for the advisor. Asked before its work is done by those that have
  // to prepare for it; for others that is decided with the receipt.
  bool is_to_be_recorded();
  // Operations of it were refused for want of throughput.
  void record_throttled(size_t operations);
  // x-ms-session-token and what goes with it. `update`: if it is to be recorded.
  void receipt(const cluster::Receipt& receipt, const cluster::Routing& routing,
               const ItemUpdate& update = {}) {
    this->receipt(std::span(&receipt, 1), routing, update);
  }
  // Of work in several ranges; at least one.
  void receipt(std::span<const cluster::Receipt> ranges, const cluster::Routing& routing,
               const ItemUpdate& update = {});
  void etag(std::string_view version_text);
  void etag(const partition::Version& version);

  // Whether the client has closed its side. Any thread.
  bool client_is_gone() const { return responder_.is_gone(); }
  void reply(int status, std::string json_body);
  // Decodes the body of an item that is binary JSON. Otherwise nothing is done.
  Status take_binary_body(size_t bytes_max);
  // Of a form of its own, which only those get who asked for it.
  void reply_bytes(int status, std::string body_bytes);
  void reply_empty(int status);
  // The body is in `response` already, with its content type.
  void reply_text();
  void fail(const Error& error, uint32_t substatus = 0);
  void fail(const Refusal& refusal) { fail(refusal.error, refusal.substatus); }
  void method_not_allowed();
  // `what`: in the plural.
  void unsupported(std::string_view what);
  // The same with a body of its own.
  void fail_with(int status, uint32_t substatus, std::string json_body);
  // As another node has answered it: complete, with its headers.
  void reply_forwarded(int status, std::string headers, std::string body);
  // To the node that sent it: what it concerns is not here.
  void reply_moved();
  // The same call, not answered and as if nothing had been done for it; this one counts as
  // answered.
  std::unique_ptr<Call> take_over();

 private:
  explicit Call(Call& taken);
  // Whether the answer to it is one item.
  bool is_about_one_item() const;
  void finish(int status);
  void send(int status, int64_t took_us);

  net::Responder responder_;
  face::RequestMetrics& metrics_;
  int64_t started_us_;
  std::optional<uint32_t> stands_for_;  // requests, in the recording; 0: it is not recorded
  bool answered_ = false;
};
using CallPtr = std::unique_ptr<Call>;

// Appends "name: number\r\n" with at most two decimals.
void append_number_header(std::string& out, std::string_view name, double number);

}  // namespace orrery::cosmos

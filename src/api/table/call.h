// One request on its way through the face: what was asked, and the means to answer it once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/table/auth/grant.h"
#include "api/table/operation.h"
#include "api/table/service/service_properties.h"
#include "api/table/service/table_error.h"
#include "api/table/wire/address.h"
#include "api/table/wire/request_options.h"
#include "base/clock.h"
#include "cluster/replies.h"
#include "face/request_metrics.h"
#include "net/http.h"

namespace orrery::table {

struct Hop;  // forward/hop.h

// As sent; empty when not there.
struct RequestHeaders {
  static RequestHeaders of(const std::vector<net::Header>& all);

  std::string_view host;
  std::string_view accept;
  std::string_view authorization;
  std::string_view content_md5;
  std::string_view content_type;
  std::string_view date;
  std::string_view x_ms_date;
  std::string_view x_ms_version;
  std::string_view connection;
  std::string_view client_request_id;
  std::string_view if_match;
  std::string_view prefer;
  std::string_view x_http_method;
  std::string_view offer_throughput;
  std::string_view autoscale;
  std::string_view origin;
  std::string_view cors_method;
  std::string_view cors_headers;
};

struct Call {
  Call(const net::Request& request, net::Responder responder_in, face::RequestMetrics& metrics_in,
       const Clock& clock_in);
  // Answers 503 if nobody has: an exception must have ended its owner.
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Views into the request, which stays in place until the answer is sent.
  std::string_view method;  // that it stands for: X-HTTP-Method replaces POST
  std::string_view sent_method;
  std::string_view target;
  std::string_view body;
  bool tls = false;
  std::string_view peer;
  RequestHeaders headers;

  Address address;
  QueryParameters parameters;
  Grant grant;
  size_t metric = kOtherMetric;
  bool cosmos_flavour = false;
  std::string request_id;
  std::vector<CorsRule> cors_rules;  // for a request that has an Origin
  net::Response response;            // filled in on the way
  std::unique_ptr<Hop> hop;          // its way between nodes; null in a server alone

  // http://host/account
  std::string base() const;
  std::string_view path() const { return target.substr(0, target.find('?')); }
  std::string_view query() const;

  void set_operation(Operation operation) { metric = static_cast<size_t>(operation); }
  void receipt(const cluster::Receipt& receipt);
  void charge(double request_units);

  // Whether the client has closed its side. Any thread.
  bool client_is_gone() const { return responder_.is_gone(); }
  void reply_json(int status, Metadata level, std::string json);
  void reply_xml(int status, std::string xml);
  void reply_with(int status, std::string_view content_type, std::string body);
  void reply_empty(int status);
  // When the engine has said that what it concerns is at another node, that one is asked.
  void fail(const TableError& error);
  void fail(const Error& error);
  void method_not_allowed();
  // What an engine's error is called here. That it is of another node is remembered for fail().
  TableError engine_error(const Error& error);
  bool is_elsewhere() const { return elsewhere_.has_value(); }
  // As another node has answered it: complete, with its headers.
  void reply_forwarded(int status, std::string headers, std::string body);
  // To the node that sent it: what it concerns is not here.
  void reply_moved();
  // The same call, not answered and as if nothing had been done for it; this one counts as
  // answered.
  std::unique_ptr<Call> take_over();
  // It is not to be answered here: only its head was looked at.
  void forget() { answered_ = true; }
  // How an error is written for this request.
  std::string error_text(const TableError& error, bool as_json) const;
  bool wants_json() const;

 private:
  explicit Call(Call& taken);
  void finish(int status);
  void send(int status);

  net::Responder responder_;
  face::RequestMetrics& metrics_;
  const Clock& clock_;
  const int64_t started_us_;
  bool answered_ = false;
  std::optional<Code> elsewhere_;
};
using CallPtr = std::unique_ptr<Call>;

// Letters, digits and '-', different each time; not hard to guess.
std::string make_request_id();

}  // namespace orrery::table

// A request to a page of no face, and the means to answer it once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "face/request_metrics.h"
#include "net/http.h"
#include "ops/admin_signature.h"

namespace orrery::ops {

enum class PageKind : uint8_t { health, metrics, admin };

class PageRequest {
 public:
  PageRequest(const net::Request& request, net::Responder responder, face::RequestMetrics& metrics);
  // Answers 503 if nobody has: an exception must have ended its owner.
  ~PageRequest();
  PageRequest(const PageRequest&) = delete;
  PageRequest& operator=(const PageRequest&) = delete;

  // Views into the request, which stays in place until the answer is sent.
  std::string_view method;
  std::string_view target;
  std::string_view path;  // of the target
  std::string_view body;
  bool tls = false;
  std::string_view peer;
  std::string_view authorization;
  AdminRequest signature;  // for administration

  PageKind operation = PageKind::admin;
  std::string headers;  // to be sent with the answer, complete lines

  // One parameter of the target's query, decoded; empty when it is not there.
  std::string parameter(std::string_view name) const;
  bool client_is_gone() const { return responder_.is_gone(); }
  void reply(int status, std::string_view content_type, std::string text);
  // The same with an answer that somebody else has made.
  void reply(net::Response response);
  void reply_json(std::string json) { reply(200, "application/json", std::move(json)); }
  void fail(const Error& error);
  void method_not_allowed();

 private:
  void fail_with(int status, std::string_view message);

  net::Responder responder_;
  face::RequestMetrics& metrics_;
  const int64_t started_us_;
  bool answered_ = false;
};
using PageRequestPtr = std::unique_ptr<PageRequest>;

// A text as a JSON string, for the pages that are put together from parts. Bytes that are no UTF-8
// are replaced.
std::string quoted(std::string_view text);
Error no_such_container(std::string_view database, std::string_view container);

}  // namespace orrery::ops

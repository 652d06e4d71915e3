// See message.h.
#include "client/message.h"

#include <fmt/format.h>

#include "value/json.h"

namespace orrery::client {
namespace {

constexpr size_t kMaxMessageBytes = 2'000;

template <class T>
T number(std::string_view text) {
  T value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Code code_of(int status) {
  switch (status) {
    case 401:
      return Code::unauthorized;
    case 403:
      return Code::forbidden;
    case 404:
      return Code::not_found;
    case 409:
      return Code::conflict;
    case 410:
      return Code::moved;
    case 412:
      return Code::precondition_failed;
    case 413:
      return Code::too_large;
    case 429:
      return Code::throttled;
    case 503:
      return Code::overloaded;
    default:
      return status < 500 ? Code::invalid : Code::internal;
  }
}

}  // namespace

std::string_view Response::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

int Response::substatus() const {
  return number<int>(header("x-ms-substatus"));
}

double Response::charge() const {
  return number<double>(header("x-ms-request-charge"));
}

uint32_t Response::retry_after_ms() const {
  return number<uint32_t>(header("x-ms-retry-after-ms"));
}

bool Response::is_throttled() const {
  return status == 429 ||
         (status == 503 && header("x-ms-error-code") == "ServerBusy" && retry_after_ms() > 0);
}

std::string Response::message() const {
  auto document = value::JsonDocument::parse(body);
  const value::Node* error = document ? document->root().find("odata.error") : nullptr;
  const value::Node* message =
      !document ? nullptr : (error != nullptr ? *error : document->root()).find("message");
  if (message != nullptr && error != nullptr) message = message->find("value");
  std::string text(message != nullptr ? message->text : body);
  // The activity or request id that follows is for support, not for a command's output.
  text.resize(
      std::min({text.find("\r\n"), text.find("\nRequestId:"), text.size(), kMaxMessageBytes}));
  return text.empty() ? fmt::format("status {} without a message", status) : text;
}

Result<Response> succeeded(Result<Response> response, std::string_view where) {
  if (!response || response->is_success()) return response;
  return pass(
      {.code = code_of(response->status),
       .message = fmt::format("{} answered {}: {}", where, response->status, response->message()),
       .retry_after_ms = response->retry_after_ms()});
}

}  // namespace orrery::client

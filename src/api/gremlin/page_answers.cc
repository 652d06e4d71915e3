// See page_answers.h.
#include "api/gremlin/page_answers.h"

#include <fmt/format.h>

#include "face/http_error.h"

namespace orrery::gremlin {
namespace {

// Of the service's codes, which are HTTP's below 600.
int http_status_of(int service_code) {
  switch (service_code) {
    case 1000:
    case 1004:
      return 400;
    case 1003:
      return 413;
    case 1009:
      return 408;
    default:
      return service_code < 600 ? service_code : 500;
  }
}

}  // namespace

bool PageAnswers::part(const std::string& results, const Attributes& /*attributes*/) {
  if (!results_.empty() && !results.empty()) results_ += ',';
  results_ += results;
  return !is_gone();
}

void PageAnswers::last(const std::string* results, const Attributes& attributes,
                       bool /*may_wait*/) {
  if (results != nullptr) part(*results, attributes);
  send(200, attributes,
       fmt::format(R"({{"results":[{}],"more":{},"ms":{:.2f}}})", results_, attributes.is_cut,
                   attributes.total_time_ms));
}

void PageAnswers::fail(const Failure& failure, const Attributes& attributes, bool /*may_wait*/) {
  const int status = http_status_of(attributes.status_code);
  std::string json = fmt::format(R"({{"code":"{}","message":)", face::status_name(status));
  face::append_message(json, failure.message);
  json += '}';
  send(status, attributes, std::move(json));
}

void PageAnswers::send(int status, const Attributes& attributes, std::string json) {
  net::Response response;
  response.status = status;
  response.add("content-type", "application/json");
  response.add("x-ms-request-charge", fmt::format("{:.2f}", attributes.total_charge));
  response.add("x-ms-activity-id", attributes.activity_id);
  if (attributes.retry_after_ms > 0) {
    response.add("x-ms-retry-after-ms", std::to_string(attributes.retry_after_ms));
  }
  response.body = std::move(json);
  responder_.send(std::move(response));
}

}  // namespace orrery::gremlin

// From our codes to the vendor's substatuses and words: see error_body.h.
#include "api/cosmos/wire/error_body.h"

#include <algorithm>

#include "face/http_error.h"
#include "value/json.h"

namespace orrery::cosmos {
namespace {

uint32_t substatus_of(Code code) {
  switch (code) {
    case Code::partition_full:
      return kSubstatusPartitionFull;
    case Code::throttled:
      return kSubstatusOverBudget;
    case Code::moved:
      return kSubstatusRangeGone;
    case Code::behind:
      return kSubstatusSessionBehind;
    default:
      return 0;
  }
}

// Words of the vendor's that clients look for in a message; ours follow and say more.
std::string_view words_clients_look_for(const ErrorReply& reply) {
  switch (reply.status) {
    case 400:
      return reply.substatus == kSubstatusKeyMismatch ? kKeyMismatchWords : std::string_view();
    case 404:
      return reply.substatus == kSubstatusSessionBehind ? std::string_view()
                                                        : "Resource Not Found. ";
    case 413:
      return reply.substatus == kSubstatusAnswerTooLarge
                 ? std::string_view()
                 : "Message: {\"Errors\":[\"Request size is too large\"]}\r\n";
    default:
      return {};
  }
}

}  // namespace

std::string error_body(std::string_view code_name, std::string_view message,
                       std::string_view activity_id) {
  std::string text;
  face::append_well_formed(text, message);
  if (!activity_id.empty()) {
    text += "\r\nActivityId: ";
    face::append_well_formed(text, activity_id);
    text += ", Orrery";
  }
  std::string body = "{\"code\":";
  value::append_json_string(body, code_name);
  body += ",\"message\":";
  value::append_json_string(body, text);
  body += '}';
  return body;
}

ErrorReply error_reply(const Error& error, std::string_view activity_id, uint32_t substatus) {
  ErrorReply reply;
  reply.status = face::http_status(error.code);
  reply.substatus = substatus != 0 ? substatus : substatus_of(error.code);
  reply.retry_after_ms = error.retry_after_ms;
  // A client that is told to come back at once comes back at once.
  if (error.code == Code::throttled) reply.retry_after_ms = std::max(error.retry_after_ms, 1U);
  // Old clients compare the name of this one with the number.
  const std::string_view name =
      error.code == Code::throttled ? std::string_view("429") : face::status_name(reply.status);
  reply.body =
      error_body(name, std::string(words_clients_look_for(reply)) + error.message, activity_id);
  return reply;
}

}  // namespace orrery::cosmos

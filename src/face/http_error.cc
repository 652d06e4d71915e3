// See http_error.h.
#include "face/http_error.h"

#include <algorithm>

#include "value/json.h"

namespace orrery::face {
namespace {

// How many bytes of `text` are one well-formed UTF-8 character; 0 when it starts with none.
size_t character_size(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t size = first >= 0xC2 && first <= 0xDF   ? 2
                      : first >= 0xE0 && first <= 0xEF ? 3
                      : first >= 0xF0 && first <= 0xF4 ? 4
                                                       : 0;
  if (size == 0 || text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool too_long = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool not_scalar = (first == 0xED && byte(1) > 0x9F) || (first == 0xF4 && byte(1) > 0x8F);
  return too_long || not_scalar ? 0 : size;
}

}  // namespace

int http_status(Code code) {
  switch (code) {
    case Code::invalid:
      return 400;
    case Code::unauthorized:
      return 401;
    case Code::forbidden:
    case Code::partition_full:
    case Code::quota_exceeded:
      return 403;
    case Code::not_found:
    case Code::behind:
      return 404;
    case Code::conflict:
      return 409;
    case Code::moved:
      return 410;
    case Code::precondition_failed:
      return 412;
    case Code::too_large:
      return 413;
    case Code::throttled:
      return 429;
    case Code::retry:
      return 449;
    case Code::read_only:
    case Code::corrupt:
    case Code::overloaded:
    case Code::would_wait:
    case Code::elsewhere:  // no node could be asked
      return 503;
    case Code::unsupported:
      return 501;
    case Code::internal:
      return 500;
  }
  return 500;
}

std::string_view status_name(int status) {
  switch (status) {
    case 400:
      return "BadRequest";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "NotFound";
    case 405:
      return "MethodNotAllowed";
    case 408:
      return "RequestTimeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 412:
      return "PreconditionFailed";
    case 413:
      return "RequestEntityTooLarge";
    case 429:
      return "TooManyRequests";
    case 449:
      return "RetryWith";
    case 501:
      return "NotImplemented";
    case 503:
      return "ServiceUnavailable";
    default:
      return "InternalServerError";
  }
}

void append_well_formed(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const size_t size = character_size(text);
    if (size == 0) {
      out += "\xEF\xBF\xBD";
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(std::max<size_t>(size, 1));
  }
}

void append_message(std::string& out, std::string_view message) {
  std::string text;
  append_well_formed(text, message);
  value::append_json_string(out, text);
}

}  // namespace orrery::face

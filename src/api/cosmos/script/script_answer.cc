// See script_answer.h.
#include "api/cosmos/script/script_answer.h"

#include <fmt/format.h>

#include "face/http_error.h"
#include "value/json.h"

namespace orrery::cosmos {
namespace {

// Clients refuse heads of more than 16 KB by default.
constexpr size_t kLogHeaderBytes = 8 << 10;
constexpr uint32_t kBusyRetryMs = 200;

int status_of(script::Failure failure) {
  switch (failure) {
    case script::Failure::compile:
    case script::Failure::threw:
    case script::Failure::aborted:
    case script::Failure::memory:
    case script::Failure::crashed:
      return 400;
    case script::Failure::timed_out:
      return 408;
    case script::Failure::too_large:
      return 413;
    case script::Failure::busy:
      return 429;
    case script::Failure::unable:
      return 503;
  }
  return 500;
}

bool is_unreserved(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '_' || c == '.' || c == '~';
}

}  // namespace

ErrorReply script_error(const script::Failed& failed, std::string_view script_name,
                        std::string_view activity_id) {
  ErrorReply reply;
  reply.status = status_of(failed.failure);
  if (failed.failure == script::Failure::busy) reply.retry_after_ms = kBusyRetryMs;
  if (failed.number > 0) reply.substatus = static_cast<uint32_t>(failed.number);
  std::string message =
      failed.failure == script::Failure::busy || failed.failure == script::Failure::unable
          ? fmt::format("The script '{}' did not start: {}", script_name, failed.message)
          : fmt::format("Encountered exception while executing Javascript. Exception = {}",
                        failed.message);
  if (failed.line > 0) message += fmt::format("\r\nScript '{}', line {}", script_name, failed.line);
  if (!failed.stack.empty()) message += fmt::format("\r\nStack trace: {}", failed.stack);
  reply.body = error_body(face::status_name(reply.status), message, activity_id);
  return reply;
}

std::string log_header(std::string_view log) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  while (!log.empty()) {
    // A character at a time, so that none is cut in two.
    size_t size = 1;
    while (size < log.size() && (static_cast<unsigned char>(log[size]) & 0xC0) == 0x80) ++size;
    std::string encoded;
    for (const char c : log.substr(0, size)) {
      if (is_unreserved(c)) {
        encoded += c;
        continue;
      }
      const auto byte = static_cast<unsigned char>(c);
      encoded += '%';
      encoded += kDigits[byte >> 4];
      encoded += kDigits[byte & 0xF];
    }
    if (out.size() + encoded.size() > kLogHeaderBytes) break;
    out += encoded;
    log.remove_prefix(size);
  }
  return out;
}

std::string script_source(std::string_view members) {
  auto document = value::JsonDocument::parse(fmt::format("{{{}}}", members));
  if (!document) return "";
  const value::Node* body = document->root().find("body");
  return body == nullptr ? std::string() : std::string(body->text);
}

}  // namespace orrery::cosmos

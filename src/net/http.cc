// What a face calls on requests and responses, and the promise that every request is answered once:
// see http.h.
#include "net/http.h"

namespace orrery::net {
namespace {

char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && byte != '\t') || byte == 0x7f;
}

}  // namespace

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && to_lower(a[i]) != to_lower(b[i])) return false;
  }
  return true;
}

std::string_view Request::header(std::string_view name) const {
  for (const Header& header : headers) {
    // Most have another length: no call for those.
    if (header.name.size() != name.size()) continue;
    if (equals_ignoring_case(header.name, name)) return header.value;
  }
  return {};
}

void Response::add(std::string_view name, std::string_view value) {
  headers.append(name).append(": ");
  const size_t start = headers.size();
  headers.append(value);
  for (size_t i = start; i < headers.size(); ++i) {
    if (is_control(headers[i])) headers[i] = ' ';
  }
  headers.append("\r\n");
}

Responder& Responder::operator=(Responder&& other) noexcept {
  if (this != &other) {
    const std::shared_ptr<ResponseSink> held = std::exchange(sink_, std::move(other.sink_));
    if (held) held->abandon();
  }
  return *this;
}

Responder::~Responder() {
  if (sink_) sink_->abandon();
}

void Responder::send(Response&& response) noexcept {
  // Let go first: whatever the sink does, this request is answered once.
  const std::shared_ptr<ResponseSink> sink = std::move(sink_);
  if (sink) sink->send(std::move(response));
}

}  // namespace orrery::net

// See messages.h.
#include "peer/grpc/messages.h"

#include <algorithm>
#include <utility>

namespace orrery::peer {
namespace {

constexpr uint64_t kSentBeforeMaxMs = 3'600'000;

void encode(const Error& error, v1::Failure& to) {
  to.set_code(static_cast<uint32_t>(error.code));
  to.set_message(error.message);
  to.set_retry_after_ms(error.retry_after_ms);
}

// A code that is not known here, of a newer version, is an internal one: nobody acts on it.
Error decode(const v1::Failure& from) {
  const bool is_known = from.code() <= static_cast<uint32_t>(Code::internal);
  return {.code = is_known ? static_cast<Code>(from.code()) : Code::internal,
          .message = from.message(),
          .retry_after_ms = from.retry_after_ms()};
}

std::unexpected<Error> no_outcome() {
  return fail(Code::internal, "the answer of a node has nothing in it: is it of another version?");
}

}  // namespace

void encode(const OutgoingRequest& request, v1::ForwardRequest& to) {
  const auto set = [](std::string* field, std::string_view text) { field->assign(text); };
  set(to.mutable_face(), request.face);
  set(to.mutable_method(), request.method);
  set(to.mutable_target(), request.target);
  to.mutable_headers()->Reserve(static_cast<int>(request.headers.size()));
  for (const auto& [name, value] : request.headers) {
    v1::Header* header = to.add_headers();
    set(header->mutable_name(), name);
    set(header->mutable_value(), value);
  }
  set(to.mutable_body(), request.body);
  to.set_tls(request.tls);
  set(to.mutable_client(), request.client);
  set(to.mutable_principal(), request.principal);
  set(to.mutable_request_id(), request.request_id);
  to.set_catalog_lsn(request.catalog_lsn);
  if (!request.sending.empty()) set(to.mutable_sending(), request.sending);
  to.set_sent_before_ms(static_cast<uint64_t>(request.sent_before.count()));
}

Result<IncomingRequest> decode(v1::ForwardRequest& from) {
  if (from.headers_size() > kHeadersMax) {
    return fail(Code::invalid, "a forwarded request has more headers than any client's may");
  }
  IncomingRequest request;
  request.face = std::move(*from.mutable_face());
  request.method = std::move(*from.mutable_method());
  request.target = std::move(*from.mutable_target());
  if (request.face.empty() || request.method.empty() || request.target.empty()) {
    return fail(Code::invalid, "a forwarded request has no face, method or target");
  }
  request.headers.reserve(static_cast<size_t>(from.headers_size()));
  for (v1::Header& header : *from.mutable_headers()) {
    request.headers.emplace_back(std::move(*header.mutable_name()),
                                 std::move(*header.mutable_value()));
  }
  request.body = std::move(*from.mutable_body());
  request.tls = from.tls();
  request.client = std::move(*from.mutable_client());
  request.principal = std::move(*from.mutable_principal());
  request.request_id = std::move(*from.mutable_request_id());
  request.catalog_lsn = from.catalog_lsn();
  request.sending = std::move(*from.mutable_sending());
  request.sent_before =
      std::chrono::milliseconds(std::min<uint64_t>(from.sent_before_ms(), kSentBeforeMaxMs));
  return request;
}

void encode(Result<ForwardAnswer> answer, v1::ForwardReply& to) {
  if (!answer) return encode(answer.error(), *to.mutable_failure());
  to.set_catalog_lsn(answer->catalog_lsn);
  if (answer->moved) {
    to.mutable_moved()->set_owner(std::move(answer->owner));
    to.mutable_moved()->set_epoch(answer->epoch);
    return;
  }
  v1::Answer& made = *to.mutable_answer();
  made.set_status(answer->status);
  made.set_headers(std::move(answer->headers));
  made.set_body(std::move(answer->body));
}

Result<ForwardAnswer> decode(v1::ForwardReply& from) {
  ForwardAnswer answer;
  answer.catalog_lsn = from.catalog_lsn();
  switch (from.outcome_case()) {
    case v1::ForwardReply::kAnswer: {
      v1::Answer& given = *from.mutable_answer();
      if (given.status() < 200 || given.status() > 599) {
        return fail(Code::internal, "the answer of a node has a status that is none");
      }
      answer.status = given.status();
      answer.headers = std::move(*given.mutable_headers());
      answer.body = std::move(*given.mutable_body());
      return answer;
    }
    case v1::ForwardReply::kMoved:
      answer.moved = true;
      answer.owner = std::move(*from.mutable_moved()->mutable_owner());
      answer.epoch = from.moved().epoch();
      return answer;
    case v1::ForwardReply::kFailure:
      return std::unexpected(decode(from.failure()));
    case v1::ForwardReply::OUTCOME_NOT_SET:
      break;
  }
  return no_outcome();
}

void encode(Result<std::string> answer, v1::CallReply& to) {
  if (!answer) return encode(answer.error(), *to.mutable_failure());
  to.set_bytes(std::move(*answer));
}

Result<std::string> decode(v1::CallReply& from) {
  if (from.has_failure()) return std::unexpected(decode(from.failure()));
  if (!from.has_bytes()) return no_outcome();
  return std::move(*from.mutable_bytes());
}

}  // namespace orrery::peer

// See direct_response.h.
#include "api/cosmos/direct/direct_response.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "api/cosmos/direct/token_ids.h"
#include "api/cosmos/wire/error_body.h"

namespace orrery::cosmos::direct {
namespace {

namespace answer_token = response_token;

constexpr int kBadRequest = 400;
constexpr int kGone = 410;
// The key of a request is in a range that was split: clients read the ranges again and go on. (For
// requests that name a range it is kSubstatusRangeGone; on others that would reach the user.)
constexpr uint32_t kSubstatusKeyMoved = 1007;

// The answer's headers, as views.
struct Answer {
  std::string_view charge;
  std::string_view continuation;
  std::string_view etag;
  std::string_view index_utilization;
  std::string_view item_count;
  std::string_view lsn;
  std::string_view owner_full_name;
  std::string_view owner_id;
  std::string_view query_execution_info;
  std::string_view query_metrics;
  std::string_view quota;
  std::string_view range_id;
  std::string_view retry_after_ms;
  std::string_view script_log;
  std::string_view session_token;
  std::string_view substatus;
  std::string_view usage;
};

struct KnownHeader {
  std::string_view name;
  std::string_view Answer::* field;
};

constexpr std::array kKnownHeaders = {
    KnownHeader{"x-ms-session-token", &Answer::session_token},
    KnownHeader{"lsn", &Answer::lsn},
    KnownHeader{"x-ms-documentdb-partitionkeyrangeid", &Answer::range_id},
    KnownHeader{"x-ms-content-path", &Answer::owner_id},
    KnownHeader{"x-ms-alt-content-path", &Answer::owner_full_name},
    KnownHeader{"x-ms-request-charge", &Answer::charge},
    KnownHeader{"etag", &Answer::etag},
    KnownHeader{"x-ms-item-count", &Answer::item_count},
    KnownHeader{"x-ms-continuation", &Answer::continuation},
    KnownHeader{"x-ms-substatus", &Answer::substatus},
    KnownHeader{"x-ms-retry-after-ms", &Answer::retry_after_ms},
    KnownHeader{"x-ms-documentdb-query-metrics", &Answer::query_metrics},
    KnownHeader{"x-ms-cosmos-query-execution-info", &Answer::query_execution_info},
    KnownHeader{"x-ms-cosmos-index-utilization", &Answer::index_utilization},
    KnownHeader{"x-ms-documentdb-script-log-results", &Answer::script_log},
    KnownHeader{"x-ms-resource-quota", &Answer::quota},
    KnownHeader{"x-ms-resource-usage", &Answer::usage},
};

Answer answer_of(std::string_view lines) {
  Answer answer;
  while (!lines.empty()) {
    const size_t end = lines.find('\n');
    std::string_view line = lines.substr(0, end);
    lines = end == std::string_view::npos ? std::string_view() : lines.substr(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, colon);
    for (const KnownHeader& known : kKnownHeaders) {
      if (known.name != name) continue;
      std::string_view value = line.substr(colon + 1);
      while (value.starts_with(' ')) value.remove_prefix(1);
      answer.*known.field = value;
      break;
    }
  }
  return answer;
}

template <class T>
T number_of(std::string_view text, T otherwise) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : otherwise;
}

// Clients put the range before it, from PartitionKeyRangeId. Of an answer about several ranges they
// are told of the first, which that token names.
std::string_view without_range(std::string_view session_token) {
  session_token = session_token.substr(0, session_token.find(','));
  const size_t colon = session_token.find(':');
  return colon == std::string_view::npos ? session_token : session_token.substr(colon + 1);
}

void add_text_if_any(FrameWriter& frame, uint16_t id, std::string_view text) {
  if (!text.empty() && text.size() <= kTextBytesMax) frame.add_text(id, text);
}

// There is one copy, and what is answered is committed: all that clients compare is equal, so that
// they need no second read and no barrier. Answers that come from no partition have an LSN as well:
// without one, reads of databases are repeated until they time out.
void add_lsns(FrameWriter& frame, int64_t lsn) {
  frame.add_i64(answer_token::kLsn, lsn);
  frame.add_i64(answer_token::kLocalLsn, lsn);
  frame.add_i64(answer_token::kQuorumAckedLsn, lsn);
  frame.add_i64(answer_token::kQuorumAckedLocalLsn, lsn);
  frame.add_i64(answer_token::kGlobalCommittedLsn, lsn);
  frame.add_u32(answer_token::kReplicaSetSize, 1);
  frame.add_u32(answer_token::kWriteQuorum, 1);
  frame.add_u32(answer_token::kReadRegions, 0);
  frame.add_u32(answer_token::kXpRole, 1);
}

}  // namespace

void append_response(std::string& out, const DirectRequest& request,
                     const net::Response& response) {
  const Answer answer = answer_of(response.headers);
  // Without it a client would take this page for the last one.
  if (std::max(answer.continuation.size(), answer.etag.size()) > kTextBytesMax) {
    net::Response refused;
    refused.status = kBadRequest;
    refused.body =
        R"({"code":"BadRequest","message":"The continuation of this page is longer than a token of )"
        R"(direct mode can be (65,535 bytes): ask with a continuation token limit, or in gateway )"
        R"(mode."})";
    return append_response(out, request, refused);
  }
  const std::string_view body =
      request.wants_body ? std::string_view(response.body) : std::string_view();
  out.reserve(out.size() + 512 + body.size());
  FrameWriter frame(out, static_cast<uint32_t>(response.status),
                    {request.activity_id.data(), request.activity_id.size()});
  frame.add_byte(answer_token::kPayloadPresent, body.empty() ? 0 : 1);
  frame.add_u32(answer_token::kTransportRequestId, request.transport_id);
  // A barrier asks whether what the client has seen is committed. It was told of nothing else.
  const auto lsn = std::max(number_of<int64_t>(answer.lsn, 1), request.target_lsn);
  add_lsns(frame, lsn);
  if (!answer.lsn.empty()) {
    frame.add_i64(answer_token::kItemLsn, lsn);
    frame.add_i64(answer_token::kItemLocalLsn, lsn);
  }
  uint32_t substatus = number_of<uint32_t>(answer.substatus, 0);
  if (response.status == kGone && substatus == kSubstatusRangeGone && !request.names_range) {
    substatus = kSubstatusKeyMoved;
  }
  if (substatus != 0) frame.add_u32(answer_token::kSubstatus, substatus);
  if (!answer.retry_after_ms.empty()) {
    frame.add_u32(answer_token::kRetryAfterMs, number_of<uint32_t>(answer.retry_after_ms, 0));
  }
  frame.add_double(answer_token::kCharge, number_of<double>(answer.charge, 0));
  if (!answer.item_count.empty()) {
    frame.add_u32(answer_token::kItemCount, number_of<uint32_t>(answer.item_count, 0));
  }
  add_text_if_any(frame, answer_token::kSessionToken, without_range(answer.session_token));
  add_text_if_any(frame, answer_token::kRangeId, answer.range_id);
  add_text_if_any(frame, answer_token::kEtag, answer.etag);
  add_text_if_any(frame, answer_token::kContinuation, answer.continuation);
  add_text_if_any(frame, answer_token::kOwnerFullName, answer.owner_full_name);
  add_text_if_any(frame, answer_token::kOwnerId, answer.owner_id);
  add_text_if_any(frame, answer_token::kQuota, answer.quota);
  add_text_if_any(frame, answer_token::kUsage, answer.usage);
  add_text_if_any(frame, answer_token::kScriptLog, answer.script_log);
  add_text_if_any(frame, answer_token::kQueryMetrics, answer.query_metrics);
  add_text_if_any(frame, answer_token::kQueryExecutionInfo, answer.query_execution_info);
  add_text_if_any(frame, answer_token::kIndexUtilization, answer.index_utilization);
  frame.add_text8(answer_token::kSchemaVersion, "1.18");
  frame.end();
  if (!body.empty()) frame.add_payload(body);
}

void append_context_answer(std::string& out, std::string_view activity_id) {
  FrameWriter frame(out, 200, activity_id);
  frame.add_u32(context_token::kProtocolVersion, 1);
  frame.add_text8(context_token::kClientVersion, "2020-07-15");
  // Java's client connects again and again without these two.
  frame.add_text8(context_token::kServerAgent, "Orrery");
  frame.add_text8(context_token::kServerVersion, "version=2.14.0.0");
  frame.add_u32(context_token::kIdleTimeoutInSeconds, 1800);
  frame.add_u32(context_token::kUnauthenticatedTimeoutInSeconds, 20);
  frame.end();
}

void append_context_refusal(std::string& out, std::string_view activity_id, uint32_t status,
                            std::string_view json) {
  FrameWriter frame(out, status, activity_id);
  frame.add_u32(context_token::kProtocolVersion, 1);
  frame.add_text8(context_token::kServerAgent, "Orrery");
  frame.add_text8(context_token::kServerVersion, "version=2.14.0.0");
  frame.end();
  frame.add_payload(json);
}

}  // namespace orrery::cosmos::direct

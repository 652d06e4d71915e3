// See call.h.
#include "api/mongo/call.h"

#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/bson/numbers.h"
#include "api/mongo/commands/fail_point.h"
#include "api/mongo/forward/hop.h"
#include "api/mongo/transactions/open_transaction.h"
#include "api/mongo/transactions/snapshot_store.h"

namespace orrery::mongo {
namespace {

using value::Value;

constexpr int32_t kOutOfDiskSpace = 14031;
constexpr int32_t kDocumentTooLarge = 10334;
constexpr size_t kKeyHashBytes = 20;

int32_t next_request_id() {
  static std::atomic<uint32_t> next{1};
  return static_cast<int32_t>(next.fetch_add(1, std::memory_order_relaxed) & 0x7FFFFFFFU);
}

void add_times(BsonWriter& document, int64_t now_ms) {
  const uint64_t time = cluster_time(now_ms);
  document.timestamp("operationTime", time);
  document.begin_document("$clusterTime").timestamp("clusterTime", time);
  document.begin_document("signature")
      .binary("hash", std::string(kKeyHashBytes, '\0'))
      .int64("keyId", 0)
      .end();
  document.end();
}

}  // namespace

Call::Call(Message message_in, Value command_in, Connection& connection_in,
           std::shared_ptr<ReplySink> sink, const Clock& clock, face::RequestMetrics& metrics)
    : message(std::move(message_in)),
      command(std::move(command_in)),
      connection(connection_in),
      sink_(std::move(sink)),
      clock_(clock),
      metrics_(metrics),
      started_us_(clock.steady_us()) {
  bool is_first = true;
  for (const Value::Member& member : command.members()) {
    if (is_first) {
      name = member.name;
      // The text belongs to the command, which stays.
      if (member.value.is_string()) collection_ = member.value.text();
      is_first = false;
    }
    if (member.name == "$db" && member.value.is_string()) database = member.value.text();
  }
  if (message.form.is_query) {
    database = message.collection.substr(0, message.collection.find('.'));
  }
}

Call::~Call() {
  if (!is_answered_) {
    metrics_.done(metric, kInternalError, clock_.steady_us() - started_us_);
    if (remember) remember(std::nullopt);
    sink_->abandon();
  }
}

std::string Call::ns() const {
  return fmt::format("{}.{}", database, collection_);
}

bool Call::has_transaction_number() const {
  return command.find("txnNumber").is_number();
}

bool Call::is_in_transaction() const {
  return !command.find("autocommit").is_undefined() ||
         !command.find("startTransaction").is_undefined() || name == "commitTransaction" ||
         name == "abortTransaction";
}

bool Call::is_statement() const {
  return is_in_transaction() && name != "commitTransaction" && name != "abortTransaction";
}

std::string Call::session() const {
  const Value id = command.find("lsid").find("id");
  if (id.type() != value::Type::binary) return {};
  return session_name(connection.user, id.bytes());
}

std::string session_name(std::string_view user, std::string_view id) {
  return fmt::format("{}\n{}", user, id);
}

std::shared_ptr<PinnedReads> Call::pinned() const {
  if (transaction) return transaction;
  return snapshot;
}

int64_t Call::max_time_ms() const {
  const Value given = command.find("maxTimeMS");
  return given.is_number() && given.number() > 0 ? static_cast<int64_t>(given.number()) : 0;
}

Answer<std::vector<std::string_view>> Call::documents(std::string_view member,
                                                      std::vector<std::string>& kept) const {
  for (const DocumentSequence& sequence : message.sequences) {
    if (sequence.name == member) return sequence.documents;
  }
  const Value array = command.find(member);
  if (!array.is_array()) {
    return refuse(array.is_undefined() ? 40414 : kTypeMismatch,
                  fmt::format("BSON field '{}.{}' is missing but a required field, or is no array",
                              name, member));
  }
  kept.reserve(array.size());
  std::vector<std::string_view> all;
  for (const Value& element : array.elements()) {
    if (!element.is_object()) {
      return refuse(kTypeMismatch,
                    fmt::format("an element of '{}.{}' is not an object", name, member));
    }
    auto bytes = to_bson(element);
    if (!bytes) return pass(std::move(bytes.error()));
    kept.push_back(std::move(*bytes));
  }
  all.reserve(kept.size());
  for (const std::string& bytes : kept) all.emplace_back(bytes);
  return all;
}

void Call::send(BsonWriter& document, int32_t code) {
  add_times(document, clock_.now_ms());
  note_done(code);
  const std::string bytes = document.take();
  // What was asked for beside the answer is not told to a retry: it reads what was done.
  const bool is_whole = code == 0 && !write_concern_error.is_object();
  if (remember) remember(is_whole ? std::optional(bytes) : std::nullopt);
  send_bytes(bytes, code);
}

void Call::note_done(int32_t code) {
  is_answered_ = true;
  const int64_t took_us = clock_.steady_us() - started_us_;
  metrics_.done(metric, code, took_us);
  if (charge > 0) metrics_.charge(metric, charge);
  if (name != "getLastRequestStatistics" && name != "getlastrequeststatistics") {
    connection.last = {std::string(name), charge, took_us};
  }
}

void Call::send_bytes(std::string_view document, int32_t code) {
  if (hop && hop->answer) return hop->answer(document, code, charge, cursor_id);
  if (hangs_up) return sink_->hang_up();
  if (message.more_to_come) return sink_->send({});
  sink_->send(make_reply(message.form, next_request_id(), document));
}

void Call::reply_again(std::string_view document) {
  is_answered_ = true;
  metrics_.done(metric, 0, clock_.steady_us() - started_us_);
  send_bytes(document, 0);
}

void Call::reply_forwarded(std::string_view document, int32_t code, double charged) {
  charge = charged;
  note_done(code);
  send_bytes(document, code);
}

void Call::hang_up() {
  is_answered_ = true;
  metrics_.done(metric, kHostUnreachable, clock_.steady_us() - started_us_);
  if (remember) remember(std::nullopt);
  sink_->hang_up();
}

void Call::reply_moved() {
  is_answered_ = true;
  hop->send_back();
}

void Call::append_labels(BsonWriter& document) const {
  if (error_labels.empty()) return;
  document.begin_array("errorLabels");
  BsonWriter::Index index;
  for (const std::string& label : error_labels) document.string(index.next(), label);
  document.end();
}

void Call::reply() {
  if (write_concern_error.is_object()) {
    answer.value("writeConcernError", write_concern_error, SIZE_MAX);
    // A retry of a write is asked for beside the answer.
    const auto code = exact_integer(write_concern_error.find("code"));
    if (error_labels.empty() && code && std::in_range<int32_t>(*code) && has_transaction_number() &&
        !is_statement() && has_retryable_label(static_cast<int32_t>(*code))) {
      error_labels.push_back("RetryableWriteError");
    }
    append_labels(answer);
  }
  answer.real("ok", 1);
  send(answer, 0);
}

void Call::fail(const Error& error) {
  if (retry && is_retryable(error.code)) {
    error_labels.push_back("RetryableWriteError");
    if (!has_written) error_labels.push_back("NoWritesPerformed");
  }
  BsonWriter document;
  document.real("ok", 0).string("errmsg", error.message).int32("code", error.code);
  document.string("codeName", code_name(error.code));
  document.members(error_members, SIZE_MAX);
  append_labels(document);
  send(document, error.code);
}

void Call::fail(const orrery::Error& error) {
  fail(engine_error(error));
}

bool is_retryable(int32_t code) {
  return code == kHostUnreachable || code == kExceededTimeLimit;
}

Error engine_error(const orrery::Error& error) {
  const auto as = [&](int32_t code) { return Error{.code = code, .message = error.message}; };
  switch (error.code) {
    case Code::invalid:
      return as(kBadValue);
    case Code::unauthorized:
    case Code::forbidden:
      return as(kUnauthorized);
    case Code::not_found:
      return as(kNamespaceNotFound);
    case Code::conflict:
      return as(kDuplicateKey);
    case Code::precondition_failed:
    case Code::retry:
      return as(kWriteConflict);
    case Code::too_large:
      return as(kDocumentTooLarge);
    case Code::partition_full:
    case Code::quota_exceeded:
    case Code::read_only:
      return as(kOutOfDiskSpace);
    case Code::throttled:
      return {.code = kOverBudget,
              .message = fmt::format("Request rate is large. RetryAfterMs={}, Details='{}'",
                                     error.retry_after_ms, error.message)};
    case Code::moved:
    case Code::elsewhere:
    case Code::behind:
      return as(kHostUnreachable);
    case Code::would_wait:
    case Code::overloaded:
      return as(kExceededTimeLimit);
    case Code::unsupported:
      return as(kNotImplemented);
    case Code::corrupt:
    case Code::internal:
      break;
  }
  return as(kInternalError);
}

}  // namespace orrery::mongo

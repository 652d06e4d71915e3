// See fail_point.h.
#include "api/mongo/commands/fail_point.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "api/mongo/bson/numbers.h"
#include "api/mongo/commands/arguments.h"
#include "api/mongo/commands/command.h"

namespace orrery::mongo {
namespace {

using value::Value;

// Those of the specification of retryable writes: a server that steps down, stops, or cannot be
// reached.
constexpr std::array kRetryableCodes = {6,    7,     89,    91,    134,   189,  262,
                                        9001, 10107, 11600, 11602, 13435, 13436};

constexpr std::string_view kGetMore = "failGetMoreAfterCursorCheckout";
constexpr std::string_view kWrites = "onPrimaryTransactionalWrite";
constexpr std::string_view kTimesOut = "maxTimeAlwaysTimeOut";
constexpr std::array<std::string_view, 4> kNames = {"failCommand", kGetMore, kWrites, kTimesOut};
// After which a change stream may be resumed.
constexpr std::array kResumableCodes = {6,   7,    63,    89,    91,    133,   150,   189,  234,
                                        262, 9001, 10107, 11600, 11602, 13388, 13435, 13436};
constexpr int64_t kBlockMsMax = 60'000;

std::vector<std::string> texts_of(const Value& array) {
  std::vector<std::string> all;
  for (const Value& one : array.elements()) {
    if (one.is_string()) all.emplace_back(one.text());
  }
  return all;
}

Answer<ForcedFailure> read_failure(const Value& data) {
  for (const std::string_view unsupported : {"namespace", "threadName"}) {
    if (!data.find(unsupported).is_undefined() && !data.find(unsupported).is_false()) {
      return refuse(kNotImplemented,
                    fmt::format("failCommand with '{}' is not implemented", unsupported));
    }
  }
  ForcedFailure failure;
  failure.commands = texts_of(data.find("failCommands"));
  failure.closes_connection = flag_argument(data, "closeConnection", false);
  if (flag_argument(data, "blockConnection", false)) {
    auto block_ms = integer_argument(data, "blockTimeMS", 0);
    if (!block_ms) return pass(std::move(block_ms.error()));
    if (*block_ms < 0 || *block_ms > kBlockMsMax) {
      return refuse(kBadValue, fmt::format("blockTimeMS of failCommand is 0 to {}", kBlockMsMax));
    }
    failure.blocks_for = std::chrono::milliseconds(*block_ms);
  }
  if (const Value app = data.find("appName"); app.is_string()) failure.app_name = app.text();
  if (const Value code = data.find("errorCode"); !code.is_undefined()) {
    const auto number = exact_integer(code);
    if (!number || !std::in_range<int32_t>(*number)) {
      return refuse(kTypeMismatch, "errorCode of failCommand must be an int");
    }
    failure.code = static_cast<int32_t>(*number);
  }
  if (const Value labels = data.find("errorLabels"); labels.is_array()) {
    failure.labels = texts_of(labels);
  }
  if (const Value error = data.find("writeConcernError"); error.is_object()) {
    failure.write_concern_error = error.to_owned();
  }
  return failure;
}

}  // namespace

bool has_retryable_label(int32_t code) {
  return std::ranges::find(kRetryableCodes, code) != kRetryableCodes.end();
}

Answer<void> FailPoint::configure(const Value& command) {
  const Value given = command.find("configureFailPoint");
  const std::string_view name = given.is_string() ? given.text() : std::string_view();
  if (std::ranges::find(kNames, name) == kNames.end()) {
    return refuse(kFailedToParse, "there is no such fail point: failCommand is one");
  }
  const Value mode = command.find("mode");
  int64_t skip = 0;
  int64_t times = 0;
  if (mode.is_string() && mode.text() == "alwaysOn") {
    times = INT64_MAX;
  } else if (mode.is_object()) {
    auto skipped = integer_argument(mode, "skip", 0);
    if (!skipped) return pass(std::move(skipped.error()));
    auto counted = integer_argument(mode, "times", *skipped > 0 ? INT64_MAX : 0);
    if (!counted) return pass(std::move(counted.error()));
    skip = *skipped;
    times = *counted;
  } else if (!mode.is_string() || mode.text() != "off") {
    return refuse(kBadValue, "a fail point's mode is off, alwaysOn, {times} or {skip}");
  }
  if (name == kTimesOut) {
    is_out_of_time_ = times > 0;
    return {};
  }
  auto failure = read_failure(command.find("data"));
  if (!failure && times > 0) return pass(std::move(failure.error()));
  if (failure && name == kGetMore) {
    failure->commands = {"getMore"};
    if (failure->code &&
        std::ranges::find(kResumableCodes, *failure->code) != kResumableCodes.end()) {
      failure->labels = std::vector<std::string>{"ResumableChangeStreamError"};
    }
  }
  if (failure && name == kWrites) {
    failure->commands = {"insert", "update", "delete", "findAndModify"};
    failure->needs_number = true;
    const Value before = command.find("data").find("failBeforeCommitExceptionCode");
    const bool closes = flag_argument(command.find("data"), "closeConnection", true);
    failure->closes_connection = closes && !before.is_undefined();
    failure->closes_after = closes && before.is_undefined();
    if (const auto code = exact_integer(before); code && !closes && std::in_range<int32_t>(*code)) {
      failure->code = static_cast<int32_t>(*code);
    }
  }
  MutexLock lock(mutex_);
  failure_ = times > 0 ? std::move(*failure) : ForcedFailure{};
  skip_ = skip;
  left_ = times;
  is_on_ = times > 0;
  return {};
}

std::optional<ForcedFailure> FailPoint::take(std::string_view command, std::string_view app_name,
                                             bool has_number) {
  if (!is_on_.load(std::memory_order_relaxed)) return std::nullopt;
  MutexLock lock(mutex_);
  if (std::ranges::find(failure_.commands, command) == failure_.commands.end()) return std::nullopt;
  if (failure_.needs_number && !has_number) return std::nullopt;
  if (!failure_.app_name.empty() && failure_.app_name != app_name) return std::nullopt;
  if (skip_ > 0) {
    --skip_;
    return std::nullopt;
  }
  if (left_ <= 0) return std::nullopt;
  if (left_ != INT64_MAX && --left_ == 0) is_on_ = false;
  entered_.fetch_add(1, std::memory_order_relaxed);
  return failure_;
}

Answer<void> run_configure_fail_point(const HandlerContext& context, Call& call) {
  if (!context.options.in_development) {
    return refuse(kCommandNotFound, fmt::format("no such command: '{}'", call.name));
  }
  call.answer.int64("count", context.fail_point.times_entered());
  return context.fail_point.configure(call.command);
}

}  // namespace orrery::mongo

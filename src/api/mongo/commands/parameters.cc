// getParameter and setParameter. Each parameter is told as it is; those that can be set hold until
// the server ends, as in MongoDB.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "api/mongo/auth/scram.h"
#include "api/mongo/bson/numbers.h"
#include "api/mongo/bson/types.h"
#include "api/mongo/commands/arguments.h"
#include "api/mongo/commands/command.h"

namespace orrery::mongo {
namespace {

using value::Value;

constexpr int64_t kSecondsMax = 86'400;
constexpr int64_t kMillisecondsMax = kSecondsMax * 1000;

// Reads and writes one parameter. `set` gets a whole number of 1 to `most`; null: it is read only.
struct Parameter {
  std::string_view name;
  void (*show)(const HandlerContext& context, std::string_view as, BsonWriter& answer);
  void (*set)(const HandlerContext& context, int64_t number) = nullptr;
  int64_t most = 0;
};

constexpr std::array kParameters = {
    Parameter{"authenticationMechanisms",
              [](const HandlerContext&, std::string_view as, BsonWriter& answer) {
                answer.begin_array(as).string("0", kScramSha1).string("1", kScramSha256).end();
              }},
    Parameter{"cursorTimeoutMillis",
              [](const HandlerContext& context, std::string_view as, BsonWriter& answer) {
                answer.int64(as, context.cursors.idle_ms());
              },
              [](const HandlerContext& context, int64_t ms) { context.cursors.set_idle_ms(ms); },
              kMillisecondsMax},
    Parameter{"enableTestCommands",
              [](const HandlerContext& context, std::string_view as, BsonWriter& answer) {
                answer.boolean(as, context.options.in_development);
              }},
    Parameter{"featureCompatibilityVersion",
              [](const HandlerContext&, std::string_view as, BsonWriter& answer) {
                answer.begin_document(as).string("version", "7.0").end();
              }},
    Parameter{"localLogicalSessionTimeoutMinutes",
              [](const HandlerContext&, std::string_view as, BsonWriter& answer) {
                answer.int32(as, 30);
              }},
    Parameter{"minSnapshotHistoryWindowInSeconds",
              [](const HandlerContext&, std::string_view as, BsonWriter& answer) {
                answer.int64(as, SnapshotStore::kLifetimeS);
              }},
    Parameter{"notablescan", [](const HandlerContext&, std::string_view as,
                                BsonWriter& answer) { answer.boolean(as, false); }},
    Parameter{"requireApiVersion", [](const HandlerContext&, std::string_view as,
                                      BsonWriter& answer) { answer.boolean(as, false); }},
    Parameter{
        "transactionLifetimeLimitSeconds",
        [](const HandlerContext& context, std::string_view as, BsonWriter& answer) {
          answer.int64(as, context.transactions.lifetime_s());
        },
        [](const HandlerContext& context, int64_t s) { context.transactions.set_lifetime_s(s); },
        kSecondsMax},
    Parameter{"ttlMonitorEnabled", [](const HandlerContext&, std::string_view as,
                                      BsonWriter& answer) { answer.boolean(as, true); }},
};

// Of a command's members, those that name no parameter: what every command may have.
bool is_option(std::string_view name) {
  return name.starts_with('$') || name == "lsid" || name == "comment" || name == "txnNumber" ||
         name == "apiVersion" || name == "apiStrict" || name == "apiDeprecationErrors" ||
         name == "maxTimeMS" || name == "writeConcern" || name == "readConcern";
}

const Parameter* find_parameter(std::string_view name) {
  for (const Parameter& one : kParameters) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

}  // namespace

Answer<void> run_get_parameter(const HandlerContext& context, Call& call) {
  const Value which = call["getParameter"];
  const bool is_all =
      (which.is_string() && which.text() == "*") || flag_argument(which, "allParameters", false);
  const bool has_details = flag_argument(which, "showDetails", false);
  bool is_known = false;
  for (const Parameter& one : kParameters) {
    if (!is_all && call[one.name].is_undefined()) continue;
    is_known = true;
    if (!has_details) {
      one.show(context, one.name, call.answer);
      continue;
    }
    call.answer.begin_document(one.name);
    one.show(context, "value", call.answer);
    call.answer.boolean("settableAtRuntime", one.set != nullptr)
        .boolean("settableAtStartup", false)
        .end();
  }
  if (is_known) return {};
  return refuse(kInvalidOptions, "no option found to get");
}

Answer<void> run_set_parameter(const HandlerContext& context, Call& call) {
  const Parameter* wanted = nullptr;
  int64_t number = 0;
  for (const Value::Member& member : call.command.members()) {
    if (member.name == call.name || is_option(member.name)) continue;
    const Parameter* const found = find_parameter(member.name);
    if (found == nullptr) {
      return refuse(kInvalidOptions,
                    fmt::format("attempted to set unrecognized parameter [{}], use getParameter: "
                                "'*' to see the parameters",
                                member.name));
    }
    if (found->set == nullptr) {
      return refuse(20, fmt::format("not allowed to change [{}] at runtime", member.name));
    }
    if (wanted != nullptr) {
      return refuse(kNotImplemented, "setting several parameters at once is not implemented");
    }
    const auto given = exact_integer(member.value);
    if (!given || *given < 1 || *given > found->most) {
      return refuse(kBadValue, fmt::format("[{}] is a whole number of 1 to {}, and not {}",
                                           member.name, found->most, shown(member.value)));
    }
    wanted = found;
    number = *given;
  }
  if (wanted == nullptr) return refuse(kInvalidOptions, "no option found to set, use help:true");
  wanted->show(context, "was", call.answer);
  wanted->set(context, number);
  return {};
}

}  // namespace orrery::mongo

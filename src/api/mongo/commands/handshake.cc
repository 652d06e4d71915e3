// hello and its older names, and logging in.
#include <fmt/format.h>

#include <algorithm>

#include "api/mongo/commands/arguments.h"
#include "api/mongo/commands/command.h"
#include "api/mongo/wire/compression.h"

namespace orrery::mongo {
namespace {

using value::Type;
using value::Value;

constexpr size_t kAppNameBytesMax = 128;
constexpr int32_t kMaxDocumentSize = 16 << 20;
constexpr int32_t kMaxWriteBatch = 100'000;
constexpr int32_t kSessionMinutes = 30;
constexpr int32_t kMaxWireVersion = 21;  // 7.0
constexpr int32_t kMechanismUnavailable = 334;

std::string_view payload_of(const Value& value) {
  if (value.type() == Type::binary) return value.bytes();
  if (value.is_string()) return value.text();
  return {};
}

// The members of an answer to a step of a login.
void answer_step(BsonWriter& answer, const ScramConversation::Step& step) {
  answer.int32("conversationId", 1).boolean("done", step.is_done).binary("payload", step.payload);
}

// `from`: the database that the command was sent to.
Answer<void> start_login(const HandlerContext& context, Connection& connection, const Value& start,
                         std::string_view from, BsonWriter& answer) {
  const Value mechanism = start.find("mechanism");
  const auto kind = mechanism.is_string() ? scram_kind(mechanism.text()) : std::nullopt;
  if (!kind) {
    return refuse(
        kMechanismUnavailable,
        fmt::format("Unsupported mechanism '{}': {} and {} are there",
                    mechanism.is_string() ? mechanism.text() : "", kScramSha256, kScramSha1));
  }
  const bool skips = flag_argument(start.find("options"), "skipEmptyExchange", false);
  auto login = std::make_unique<ScramConversation>(*kind, skips);
  const Value given = start.find("db");  // of a speculative one
  const std::string database(given.is_string() ? given.text() : from);
  auto step = login->begin(context.secrets, payload_of(start.find("payload")),
                           [&](const std::string& name) -> std::optional<ScramCredential> {
                             const UserPtr user = context.users.find(database, name);
                             return user ? user->credential(*kind) : std::nullopt;
                           });
  if (!step) return pass(std::move(step.error()));
  connection.login = std::move(login);
  connection.login_database = database;
  answer_step(answer, *step);
  return {};
}

// Those of a user, named database.user; of one that is not known, both.
void append_mechanisms(const HandlerContext& context, BsonWriter& answer, std::string_view name) {
  const size_t dot = name.find('.');
  const UserPtr user = dot == std::string_view::npos
                           ? nullptr
                           : context.users.find(name.substr(0, dot), name.substr(dot + 1));
  answer.begin_array("saslSupportedMechs");
  BsonWriter::Index index;
  if (!user || user->sha1) answer.string(index.next(), kScramSha1);
  if (!user || user->sha256) answer.string(index.next(), kScramSha256);
  answer.end();
}

}  // namespace

Answer<void> run_hello(const HandlerContext& context, Call& call) {
  BsonWriter& answer = call.answer;
  const bool is_hello = call.name == "hello";
  if (const Value app = call["client"].find("application").find("name"); app.is_string()) {
    call.connection.app_name = app.text().substr(0, kAppNameBytesMax);
  }
  answer.boolean("helloOk", true);
  answer.boolean(is_hello ? "isWritablePrimary" : "ismaster", true);
  if (context.options.replica_set.empty()) {
    answer.string("msg", "isdbgrid");
  } else {
    const std::string& self = call.connection.local;
    answer.begin_array("hosts").string("0", self).end();
    answer.string("setName", context.options.replica_set).int32("setVersion", 1);
    answer.boolean("secondary", false).string("primary", self).string("me", self);
  }
  answer.int32("maxBsonObjectSize", kMaxDocumentSize)
      .int32("maxMessageSizeBytes", static_cast<int32_t>(kMaxMessageBytes))
      .int32("maxWriteBatchSize", kMaxWriteBatch)
      .date("localTime", call.now_ms())
      .int32("logicalSessionTimeoutMinutes", kSessionMinutes)
      .int32("connectionId", static_cast<int32_t>(call.connection.id))
      .int32("minWireVersion", 0)
      .int32("maxWireVersion", kMaxWireVersion)
      .boolean("readOnly", false);
  if (const Value offered = call["compression"]; offered.is_array() && offered.size() > 0) {
    answer.begin_array("compression");
    BsonWriter::Index index;
    for (const Value& name : offered.elements()) {
      if (name.is_string() && compressor_of(name.text())) answer.string(index.next(), name.text());
    }
    answer.end();
  }
  if (const Value name = call["saslSupportedMechs"]; name.is_string()) {
    append_mechanisms(context, answer, name.text());
  }
  if (const Value start = call["speculativeAuthenticate"]; start.is_object()) {
    // One that cannot be begun is left out: the client then logs in by itself.
    BsonWriter step;
    if (start_login(context, call.connection, start, call.database, step)) {
      answer.document("speculativeAuthenticate", step.take());
    }
  }
  return {};
}

Answer<void> run_sasl_start(const HandlerContext& context, Call& call) {
  return start_login(context, call.connection, call.command, call.database, call.answer);
}

Answer<void> run_sasl_continue(const HandlerContext& context, Call& call) {
  if (!call.connection.login) {
    return refuse(kProtocolError, "No SASL session state found: begin with saslStart");
  }
  ScramConversation& login = *call.connection.login;
  auto step = login.go_on(context.secrets, payload_of(call["payload"]));
  if (!step) {
    call.connection.login.reset();
    return pass(std::move(step.error()));
  }
  if (step->is_done) {
    Connection& connection = call.connection;
    if (login.access()) {
      connection.access = login.access();
      connection.identity.reset();
      connection.user = login.user();
    } else {
      connection.access.reset();
      connection.identity = {connection.login_database, login.user()};
      connection.user = fmt::format("{}.{}", connection.login_database, login.user());
    }
    call.connection.login.reset();
  }
  answer_step(call.answer, *step);
  return {};
}

Answer<void> run_logout(const HandlerContext& /*context*/, Call& call) {
  call.connection.access.reset();
  call.connection.identity.reset();
  call.connection.user.clear();
  return {};
}

}  // namespace orrery::mongo

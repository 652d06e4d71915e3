// What tells of the server: buildInfo, serverStatus and the like.
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <thread>

#include "api/mongo/collections/collections.h"
#include "api/mongo/commands/access.h"
#include "api/mongo/commands/arguments.h"
#include "api/mongo/commands/command.h"

namespace orrery::mongo {
namespace {

using value::Value;

constexpr int32_t kVersionParts[] = {7, 0, 14, 0};

std::string host_name() {
  utsname names{};
  return ::uname(&names) == 0 ? names.nodename : "localhost";
}

}  // namespace

Answer<void> run_ping(const HandlerContext& /*context*/, Call& /*call*/) {
  return {};
}

Answer<void> run_accept(const HandlerContext& /*context*/, Call& /*call*/) {
  return {};
}

Answer<void> run_build_info(const HandlerContext& /*context*/, Call& call) {
  BsonWriter& answer = call.answer;
  answer.string("version", kVersion).string("gitVersion", "orrery");
  answer.begin_array("modules").end();
  answer.string("allocator", "system").string("javascriptEngine", "none");
  answer.string("sysInfo", "deprecated");
  answer.begin_array("versionArray");
  BsonWriter::Index index;
  for (const int32_t part : kVersionParts) answer.int32(index.next(), part);
  answer.end();
  answer.int32("bits", 64).boolean("debug", false);
  answer.int32("maxBsonObjectSize", 16 << 20);
  answer.begin_array("storageEngines").string("0", "orrery").end();
  return {};
}

Answer<void> run_host_info(const HandlerContext& /*context*/, Call& call) {
  utsname names{};
  ::uname(&names);
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  call.answer.begin_document("system")
      .date("currentTime", call.now_ms())
      .string("hostname", host_name())
      .int32("cpuAddrSize", 64)
      .int64("memSizeMB", pages * page >> 20)
      .int32("numCores", static_cast<int32_t>(std::thread::hardware_concurrency()))
      .string("cpuArch", names.machine)
      .end();
  call.answer.begin_document("os")
      .string("type", names.sysname)
      .string("name", names.sysname)
      .string("version", names.release)
      .end();
  call.answer.begin_document("extra").end();
  return {};
}

Answer<void> run_whats_my_uri(const HandlerContext& /*context*/, Call& call) {
  call.answer.string("you", call.connection.peer);
  return {};
}

Answer<void> run_server_status(const HandlerContext& context, Call& call) {
  BsonWriter& answer = call.answer;
  answer.string("host", host_name()).string("version", kVersion).string("process", "mongos");
  answer.int64("pid", ::getpid());
  const int64_t up_us = call.steady_us() - context.started_us;
  answer.real("uptime", static_cast<double>(up_us) / 1e6);
  answer.int64("uptimeMillis", up_us / 1000).int64("uptimeEstimate", up_us / 1'000'000);
  answer.date("localTime", call.now_ms());
  answer.begin_document("connections")
      .int32("current", static_cast<int32_t>(context.connections_open.load()))
      .int64("totalCreated", context.connections_made.load())
      .end();
  answer.begin_document("metrics").begin_document("cursor").begin_document("open");
  answer.int64("total", static_cast<int64_t>(context.cursors.size())).end().end().end();
  const TransactionStore::Counts transactions = context.transactions.counts();
  answer.begin_document("transactions")
      .int64("currentOpen", transactions.open)
      .int64("totalStarted", transactions.started)
      .int64("totalCommitted", transactions.committed)
      .int64("totalAborted", transactions.aborted)
      .end();
  const SnapshotStore::Counts snapshots = context.snapshots.counts();
  answer.begin_document("snapshotReads")
      .int64("currentOpen", snapshots.open)
      .int64("totalTaken", snapshots.taken)
      .int64("totalEvicted", snapshots.evicted)
      .end();
  answer.begin_document("storageEngine").string("name", "orrery").boolean("persistent", true).end();
  return {};
}

Answer<void> run_connection_status(const HandlerContext& context, Call& call) {
  const Connection& connection = call.connection;
  call.answer.begin_document("authInfo").begin_array("authenticatedUsers");
  if (!connection.user.empty()) {
    call.answer.begin_document("0")
        .string("user", connection.identity ? connection.identity->name : connection.user)
        .string("db", connection.identity ? connection.identity->database : "admin")
        .end();
  }
  call.answer.end().begin_array("authenticatedUserRoles");
  BsonWriter::Index index;
  for (const Role& role : roles_of(context, connection)) {
    call.answer.begin_document(index.next())
        .string("role", role.name)
        .string("db", role.database)
        .end();
  }
  call.answer.end();
  if (flag_argument(call.command, "showPrivileges", false)) {
    call.answer.begin_array("authenticatedUserPrivileges").end();
  }
  call.answer.end();
  return {};
}

// What the server logs is for its operators: no line of it is told here.
Answer<void> run_get_log(const HandlerContext& /*context*/, Call& call) {
  if (call["getLog"].is_string() && call["getLog"].text() == "*") {
    call.answer.begin_array("names").string("0", "global").string("1", "startupWarnings").end();
    return {};
  }
  call.answer.int32("totalLinesWritten", 0).begin_array("log").end();
  return {};
}

Answer<void> run_get_cmd_line_opts(const HandlerContext& /*context*/, Call& call) {
  call.answer.begin_array("argv").string("0", "orrery").end();
  call.answer.begin_document("parsed").end();
  return {};
}

Answer<void> run_list_commands(const HandlerContext& /*context*/, Call& call) {
  call.answer.begin_document("commands");
  for (const Command& command : all_commands()) {
    call.answer.begin_document(command.name)
        .string("help", "")
        .boolean("requiresAuth", command.needs != Action::nothing)
        .boolean("secondaryOk", command.needs != Action::write)
        .boolean("adminOnly", false)
        .end();
  }
  call.answer.end();
  return {};
}

Answer<void> run_last_statistics(const HandlerContext& /*context*/, Call& call) {
  const Connection::Statistics& last = call.connection.last;
  call.answer.string("CommandName", last.command)
      .real("RequestCharge", last.charge)
      .real("RequestDurationInMilliSeconds", static_cast<double>(last.took_us) / 1000);
  return {};
}

Answer<void> run_start_session(const HandlerContext& /*context*/, Call& call) {
  call.answer.begin_document("id").binary("id", make_uuid(), 4).end().int32("timeoutMinutes", 30);
  return {};
}

}  // namespace orrery::mongo

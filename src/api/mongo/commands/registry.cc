// The list of commands. See command.h.
#include <algorithm>
#include <array>

#include "api/mongo/commands/command.h"
#include "base/bytes.h"

namespace orrery::mongo {
namespace {

constexpr std::array kCommands = {
    Command{"hello", Needs::nothing, Runs::at_once, run_hello},
    Command{"ismaster", Needs::nothing, Runs::at_once, run_hello},
    Command{"saslStart", Needs::nothing, Runs::at_once, run_sasl_start},
    Command{"saslContinue", Needs::nothing, Runs::management, run_sasl_continue},
    Command{"logout", Needs::nothing, Runs::at_once, run_logout},
    Command{"ping", Needs::nothing, Runs::at_once, run_ping},
    Command{"buildInfo", Needs::nothing, Runs::at_once, run_build_info},
    Command{"endSessions", Needs::nothing, Runs::at_once, run_accept},
    Command{"find", Needs::read, Runs::queries, run_find},
    Command{"getMore", Needs::read, Runs::queries, run_get_more},
    Command{"killCursors", Needs::read, Runs::at_once, run_kill_cursors},
    Command{"aggregate", Needs::read, Runs::queries, run_aggregate},
    Command{"count", Needs::read, Runs::queries, run_count},
    Command{"distinct", Needs::read, Runs::queries, run_distinct},
    Command{"explain", Needs::read, Runs::queries, run_explain},
    Command{"insert", Needs::write, Runs::writes, run_insert},
    Command{"update", Needs::write, Runs::writes, run_update},
    Command{"delete", Needs::write, Runs::writes, run_delete},
    Command{"findAndModify", Needs::write, Runs::writes, run_find_and_modify},
    Command{"listDatabases", Needs::read, Runs::management, run_list_databases},
    Command{"listCollections", Needs::read, Runs::management, run_list_collections},
    Command{"listIndexes", Needs::read, Runs::management, run_list_indexes},
    Command{"collStats", Needs::read, Runs::management, run_coll_stats},
    Command{"dbStats", Needs::read, Runs::management, run_db_stats},
    Command{"create", Needs::write, Runs::management, run_create},
    Command{"drop", Needs::write, Runs::management, run_drop},
    Command{"dropDatabase", Needs::write, Runs::management, run_drop_database},
    Command{"renameCollection", Needs::write, Runs::management, run_rename},
    Command{"collMod", Needs::write, Runs::management, run_coll_mod},
    Command{"createIndexes", Needs::write, Runs::management, run_create_indexes},
    Command{"dropIndexes", Needs::write, Runs::management, run_drop_indexes},
    Command{"deleteIndexes", Needs::write, Runs::management, run_drop_indexes},
    Command{"enableSharding", Needs::write, Runs::management, run_enable_sharding},
    Command{"shardCollection", Needs::write, Runs::management, run_shard_collection},
    Command{"customAction", Needs::write, Runs::management, run_custom_action},
    Command{"getLastRequestStatistics", Needs::read, Runs::at_once, run_last_statistics},
    Command{"getParameter", Needs::read, Runs::at_once, run_get_parameter},
    Command{"hostInfo", Needs::read, Runs::at_once, run_host_info},
    Command{"whatsmyuri", Needs::nothing, Runs::at_once, run_whats_my_uri},
    Command{"serverStatus", Needs::read, Runs::at_once, run_server_status},
    Command{"connectionStatus", Needs::nothing, Runs::at_once, run_connection_status},
    Command{"usersInfo", Needs::read, Runs::at_once, run_users_info},
    Command{"getLog", Needs::read, Runs::at_once, run_get_log},
    Command{"currentOp", Needs::read, Runs::at_once, run_current_op},
    Command{"getCmdLineOpts", Needs::read, Runs::at_once, run_get_cmd_line_opts},
    Command{"listCommands", Needs::read, Runs::at_once, run_list_commands},
    Command{"startSession", Needs::read, Runs::at_once, run_start_session},
    Command{"refreshSessions", Needs::read, Runs::at_once, run_accept},
    Command{"killSessions", Needs::read, Runs::at_once, run_accept},
    Command{"killAllSessions", Needs::read, Runs::at_once, run_accept},
    Command{"commitTransaction", Needs::write, Runs::at_once, run_end_transaction},
    Command{"abortTransaction", Needs::write, Runs::at_once, run_end_transaction},
};

}  // namespace

std::span<const Command> all_commands() {
  return kCommands;
}

const Command* find_command(std::string_view name) {
  for (const Command& command : kCommands) {
    if (command.name == name) return &command;
  }
  for (const Command& command : kCommands) {
    if (equals_ignore_case(command.name, name)) return &command;
  }
  return nullptr;
}

}  // namespace orrery::mongo

// The list of commands. See command.h.
#include <algorithm>
#include <array>

#include "api/mongo/commands/command.h"
#include "base/bytes.h"

namespace orrery::mongo {
namespace {

constexpr std::array kCommands = {
    Command{"hello", Action::nothing, Runs::at_once, run_hello},
    Command{"ismaster", Action::nothing, Runs::at_once, run_hello},
    Command{"saslStart", Action::nothing, Runs::at_once, run_sasl_start},
    Command{"saslContinue", Action::nothing, Runs::management, run_sasl_continue},
    Command{"logout", Action::nothing, Runs::at_once, run_logout},
    Command{"ping", Action::nothing, Runs::at_once, run_ping},
    Command{"buildInfo", Action::nothing, Runs::at_once, run_build_info},
    Command{"endSessions", Action::nothing, Runs::at_once, run_end_sessions},
    Command{"find", Action::read, Runs::queries, run_find},
    Command{"getMore", Action::login, Runs::queries, run_get_more},
    Command{"killCursors", Action::login, Runs::at_once, run_kill_cursors},
    Command{"aggregate", Action::read, Runs::queries, run_aggregate},
    Command{"count", Action::read, Runs::queries, run_count},
    Command{"distinct", Action::read, Runs::queries, run_distinct},
    Command{"explain", Action::read, Runs::queries, run_explain},
    Command{"insert", Action::write, Runs::writes, run_insert},
    Command{"update", Action::write, Runs::writes, run_update},
    Command{"delete", Action::write, Runs::writes, run_delete},
    Command{"findAndModify", Action::write, Runs::writes, run_find_and_modify},
    Command{"listDatabases", Action::login, Runs::management, run_list_databases},
    Command{"listCollections", Action::statistics, Runs::management, run_list_collections},
    Command{"listIndexes", Action::statistics, Runs::management, run_list_indexes},
    Command{"collStats", Action::statistics, Runs::management, run_coll_stats},
    Command{"dbStats", Action::statistics, Runs::management, run_db_stats},
    Command{"create", Action::collections, Runs::management, run_create},
    Command{"drop", Action::collections, Runs::management, run_drop},
    Command{"dropDatabase", Action::manage, Runs::management, run_drop_database},
    Command{"renameCollection", Action::login, Runs::management, run_rename},
    Command{"collMod", Action::manage, Runs::management, run_coll_mod},
    Command{"createIndexes", Action::collections, Runs::management, run_create_indexes},
    Command{"dropIndexes", Action::collections, Runs::management, run_drop_indexes},
    Command{"deleteIndexes", Action::collections, Runs::management, run_drop_indexes},
    Command{"enableSharding", Action::cluster, Runs::management, run_enable_sharding},
    Command{"shardCollection", Action::cluster, Runs::management, run_shard_collection},
    Command{"customAction", Action::cluster, Runs::management, run_custom_action},
    Command{"getLastRequestStatistics", Action::login, Runs::at_once, run_last_statistics},
    Command{"getParameter", Action::login, Runs::at_once, run_get_parameter},
    Command{"setParameter", Action::cluster, Runs::at_once, run_set_parameter},
    Command{"hostInfo", Action::monitor, Runs::at_once, run_host_info},
    Command{"whatsmyuri", Action::nothing, Runs::at_once, run_whats_my_uri},
    Command{"serverStatus", Action::monitor, Runs::at_once, run_server_status},
    Command{"connectionStatus", Action::nothing, Runs::at_once, run_connection_status},
    Command{"usersInfo", Action::login, Runs::management, run_users_info},
    Command{"rolesInfo", Action::login, Runs::at_once, run_roles_info},
    Command{"createUser", Action::users, Runs::management, run_create_user},
    Command{"updateUser", Action::users, Runs::management, run_update_user},
    Command{"dropUser", Action::users, Runs::management, run_drop_user},
    Command{"dropAllUsersFromDatabase", Action::users, Runs::management, run_drop_all_users},
    Command{"grantRolesToUser", Action::users, Runs::management, run_grant_roles},
    Command{"revokeRolesFromUser", Action::users, Runs::management, run_revoke_roles},
    Command{"getLog", Action::monitor, Runs::at_once, run_get_log},
    Command{"currentOp", Action::monitor, Runs::management, run_current_op},
    Command{"getCmdLineOpts", Action::monitor, Runs::at_once, run_get_cmd_line_opts},
    Command{"configureFailPoint", Action::cluster, Runs::at_once, run_configure_fail_point},
    Command{"listCommands", Action::login, Runs::at_once, run_list_commands},
    Command{"startSession", Action::login, Runs::at_once, run_start_session},
    Command{"refreshSessions", Action::login, Runs::at_once, run_accept},
    Command{"killSessions", Action::login, Runs::at_once, run_end_sessions},
    Command{"killAllSessions", Action::cluster, Runs::at_once, run_kill_all_sessions},
    Command{"commitTransaction", Action::login, Runs::writes, run_commit_transaction},
    Command{"abortTransaction", Action::login, Runs::writes, run_abort_transaction},
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

// The commands that the face knows: each has a name, what its caller must be allowed, where it
// runs, and a function that fills in the answer. registry.cc has the list.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "api/mongo/auth/roles.h"
#include "api/mongo/bson/error.h"
#include "api/mongo/call.h"
#include "api/mongo/handler_context.h"

namespace orrery::mongo {

// The release whose commands these are.
inline constexpr std::string_view kVersion = "7.0.14";

enum class Runs : uint8_t {
  at_once,     // on the loop's thread: quick, waits for nothing
  management,  // changes of databases and collections
  writes,      // of documents
  queries,
};

struct Command {
  std::string_view name;
  Action needs;  // on the database that the command is sent to
  Runs runs;
  Answer<void> (*run)(const HandlerContext& context, Call& call);
};

std::span<const Command> all_commands();
// Null when there is none. Case does not count, as in the servers before 3.0.
const Command* find_command(std::string_view name);

// Runs a command on a thread that may block. `share`: the container's number, or 0.
void run_later(const HandlerContext& context, CallPtr call, Runs runs,
               Answer<void> (*run)(const HandlerContext&, Call&), uint64_t share);

// Handshake and login.
Answer<void> run_hello(const HandlerContext& context, Call& call);
Answer<void> run_sasl_start(const HandlerContext& context, Call& call);
Answer<void> run_sasl_continue(const HandlerContext& context, Call& call);
Answer<void> run_logout(const HandlerContext& context, Call& call);
// What tells of the server.
Answer<void> run_ping(const HandlerContext& context, Call& call);
Answer<void> run_build_info(const HandlerContext& context, Call& call);
Answer<void> run_get_parameter(const HandlerContext& context, Call& call);
Answer<void> run_set_parameter(const HandlerContext& context, Call& call);
Answer<void> run_host_info(const HandlerContext& context, Call& call);
Answer<void> run_whats_my_uri(const HandlerContext& context, Call& call);
Answer<void> run_server_status(const HandlerContext& context, Call& call);
Answer<void> run_connection_status(const HandlerContext& context, Call& call);
Answer<void> run_get_log(const HandlerContext& context, Call& call);
Answer<void> run_current_op(const HandlerContext& context, Call& call);
Answer<void> run_list_commands(const HandlerContext& context, Call& call);
Answer<void> run_get_cmd_line_opts(const HandlerContext& context, Call& call);
Answer<void> run_last_statistics(const HandlerContext& context, Call& call);
// Users and roles.
Answer<void> run_create_user(const HandlerContext& context, Call& call);
Answer<void> run_update_user(const HandlerContext& context, Call& call);
Answer<void> run_drop_user(const HandlerContext& context, Call& call);
Answer<void> run_drop_all_users(const HandlerContext& context, Call& call);
Answer<void> run_grant_roles(const HandlerContext& context, Call& call);
Answer<void> run_revoke_roles(const HandlerContext& context, Call& call);
Answer<void> run_configure_fail_point(const HandlerContext& context, Call& call);
Answer<void> run_users_info(const HandlerContext& context, Call& call);
Answer<void> run_roles_info(const HandlerContext& context, Call& call);
// Sessions.
Answer<void> run_start_session(const HandlerContext& context, Call& call);
Answer<void> run_accept(const HandlerContext& context, Call& call);  // nothing to do
Answer<void> run_end_sessions(const HandlerContext& context, Call& call);
Answer<void> run_kill_all_sessions(const HandlerContext& context, Call& call);
// A statement of a transaction, or what ends one.
Answer<void> run_in_transaction(const HandlerContext& context, Call& call);
Answer<void> run_commit_transaction(const HandlerContext& context, Call& call);
Answer<void> run_abort_transaction(const HandlerContext& context, Call& call);
// Databases and collections.
Answer<void> run_list_databases(const HandlerContext& context, Call& call);
Answer<void> run_list_collections(const HandlerContext& context, Call& call);
Answer<void> run_create(const HandlerContext& context, Call& call);
Answer<void> run_drop(const HandlerContext& context, Call& call);
Answer<void> run_drop_database(const HandlerContext& context, Call& call);
Answer<void> run_coll_mod(const HandlerContext& context, Call& call);
Answer<void> run_coll_stats(const HandlerContext& context, Call& call);
Answer<void> run_db_stats(const HandlerContext& context, Call& call);
Answer<void> run_rename(const HandlerContext& context, Call& call);
Answer<void> run_create_indexes(const HandlerContext& context, Call& call);
Answer<void> run_list_indexes(const HandlerContext& context, Call& call);
Answer<void> run_drop_indexes(const HandlerContext& context, Call& call);
Answer<void> run_enable_sharding(const HandlerContext& context, Call& call);
Answer<void> run_shard_collection(const HandlerContext& context, Call& call);
Answer<void> run_custom_action(const HandlerContext& context, Call& call);
// Documents.
Answer<void> run_find(const HandlerContext& context, Call& call);
Answer<void> run_get_more(const HandlerContext& context, Call& call);
Answer<void> run_kill_cursors(const HandlerContext& context, Call& call);
Answer<void> run_aggregate(const HandlerContext& context, Call& call);
Answer<void> run_count(const HandlerContext& context, Call& call);
Answer<void> run_distinct(const HandlerContext& context, Call& call);
Answer<void> run_explain(const HandlerContext& context, Call& call);
Answer<void> run_insert(const HandlerContext& context, Call& call);
Answer<void> run_update(const HandlerContext& context, Call& call);
Answer<void> run_delete(const HandlerContext& context, Call& call);
Answer<void> run_find_and_modify(const HandlerContext& context, Call& call);

// find, aggregate or distinct with the read concern snapshot, outside a transaction; others are
// refused.
Answer<void> run_at_snapshot(const HandlerContext& context, Call& call);

// Point reads, single inserts and changes of one document by its _id that can be done where they
// are, or handed to the engine. True: the call was taken.
bool try_find_at_once(const HandlerContext& context, CallPtr& call);
bool try_insert_at_once(const HandlerContext& context, CallPtr& call);
// `run`: run_update, run_delete or run_find_and_modify.
bool try_modify_at_once(const HandlerContext& context, CallPtr& call,
                        Answer<void> (*run)(const HandlerContext&, Call&));

}  // namespace orrery::mongo

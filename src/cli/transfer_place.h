// What import, export and copy share: the containers and tables that they read and write, their
// options, and how they end.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/admin_client.h"
#include "client/client.h"
#include "client/resources.h"
#include "transfer/checkpoint.h"
#include "transfer/feed_source.h"
#include "transfer/progress.h"

namespace orrery::cli {

// How to reach an account that is named by its address: --from-key, --to-key, …
struct OtherAccount {
  std::string prefix;  // "--from-" or "--to-"
  std::string key;
  std::string ca;
  std::string data;  // a data folder, which has both
  bool insecure = false;
};
void add_other_account(CLI::App& command, OtherAccount& account, std::string_view prefix);

// Whether the text is table:NAME, a table of the server.
bool is_table_name(std::string_view text);

// DB/CONTAINER or table:NAME of the server that `local` names, or https://HOST:PORT/DB/CONTAINER.
struct Place {
  client::Endpoint endpoint;
  client::ContainerName name;
  std::string text() const;
};
Result<Place> find_place(const std::string& text, const ServerAddress& local,
                         const OtherAccount& other);
Result<std::unique_ptr<client::Client>> connect(const Place& place, size_t connections);

// All records of a container or a table, or those that a query gives.
Result<std::unique_ptr<transfer::FeedSource>> open_feed(client::Client& client,
                                                        const client::ContainerName& name,
                                                        const std::string& query);

// Making the container that is written to, if it is asked for.
struct CreateOptions {
  bool create = false;
  std::string partition_key;  // "/city"; empty: a fixed container
  std::string throughput;     // "1000", "auto:4000"; empty: as the server decides
};
void add_create_options(CLI::App& command, CreateOptions& options);
// The container, made where it is missing and that is asked for. Code::invalid when it is there
// with another key.
Result<client::ContainerInfo> target_container(client::Client& client,
                                               const client::ContainerName& name,
                                               const CreateOptions& options);

// The same of a table: Code::not_found when it is not there and not asked for.
Status target_table(client::Client& client, const std::string& table, const CreateOptions& options);

// What all three can be told.
struct TransferOptions {
  ServerAddress server;
  std::string checkpoint;
  std::string rejects;
  size_t in_flight = 100;
  bool json = false;
  bool quiet = false;
};
void add_transfer_options(CLI::App& command, TransferOptions& options, bool has_rejects);
// rejects-DB-CONTAINER-TIME.ndjson, unless one is named.
std::string rejects_path(const TransferOptions& options, const client::ContainerName& name);

// How the process ends, for scripts.
enum class Exit : uint8_t {
  complete = 0,
  failed = 1,     // something is wrong: the message says what
  rejected = 2,   // complete, but for records that were rejected
  stopped = 3,    // by a signal; the same command goes on from the checkpoint
  different = 4,  // copied, and the two sides are not equal
};

struct Summary {
  std::string_view command;
  Exit exit = Exit::complete;
  std::string error;
  std::string details;  // more lines about it
  transfer::TransferCounts counts;
  double charge = 0;
  uint64_t throttled = 0;
  double seconds = 0;
  std::string rejects;             // the file, if it has any
  std::string checkpoint;          // the file, if it goes on from there
  std::string more_json;           // members of the command's own, with a comma before each
  std::string text;                // what was done, for people
  bool to_standard_error = false;  // standard output has the data
};
// Prints it (as JSON to standard output, or for people to standard error) and gives the exit code.
int finish(const Summary& summary, const TransferOptions& options);
// A whole command: with progress, until it is done, failed or stopped by a signal.
int run_transfer(Summary summary, const TransferOptions& options,
                 const std::function<Status(transfer::Progress&, Summary&)>& transfer);

}  // namespace orrery::cli

// The program: reads the command line (and the configuration file) and runs one command.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/limits.h"
#include "cli/advise_command.h"
#include "cli/backup_commands.h"
#include "cli/cluster_commands.h"
#include "cli/command_tree.h"
#include "cli/completion.h"
#include "cli/copy_command.h"
#include "cli/export_command.h"
#include "cli/faces.h"
#include "cli/import_command.h"
#include "cli/key_commands.h"
#include "cli/operator_commands.h"
#include "cli/partition_commands.h"
#include "cli/reference.h"
#include "cli/serve.h"
#include "script/worker.h"

namespace {

using orrery::cli::known_faces;
using orrery::cli::KnownFace;
using orrery::cli::ServeOptions;
using orrery::cli::ServerAddress;

std::string limits_help() {
  std::string text = "\nLimits (--limit NAME=VALUE; K, M and G may follow a number):\n";
  for (const auto& entry : orrery::Limits().list()) {
    std::string line = "  " + std::string(entry.name);
    line.resize(std::max<size_t>(line.size() + 1, 32), ' ');
    line += std::string(entry.help) + " [" + std::to_string(entry.value) + "]\n";
    text += line;
  }
  return text;
}

// CLI11 reads configuration files for the program only, not for a command of it. The file has the
// names of serve's options without a section, and those of one face in a section of its name, so
// each is handed down to serve here.
class ServeConfig : public CLI::ConfigINI {
 public:
  std::vector<CLI::ConfigItem> from_config(std::istream& file) const override {
    std::vector<CLI::ConfigItem> items = CLI::ConfigINI::from_config(file);
    // CLI11's marks for where a section begins and ends.
    std::erase_if(items, [](const auto& item) { return item.name == "++" || item.name == "--"; });
    for (CLI::ConfigItem& item : items) {
      // [table] port = 10002 is --table-port.
      if (!item.parents.empty()) item.name = item.parents.back() + "-" + item.name;
      item.parents = {"serve"};
    }
    return items;
  }
};

// What the values of serve's options are, for the help, the manual and shells.
void name_values(CLI::App& serve) {
  struct Value {
    const char* option;
    const char* value;
  };
  for (const auto& [option, value] : {
           Value{"--data", "FOLDER"},
           Value{"--port", "PORT"},
           Value{"--ops-port", "PORT"},
           Value{"--address", "ADDRESS"},
           Value{"--limit", "NAME=VALUE"},
           Value{"--cert", "FILE"},
           Value{"--cert-key", "FILE"},
           Value{"--throttling", "on|report"},
           Value{"--volume", "WHERE"},
           Value{"--ceph-conf", "FILE"},
           Value{"--ceph-user", "NAME"},
           Value{"--durability", "sync|relaxed"},
           Value{"--consistency", "Strong|BoundedStaleness|Session|ConsistentPrefix|Eventual"},
           Value{"--queries", "service|permissive"},
           Value{"--table-flavour", "storage|cosmos"},
           Value{"--account", "NAME"},
           Value{"--region", "NAME"},
           Value{"--threads", "N"},
           Value{"--grace", "SECONDS"},
           Value{"--node", "NAME"},
           Value{"--node-address", "HOST:PORT"},
           Value{"--cluster-ca", "FILE"},
           Value{"--cluster-cert", "FILE"},
           Value{"--cluster-key", "FILE"},
           Value{"--read-replicas", "N"},
           Value{"--replica-staleness-ms", "N"},
           Value{"--log-level", "debug|info|warn|error|off"},
           Value{"--log-format", "text|json"},
       }) {
    serve.get_option(option)->type_name(value);
  }
}

void add_serve_options(CLI::App& command, ServeOptions& options) {
  command.add_option("--data", options.data, "Folder of the data; made when it is not there")
      ->capture_default_str();
  command.add_option("--port", options.port, "Port for http and https; 0: any free one")
      ->capture_default_str();
  for (const KnownFace& face : known_faces().subspan(1)) {
    command
        .add_option_function<uint16_t>(
            fmt::format("--{}-port", face.name),
            [&options, name = std::string(face.name)](uint16_t port) {
              options.face_ports[name] = port;
            },
            fmt::format("{} [off; {} with --all-faces]", face.help, face.usual_port))
        ->type_name("PORT");
  }
  command.add_flag("--all-faces", options.all_faces,
                   "Every face at its usual port; one whose port is taken is left out");
  command.add_option("--ops-port", options.ops_port,
                     "A port for /healthz, /metrics and /admin/ alone, where metrics need no token "
                     "[these are on the main port]");
  command.add_option("--address", options.address, "Address to listen on")->capture_default_str();
  command.add_flag("--dev", options.dev,
                   "For development: the emulator's well-known key, this machine only, and "
                   "throttling reported instead of enforced");
  command.add_flag("--no-console", options.no_console,
                   "Do not serve the web console, which is at /console/ on the main port");
  command.add_option("--limit", options.limits, "Set a limit, NAME=VALUE; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--cert", options.certificate,
                     "Certificate chain (PEM); made on first start when not given");
  command.add_option("--cert-key", options.private_key, "The certificate's private key (PEM)");
  command.add_option("--throttling", options.throttling,
                     "What to do with requests over budget: on (429) or report (serve, and say so "
                     "in x-orrery-would-throttle-ms) [on; report with --dev]");
  command
      .add_option("--volume", options.volume.volume,
                  "Where the data are: local (in the data folder), rados:POOL[/NAMESPACE] (in "
                  "Ceph), or directory:PATH (as in Ceph, in a directory)")
      ->capture_default_str();
  command
      .add_option("--ceph-conf", options.volume.ceph_conf,
                  "Of a volume in Ceph: its configuration file")
      ->capture_default_str();
  command
      .add_option("--ceph-user", options.volume.ceph_user,
                  "Of a volume in Ceph: the user, without 'client.'")
      ->capture_default_str();
  command.add_option("--node", options.node.name,
                     "The name of this server among others that share its volume [a server alone]");
  command.add_option("--node-address", options.node.address,
                     "HOST:PORT at which other nodes reach this one");
  command.add_option("--cluster-ca", options.node.ca,
                     "The certificate (PEM) that signed those of all nodes, and no others");
  command.add_option("--cluster-cert", options.node.certificate,
                     "This node's certificate (PEM), with the host of --node-address in it");
  command.add_option("--cluster-key", options.node.private_key,
                     "The private key (PEM) of --cluster-cert");
  command
      .add_option("--read-replicas", options.read_replicas,
                  "Of a node: how many others can answer reads of a partition, if they need not "
                  "have the newest; the same at all nodes")
      ->capture_default_str();
  command
      .add_option("--replica-staleness-ms", options.replica_staleness_ms,
                  "Of a node: a replica that is known to be fresh only as of longer ago answers "
                  "nothing")
      ->capture_default_str();
  command
      .add_option("--durability", options.durability,
                  "sync: a write is on disk before it is acknowledged; relaxed: soon after")
      ->capture_default_str();
  command.add_option("--consistency", options.consistency, "The account's default consistency")
      ->capture_default_str();
  command
      .add_option("--queries", options.queries,
                  "service: refuse the queries that the vendor's service refuses; permissive: run "
                  "all that can be run")
      ->capture_default_str();
  command
      .add_option("--table-flavour", options.table_flavour,
                  "What new tables are like: storage (entities in the order of their keys) or "
                  "cosmos (placed by hash; 429 over budget)")
      ->capture_default_str();
  command.add_option("--account", options.account, "The account's name")->capture_default_str();
  command.add_option("--region", options.region, "The name of the region")->capture_default_str();
  command.add_option("--threads", options.threads, "Event-loop threads; 0: one a core")
      ->capture_default_str();
  command
      .add_option("--grace", options.grace_s,
                  "Seconds that accepted requests get to finish at a stop")
      ->capture_default_str();
  command.add_option("--log-level", options.log_level, "debug, info, warn, error or off")
      ->capture_default_str();
  command.add_option("--log-format", options.log_format, "text or json")->capture_default_str();
  name_values(command);
  command.footer(limits_help());
}

void add_server_options(CLI::App& command, ServerAddress& address) {
  command
      .add_option("--data", address.data,
                  "Data folder of the running server [./orrery-data; where there is none, that of "
                  "the installed server]")
      ->type_name("FOLDER");
  command
      .add_option("--host", address.host,
                  "Name or address of a server elsewhere, which must be in its certificate [the "
                  "server of the data folder]")
      ->type_name("NAME");
  command.add_option("--port", address.port, "Its port [found in the data folder]")
      ->type_name("PORT");
  command
      .add_option("--key", address.key,
                  "A read-write key; others on this machine can see it in a command line, so "
                  "rather set ORRERY_KEY [found in the data folder]")
      ->envname("ORRERY_KEY")
      ->type_name("KEY");
  command
      .add_option("--ca", address.ca,
                  "File of the certificates to trust (PEM), such as the server's own cert.pem "
                  "[the certificate in the data folder; with --host the system's]")
      ->type_name("FILE");
  command.footer(
      "It asks over https, and nothing before the server has shown a trusted certificate.");
}

// Prints a text that was made, or why it was not.
int print_made(std::string_view command, const orrery::Result<std::string>& text) {
  if (!text) {
    fmt::print(stderr, "orrery {}: {}\n", command, text.error().message);
    return 1;
  }
  std::fwrite(text->data(), 1, text->size(), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  orrery::script::run_if_worker(argc, argv);
  CLI::App app{
      "Orrery: an elastic, partitioned, multi-model database that speaks Azure Cosmos DB's "
      "protocol."};
  app.set_version_flag("--version", "orrery " ORRERY_VERSION);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);

  ServeOptions serve_options;
  serve_options.version = ORRERY_VERSION;
  CLI::App* serve = app.add_subcommand("serve", "Run the server");
  add_serve_options(*serve, serve_options);
  // `orrery serve --config FILE` falls through to the program, which reads the file.
  serve->fallthrough();
  app.set_config("--config", "", "For serve: a file of its settings, one NAME = VALUE a line")
      ->type_name("FILE");
  app.config_formatter(std::make_shared<ServeConfig>());
  app.allow_config_extras(CLI::config_extras_mode::error);

  ServerAddress server;
  std::string container;
  std::optional<uint32_t> range;
  bool json = false;
  CLI::App* split = app.add_subcommand("split", "Split a physical partition of a container now");
  split->add_option("container", container, "The container")->required()->type_name("DB/CONTAINER");
  split->add_option("range", range, "The partition key range to split [the largest]")
      ->type_name("RANGE");
  split->add_flag("--json", json, "Print JSON");
  add_server_options(*split, server);

  CLI::App* partitions = app.add_subcommand(
      "partitions", "Show how a container's items are spread over its physical partitions");
  partitions->add_option("container", container, "The container")
      ->required()
      ->type_name("DB/CONTAINER");
  partitions->add_flag("--json", json, "Print JSON");
  add_server_options(*partitions, server);

  orrery::cli::AdviseOptions advise_options;
  CLI::App* advise =
      app.add_subcommand("advise", "Say which partition key a container should have");
  add_advise_options(*advise, advise_options, server);

  orrery::cli::ClusterCommands cluster_commands(app, add_server_options);

  std::string key_name;
  CLI::App* keys = app.add_subcommand("keys", "Show the account's keys, or make a new one");
  keys->require_subcommand(1);
  CLI::App* list_keys = keys->add_subcommand("list", "Show the keys of a data folder");
  list_keys->add_option("--data", server.data, "Data folder of the server [as with other commands]")
      ->type_name("FOLDER");
  list_keys->add_flag("--json", json, "Print JSON");
  CLI::App* regenerate_key = keys->add_subcommand(
      "regenerate", "Make a new key in the place of one; the running server takes it at once");
  regenerate_key->add_option("key", key_name, "Which key")
      ->required()
      ->type_name("primary|secondary|primary-readonly|secondary-readonly");
  regenerate_key->add_flag("--json", json, "Print JSON");
  add_server_options(*regenerate_key, server);

  orrery::cli::ImportOptions import_options;
  CLI::App* import =
      app.add_subcommand("import", "Write the records of files or of another account");
  add_server_options(*import, import_options.common.server);
  orrery::cli::add_import_options(*import, import_options);

  orrery::cli::ExportOptions export_options;
  CLI::App* export_command =
      app.add_subcommand("export", "Write a container's items into files or another account");
  add_server_options(*export_command, export_options.common.server);
  orrery::cli::add_export_options(*export_command, export_options);

  orrery::cli::CopyOptions copy_options;
  CLI::App* copy = app.add_subcommand(
      "copy",
      "Copy a container into another while it is written to, and check that both are equal");
  add_server_options(*copy, copy_options.common.server);
  orrery::cli::add_copy_options(*copy, copy_options);

  orrery::cli::OperatorCommands operator_commands(app, add_server_options);

  orrery::cli::BackupCommands backup_commands(app, ORRERY_VERSION, add_server_options);

  std::string shell;
  CLI::App* completion =
      app.add_subcommand("completion", "Print a script that completes command lines in a shell");
  completion->add_option("shell", shell, "Which shell")->type_name("bash|zsh|fish")->required();

  std::string reference_name;
  CLI::App* reference = app.add_subcommand(
      "reference", "Print a manual page, or a configuration file with every setting explained");
  reference->add_option("file", reference_name, "Which file")
      ->type_name("orrery.1|orrery.conf.5|orrery.conf")
      ->required();

  CLI11_PARSE(app, argc, argv);
  if (copy->parsed()) return orrery::cli::copy_live(copy_options);
  if (export_command->parsed()) return orrery::cli::export_records(export_options);
  if (import->parsed()) return orrery::cli::import_records(import_options);
  if (serve->parsed()) return orrery::cli::serve(serve_options);
  if (auto exit_code = cluster_commands.run()) return *exit_code;
  if (advise->parsed()) return orrery::cli::advise(server, advise_options);
  if (split->parsed()) return orrery::cli::split(server, container, range, json);
  if (list_keys->parsed()) return orrery::cli::list_keys(server, json);
  if (regenerate_key->parsed()) return orrery::cli::regenerate_key(server, key_name, json);
  if (const auto code = operator_commands.run()) return *code;
  if (const auto code = backup_commands.run()) return *code;
  if (completion->parsed()) {
    return print_made("completion",
                      orrery::cli::completion_script(orrery::cli::describe(app), shell));
  }
  if (reference->parsed()) {
    return print_made("reference", orrery::cli::reference_file(orrery::cli::describe(app),
                                                               reference_name, ORRERY_VERSION));
  }
  return orrery::cli::partitions(server, container, json);
}

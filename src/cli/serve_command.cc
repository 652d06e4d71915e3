// See serve_command.h.
#include "cli/serve_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "cli/faces.h"

namespace orrery::cli {
namespace {

std::string limits_help() {
  std::string text = "\nLimits (--limit NAME=VALUE; K, M and G may follow a number):\n";
  for (const auto& entry : Limits().list()) {
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
           Value{"--account", "NAME"},
           Value{"--region", "NAME"},
           Value{"--entra", "FILE"},
           Value{"--threads", "N"},
           Value{"--grace", "SECONDS"},
           Value{"--node", "NAME"},
           Value{"--node-address", "HOST:PORT"},
           Value{"--cluster-ca", "FILE"},
           Value{"--cluster-cert", "FILE"},
           Value{"--cluster-key", "FILE"},
           Value{"--replica-staleness-ms", "N"},
           Value{"--log-level", "debug|info|warn|error|off"},
           Value{"--log-format", "text|json"},
       }) {
    serve.get_option(option)->type_name(value);
  }
}

void add_listening(CLI::App& command, ServeOptions& options) {
  command.add_option("--data", options.data, "Folder of the data; made when it is not there")
      ->capture_default_str();
  command.add_option("--port", options.port, "Port for http and https; 0: any free one")
      ->capture_default_str();
  for (const KnownFace& known : known_faces()) {
    for (const face::Port& port : known.ports) {
      if (&port == &known_faces().front().ports.front()) continue;  // --port
      command
          .add_option_function<uint16_t>(
              fmt::format("--{}-port", port.name),
              [&options, name = std::string(port.name)](uint16_t number) {
                options.face_ports[name] = number;
              },
              fmt::format("{} [off; {} with --all-faces]", port.help, port.usual))
          ->type_name("PORT");
    }
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
}

void add_volume_and_node(CLI::App& command, ServeOptions& options) {
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
      .add_option("--replica-staleness-ms", options.replica_staleness_ms,
                  "Of a node: a replica that is known to be fresh only as of longer ago answers "
                  "nothing")
      ->capture_default_str();
}

void add_face_option(CLI::App& command, const face::Option& option, ServeOptions& options) {
  command
      .add_option_function<std::string>(
          fmt::format("--{}", option.name),
          [&options, name = std::string(option.name)](const std::string& value) {
            options.face_options.insert_or_assign(name, value);
          },
          std::string(option.help))
      ->type_name(std::string(option.value))
      ->default_str(std::string(option.initial));
}

void add_behaviour(CLI::App& command, ServeOptions& options) {
  command
      .add_option("--durability", options.durability,
                  "sync: a write is on disk before it is acknowledged; relaxed: soon after")
      ->capture_default_str();
  for (const KnownFace& known : known_faces()) {
    for (const face::Option& option : known.options) add_face_option(command, option, options);
  }
  command.add_option("--account", options.account, "The account's name")->capture_default_str();
  command.add_option("--region", options.region, "The name of the region")->capture_default_str();
  command.add_option("--entra", options.entra,
                     "A file that says whose tokens (type=aad) are taken, and which roles their "
                     "holders have");
  command.add_option("--threads", options.threads, "Event-loop threads; 0: one a core")
      ->capture_default_str();
  command
      .add_option("--grace", options.grace_s,
                  "Seconds that accepted requests get to finish at a stop")
      ->capture_default_str();
  command.add_option("--log-level", options.log_level, "debug, info, warn, error or off")
      ->capture_default_str();
  command.add_option("--log-format", options.log_format, "text or json")->capture_default_str();
}

}  // namespace

ServeCommand::ServeCommand(CLI::App& app, std::string version) {
  options_.version = std::move(version);
  command_ = app.add_subcommand("serve", "Run the server");
  add_listening(*command_, options_);
  add_volume_and_node(*command_, options_);
  add_behaviour(*command_, options_);
  name_values(*command_);
  command_->footer(limits_help());
  // `orrery serve --config FILE` falls through to the program, which reads the file.
  command_->fallthrough();
  app.set_config("--config", "", "For serve: a file of its settings, one NAME = VALUE a line")
      ->type_name("FILE");
  app.config_formatter(std::make_shared<ServeConfig>());
  app.allow_config_extras(CLI::config_extras_mode::error);
}

std::optional<int> ServeCommand::run() const {
  if (!command_->parsed()) return std::nullopt;
  return serve(options_);
}

}  // namespace orrery::cli

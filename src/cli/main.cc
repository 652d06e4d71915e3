// The program: reads the command line (and the configuration file) and runs one command.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "cli/advise_command.h"
#include "cli/backup_commands.h"
#include "cli/cluster_commands.h"
#include "cli/command_tree.h"
#include "cli/completion.h"
#include "cli/key_commands.h"
#include "cli/operator_commands.h"
#include "cli/partition_commands.h"
#include "cli/reference.h"
#include "cli/serve_command.h"
#include "cli/transfer_commands.h"
#include "script/worker.h"

namespace {

namespace cli = orrery::cli;

// Prints a text that was made, or why it was not.
int print_made(std::string_view command, const orrery::Result<std::string>& text) {
  if (!text) {
    fmt::print(stderr, "orrery {}: {}\n", command, text.error().message);
    return 1;
  }
  std::fwrite(text->data(), 1, text->size(), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}

// What is made from the commands themselves: completions for shells, manual pages.
class MadeFiles {
 public:
  explicit MadeFiles(CLI::App& app) : app_(app) {
    completion_ =
        app.add_subcommand("completion", "Print a script that completes command lines in a shell");
    completion_->add_option("shell", shell_, "Which shell")->type_name("bash|zsh|fish")->required();
    reference_ = app.add_subcommand(
        "reference", "Print a manual page, or a configuration file with every setting explained");
    reference_->add_option("file", file_, "Which file")
        ->type_name("orrery.1|orrery.conf.5|orrery.conf")
        ->required();
  }
  std::optional<int> run() const {
    if (completion_->parsed()) {
      return print_made("completion", cli::completion_script(cli::describe(app_), shell_));
    }
    if (reference_->parsed()) {
      return print_made("reference",
                        cli::reference_file(cli::describe(app_), file_, ORRERY_VERSION));
    }
    return std::nullopt;
  }

 private:
  CLI::App& app_;
  std::string shell_;
  std::string file_;
  CLI::App* completion_ = nullptr;
  CLI::App* reference_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  orrery::script::run_if_worker(argc, argv);
  CLI::App app{
      "Orrery: an elastic, partitioned, multi-model database that speaks Azure Cosmos DB's "
      "protocol."};
  app.set_version_flag("--version", "orrery " ORRERY_VERSION);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);

  // In the order in which the help shows them.
  const cli::ServeCommand serve(app, ORRERY_VERSION);
  const cli::PartitionCommands partitions(app);
  const cli::ClusterCommands cluster(app);
  const cli::KeyCommands keys(app);
  const cli::TransferCommands transfers(app);
  cli::OperatorCommands operators(app);
  cli::BackupCommands backups(app, ORRERY_VERSION);
  const MadeFiles made(app);

  CLI11_PARSE(app, argc, argv);
  if (const auto code = serve.run()) return *code;
  if (const auto code = partitions.run()) return *code;
  if (const auto code = cluster.run()) return *code;
  if (const auto code = keys.run()) return *code;
  if (const auto code = transfers.run()) return *code;
  if (const auto code = operators.run()) return *code;
  if (const auto code = backups.run()) return *code;
  return made.run().value_or(1);
}

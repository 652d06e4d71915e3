// See operator_commands.h.
#include "cli/operator_commands.h"

#include "cli/server_options.h"

namespace orrery::cli {

OperatorCommands::OperatorCommands(CLI::App& app) {
  add_list(app);
  add_scale(app);
  add_query(app);
  add_top(app);
  add_doctor(app);
}

void OperatorCommands::add_list(CLI::App& app) {
  list_command_ =
      app.add_subcommand("ls", "List databases, the containers of one, or items of a container");
  list_command_->add_option("what", list_.what, "What to look into [all databases]")
      ->type_name("DB[/CONTAINER]");
  list_command_->add_option("--count", list_.count, "Items to show at most")
      ->capture_default_str()
      ->type_name("N");
  list_command_->add_flag("--json", list_.json, "Print JSON");
  add_server_options(*list_command_, server_);
}

void OperatorCommands::add_scale(CLI::App& app) {
  scale_command_ =
      app.add_subcommand("scale", "Show or set the throughput of a container or database");
  scale_command_
      ->add_option("what", scale_.what,
                   "A container, or a database whose containers share its throughput")
      ->required()
      ->type_name("DB[/CONTAINER]");
  scale_command_
      ->add_option("throughput", scale_.throughput,
                   "Request units a second, or the most of autoscale [only shows it]")
      ->type_name("RU|auto:MAX");
  scale_command_->add_flag("--wait", scale_.wait,
                           "Return when partitions were split as far as it takes");
  scale_command_->add_flag("--json", scale_.json, "Print JSON");
  add_server_options(*scale_command_, server_);
}

void OperatorCommands::add_query(CLI::App& app) {
  query_command_ = app.add_subcommand("query", "Print the rows of a query");
  query_command_->add_option("container", query_.container, "The container")
      ->required()
      ->type_name("DB/CONTAINER");
  query_command_
      ->add_option("query", query_.text,
                   "Its text, such as 'SELECT * FROM c'; -: from standard input")
      ->required()
      ->type_name("SELECT");
  query_command_
      ->add_option("--format", query_.format,
                   "How to print rows [table on a terminal, json elsewhere]")
      ->type_name("table|json|csv");
  query_command_->add_flag("--json", query_json_, "The same as --format json");
  query_command_
      ->add_option("--param", query_.parameters,
                   "A value for @NAME in the query: JSON, or else a text; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  query_command_
      ->add_option("--partition", query_.key, "Ask one partition key only: JSON, or else a text")
      ->type_name("KEY");
  query_command_->add_option("--count", query_.count, "Rows to print at most [all]")
      ->type_name("N");
  add_server_options(*query_command_, server_);
}

void OperatorCommands::add_top(CLI::App& app) {
  top_command_ = app.add_subcommand("top", "Show where the load is, as it changes");
  top_command_->add_option("--interval", top_.interval_s, "Seconds between samples")
      ->capture_default_str()
      ->type_name("SECONDS");
  top_command_->add_option("--samples", top_.samples, "End after so many [never]")->type_name("N");
  top_command_->add_flag("--once", once_, "The same as --samples 1");
  top_command_->add_option("--count", top_.count, "Partitions to show at most [as many as fit]")
      ->type_name("N");
  top_command_->add_flag("--json", top_.json, "Print a line of JSON for each sample");
  add_server_options(*top_command_, server_);
}

void OperatorCommands::add_doctor(CLI::App& app) {
  doctor_command_ = app.add_subcommand("doctor", "Check a data folder, or a running server");
  doctor_command_->add_flag("--json", doctor_.json, "Print JSON");
  doctor_command_
      ->add_option("--volume", doctor_.volume.volume,
                   "Of a folder: where the data are, as for serve")
      ->capture_default_str()
      ->type_name("WHERE");
  doctor_command_
      ->add_option("--ceph-conf", doctor_.volume.ceph_conf,
                   "Of a volume in Ceph: its configuration file")
      ->capture_default_str()
      ->type_name("FILE");
  doctor_command_
      ->add_option("--ceph-user", doctor_.volume.ceph_user, "Of a volume in Ceph: the user")
      ->capture_default_str()
      ->type_name("NAME");
  add_server_options(*doctor_command_, server_);
  doctor_command_->footer(
      "The data folder of a server that does not run is opened and read as a whole. Of one that "
      "runs, the server is "
      "asked. The exit status is 0 if all is well, 1 if it could not be checked, 3 if something is "
      "wrong.");
}

std::optional<int> OperatorCommands::run() {
  if (list_command_->parsed()) return list(server_, list_);
  if (scale_command_->parsed()) return scale(server_, scale_);
  if (query_command_->parsed()) {
    if (query_json_) query_.format = "json";
    return query(server_, query_);
  }
  if (top_command_->parsed()) {
    if (once_) top_.samples = 1;
    return top(server_, top_);
  }
  if (doctor_command_->parsed()) return doctor(server_, doctor_);
  return std::nullopt;
}

}  // namespace orrery::cli

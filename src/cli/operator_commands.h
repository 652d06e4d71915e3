// The commands of people who run or use a server: ls, scale, query, top, doctor. Here is what they
// are called and take; what they do is in a file of each.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "cli/admin_client.h"
#include "cli/doctor_command.h"
#include "cli/list_command.h"
#include "cli/query_command.h"
#include "cli/scale_command.h"
#include "cli/top_command.h"

namespace orrery::cli {

class OperatorCommands {
 public:
  explicit OperatorCommands(CLI::App& app);
  OperatorCommands(const OperatorCommands&) = delete;
  OperatorCommands& operator=(const OperatorCommands&) = delete;

  // After parsing: the exit code of the command that was named, if it is one of these.
  std::optional<int> run();

 private:
  void add_list(CLI::App& app);
  void add_scale(CLI::App& app);
  void add_query(CLI::App& app);
  void add_top(CLI::App& app);
  void add_doctor(CLI::App& app);

  ServerAddress server_;
  ListOptions list_;
  ScaleOptions scale_;
  QueryOptions query_;
  TopOptions top_;
  DoctorOptions doctor_;
  bool query_json_ = false;
  bool once_ = false;
  CLI::App* list_command_ = nullptr;
  CLI::App* scale_command_ = nullptr;
  CLI::App* query_command_ = nullptr;
  CLI::App* top_command_ = nullptr;
  CLI::App* doctor_command_ = nullptr;
};

}  // namespace orrery::cli

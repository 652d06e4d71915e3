// See doctor_command.h.
#include "cli/doctor_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/data_folder.h"
#include "cli/terminal_text.h"
#include "value/json_quoted.h"

namespace orrery::cli {
namespace {

constexpr int kSomethingIsWrong = 3;

// A server that left its address may have been killed since.
bool is_running(const std::string& folder) {
  if (!read_running_server(folder)) return false;
  return !FolderLock::take(folder).has_value();
}

void print_json(const std::string& subject, const Diagnosis& found, size_t wrong) {
  std::string json = fmt::format(
      R"({{"subject":{},"containers":{},"partitions":{},"items":{},"bytes":{},"terms":{},)"
      R"("checked":[)",
      value::quoted(subject), found.containers, found.partitions, found.items, found.bytes,
      found.terms);
  for (const std::string& one : found.checked) {
    json += fmt::format("{}{}", json.back() == '[' ? "" : ",", value::quoted(one));
  }
  json += fmt::format("],\"wrong\":{},\"findings\":[", wrong);
  for (const Finding& one : found.findings) {
    json += fmt::format(R"({}{{"where":{},"what":{},"advice":{},"warning":{}}})",
                        json.back() == '[' ? "" : ",", value::quoted(one.where),
                        value::quoted(one.what), value::quoted(one.advice), one.is_warning);
  }
  fmt::print("{}]}}\n", json);
}

void print_text(const std::string& subject, const Diagnosis& found, size_t wrong) {
  fmt::print("{}: {} container{}, {} partition{}, {} items, {}", printable(subject),
             found.containers, found.containers == 1 ? "" : "s", found.partitions,
             found.partitions == 1 ? "" : "s", number_text(static_cast<double>(found.items)),
             size_text(static_cast<double>(found.bytes)));
  if (found.terms > 0)
    fmt::print(", {} index entries", number_text(static_cast<double>(found.terms)));
  fmt::print("\nchecked:\n");
  for (const std::string& one : found.checked) fmt::print("  {}\n", one);
  for (const Finding& one : found.findings) {
    fmt::print("\n{} {}\n  {}\n  what to do: {}\n",
               one.is_warning ? "note:" : "WRONG:", printable(one.where), printable(one.what),
               one.advice);
  }
  fmt::print("\n{}\n", wrong == 0 ? "nothing is wrong" : fmt::format("{} wrong", wrong));
}

}  // namespace

int doctor(const ServerAddress& server, const DoctorOptions& options) {
  const bool ask_server = !server.host.empty() || server.port != 0 || is_running(server.data);
  auto found = ask_server ? examine_server(server)
                          : examine_folder(server.data, options.volume,
                                           !options.json && ::isatty(STDERR_FILENO) != 0);
  if (!found) return complain("doctor", found.error());
  const auto wrong = static_cast<size_t>(
      std::ranges::count_if(found->findings, [](const Finding& one) { return !one.is_warning; }));
  const std::string subject =
      ask_server ? fmt::format("server {}", server.host.empty() ? "of " + server.data : server.host)
                 : "data folder " + server.data;
  if (options.json) {
    print_json(subject, *found, wrong);
  } else {
    print_text(subject, *found, wrong);
  }
  return wrong == 0 ? 0 : kSomethingIsWrong;
}

}  // namespace orrery::cli

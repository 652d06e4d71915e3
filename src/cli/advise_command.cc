// See advise_command.h.
#include "cli/advise_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <fstream>
#include <functional>
#include <iostream>

#include "advise/advise.h"
#include "base/limits.h"
#include "base/printable.h"
#include "value/json.h"

namespace orrery::cli {
namespace {

constexpr int kUsage = 1;
constexpr int kBadInput = 2;
constexpr int kInsufficient = 3;
constexpr int kNoneGood = 4;
constexpr int kChange = 5;
constexpr size_t kMostLineBytes = 64 << 20;

int complain(int code, std::string_view message) {
  std::string safe;
  append_printable(safe, message);
  fmt::print(stderr, "orrery advise: {}\n", safe);
  return code;
}

// Calls `take` for each line that is not empty; an error is told with its line.
Status each_line(const std::string& path, const std::function<Status(std::string_view)>& take) {
  std::ifstream file;
  if (path != "-") {
    file.open(path, std::ios::binary);
    if (!file) return fail(Code::not_found, fmt::format("{} cannot be opened", path));
  }
  std::istream& in = path == "-" ? std::cin : file;
  std::string line;
  for (size_t number = 1; std::getline(in, line); ++number) {
    if (line.size() > kMostLineBytes) {
      return fail(Code::invalid, fmt::format("{}:{}: the line is too long", path, number));
    }
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (auto status = take(line); !status) {
      return fail(Code::invalid, fmt::format("{}:{}: {}", path, number, status.error().message));
    }
  }
  return {};
}

// 365d, 12h, 6w.
std::optional<double> parse_duration_s(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !(number >= 0) || number > 100'000) return std::nullopt;
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  if (unit == "h") return number * 3'600;
  if (unit == "d") return number * 86'400;
  if (unit == "w") return number * 7 * 86'400;
  return std::nullopt;
}

Result<std::vector<uint32_t>> parse_paths(std::string_view text, advise::PathTable& paths) {
  std::vector<uint32_t> out;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(",/"), text.size());
    auto path = paths.add(text.substr(0, comma));
    if (!path) return pass(std::move(path.error()));
    out.push_back(*path);
    text.remove_prefix(std::min(text.size(), comma + 1));
  }
  return out;
}

Result<advise::Settings> make_settings(const AdviseOptions& options, advise::PathTable& paths) {
  const Limits limits;
  advise::Settings settings;
  settings.logical_limit_bytes = static_cast<double>(limits.logical_partition_bytes);
  settings.physical_limit_bytes = static_cast<double>(limits.physical_partition_bytes);
  settings.partition_throughput = static_cast<double>(limits.partition_throughput);
  settings.longest_key_bytes = static_cast<double>(limits.partition_key_bytes);
  settings.throughput = options.throughput;
  const auto horizon = parse_duration_s(options.horizon);
  if (!horizon) {
    return fail(Code::invalid, fmt::format("--horizon {} is no time: give hours, days or weeks, "
                                           "such as 365d",
                                           options.horizon));
  }
  settings.horizon_s = *horizon;
  if (options.growth_gb_per_month) {
    settings.growth_bytes_per_month = *options.growth_gb_per_month * (1 << 30);
  }
  auto known = parse_paths(options.known, paths);
  if (!known) return pass(std::move(known.error()));
  settings.known = std::move(*known);
  if (!options.partition_key.empty()) {
    auto key = parse_paths(options.partition_key, paths);
    if (!key) return pass(std::move(key.error()));
    settings.partition_key = std::move(*key);
  }
  if (!options.key.empty()) {
    auto key = advise::parse_key(options.key, paths);
    if (!key) return pass(std::move(key.error()));
    settings.keys.push_back(std::move(*key));
  }
  return settings;
}

Status read_items(const AdviseOptions& options, advise::ItemReader& reader) {
  return each_line(options.items, [&](std::string_view line) -> Status {
    auto document = value::JsonDocument::parse(line);
    if (!document) return pass(std::move(document.error()));
    if (document->root().type != value::Type::object) {
      return fail(Code::invalid, "an item must be a JSON object");
    }
    reader.add(document->root(), document->text().size());
    return {};
  });
}

int exit_code(const advise::Report& report, bool check) {
  switch (report.verdict) {
    case advise::Verdict::insufficient:
      return kInsufficient;
    case advise::Verdict::none_good:
      return kNoneGood;
    case advise::Verdict::change:
      return check ? kChange : 0;
    case advise::Verdict::choose:
    case advise::Verdict::keep:
      break;
  }
  return 0;
}

}  // namespace

void add_advise_options(CLI::App& command, AdviseOptions& options, ServerAddress& server) {
  command.add_option("container", options.container, "DB/CONTAINER of a running server");
  command.add_option("--items", options.items,
                     "Instead: a file of items, one JSON object a line; - for standard input");
  command.add_option("--workload", options.workload, "A file of recorded requests");
  command.add_option("--throughput", options.throughput,
                     "RU/s to judge with [the container's, else 400]");
  command.add_option("--horizon", options.horizon, "How far to look ahead: 365d, 26w, 12h")
      ->capture_default_str();
  command.add_option("--growth", options.growth_gb_per_month,
                     "GB a month that the container grows by [as it did until now]");
  command.add_option("--known", options.known,
                     "Paths, with commas, that callers of reads and deletes have besides the id");
  command.add_option("--partition-key", options.partition_key,
                     "The present key's paths, with commas [the workload's]");
  command.add_option("--key", options.key,
                     "A key to score besides: /a, join(/a,/b), join(/a,day(/ts)), suffix(/a,10), "
                     "hier(/a,/b)");
  command.add_flag("--json", options.json, "Print the report as JSON");
  command.add_option("--svg", options.svg, "Write the bars of the best and the present key");
  command.add_flag("--check", options.check, "Exit with 5 when the key should be changed");
  command.footer(
      "Exit codes: 0; 1 usage or connection; 2 bad input; 3 too little is known; 4 no key is "
      "good; 5 with --check: change the key.");
  (void)server;
}

int advise(const ServerAddress& /*server*/, const AdviseOptions& options) {
  if (options.container.empty() == options.items.empty()) {
    return complain(kUsage, "give either DB/CONTAINER or --items FILE");
  }
  advise::PathTable paths;
  auto settings = make_settings(options, paths);
  if (!settings) return complain(kUsage, settings.error().message);

  advise::WorkloadReader workload_reader(paths);
  if (!options.workload.empty()) {
    auto status = each_line(options.workload,
                            [&](std::string_view line) { return workload_reader.add_line(line); });
    if (!status) {
      return complain(status.error().code == Code::not_found ? kUsage : kBadInput,
                      status.error().message);
    }
  }
  auto workload = workload_reader.finish();
  if (!workload) return complain(kBadInput, workload.error().message);

  advise::ItemReader item_reader(paths, advise::wanted_paths(*workload, *settings));
  if (auto status = read_items(options, item_reader); !status) {
    return complain(status.error().code == Code::not_found ? kUsage : kBadInput,
                    status.error().message);
  }
  const advise::Facts facts = advise::make_facts(paths, *settings, item_reader.finish(),
                                                 std::move(*workload), !options.workload.empty());
  const advise::Report report = advise::advise(facts);
  fmt::print("{}", options.json ? to_json(report) : to_table(report));
  if (!options.svg.empty()) {
    std::ofstream file(options.svg, std::ios::binary);
    file << to_svg(report);
    if (!file.flush()) return complain(kUsage, fmt::format("{} cannot be written", options.svg));
  }
  return exit_code(report, options.check);
}

}  // namespace orrery::cli

// See advise_command.h.
#include "cli/advise_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <fstream>
#include <functional>
#include <sstream>

#include "advise/advise.h"
#include "base/bytes.h"
#include "base/limits.h"
#include "base/printable.h"
#include "cli/transfer_place.h"
#include "client/resources.h"
#include "transfer/feed_source.h"
#include "transfer/file_source.h"
#include "value/json.h"

namespace orrery::cli {
namespace {

constexpr int kUsage = 1;
constexpr int kBadInput = 2;
constexpr int kInsufficient = 3;
constexpr int kNoneGood = 4;
constexpr int kChange = 5;

int end_with(int code, std::string_view message) {
  std::string safe;
  append_printable(safe, message);
  fmt::print(stderr, "orrery advise: {}\n", safe);
  return code;
}

using TakeLine = std::function<Status(std::string_view)>;

// Calls `take` for each line that is not empty; an error is told with its line.
Status each_line(std::istream& in, std::string_view name, const TakeLine& take) {
  std::string line;
  for (size_t number = 1; std::getline(in, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (auto status = take(line); !status) {
      return fail(Code::invalid, fmt::format("{}:{}: {}", name, number, status.error().message));
    }
  }
  return {};
}

Status each_line(const std::string& path, const TakeLine& take) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(Code::not_found, fmt::format("{} cannot be opened", path));
  return each_line(file, path, take);
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

// Gives the records of a source to the reader. A record that is no item is told with its line.
Status read_items(transfer::RecordSource& source, advise::ItemReader& reader) {
  constexpr int kWaitMs = 1'000;
  transfer::Record record;
  while (true) {
    auto pulled = source.pull(record);
    if (!pulled) return pass(std::move(pulled.error()));
    if (*pulled == transfer::RecordSource::Pull::end) return {};
    if (*pulled == transfer::RecordSource::Pull::wait) {
      source.turn(kWaitMs);
      continue;
    }
    const auto wrong = [&](std::string_view why) {
      return fail(Code::invalid,
                  fmt::format("{}:{}: {}", source.name_of(record.mark), record.mark.line, why));
    };
    if (!record.reason.empty()) return wrong(record.reason);
    auto document = value::JsonDocument::parse(record.text);
    if (!document) return wrong(document.error().message);
    if (document->root().type != value::Type::object) return wrong("an item must be an object");
    reader.add(document->root(), document->text().size());
    source.passed(record.mark);
  }
}

Status read_files(const AdviseOptions& options, advise::ItemReader& reader) {
  auto how = file_options(options.file);
  if (!how) return fail(Code::not_found, std::move(how.error().message));
  std::vector<std::string> passed_over;
  auto files = transfer::expand_paths({options.items}, *how, passed_over);
  // Not bad input, but none.
  if (!files) return fail(Code::not_found, std::move(files.error().message));
  transfer::FileSource source(std::move(*files), std::move(*how));
  return read_items(source, reader);
}

Status read_container(const ServerAddress& server, const AdviseOptions& options,
                      advise::ItemReader& reader) {
  constexpr size_t kConnections = 8;
  auto place = find_place(options.container, server, {});
  if (!place) return pass(std::move(place.error()));
  auto client = connect(*place, kConnections);
  if (!client) return pass(std::move(client.error()));
  client::FeedSpec spec{
      .name = place->name, .kind = client::FeedKind::items, .query = {}, .parameters_json = {}};
  auto source = transfer::FeedSource::open(**client, std::move(spec), std::nullopt);
  if (!source) return pass(std::move(source.error()));
  return read_items(**source, reader);
}

// What the server has recorded of the container, as a workload.
Result<std::string> recorded(const ServerAddress& server, const AdviseOptions& options,
                             bool with_key) {
  auto name = client::parse_container_name(options.container);
  if (!name) return pass(std::move(name.error()));
  return call_admin(
      server, "GET",
      fmt::format("/admin/workload?database={}&container={}{}", percent_encode(name->database),
                  percent_encode(name->container), with_key ? "&key=1" : ""),
      "");
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
                     "Instead: a file or folder of items as for import (NDJSON, a JSON array, CSV, "
                     "compressed or not); - for standard input");
  add_file_format_options(command, options.file);
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
  command.add_option("--record-to", options.record_to,
                     "Write what the server has recorded of the container's requests, and end");
  command.add_flag("--with-key", options.with_key,
                   "With --record-to: the secret of the marks, so that they can be compared with "
                   "values of items");
  command.add_option("--data", server.data, "Data folder of the running server")
      ->capture_default_str();
  command.add_option("--host", server.host, "Name or address of a server elsewhere");
  command.add_option("--port", server.port, "Its port [found in the data folder]");
  command.add_option("--account-key", server.key, "A read-write key; rather set ORRERY_KEY")
      ->envname("ORRERY_KEY");
  command.add_option("--ca", server.ca, "File of the certificates to trust (PEM)");
}

int record_to(const ServerAddress& server, const AdviseOptions& options) {
  auto lines = recorded(server, options, options.with_key);
  if (!lines) return end_with(kUsage, lines.error().message);
  std::ofstream file(options.record_to, std::ios::binary);
  file << *lines;
  if (!file.flush()) {
    return end_with(kUsage, fmt::format("{} cannot be written", options.record_to));
  }
  return 0;
}

int advise(const ServerAddress& server, const AdviseOptions& options) {
  if (options.container.empty() == options.items.empty()) {
    return end_with(kUsage, "give either DB/CONTAINER or --items FILE");
  }
  if (!options.record_to.empty()) {
    if (!options.items.empty()) return end_with(kUsage, "--record-to is for DB/CONTAINER");
    return record_to(server, options);
  }
  advise::PathTable paths;
  auto settings = make_settings(options, paths);
  if (!settings) return end_with(kUsage, settings.error().message);

  advise::WorkloadReader workload_reader(paths);
  const auto take = [&](std::string_view line) { return workload_reader.add_line(line); };
  Status read;
  if (!options.workload.empty()) {
    read = each_line(options.workload, take);
  } else if (!options.container.empty()) {
    auto lines = recorded(server, options, true);
    if (!lines) return end_with(kUsage, lines.error().message);
    std::istringstream in(std::move(*lines));
    read = each_line(in, "the server's recording", take);
  }
  if (!read) {
    return end_with(read.error().code == Code::not_found ? kUsage : kBadInput,
                    read.error().message);
  }
  auto workload = workload_reader.finish();
  if (!workload) return end_with(kBadInput, workload.error().message);
  const bool has_workload = !workload->shapes.empty();

  advise::ItemReader item_reader(paths, advise::wanted_paths(*workload, *settings));
  read = options.items.empty() ? read_container(server, options, item_reader)
                               : read_files(options, item_reader);
  if (!read) {
    const bool bad_input = read.error().code == Code::invalid || read.error().code == Code::corrupt;
    return end_with(bad_input ? kBadInput : kUsage, read.error().message);
  }
  const advise::Facts facts = advise::make_facts(paths, *settings, item_reader.finish(),
                                                 std::move(*workload), has_workload);
  const advise::Report report = advise::advise(facts);
  fmt::print("{}", options.json ? to_json(report) : to_table(report));
  if (!options.svg.empty()) {
    std::ofstream file(options.svg, std::ios::binary);
    file << to_svg(report);
    if (!file.flush()) return end_with(kUsage, fmt::format("{} cannot be written", options.svg));
  }
  return exit_code(report, options.check);
}

}  // namespace orrery::cli

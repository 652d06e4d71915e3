// See transfer_place.h.
#include "cli/transfer_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <utility>

#include "cli/terminal_text.h"
#include "client/table.h"
#include "transfer/progress.h"
#include "transfer/stop_signals.h"
#include "value/json_quoted.h"

namespace orrery::cli {
namespace {

constexpr std::string_view kTable = "table:";

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

std::string_view name_of(Exit exit) {
  switch (exit) {
    case Exit::complete:
      return "complete";
    case Exit::failed:
      return "failed";
    case Exit::rejected:
      return "rejected";
    case Exit::stopped:
      return "stopped";
    case Exit::different:
      break;
  }
  return "different";
}

// The variable that has the key: ORRERY_FROM_KEY.
std::string environment_of(std::string_view prefix) {
  return prefix == "--from-" ? "ORRERY_FROM_KEY" : "ORRERY_TO_KEY";
}

}  // namespace

void add_other_account(CLI::App& command, OtherAccount& account, std::string_view prefix) {
  account.prefix = prefix;
  command
      .add_option(fmt::format("{}key", prefix), account.key,
                  fmt::format("Key of the account that is named by its address; others on this "
                              "machine can see it in a command line, so rather set {}",
                              environment_of(prefix)))
      ->envname(environment_of(prefix));
  command.add_option(fmt::format("{}ca", prefix), account.ca,
                     "File of the certificates to trust there (PEM) [the system's]");
  command.add_option(fmt::format("{}data", prefix), account.data,
                     "Data folder of the server there, which has its key and certificate");
  command.add_flag(fmt::format("{}insecure", prefix), account.insecure,
                   "Take any certificate there: whoever listens gets the key's signatures and the "
                   "data");
}

std::string Place::text() const {
  return fmt::format("https://{}/{}", endpoint.where(), name.text());
}

bool is_table_name(std::string_view text) {
  return text.starts_with(kTable) && text.find('/') == std::string_view::npos;
}

Result<Place> find_place(const std::string& text, const ServerAddress& local,
                         const OtherAccount& other) {
  if (is_table_name(text)) {
    client::ContainerName name{.database = {}, .container = text.substr(kTable.size())};
    if (std::ranges::find_if_not(name.container, is_letter_or_digit) != name.container.end() ||
        name.container.empty()) {
      return fail(Code::invalid,
                  fmt::format("'{}' is no name of a table: these have letters and digits alone",
                              name.container));
    }
    auto endpoint = find_table_endpoint(local);
    if (!endpoint) return pass(endpoint.error());
    return Place{.endpoint = std::move(*endpoint), .name = std::move(name)};
  }
  if (!client::looks_like_account_url(text)) {
    auto name = client::parse_container_name(text);
    if (!name) return pass(name.error());
    auto endpoint = find_endpoint(local);
    if (!endpoint) return pass(endpoint.error());
    return Place{.endpoint = std::move(*endpoint), .name = std::move(*name)};
  }
  auto url = client::parse_account_url(text);
  if (!url) return pass(url.error());
  if (url->database.empty() || url->container.empty()) {
    return fail(Code::invalid, fmt::format("'{}' names no container: an account is written "
                                           "https://HOST[:PORT]/DATABASE/CONTAINER",
                                           text));
  }
  Place place{.endpoint = {}, .name = {.database = url->database, .container = url->container}};
  if (!other.data.empty()) {
    ServerAddress there;
    there.data = other.data;
    auto endpoint = find_endpoint(there);
    if (!endpoint) return pass(endpoint.error());
    place.endpoint = std::move(*endpoint);
  }
  place.endpoint.host = url->host;
  place.endpoint.port = url->port;
  place.endpoint.option_prefix = other.prefix;
  if (!other.key.empty()) place.endpoint.key = other.key;
  if (!other.ca.empty()) {
    place.endpoint.ca = other.ca;
    place.endpoint.certificate.clear();
  }
  place.endpoint.insecure = other.insecure;
  return place;
}

Result<std::unique_ptr<client::Client>> connect(const Place& place, size_t connections) {
  client::ClientOptions options;
  options.connections = connections;
  // A transfer waits for throughput as long as it takes.
  options.throttled_ms = INT64_MAX;
  options.away_ms = 120'000;
  options.stopped = transfer::stop_was_asked;
  return client::Client::open(place.endpoint, std::move(options));
}

Result<std::unique_ptr<transfer::FeedSource>> open_feed(client::Client& client,
                                                        const client::ContainerName& name,
                                                        const std::string& query) {
  client::FeedSpec spec{
      .name = name, .kind = client::FeedKind::items, .query = query, .parameters_json = {}};
  if (name.is_table()) {
    if (Status found = client::check_table(client, name.container); !found) {
      return pass(found.error());
    }
    spec.kind = client::FeedKind::entities;
    return transfer::FeedSource::open(client, std::move(spec), std::nullopt);
  }
  auto info = client::read_container(client, name);
  if (!info) return pass(info.error());
  if (!query.empty()) spec.kind = client::FeedKind::query;
  return transfer::FeedSource::open(client, std::move(spec),
                                    query.empty() ? info->documents : std::nullopt);
}

void add_create_options(CLI::App& command, CreateOptions& options) {
  auto* create = command.add_flag("--create", options.create,
                                  "Make the table, or the database and the container, where "
                                  "they are missing");
  command
      .add_option("--partition-key", options.partition_key,
                  "With --create: the partition key, such as /city, or /tenant,/user for a "
                  "hierarchical one [none: a fixed container]")
      ->needs(create);
  command
      .add_option("--throughput", options.throughput,
                  "With --create: request units a second, such as 1000, or auto:4000 [as the "
                  "server decides]")
      ->needs(create);
}

Result<client::ContainerInfo> target_container(client::Client& client,
                                               const client::ContainerName& name,
                                               const CreateOptions& options) {
  if (options.create) {
    client::NewContainer plan;
    plan.name = name;
    if (!options.partition_key.empty()) {
      auto key = client::key_json_of(options.partition_key);
      if (!key) return pass(key.error());
      plan.key_json = std::move(*key);
    }
    if (!options.throughput.empty()) {
      auto throughput = client::parse_throughput(options.throughput);
      if (!throughput) return pass(throughput.error());
      plan.throughput = *throughput;
    }
    auto made = client::ensure_container(client, plan);
    if (!made) return pass(made.error());
    auto info = client::read_container(client, name);
    if (!info || *made || options.partition_key.empty()) return info;
    std::string paths;
    for (const value::Path& path : info->key.paths) {
      paths += (paths.empty() ? "" : ",") + value::to_string(path);
    }
    if (paths == options.partition_key) return info;
    return fail(Code::invalid,
                fmt::format("the container {} is there already, with the partition key {}, and a "
                            "partition key cannot be changed",
                            name.text(), paths.empty() ? "none" : paths));
  }
  auto info = client::read_container(client, name);
  if (!info && info.error().code == Code::not_found) {
    return fail(Code::not_found, info.error().message +
                                     ": --create makes it, with --partition-key and --throughput");
  }
  return info;
}

Status target_table(client::Client& client, const std::string& table,
                    const CreateOptions& options) {
  if (!options.partition_key.empty()) {
    return fail(Code::invalid,
                "--partition-key is for containers: a table is always divided by PartitionKey");
  }
  if (options.create) return client::ensure_table(client, table, options.throughput);
  Status found = client::check_table(client, table);
  if (found || found.error().code != Code::not_found) return found;
  return fail(Code::not_found, found.error().message + ": --create makes it, with --throughput");
}

void add_transfer_options(CLI::App& command, TransferOptions& options, bool has_rejects) {
  command.add_flag("--insecure", options.server.insecure,
                   "Take any certificate of the server: whoever listens gets the key's signatures "
                   "and the data");
  command.add_option("--checkpoint", options.checkpoint,
                     "Keep in this file how far it is, and go on from there if the file is there; "
                     "it is removed at the end");
  if (has_rejects) {
    command.add_option("--rejects", options.rejects,
                       "File for the records that are rejected, with the reasons "
                       "[rejects-DB-CONTAINER-TIME.ndjson, or rejects-table-NAME-TIME.ndjson]");
    command
        .add_option("--in-flight", options.in_flight,
                    "Requests under way at once, at most; fewer while the server throttles")
        ->check(CLI::Range(1, 1'000))
        ->capture_default_str();
  }
  command.add_flag("--json", options.json, "Print the result as JSON");
  command.add_flag("--quiet", options.quiet, "Show no progress");
}

std::string rejects_path(const TransferOptions& options, const client::ContainerName& name) {
  if (!options.rejects.empty()) return options.rejects;
  std::string safe = fmt::format("rejects-{}-{}-{}", name.is_table() ? "table" : name.database,
                                 name.container, static_cast<int64_t>(std::time(nullptr)));
  for (char& c : safe) {
    if (c == '/' || c == '\\' || static_cast<unsigned char>(c) < ' ') c = '_';
  }
  return safe + ".ndjson";
}

int finish(const Summary& summary, const TransferOptions& options) {
  const transfer::TransferCounts& counts = summary.counts;
  if (options.json) {
    std::string json = fmt::format(
        "{{\"command\":\"{}\",\"result\":\"{}\",\"read\":{},\"written\":{},\"present\":{},"
        "\"rejected\":{},\"removed\":{},\"requestUnits\":{:.2f},\"throttled\":{},\"seconds\":{:."
        "3f}",
        summary.command, name_of(summary.exit), counts.read, counts.written, counts.present,
        counts.rejected, counts.removed, summary.charge, summary.throttled, summary.seconds);
    if (counts.rejected > 0) {
      json += fmt::format(",\"rejects\":{}", value::quoted(summary.rejects));
    }
    if (!summary.checkpoint.empty()) {
      json += fmt::format(",\"checkpoint\":{}", value::quoted(summary.checkpoint));
    }
    json += summary.more_json;
    if (!summary.error.empty()) {
      json += fmt::format(",\"error\":{}", value::quoted(printable(summary.error)));
    }
    fmt::print(summary.to_standard_error ? stderr : stdout, "{}}}\n", json);
  }
  if (!summary.error.empty()) {
    fmt::print(stderr, "orrery {}: {}\n", summary.command, printable(summary.error));
    for (std::string_view rest = summary.details; !rest.empty();) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      fmt::print(stderr, "{}\n", printable(rest.substr(0, end)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  if (!options.json && !options.quiet && !summary.text.empty()) {
    const double rate =
        summary.seconds > 0 ? static_cast<double>(counts.read) / summary.seconds : 0;
    fmt::print(stderr, "{}; {} RU, {} in {} ({}/s)\n", printable(summary.text),
               transfer::with_commas(static_cast<uint64_t>(summary.charge)),
               summary.throttled == 0
                   ? std::string("never throttled,")
                   : fmt::format("{} throttled,", transfer::with_commas(summary.throttled)),
               transfer::duration_text(static_cast<int64_t>(summary.seconds)),
               transfer::with_commas(static_cast<uint64_t>(rate)));
  }
  if (!options.json && counts.rejected > 0) {
    fmt::print(stderr, "orrery {}: {} records were rejected; see {}\n", summary.command,
               transfer::with_commas(counts.rejected), printable(summary.rejects));
  }
  if (!options.json && summary.exit == Exit::stopped) {
    fmt::print(stderr, "orrery {}: stopped{}\n", summary.command,
               summary.checkpoint.empty()
                   ? std::string("; without --checkpoint it cannot go on from here")
                   : fmt::format("; the same command goes on from {}", summary.checkpoint));
  }
  return static_cast<int>(summary.exit);
}

int run_transfer(Summary summary, const TransferOptions& options,
                 const std::function<Status(transfer::Progress&, Summary&)>& transfer) {
  transfer::install_stop_signals();
  transfer::Progress progress(transfer::Progress::mode_for(options.quiet));
  summary.checkpoint = options.checkpoint;
  const Status done = transfer(progress, summary);
  summary.seconds = progress.seconds();
  if (!done) {
    summary.exit = transfer::stop_was_asked() ? Exit::stopped : Exit::failed;
    if (summary.exit == Exit::failed) summary.error = done.error().message;
  }
  progress.finish();
  return finish(summary, options);
}

}  // namespace orrery::cli

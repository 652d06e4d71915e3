// See export_command.h.
#include "cli/export_command.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "transfer/exporter.h"
#include "transfer/feed_source.h"
#include "transfer/stop_signals.h"

namespace orrery::cli {
namespace {

constexpr size_t kExportConnections = 16;

Result<transfer::ExportSettings> settings_of(const ExportOptions& options,
                                             const client::ContainerName& name) {
  transfer::ExportSettings settings;
  const transfer::NamedForm named = transfer::form_of_name(options.target);
  settings.output.path = options.target;
  settings.output.part_bytes = options.part_mb << 20;
  settings.output.overwrite = options.overwrite;
  settings.output.format = named.format.value_or(transfer::Format::ndjson);
  if (!options.file.format.empty()) {
    auto format = transfer::parse_format(options.file.format);
    if (!format) return pass(format.error());
    settings.output.format = *format;
  }
  settings.output.compression = named.compression.value_or(transfer::Compression::none);
  if (!options.file.compression.empty()) {
    auto compression = transfer::parse_compression(options.file.compression);
    if (!compression) return pass(compression.error());
    settings.output.compression = *compression;
  }
  auto csv = csv_options(options.file);
  if (!csv) return pass(csv.error());
  settings.csv = std::move(*csv);
  settings.chosen_columns = !options.file.columns.empty();
  settings.keep_system = options.keep_system;
  settings.kind = name.is_table() ? transfer::RecordKind::entity : transfer::RecordKind::item;
  settings.checkpoint_path = options.common.checkpoint;
  settings.rejects_path = rejects_path(options.common, name);
  settings.stopped = transfer::stop_was_asked;
  settings.what = fmt::format("export {} {}to {}", name.text(),
                              options.query.empty() ? "" : options.query + " ", options.target);
  if (options.target == "-" && !settings.checkpoint_path.empty()) {
    return fail(Code::invalid,
                "an export to standard output cannot go on where it was: name a file instead of "
                "-, or leave --checkpoint out");
  }
  return settings;
}

Status export_to_files(const ExportOptions& options, transfer::Progress& progress,
                       Summary& summary) {
  auto place = find_place(options.container, options.common.server, {});
  if (!place) return pass(place.error());
  auto settings = settings_of(options, place->name);
  if (!settings) return pass(settings.error());
  auto client = connect(*place, kExportConnections);
  if (!client) return pass(client.error());
  auto feed = open_feed(**client, place->name, options.query);
  if (!feed) return pass(feed.error());
  const bool needs_columns =
      settings->output.format == transfer::Format::csv && !settings->chosen_columns;
  transfer::Exporter exporter(**feed, *settings, progress);
  auto resumed = exporter.resume();
  if (!resumed) return pass(resumed.error());
  if (needs_columns && !*resumed) {
    auto first = open_feed(**client, place->name, options.query);
    if (!first) return pass(first.error());
    auto columns = transfer::find_columns(**first, *settings, progress);
    if (!columns) return pass(columns.error());
    exporter.set_columns(std::move(*columns));
  }
  auto ending = exporter.run();
  summary.counts = exporter.counts();
  summary.charge = (*client)->counts().charge;
  summary.throttled = (*client)->counts().throttled;
  summary.rejects = exporter.rejects_path();
  summary.more_json = fmt::format(",\"files\":{}", exporter.files());
  if (!ending) return pass(ending.error());
  if (*ending == transfer::Ending::stopped) {
    summary.exit = Exit::stopped;
    return {};
  }
  exporter.remove_checkpoint();
  summary.checkpoint.clear();
  summary.exit = summary.counts.rejected > 0 ? Exit::rejected : Exit::complete;
  summary.text =
      fmt::format("{} records of {} to {}", transfer::with_commas(summary.counts.written),
                  place->name.text(), options.target == "-" ? "standard output" : options.target);
  return {};
}

}  // namespace

void add_export_options(CLI::App& command, ExportOptions& options) {
  command.add_option("container", options.container, "DB/CONTAINER or table:NAME to read")
      ->required();
  command
      .add_option("target", options.target,
                  "A file, a folder (ends in /), - for standard output; "
                  "https://HOST[:PORT]/DB/CONTAINER; or table:NAME of a table")
      ->required();
  add_file_format_options(command, options.file);
  command.add_option(
      "--query", options.query,
      "Only what this query gives; each partition is asked on its own. Of a table: a "
      "$filter");
  command.add_flag("--system-properties", options.keep_system,
                   "Keep _ts, _etag, Timestamp and the other properties that the server adds");
  command
      .add_option("--part-mb", options.part_mb,
                  "Of a folder: megabytes of a part, before compression")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command.add_flag("--overwrite", options.overwrite, "Write over files that are there");
  add_create_options(command, options.create);
  command
      .add_option("--mode", options.mode,
                  "Of another account or table: upsert, create or skip, as for import")
      ->capture_default_str();
  add_other_account(command, options.to, "--to-");
  add_transfer_options(command, options.common, true);
  command.footer(
      "Examples:\n"
      "  orrery export shop/orders orders.ndjson.zst --checkpoint orders.checkpoint\n"
      "  orrery export shop/orders backup/ --format json --compression gzip\n"
      "  orrery export shop/orders prices.csv --columns id,sku,price\n"
      "  orrery export shop/orders - --query \"SELECT * FROM c WHERE c.year = 2024\" | wc -l\n"
      "  orrery export table:orders orders.ndjson --query \"PartitionKey eq 'Oslo'\"\n"
      "  ORRERY_TO_KEY=… orrery export shop/orders https://other.example.com/shop/orders --create "
      "\\\n"
      "      --partition-key /customer\n"
      "\n"
      "Ends with 0: complete; 1: failed; 2: complete, but records were rejected; 3: stopped by a\n"
      "signal, and the same command goes on from the checkpoint.");
}

int export_records(const ExportOptions& options) {
  if (client::looks_like_account_url(options.target) || is_table_name(options.target)) {
    ImportOptions between;
    between.command = "export";
    between.common = options.common;
    between.container = options.target;
    between.to = options.to;
    between.sources = {options.container};
    between.source_is_container = true;
    between.create = options.create;
    between.query = options.query;
    between.mode = options.mode;
    return import_records(between);
  }
  Summary summary;
  summary.command = "export";
  summary.to_standard_error = options.target == "-";
  return run_transfer(summary, options.common, [&](transfer::Progress& progress, Summary& told) {
    return export_to_files(options, progress, told);
  });
}

}  // namespace orrery::cli

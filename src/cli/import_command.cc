// See import_command.h.
#include "cli/import_command.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "transfer/bulk_writer.h"
#include "transfer/feed_source.h"
#include "transfer/file_source.h"
#include "transfer/pump.h"
#include "transfer/stop_signals.h"
#include "transfer/table_writer.h"

namespace orrery::cli {
namespace {

constexpr size_t kReadingConnections = 16;

// What is read, and the client that it is read with, if it is an account.
struct Source {
  std::unique_ptr<client::Client> client;
  std::unique_ptr<transfer::RecordSource> records;
  std::string text;
};

Result<Source> open_account(const ImportOptions& options) {
  auto place = find_place(options.sources.front(), options.common.server, options.from);
  if (!place) return pass(place.error());
  auto client = connect(*place, kReadingConnections);
  if (!client) return pass(client.error());
  auto feed = open_feed(**client, place->name, options.query);
  if (!feed) return pass(feed.error());
  return Source{.client = std::move(*client),
                .records = std::move(*feed),
                .text = place->text() + (options.query.empty() ? "" : " " + options.query)};
}

Result<Source> open_files(const ImportOptions& options, transfer::Progress& progress) {
  auto how = file_options(options.file);
  if (!how) return pass(how.error());
  std::vector<std::string> passed_over;
  auto files = transfer::expand_paths(options.sources, *how, passed_over);
  if (!files) return pass(files.error());
  for (const std::string& path : passed_over) {
    progress.say(fmt::format("passed over {}: its name says no format", path));
  }
  std::string text;
  for (const std::string& path : options.sources) text += (text.empty() ? "" : " ") + path;
  return Source{
      .client = nullptr,
      .records = std::make_unique<transfer::FileSource>(std::move(*files), std::move(*how)),
      .text = std::move(text)};
}

Result<Source> open_source(const ImportOptions& options, transfer::Progress& progress) {
  bool is_account = options.source_is_container;
  for (const std::string& source : options.sources) {
    is_account = is_account || client::looks_like_account_url(source) || is_table_name(source);
  }
  if (is_account && options.sources.size() > 1) {
    return fail(Code::invalid, "an account is read alone: name one source");
  }
  if (is_account && is_table_name(options.sources.front()) != is_table_name(options.container)) {
    return fail(Code::invalid,
                "entities of a table and items of a container are of different kinds: export the "
                "one to a file, give its records what the other needs, and import that");
  }
  if (is_account) return open_account(options);
  if (!options.query.empty()) {
    return fail(Code::invalid, "--query is for an account or a table as source, not for files");
  }
  return open_files(options, progress);
}

Result<transfer::MakeWriter> writer_into(client::Client& client, const client::ContainerName& name,
                                         transfer::WriteMode mode, const ImportOptions& options) {
  const size_t requests_max = options.common.in_flight;
  if (name.is_table()) {
    if (options.generate_ids) {
      return fail(Code::invalid,
                  "--generate-ids is for items: entities have a PartitionKey and a RowKey");
    }
    if (Status found = target_table(client, name.container, options.create); !found) {
      return pass(found.error());
    }
    return transfer::into_table(client, name.container, mode, requests_max);
  }
  auto container = target_container(client, name, options.create);
  if (!container) return pass(container.error());
  return transfer::bulk_into(client, std::move(*container), mode, requests_max);
}

Status import_into(const ImportOptions& options, transfer::Progress& progress, Summary& summary) {
  const TransferOptions& common = options.common;
  auto mode = transfer::parse_write_mode(options.mode);
  if (!mode) return pass(mode.error());
  auto place = find_place(options.container, common.server, options.to);
  if (!place) return pass(place.error());
  auto client = connect(*place, common.in_flight + 2);
  if (!client) return pass(client.error());
  auto writer = writer_into(**client, place->name, *mode, options);
  if (!writer) return pass(writer.error());
  auto source = open_source(options, progress);
  if (!source) return pass(source.error());

  transfer::PumpOptions how;
  how.what = fmt::format("{} {} into {} by {}", options.command, source->text, place->text(),
                         options.mode);
  how.checkpoint_path = common.checkpoint;
  how.rejects_path = rejects_path(common, place->name);
  how.generate_ids = options.generate_ids;
  how.rejects_max = options.max_rejects;
  how.stopped = transfer::stop_was_asked;
  auto pump = transfer::Pump::open(*source->records, **client, *writer, std::move(how), progress);
  if (!pump) return pass(pump.error());
  auto ending = (*pump)->run();
  summary.counts = (*pump)->counts();
  summary.charge = (*client)->counts().charge + source->records->charge();
  summary.throttled = (*pump)->throttled();
  summary.rejects = (*pump)->rejects_path();
  if (!ending) return pass(ending.error());
  if (*ending == transfer::Ending::stopped) {
    summary.exit = Exit::stopped;
    return {};
  }
  (*pump)->remove_checkpoint();
  summary.checkpoint.clear();
  summary.exit = summary.counts.rejected > 0 ? Exit::rejected : Exit::complete;
  summary.text = fmt::format("{} records into {}: {} written, {} there already, {} rejected",
                             transfer::with_commas(summary.counts.read), place->name.text(),
                             transfer::with_commas(summary.counts.written),
                             transfer::with_commas(summary.counts.present),
                             transfer::with_commas(summary.counts.rejected));
  return {};
}

}  // namespace

Result<transfer::FileOptions> file_options(const FileFormatOptions& given) {
  transfer::FileOptions options;
  if (!given.format.empty()) {
    auto format = transfer::parse_format(given.format);
    if (!format) return pass(format.error());
    options.format = *format;
  }
  if (!given.compression.empty()) {
    auto compression = transfer::parse_compression(given.compression);
    if (!compression) return pass(compression.error());
    options.compression = *compression;
  }
  auto csv = csv_options(given);
  if (!csv) return pass(csv.error());
  options.csv = std::move(*csv);
  return options;
}

Result<transfer::CsvOptions> csv_options(const FileFormatOptions& given) {
  transfer::CsvOptions csv;
  const std::string delimiter = given.delimiter == "tab" ? "\t" : given.delimiter;
  if (delimiter.size() != 1 || delimiter == "\"" || delimiter == "\n" || delimiter == "\r") {
    return fail(Code::invalid,
                fmt::format("'{}' is no delimiter: say one character, or tab", given.delimiter));
  }
  csv.delimiter = delimiter.front();
  csv.columns = given.columns;
  csv.nested = given.nested;
  for (const std::string& type : given.types) {
    if (Status added = transfer::add_type(csv, type); !added) return pass(added.error());
  }
  return csv;
}

void add_file_format_options(CLI::App& command, FileFormatOptions& options) {
  command.add_option("--format", options.format,
                     "json (an array), ndjson or csv [by the name of the file; else by its first "
                     "bytes]");
  command.add_option("--compression", options.compression,
                     "none, gzip or zstd [by the first bytes, or the name of a file that is "
                     "written]");
  command.add_option("--delimiter", options.delimiter, "Of CSV: between cells; or tab")
      ->capture_default_str();
  command
      .add_option("--columns", options.columns,
                  "Of CSV: the columns, separated by commas [the first record of the file]")
      ->delimiter(',');
  command.add_flag("--nested", options.nested,
                   "Of CSV: a column address.city is the property city of the object address");
}

void add_import_options(CLI::App& command, ImportOptions& options) {
  command.add_option("container", options.container, "DB/CONTAINER or table:NAME to write into")
      ->required();
  command
      .add_option(
          "source", options.sources,
          "Files, folders, - for standard input; https://HOST[:PORT]/DB/CONTAINER; or table:NAME "
          "into another table")
      ->required();
  add_create_options(command, options.create);
  add_file_format_options(command, options.file);
  command
      .add_option("--types", options.file.types,
                  "Of CSV: COLUMN=string, number, bool or json; may be repeated [by the cell]")
      ->delimiter(',');
  command
      .add_option("--mode", options.mode,
                  "upsert: replace what is there; create: reject what is there already; skip: "
                  "leave what is there")
      ->capture_default_str();
  command.add_option(
      "--query", options.query,
      "Of an account: only the items that this query gives, of each partition; of a table: "
      "only the entities of this $filter");
  command.add_flag("--generate-ids", options.generate_ids,
                   "Give an id to items without one: the same one when they are imported again");
  command.add_option("--max-rejects", options.max_rejects,
                     "Stop when more records than this are rejected [never]");
  add_other_account(command, options.from, "--from-");
  add_transfer_options(command, options.common, true);
  command.footer(
      "Examples:\n"
      "  orrery import shop/orders orders.ndjson.gz\n"
      "  orrery import shop/orders folder/ --create --partition-key /customer --throughput 4000\n"
      "  orrery import shop/orders prices.csv --types sku=string --checkpoint prices.checkpoint\n"
      "  zcat dump.gz | orrery import shop/orders - --format ndjson --json\n"
      "  orrery import table:orders orders.ndjson --create --throughput 4000\n"
      "  ORRERY_FROM_KEY=… orrery import shop/orders https://other.example.com/shop/orders\n"
      "\n"
      "Entities of tables are JSON with the types that JSON has not: \"n\":\"5\",\n"
      "\"n@odata.type\":\"Edm.Int64\". What export writes, import reads back exactly.\n"
      "\n"
      "Ends with 0: complete; 1: failed; 2: complete, but records were rejected; 3: stopped by a\n"
      "signal, and the same command goes on from the checkpoint.");
}

int import_records(const ImportOptions& options) {
  Summary summary;
  summary.command = options.command;
  return run_transfer(summary, options.common, [&](transfer::Progress& progress, Summary& told) {
    return import_into(options, progress, told);
  });
}

}  // namespace orrery::cli

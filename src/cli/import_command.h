// `orrery import`: files, standard input or another account into a container, or a table.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/transfer_place.h"
#include "transfer/file_source.h"
#include "transfer/format.h"

namespace orrery::cli {

// The options of files, which export has too.
struct FileFormatOptions {
  std::string format;       // json, ndjson, csv; empty: by the name or the first bytes
  std::string compression;  // none, gzip, zstd; empty: likewise
  std::string delimiter = ",";
  std::vector<std::string> columns;
  std::vector<std::string> types;
  bool nested = false;
};

struct ImportOptions {
  std::string_view command = "import";
  TransferOptions common;
  std::string container;
  std::vector<std::string> sources;
  bool source_is_container = false;  // of the server, though it is not written as an address
  OtherAccount from;
  OtherAccount to;  // if the container is written as an address
  CreateOptions create;
  FileFormatOptions file;
  std::string query;
  std::string mode = "upsert";
  bool generate_ids = false;
  std::optional<uint64_t> max_rejects;
};

Result<transfer::CsvOptions> csv_options(const FileFormatOptions& given);
Result<transfer::FileOptions> file_options(const FileFormatOptions& given);
void add_file_format_options(CLI::App& command, FileFormatOptions& options);
void add_import_options(CLI::App& command, ImportOptions& options);
// The process's exit code.
int import_records(const ImportOptions& options);

}  // namespace orrery::cli

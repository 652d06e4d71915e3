// See format.h.
#include "transfer/format.h"

#include <fmt/format.h>

namespace orrery::transfer {
namespace {

// Cuts `end` off; false when the text does not end like that.
bool cut(std::string_view& text, std::string_view end) {
  if (!text.ends_with(end)) return false;
  text.remove_suffix(end.size());
  return true;
}

}  // namespace

Result<Format> parse_format(std::string_view text) {
  if (text == "json") return Format::array;
  if (text == "ndjson" || text == "jsonl") return Format::ndjson;
  if (text == "csv") return Format::csv;
  return fail(Code::invalid,
              fmt::format("'{}' is no format: there are json (an array), ndjson and csv", text));
}

Result<Compression> parse_compression(std::string_view text) {
  if (text == "none") return Compression::none;
  if (text == "gzip") return Compression::gzip;
  if (text == "zstd") return Compression::zstd;
  return fail(Code::invalid,
              fmt::format("'{}' is no compression: there are none, gzip and zstd", text));
}

NamedForm form_of_name(std::string_view path) {
  NamedForm form;
  if (cut(path, ".gz")) {
    form.compression = Compression::gzip;
  } else if (cut(path, ".zst") || cut(path, ".zstd")) {
    form.compression = Compression::zstd;
  }
  if (path.ends_with(".json")) {
    form.format = Format::array;
  } else if (path.ends_with(".ndjson") || path.ends_with(".jsonl")) {
    form.format = Format::ndjson;
  } else if (path.ends_with(".csv")) {
    form.format = Format::csv;
  }
  return form;
}

std::string name_end(Format format, Compression compression) {
  std::string end = format == Format::array    ? ".json"
                    : format == Format::ndjson ? ".ndjson"
                                               : ".csv";
  if (compression == Compression::gzip) end += ".gz";
  if (compression == Compression::zstd) end += ".zst";
  return end;
}

Compression compression_of_bytes(std::string_view first) {
  if (first.starts_with("\x1f\x8b")) return Compression::gzip;
  if (first.starts_with("\x28\xb5\x2f\xfd")) return Compression::zstd;
  return Compression::none;
}

std::optional<Format> format_of_bytes(std::string_view first) {
  if (first.starts_with("\xef\xbb\xbf")) first.remove_prefix(3);
  const size_t at = first.find_first_not_of(" \t\r\n");
  if (at == std::string_view::npos) return std::nullopt;
  if (first[at] == '[') return Format::array;
  if (first[at] == '{') return Format::ndjson;
  return std::nullopt;
}

Status add_type(CsvOptions& options, std::string_view assignment) {
  const size_t equals = assignment.rfind('=');
  const std::string_view type =
      equals == std::string_view::npos ? std::string_view() : assignment.substr(equals + 1);
  CellType cell = CellType::detect;
  if (type == "string") {
    cell = CellType::string;
  } else if (type == "number") {
    cell = CellType::number;
  } else if (type == "bool") {
    cell = CellType::boolean;
  } else if (type == "json") {
    cell = CellType::json;
  } else {
    return fail(
        Code::invalid,
        fmt::format("'{}' is not COLUMN=TYPE with string, number, bool or json", assignment));
  }
  options.types.insert_or_assign(std::string(assignment.substr(0, equals)), cell);
  return {};
}

}  // namespace orrery::transfer

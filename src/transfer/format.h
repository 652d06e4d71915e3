// The formats and compressions of files, and how they are told from names and first bytes. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace orrery::transfer {

enum class Format : uint8_t { array, ndjson, csv };
enum class Compression : uint8_t { none, gzip, zstd };

// json, ndjson (or jsonl), csv; none, gzip, zstd.
Result<Format> parse_format(std::string_view text);
Result<Compression> parse_compression(std::string_view text);

// What a file's name says: orders.csv.gz. Nothing where it says nothing.
struct NamedForm {
  std::optional<Format> format;
  std::optional<Compression> compression;
};
NamedForm form_of_name(std::string_view path);
// The usual end of a name: ".ndjson.gz".
std::string name_end(Format format, Compression compression);

// By the first bytes, of which there are at least four unless the file is shorter.
Compression compression_of_bytes(std::string_view first);
// Of decompressed bytes: '[' is an array, '{' is ndjson. Nothing for anything else.
std::optional<Format> format_of_bytes(std::string_view first);

enum class CellType : uint8_t { detect, string, number, boolean, json };

struct CsvOptions {
  char delimiter = ',';
  std::vector<std::string> columns;       // of a file without a header; of an export: which ones
  std::map<std::string, CellType> types;  // by column; others are detected
  bool nested = false;                    // "address.city" is a property of the object "address"
};
// "price=number", of string, number, bool and json.
Status add_type(CsvOptions& options, std::string_view assignment);

// Of one record as it is in a file: more is passed over, and rejected. An item has at most 2 MB
// when it is minified; a file may have it with white space.
inline constexpr size_t kRecordBytesMax = 8ULL << 20;
inline constexpr size_t kItemBytesMax = 2ULL << 20;
// What is kept of a record that is too long.
inline constexpr size_t kExcerptBytes = 1'024;
inline constexpr size_t kColumnsMax = 10'000;

}  // namespace orrery::transfer

// See file_entry.h.
#include "volume/objects/file_entry.h"

#include <fmt/format.h>

#include "volume/objects/text_number.h"

namespace orrery::volume {
namespace {

// Takes a word off the front.
std::string_view next_word(std::string_view& text) {
  const size_t space = text.find(' ');
  const std::string_view word = text.substr(0, space);
  text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  return word;
}

bool decode_extents(std::string_view text, std::vector<std::optional<uint64_t>>& extents) {
  while (!text.empty()) {
    const std::string_view word = next_word(text);
    if (word == "open") {
      extents.emplace_back();
      continue;
    }
    const auto size = number_of<uint64_t>(word);
    if (!size) return false;
    extents.emplace_back(size);
  }
  return !extents.empty();
}

}  // namespace

std::string FileEntry::object(uint64_t number) const {
  return fmt::format("{}.{}", file, number);
}

std::string encode(const FileEntry& entry) {
  switch (entry.kind) {
    case FileEntry::Kind::inline_bytes:
      return fmt::format("inline {}\n{}", entry.made_s, entry.bytes);
    case FileEntry::Kind::stripes:
      return fmt::format("stripes {} {} {} {}", entry.made_s, entry.size, entry.file, entry.token);
    case FileEntry::Kind::log:
      break;
  }
  std::string out = fmt::format("log {} {}", entry.made_s, entry.file);
  for (const std::optional<uint64_t>& size : entry.extents) {
    out += size ? fmt::format(" {}", *size) : " open";
  }
  return out;
}

std::optional<FileEntry> decode_file_entry(std::string_view text) {
  FileEntry entry;
  const std::string_view kind = next_word(text);
  if (kind == "inline") {
    const size_t line_end = text.find('\n');
    if (line_end == std::string_view::npos) return std::nullopt;
    const auto made_s = number_of<int64_t>(text.substr(0, line_end));
    if (!made_s) return std::nullopt;
    entry.made_s = *made_s;
    entry.bytes = text.substr(line_end + 1);
    return entry;
  }
  const auto made_s = number_of<int64_t>(next_word(text));
  if (!made_s) return std::nullopt;
  entry.made_s = *made_s;
  if (kind == "stripes") {
    entry.kind = FileEntry::Kind::stripes;
    const auto size = number_of<uint64_t>(next_word(text));
    if (!size) return std::nullopt;
    entry.size = *size;
    entry.file = next_word(text);
    entry.token = next_word(text);
    if (entry.file.empty() || entry.token.empty() || !text.empty()) return std::nullopt;
    return entry;
  }
  if (kind != "log") return std::nullopt;
  entry.kind = FileEntry::Kind::log;
  entry.file = next_word(text);
  if (entry.file.empty() || !decode_extents(text, entry.extents)) return std::nullopt;
  return entry;
}

}  // namespace orrery::volume

// See manifest.h.
#include "backup/manifest.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "value/json.h"
#include "value/json_quoted.h"

namespace orrery::backup {
namespace {

using value::Node;
using value::Type;

std::string checksum_of(std::string_view text) {
  const auto hash = sha256(text);
  return to_hex_upper(std::string_view(reinterpret_cast<const char*>(hash.data()), hash.size()));
}

void append(std::string& json, const BackedUpPartition& one) {
  // 64-bit numbers that may be beyond what a double has are texts.
  json += fmt::format(
      R"({{"volume":{},"container":{},"range":{},"lsn":"{}","time":{},"sequence":"{}","exportedMs":{},"items":{},"bytes":{},"files":[)",
      value::quoted(one.volume_name), one.container, one.range, one.lsn, one.time_s, one.sequence,
      one.exported_ms, one.items, one.bytes);
  for (size_t i = 0; i < one.files.size(); ++i) {
    const BackedUpFile& file = one.files[i];
    json += fmt::format(R"({}{{"name":{},"size":{},"sha256":"{}")", i == 0 ? "" : ",",
                        value::quoted(file.name), file.size, file.sha256);
    if (!file.mark.empty()) json += fmt::format(R"(,"mark":"{}")", file.mark);
    json += '}';
  }
  json += "]}";
}

// Takes members out of an object; is_good() says whether all that were asked for were there.
class Members {
 public:
  explicit Members(const Node* object) : object_(object) {
    is_good_ = object != nullptr && object->type == Type::object;
  }
  bool is_good() const { return is_good_; }
  std::string text(std::string_view name) {
    const Node* member = find(name, Type::string);
    return member == nullptr ? std::string() : std::string(member->text);
  }
  uint64_t number(std::string_view name) {
    const Node* member = find(name, Type::number);
    if (member == nullptr) return 0;
    if (member->number < 0 || member->number > 9e15) {
      is_good_ = false;
      return 0;
    }
    return static_cast<uint64_t>(member->number);
  }
  uint64_t large(std::string_view name) {
    const std::string digits = text(name);
    uint64_t value = 0;
    for (const char c : digits) {
      if (c < '0' || c > '9' || value > (UINT64_MAX - 9) / 10) is_good_ = false;
      value = value * 10 + static_cast<uint64_t>(c - '0');
    }
    if (digits.empty()) is_good_ = false;
    return value;
  }
  std::string optional_text(std::string_view name) const {
    const Node* member = is_good_ ? object_->find(name) : nullptr;
    return member != nullptr && member->type == Type::string ? std::string(member->text)
                                                             : std::string();
  }
  const Node* list(std::string_view name) { return find(name, Type::array); }
  const Node* object(std::string_view name) { return find(name, Type::object); }

 private:
  const Node* find(std::string_view name, Type type) {
    const Node* member = is_good_ ? object_->find(name) : nullptr;
    if (member != nullptr && member->type == type) return member;
    is_good_ = false;
    return nullptr;
  }

  const Node* object_;
  bool is_good_;
};

// A name that stays in its directory.
bool is_plain(std::string_view name) {
  return !name.empty() && name.size() <= 255 && name != "." && name != ".." &&
         name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

bool decode(const Node* node, BackedUpPartition& into) {
  Members members(node);
  into.volume_name = members.text("volume");
  into.container = static_cast<uint32_t>(members.number("container"));
  into.range = static_cast<uint32_t>(members.number("range"));
  into.lsn = members.large("lsn");
  into.time_s = static_cast<int64_t>(members.number("time"));
  into.sequence = members.large("sequence");
  into.exported_ms = static_cast<int64_t>(members.number("exportedMs"));
  into.items = members.number("items");
  into.bytes = members.number("bytes");
  const Node* files = members.list("files");
  if (!members.is_good() || !is_plain(into.volume_name)) return false;
  for (const Node* one = files->first; one != nullptr; one = one->next) {
    Members file(one);
    BackedUpFile& read = into.files.emplace_back();
    read.name = file.text("name");
    read.size = file.number("size");
    read.sha256 = file.text("sha256");
    read.mark = file.optional_text("mark");
    if (!file.is_good() || !is_plain(read.name) || read.sha256.size() != 64 ||
        !is_plain(read.sha256)) {
      return false;
    }
  }
  return true;
}

}  // namespace

uint64_t Manifest::items() const {
  uint64_t all = 0;
  for (const BackedUpPartition& one : partitions) all += one.items;
  return all;
}

uint64_t Manifest::file_bytes() const {
  uint64_t all = 0;
  for (const BackedUpFile& file : catalog.files) all += file.size;
  for (const BackedUpPartition& one : partitions) {
    for (const BackedUpFile& file : one.files) all += file.size;
  }
  return all;
}

std::string encode(const Manifest& manifest) {
  std::string json =
      fmt::format(R"({{"format":{},"name":{},"program":{},"begunMs":{},"endedMs":{},"catalog":)",
                  kFormat, value::quoted(manifest.name), value::quoted(manifest.program),
                  manifest.begun_ms, manifest.ended_ms);
  append(json, manifest.catalog);
  json += R"(,"partitions":[)";
  for (size_t i = 0; i < manifest.partitions.size(); ++i) {
    if (i > 0) json += ',';
    append(json, manifest.partitions[i]);
  }
  json += "]}";
  const std::string hash = checksum_of(json);
  return json + '\n' + hash + '\n';
}

Result<Manifest> decode_manifest(std::string_view text) {
  const size_t end = text.find('\n');
  const std::string_view json = text.substr(0, end);
  if (end == std::string_view::npos || text.substr(end + 1) != checksum_of(json) + '\n') {
    return fail(Code::corrupt, "its checksum is wrong");
  }
  auto document = value::JsonDocument::parse(json);
  if (!document) return fail(Code::corrupt, document.error().message);
  Members members(&document->root());
  const uint64_t format = members.number("format");
  if (members.is_good() && format != kFormat) {
    return fail(Code::unsupported,
                fmt::format("it has format {}, and this program knows format {}: use the version "
                            "of the program that wrote it",
                            format, kFormat));
  }
  Manifest manifest;
  manifest.name = members.text("name");
  manifest.program = members.text("program");
  manifest.begun_ms = static_cast<int64_t>(members.number("begunMs"));
  manifest.ended_ms = static_cast<int64_t>(members.number("endedMs"));
  const Node* catalog = members.object("catalog");
  const Node* partitions = members.list("partitions");
  bool good = members.is_good() && decode(catalog, manifest.catalog);
  for (const Node* one = good ? partitions->first : nullptr; good && one != nullptr;
       one = one->next) {
    good = decode(one, manifest.partitions.emplace_back());
  }
  if (!good) return fail(Code::corrupt, "a member is missing, or is not what it should be");
  return manifest;
}

}  // namespace orrery::backup

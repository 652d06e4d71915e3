// See checkpoint.h.
#include "transfer/checkpoint.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/private_file.h"
#include "value/json_quoted.h"

namespace orrery::transfer {
namespace {

using value::Node;

constexpr int kVersion = 1;
constexpr uintmax_t kMaxFileBytes = 64ULL << 20;

uint64_t number(const Node* object, std::string_view name) {
  const Node* found = object == nullptr ? nullptr : object->find(name);
  return found != nullptr && found->type == value::Type::number && found->number >= 0
             ? static_cast<uint64_t>(found->number)
             : 0;
}

std::string text(const Node* object, std::string_view name) {
  const Node* found = object == nullptr ? nullptr : object->find(name);
  return found == nullptr ? std::string() : std::string(found->text);
}

}  // namespace

Result<std::optional<CheckpointFile::Saved>> CheckpointFile::read(const std::string& what) const {
  std::error_code error;
  if (path_.empty() || !std::filesystem::exists(path_, error)) return std::nullopt;
  if (std::filesystem::file_size(path_, error) > kMaxFileBytes || error) {
    return fail(Code::invalid, fmt::format("{} is no checkpoint", path_));
  }
  std::ifstream file(path_, std::ios::binary);
  const std::string json{std::istreambuf_iterator<char>(file), {}};
  auto document = value::JsonDocument::parse(json);
  const Node* root = document ? &document->root() : nullptr;
  const Node* position = root == nullptr ? nullptr : root->find("position");
  if (position == nullptr || text(root, "orrery") != "checkpoint" ||
      number(root, "version") != kVersion) {
    return fail(Code::invalid,
                fmt::format("{} is no checkpoint of this version: name another file", path_));
  }
  Checkpoint found;
  found.what = text(root, "what");
  if (found.what != what) {
    return fail(Code::invalid, fmt::format("the checkpoint {} is of another transfer: it is '{}', "
                                           "and this is '{}'. Name another file, or remove it",
                                           path_, found.what, what));
  }
  const Node* counts = root->find("counts");
  found.counts = {.read = number(counts, "read"),
                  .written = number(counts, "written"),
                  .present = number(counts, "present"),
                  .rejected = number(counts, "rejected"),
                  .removed = number(counts, "removed")};
  const Node* rejects = root->find("rejects");
  found.rejects_path = text(rejects, "path");
  found.rejects_bytes = number(rejects, "bytes");
  const Node* output = root->find("output");
  return Saved{.document = std::move(*document),
               .checkpoint = std::move(found),
               .position = position,
               .output = output};
}

Status CheckpointFile::write(const Checkpoint& checkpoint) const {
  const TransferCounts& counts = checkpoint.counts;
  std::string json = fmt::format(
      "{{\"orrery\":\"checkpoint\",\"version\":{},\"what\":{},\"position\":{},"
      "\"counts\":{{\"read\":{},\"written\":{},\"present\":{},\"rejected\":{},\"removed\":{}}},"
      "\"rejects\":{{\"path\":{},\"bytes\":{}}}",
      kVersion, value::quoted(checkpoint.what), checkpoint.position_json, counts.read,
      counts.written, counts.present, counts.rejected, counts.removed,
      value::quoted(checkpoint.rejects_path), checkpoint.rejects_bytes);
  if (!checkpoint.output_json.empty()) json += ",\"output\":" + checkpoint.output_json;
  json += "}\n";
  return write_private_file(path_, json);
}

void CheckpointFile::remove() const {
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove(path_, error);
}

}  // namespace orrery::transfer

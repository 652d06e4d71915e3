// See values.h.
#include "advise/values.h"

#include <fmt/format.h>

#include <bit>

#include "advise/sketches.h"
#include "base/bytes.h"
#include "value/json.h"

namespace orrery::advise {
namespace {

// Tags of the bytes that the placement hash reads (value/placement.cc).
constexpr char kNullTag = 0x01;
constexpr char kFalseTag = 0x02;
constexpr char kTrueTag = 0x03;
constexpr char kNumberTag = 0x05;
constexpr char kStringTag = 0x08;
constexpr char kStringEnd = '\xFF';

}  // namespace

Result<uint32_t> PathTable::add(std::string_view spelling) {
  auto path = value::parse_property_path(spelling);
  if (!path) return pass(std::move(path.error()));
  return add(std::move(*path), std::string(spelling));
}

uint32_t PathTable::add(const value::Path& path) {
  return add(path, to_string(path));
}

uint32_t PathTable::add(value::Path path, std::string spelling) {
  const auto next = static_cast<uint32_t>(paths_.size());
  const auto [at, added] = numbers_.try_emplace(to_string(path), next);
  if (added) paths_.push_back({std::move(path), std::move(spelling)});
  return at->second;
}

std::optional<uint32_t> PathTable::find(const value::Path& path) const {
  const auto found = numbers_.find(to_string(path));
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

std::string placement_bytes(const value::Node& node) {
  switch (node.type) {
    case value::Type::null:
      return {kNullTag};
    case value::Type::boolean:
      return {node.boolean ? kTrueTag : kFalseTag};
    case value::Type::number: {
      std::string out(9, kNumberTag);
      store_u64_le(out.data() + 1, node.number == 0 ? 0 : std::bit_cast<uint64_t>(node.number));
      return out;
    }
    case value::Type::string: {
      std::string out(1, kStringTag);
      out.append(node.text);
      out.push_back(kStringEnd);
      return out;
    }
    default:
      return {};
  }
}

std::optional<value::KeyPart> key_part(std::string_view bytes) {
  value::KeyPart part;
  if (bytes.empty()) return std::nullopt;
  if (bytes == kUndefinedBytes) return part;
  switch (bytes.front()) {
    case kNullTag:
      part.type = value::Type::null;
      return part;
    case kFalseTag:
    case kTrueTag:
      part.type = value::Type::boolean;
      part.boolean = bytes.front() == kTrueTag;
      return part;
    case kNumberTag:
      if (bytes.size() != 9) return std::nullopt;
      part.type = value::Type::number;
      part.number = std::bit_cast<double>(load_u64_le(bytes.data() + 1));
      return part;
    case kStringTag:
      if (bytes.size() < 2) return std::nullopt;
      part.type = value::Type::string;
      part.text = bytes.substr(1, bytes.size() - 2);
      return part;
    default:
      return std::nullopt;
  }
}

std::string value_text(std::string_view bytes) {
  const auto part = key_part(bytes);
  if (!part) return "?";
  switch (part->type) {
    case value::Type::null:
      return "null";
    case value::Type::boolean:
      return part->boolean ? "true" : "false";
    case value::Type::number: {
      std::string out;
      value::append_json_number(out, part->number);
      return out;
    }
    case value::Type::string:
      return part->text;
    default:
      return "(none)";
  }
}

Result<Marker> Marker::create(std::string_view secret) {
  auto key = account::HmacKey::create(secret);
  if (!key) return pass(std::move(key.error()));
  Marker marker;
  marker.key_ = std::make_shared<const account::HmacKey>(std::move(*key));
  return marker;
}

uint64_t Marker::mark(std::string_view bytes) const {
  if (key_ == nullptr) return hash_of(bytes);
  const auto digest = key_->sign(bytes);
  // Without memory for it: no plain hash, which would tell the value.
  return digest ? load_u64_be(digest->data()) : 0;
}

ValueTable::ValueTable(Marker marker) : marker_(std::move(marker)) {
  add_bytes(kUndefinedBytes);
  add_bytes(std::string_view(&kNullTag, 1));
}

uint32_t ValueTable::add_bytes(std::string_view bytes) {
  const uint32_t number = add_mark(marker_.mark(bytes));
  if (values_[number].bytes.empty()) values_[number].bytes = bytes;
  return number;
}

uint32_t ValueTable::add_mark(uint64_t mark) {
  const auto next = static_cast<uint32_t>(values_.size());
  const auto [at, added] = numbers_.try_emplace(mark, next);
  if (added) values_.push_back({.mark = mark, .bytes = {}});
  return at->second;
}

std::string ValueTable::text(uint32_t value) const {
  if (bytes(value).empty()) return fmt::format("mark {:016x}", mark(value));
  return value_text(bytes(value));
}

}  // namespace orrery::advise

// See placement.h. The hash forms are what clients compute by themselves, byte for byte.
//
//   part for hashing   00 undefined | 01 null | 02 false | 03 true |
//                      05 + double, little-endian, -0 as 0 |
//                      08 + UTF-8 + end (FF in V2; 00 in V1, whose strings are cut)
//   V1 key             hash as a V1 number, then each part as V1 value
//   V1 number          05, then the ordered bits of the double: the first 8, then 7 a byte with the
//                      lowest bit saying that more follow
//   V1 string          08, each byte + 1, 00
//   range part         01 undefined | 02 null | 03 + 00 or 01 | 04 + ordered number |
//                      05 + ordered bytes
#include "value/placement.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "base/bytes.h"
#include "base/hash.h"
#include "value/key_identity.h"
#include "value/ordered.h"

namespace orrery::value {

namespace {

__extension__ using u128 = unsigned __int128;

constexpr std::string_view kPlacementMax = "\xFF";
constexpr size_t kHashBytes = 16;
constexpr u128 kHashEnd = u128{1} << 126;  // hashes have their top two bits clear
constexpr uint64_t kHashEndV1 = uint64_t{1} << 32;
constexpr size_t kMaxTextUnitsV1 = 100;  // UTF-16 units of a string that V1 looks at
constexpr uint64_t kDoubleSignBit = uint64_t{1} << 63;

// Type tags, for hashing and in V1 values.
constexpr char kPlacedUndefined = 0x00;
constexpr char kPlacedNull = 0x01;
constexpr char kPlacedFalse = 0x02;
constexpr char kPlacedTrue = 0x03;
constexpr char kPlacedNumber = 0x05;
constexpr char kString = 0x08;

// For the types that are nothing but a tag.
char tag_of(const KeyPart& part) {
  switch (part.type) {
    case Type::null:
      return kPlacedNull;
    case Type::boolean:
      return part.boolean ? kPlacedTrue : kPlacedFalse;
    default:
      return kPlacedUndefined;
  }
}

void append_for_hashing(std::string& out, const KeyPart& part, std::string_view text, char end) {
  if (part.type == Type::number) {
    char bytes[8];
    store_u64_le(bytes, part.number == 0 ? 0 : std::bit_cast<uint64_t>(part.number));
    out.push_back(kPlacedNumber);
    out.append(bytes, sizeof bytes);
  } else if (part.type == Type::string) {
    out.push_back(kString);
    out.append(text);
    out.push_back(end);
  } else {
    out.push_back(tag_of(part));
  }
}

void append_hash_v2(std::string& out, std::string_view encoded) {
  auto hash = murmur3_x64_128(encoded, 0);
  std::ranges::reverse(hash);
  hash[0] &= 0x3F;
  out.append(reinterpret_cast<const char*>(hash.data()), hash.size());
}

// The first kMaxTextUnitsV1 UTF-16 units of valid UTF-8. A pair of surrogates that the cut
// divides becomes U+FFFD, as in the clients.
std::string cut_for_v1(std::string_view text) {
  size_t units = 0;
  size_t at = 0;
  while (at < text.size() && units < kMaxTextUnitsV1) {
    const auto lead = static_cast<uint8_t>(text[at]);
    const size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (size == 4 && units + 1 == kMaxTextUnitsV1) {
      return std::string(text.substr(0, at)) + "\xEF\xBF\xBD";
    }
    units += size == 4 ? 2 : 1;
    at += size;
  }
  return std::string(text.substr(0, at));
}

void append_number_v1(std::string& out, double number) {
  const auto raw = std::bit_cast<uint64_t>(number);
  uint64_t bits = (raw & kDoubleSignBit) == 0 ? raw ^ kDoubleSignBit : ~raw + 1;
  out.push_back(kPlacedNumber);
  out.push_back(static_cast<char>(bits >> 56));
  for (bits <<= 8; bits != 0; bits <<= 7) {
    const auto byte = static_cast<uint8_t>(bits >> 56 & 0xFE);
    const bool more = (bits << 7) != 0;
    out.push_back(static_cast<char>(byte | (more ? 1 : 0)));
  }
}

// The hash at the front of a V1 placement key, rounded down; 0 for the smallest key, the end of the
// space for the largest, nothing for bytes of another make.
std::optional<uint64_t> hash_of_v1(std::string_view key) {
  if (key.empty()) return 0;
  if (key.front() > kPlacedNumber || static_cast<uint8_t>(key.front()) >= 0x80) return kHashEndV1;
  if (key.front() != kPlacedNumber || key.size() < 2) return std::nullopt;
  uint64_t bits = uint64_t{static_cast<uint8_t>(key[1])} << 56;
  int shift = 56;
  for (size_t i = 2; i < key.size(); ++i) {
    const auto byte = static_cast<uint8_t>(key[i]);
    shift -= 7;
    const uint64_t seven = byte >> 1;
    bits |= shift >= 0 ? seven << shift : seven >> -shift;
    if ((byte & 1) == 0 || shift <= 0) break;
  }
  if ((bits & kDoubleSignBit) == 0) return std::nullopt;
  const auto number = std::bit_cast<double>(bits ^ kDoubleSignBit);
  if (!(number < static_cast<double>(kHashEndV1))) return kHashEndV1;
  return static_cast<uint64_t>(number);
}

std::string place_v1(const PartitionKey& key) {
  std::string encoded;
  std::string values;
  for (const KeyPart& part : key) {
    const std::string text = cut_for_v1(part.text);
    append_for_hashing(encoded, part, text, kPlacedUndefined);
    if (part.type == Type::number) {
      append_number_v1(values, part.number);
    } else if (part.type == Type::string) {
      values.push_back(kString);
      for (const char c : text) values.push_back(static_cast<char>(static_cast<uint8_t>(c) + 1));
      values.push_back('\0');
    } else {
      values.push_back(tag_of(part));
    }
  }
  std::string out;
  append_number_v1(out, murmur3_x86_32(encoded, 0));
  return out + values;
}

void append_range_part(std::string& out, const KeyPart& part) {
  out.push_back(static_cast<char>(static_cast<uint8_t>(part.type) + 1));
  if (part.type == Type::boolean) {
    out.push_back(part.boolean ? '\1' : '\0');
  } else if (part.type == Type::number) {
    append_ordered_number(out, part.number);
  } else if (part.type == Type::string) {
    append_ordered_bytes(out, part.text);
  }
}

// The effective key, for range placement the whole placement key.
std::string effective_key_of(Placement placement, const PartitionKey& key) {
  std::string out;
  if (placement == Placement::hash_v1) return place_v1(key);
  if (placement == Placement::range) {
    for (const KeyPart& part : key) append_range_part(out, part);
    return out;
  }
  std::string encoded;
  for (const KeyPart& part : key) {
    append_for_hashing(encoded, part, part.text, '\xFF');
    if (placement == Placement::multi_hash) {
      append_hash_v2(out, encoded);
      encoded.clear();
    }
  }
  if (placement == Placement::hash_v2) append_hash_v2(out, encoded);
  return out;
}

// The first 16 bytes as a number; what is missing counts as 0.
u128 hash_of_v2(std::string_view key) {
  u128 value = 0;
  for (size_t i = 0; i < kHashBytes; ++i) {
    value = value << 8 | (i < key.size() ? static_cast<uint8_t>(key[i]) : 0);
  }
  return std::min(value, kHashEnd);
}

std::string boundary_v2(u128 hash) {
  std::string out(kHashBytes, '\0');
  store_u64_be(out.data(), static_cast<uint64_t>(hash >> 64));
  store_u64_be(out.data() + 8, static_cast<uint64_t>(hash));
  return out;
}

std::string boundary_v1(uint64_t hash) {
  std::string out;
  append_number_v1(out, static_cast<double>(hash));
  return out;
}

}  // namespace

Result<PartitionKey> extract_key(const Node& item, const KeyDefinition& definition) {
  PartitionKey key;
  if (definition.paths.empty()) {
    key.emplace_back();
    return key;
  }
  key.reserve(definition.paths.size());
  for (const Path& path : definition.paths) {
    const Node* node = find(item, path);
    KeyPart part;
    // An object counts as missing: so clients say of the items they send.
    if (node != nullptr && node->type != Type::object) {
      if (node->type == Type::array) {
        return fail(Code::invalid, "the partition key " + to_string(path) +
                                       " is an array: it must be a string, a number, a boolean, "
                                       "null, or missing");
      }
      part.type = node->type;
      part.boolean = node->boolean;
      part.number = node->number;
      part.text = node->text;
    }
    key.push_back(std::move(part));
  }
  return key;
}

std::string place(const KeyDefinition& definition, const PartitionKey& key) {
  if (definition.paths.empty()) return effective_key_of(definition.placement, PartitionKey(1));
  std::string out = effective_key_of(definition.placement, key);
  switch (definition.placement) {
    case Placement::hash_v1:
      out += identity_digest(key);
      break;
    case Placement::hash_v2:
    case Placement::multi_hash:
      for (const KeyPart& part : key) append_identity(out, part);
      break;
    case Placement::range:
      break;
  }
  return out;
}

KeyScope place_prefix(const KeyDefinition& definition, const PartitionKey& prefix) {
  const bool has_levels =
      definition.placement == Placement::multi_hash || definition.placement == Placement::range;
  KeyScope scope;
  if (!has_levels || prefix.size() >= definition.paths.size()) {
    scope.min = place(definition, prefix);
    scope.max = scope.min + '\0';
  } else if (prefix.empty()) {
    scope.min = placement_min();
    scope.max = placement_max();
  } else {
    scope.min = effective_key_of(definition.placement, prefix);
    scope.max = after_prefix(scope.min);
    if (definition.placement == Placement::multi_hash) {
      scope.only = {.identity_at = kHashBytes * definition.paths.size(),
                    .levels = identity_of(prefix)};
    }
  }
  return scope;
}

std::string_view effective_key(const KeyDefinition& definition, std::string_view placement) {
  if (definition.paths.empty()) return placement;
  switch (definition.placement) {
    case Placement::hash_v1:
      return placement.substr(0, placement.size() - std::min(placement.size(), kDigestBytes));
    case Placement::hash_v2:
      return placement.substr(0, kHashBytes);
    case Placement::multi_hash:
      return placement.substr(0, kHashBytes * definition.paths.size());
    case Placement::range:
      break;
  }
  return placement;
}

std::string_view placement_min() {
  return {};
}
std::string_view placement_max() {
  return kPlacementMax;
}

std::vector<std::string> divide_evenly(Placement placement, uint32_t count) {
  std::vector<std::string> boundaries;
  if (placement == Placement::range || count == 0) return boundaries;
  boundaries.reserve(count - 1);
  // Multiples of one width, which is rounded down, of the largest hash and not of the end of the
  // space: fifths begin at 0CCC…C, 1999…8, as clients expect. The last range has what
  // the others leave.
  for (uint32_t i = 1; i < count; ++i) {
    boundaries.push_back(placement == Placement::hash_v1 ? boundary_v1((kHashEndV1 - 1) / count * i)
                                                         : boundary_v2((kHashEnd - 1) / count * i));
  }
  return boundaries;
}

std::string middle_of(Placement placement, std::string_view min, std::string_view max) {
  std::string middle;
  if (placement == Placement::range || !(min < max)) return middle;
  if (placement == Placement::hash_v1) {
    const auto low = hash_of_v1(min);
    const auto high = hash_of_v1(max);
    if (!low || !high || *high < *low + 2) return middle;
    middle = boundary_v1(*low + (*high - *low) / 2);
  } else {
    const u128 low = hash_of_v2(min);
    const u128 high = hash_of_v2(max);
    if (high < low + 2) return middle;
    middle = boundary_v2(low + (high - low) / 2);
  }
  if (!(min < middle && middle < max)) middle.clear();
  return middle;
}

std::string to_json(const PartitionKey& key) {
  std::string out = "[";
  for (const KeyPart& part : key) {
    if (out.size() > 1) out.push_back(',');
    switch (part.type) {
      case Type::null:
        out.append("null");
        break;
      case Type::boolean:
        out.append(part.boolean ? "true" : "false");
        break;
      case Type::number:
        append_json_number(out, part.number);
        break;
      case Type::string:
        append_json_string(out, part.text);
        break;
      default:
        out.append("{}");  // as the clients write a missing value
        break;
    }
  }
  out.push_back(']');
  return out;
}

}  // namespace orrery::value

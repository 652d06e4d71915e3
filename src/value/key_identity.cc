// See key_identity.h.
#include "value/key_identity.h"

#include <bit>
#include <cstdint>

#include "base/bytes.h"
#include "base/hash.h"

namespace orrery::value {
namespace {

constexpr char kUndefined = 0x01;
constexpr char kNull = 0x02;
constexpr char kFalse = 0x03;
constexpr char kTrue = 0x04;
constexpr char kNumber = 0x10;
constexpr char kText = 0x20;
constexpr char kLongText = 0x40;
constexpr char kUuid = 0x41;
constexpr size_t kTextMax = kDigestBytes;

void append_digest(std::string& out, std::string_view bytes) {
  const auto digest = sha256(bytes);
  out.append(reinterpret_cast<const char*>(digest.data()), kDigestBytes);
}

// The digits of a UUID in its usual form; empty for any other text.
std::string uuid_digits(std::string_view text) {
  constexpr size_t kUuidText = 36;
  std::string digits;
  if (text.size() != kUuidText) return digits;
  digits.reserve(32);
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (c != '-') return {};
    } else if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')) {
      digits.push_back(c);
    } else {
      return {};
    }
  }
  return digits;
}

void append_escaped(std::string& out, std::string_view text) {
  if (text.size() <= kTextMax) {
    out.push_back(static_cast<char>(kText + text.size()));
    out.append(text);
  } else if (const std::string digits = uuid_digits(text); !digits.empty()) {
    out.push_back(kUuid);
    out.append(*from_hex(digits));
  } else {
    out.push_back(kLongText);
    append_digest(out, text);
  }
}

void append_number(std::string& out, double number) {
  const uint64_t bits = number == 0 ? 0 : std::bit_cast<uint64_t>(number);
  char bytes[8];
  store_u64_be(bytes, bits);
  const size_t size = bits == 0 ? 0 : sizeof bytes - std::countr_zero(bits) / 8;
  out.push_back(static_cast<char>(kNumber + size));
  out.append(bytes, size);
}

}  // namespace

void append_identity(std::string& out, const KeyPart& part) {
  switch (part.type) {
    case Type::null:
      out.push_back(kNull);
      return;
    case Type::boolean:
      out.push_back(part.boolean ? kTrue : kFalse);
      return;
    case Type::number:
      append_number(out, part.number);
      return;
    case Type::string:
      append_escaped(out, part.text);
      return;
    default:
      out.push_back(kUndefined);
  }
}

std::string identity_of(const PartitionKey& key) {
  std::string out;
  for (const KeyPart& part : key) append_identity(out, part);
  return out;
}

std::string identity_digest(const PartitionKey& key) {
  std::string out;
  append_digest(out, identity_of(key));
  return out;
}

}  // namespace orrery::value

// Taking resource ids apart and putting them together: see rid.h for their bytes. Reading refuses
// any spelling that writing would not give.
#include "api/cosmos/wire/rid.h"

#include <array>
#include <cassert>
#include <optional>

#include "base/bytes.h"

namespace orrery::cosmos {
namespace {

// The value of a character of a resource id's text.
uint64_t digit_of(char c) {
  const uint64_t code = static_cast<uint8_t>(c);
  if (c >= 'A' && c <= 'Z') return code - 'A';
  if (c >= 'a' && c <= 'z') return code - 'a' + 26;
  if (c >= '0' && c <= '9') return code - '0' + 52;
  return c == '+' ? 62 : 63;
}

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
constexpr uint32_t kContainerBit = 0x80000000U;
constexpr size_t kMaxRidBytes = 20;
constexpr uint8_t kEncryptionKeyNibble = 0x2;  // in a database, not in a container
constexpr uint8_t kConflictNibble = 0x4;
constexpr uint8_t kRangeNibble = 0x5;
constexpr uint8_t kFunctionNibble = 0x6;
constexpr uint8_t kTriggerNibble = 0x7;
constexpr uint8_t kProcedureNibble = 0x8;

void append_encoded(std::string& out, const uint8_t* bytes, size_t size) {
  const size_t start = out.size();
  out.resize(start + (size + 2) / 3 * 4, '=');
  char* to = out.data() + start;
  auto digit = [](uint32_t bits) { return kDigits[bits & 63]; };
  size_t at = 0;
  for (; at + 3 <= size; at += 3) {
    const uint32_t group = uint32_t{bytes[at]} << 16 | uint32_t{bytes[at + 1]} << 8 | bytes[at + 2];
    *to++ = digit(group >> 18);
    *to++ = digit(group >> 12);
    *to++ = digit(group >> 6);
    *to++ = digit(group);
  }
  if (size - at == 1) {
    const uint32_t group = uint32_t{bytes[at]} << 16;
    *to++ = digit(group >> 18);
    *to++ = digit(group >> 12);
  } else if (size - at == 2) {
    const uint32_t group = uint32_t{bytes[at]} << 16 | uint32_t{bytes[at + 1]} << 8;
    *to++ = digit(group >> 18);
    *to++ = digit(group >> 12);
    *to++ = digit(group >> 6);
  }
}

void put_container(uint8_t* to, uint32_t database, uint32_t container) {
  assert(database != 0 && "clients take a zero for no database");
  assert(container < kContainerBit);
  store_u32_be(to, database);
  store_u32_be(to + 4, container | kContainerBit);
}

std::string encoded(const uint8_t* bytes, size_t size) {
  std::string out;
  append_encoded(out, bytes, size);
  return out;
}

std::string offer_rid(uint32_t number) {
  assert(number <= kMaxOfferNumber);
  const std::array<uint8_t, 3> bytes = {static_cast<uint8_t>(number),
                                        static_cast<uint8_t>(number >> 8),
                                        static_cast<uint8_t>(number >> 16)};
  return encoded(bytes.data(), bytes.size());
}

struct RidBytes {
  std::array<uint8_t, kMaxRidBytes + 4> bytes{};
  size_t size = 0;
};

// The bytes of a text that has the one spelling of them.
std::optional<RidBytes> decoded(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0 || text.size() > (kMaxRidBytes + 2) / 3 * 4) {
    return std::nullopt;
  }
  RidBytes out;
  uint32_t bits = 0;
  int held = 0;
  const size_t digits = text.size() - (text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0);
  for (const char c : text.substr(0, digits)) {
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    held += 6;
    if (held >= 8) {
      held -= 8;
      out.bytes[out.size++] = static_cast<uint8_t>(bits >> held);
      bits &= (1U << held) - 1;
    }
  }
  if (bits != 0) return std::nullopt;  // a second spelling of the same bytes
  return out;
}

// The kind of a 16-byte form in a container; of an attachment, that of its item.
std::optional<RidKind> kind_in_container(uint8_t nibble) {
  switch (nibble) {
    case 0x0:
      return RidKind::item;
    case kProcedureNibble:
      return RidKind::stored_procedure;
    case kTriggerNibble:
      return RidKind::trigger;
    case kFunctionNibble:
      return RidKind::user_function;
    case kConflictNibble:
      return RidKind::conflict;
    case kRangeNibble:
      return RidKind::partition_range;
    default:
      return std::nullopt;
  }
}

// What is in a database and in no container, by its size and last byte.
std::optional<RidKind> kind_in_database(const Rid& rid, const RidBytes& from) {
  if (from.size == 8) return RidKind::user;
  if (from.size == 20) return std::nullopt;
  const bool of_user = rid.container != 0 || from.bytes[15] >> 4 != kEncryptionKeyNibble;
  return of_user ? RidKind::permission : RidKind::client_encryption_key;
}

std::optional<Rid> read_rid(const RidBytes& from) {
  const auto& [bytes, size] = from;
  Rid rid;
  if (size == 3) {
    rid.kind = RidKind::offer;
    rid.offer = bytes[0] | uint32_t{bytes[1]} << 8 | uint32_t{bytes[2]} << 16;
    return rid;
  }
  if (size != 4 && size != 8 && size != 16 && size != 20) return std::nullopt;
  rid.database = load_u32_be(bytes.data());
  if (rid.database == 0) return std::nullopt;
  if (size == 4) return rid;

  const uint32_t second = load_u32_be(bytes.data() + 4);
  const bool in_container = (second & kContainerBit) != 0;
  rid.container = second & ~kContainerBit;
  if (size >= 16) rid.child = load_u64_be(bytes.data() + 8);
  const std::optional<RidKind> kind = !in_container ? kind_in_database(rid, from)
                                      : size == 8   ? RidKind::container
                                                    : kind_in_container(bytes[15] >> 4);
  if (!kind) return std::nullopt;
  rid.kind = *kind;
  if (size == 20) {
    if (rid.kind != RidKind::item) return std::nullopt;
    rid.kind = RidKind::attachment;
    rid.attachment = load_u32_be(bytes.data() + 16);
  }
  return rid;
}

std::unexpected<Error> not_a_rid(std::string_view text) {
  return fail(Code::invalid, "\"" + std::string(text.substr(0, 64)) +
                                 "\" is not a resource id: use the _rid of the resource as the "
                                 "server returned it.");
}

}  // namespace

uint32_t Rid::range_id() const {
  if (kind == RidKind::partition_range) return static_cast<uint32_t>(child >> 8);
  return static_cast<uint32_t>(child >> (8 + kRidNumberBits));
}

uint64_t Rid::item_number() const {
  return (child >> 8) & ((uint64_t{1} << kRidNumberBits) - 1);
}

uint32_t Rid::number() const {
  if (kind == RidKind::user) return container;
  if (kind == RidKind::attachment) return attachment;
  return child >> 40 == 0 ? static_cast<uint32_t>(child >> 8) : 0;
}

void append_database_rid(std::string& out, uint32_t database) {
  assert(database != 0 && "clients take a zero for no database");
  std::array<uint8_t, 4> bytes;
  store_u32_be(bytes.data(), database);
  append_encoded(out, bytes.data(), bytes.size());
}

void append_container_rid(std::string& out, uint32_t database, uint32_t container) {
  std::array<uint8_t, 8> bytes;
  put_container(bytes.data(), database, container);
  append_encoded(out, bytes.data(), bytes.size());
}

void append_item_rid(std::string& out, uint32_t database, uint32_t container, uint32_t range_id,
                     uint64_t number) {
  assert(range_id < (1U << kRidRangeBits));
  assert(number < (uint64_t{1} << kRidNumberBits));
  std::array<uint8_t, 16> bytes;
  put_container(bytes.data(), database, container);
  store_u64_be(bytes.data() + 8, (uint64_t{range_id} << kRidNumberBits | number) << 8);
  append_encoded(out, bytes.data(), bytes.size());
}

std::string database_rid(uint32_t database) {
  std::string out;
  append_database_rid(out, database);
  return out;
}

std::string container_rid(uint32_t database, uint32_t container) {
  std::string out;
  append_container_rid(out, database, container);
  return out;
}

std::string item_rid(uint32_t database, uint32_t container, uint32_t range_id, uint64_t number) {
  std::string out;
  append_item_rid(out, database, container, range_id, number);
  return out;
}

std::string row_rid(uint32_t database, uint32_t container, uint32_t number) {
  assert(number < 1U << 31);
  std::array<uint8_t, 16> bytes;
  put_container(bytes.data(), database, container);
  store_u32_be(bytes.data() + 8, number);
  // The lowest three bits do not fit again: the last byte has four bits for its kind. Read
  // backwards, the byte that has them comes next.
  store_u32_le(bytes.data() + 12, number >> 3);
  return encoded(bytes.data(), bytes.size());
}

std::string pkrange_rid(uint32_t database, uint32_t container, uint32_t id) {
  std::array<uint8_t, 16> bytes;
  put_container(bytes.data(), database, container);
  store_u64_be(bytes.data() + 8, uint64_t{id} << 8 | kRangeNibble << 4);
  return encoded(bytes.data(), bytes.size());
}

std::string resource_rid(RidKind kind, uint32_t database, uint32_t owner, uint32_t number) {
  std::array<uint8_t, 16> bytes;
  if (kind == RidKind::user || kind == RidKind::permission) {
    const uint32_t user = kind == RidKind::user ? number : owner;
    assert(database != 0 && user < kContainerBit);
    store_u32_be(bytes.data(), database);
    store_u32_be(bytes.data() + 4, user);
    if (kind == RidKind::user) return encoded(bytes.data(), 8);
    store_u64_be(bytes.data() + 8, uint64_t{number} << 8);
    return encoded(bytes.data(), bytes.size());
  }
  if (kind == RidKind::client_encryption_key) {
    assert(database != 0);
    store_u32_be(bytes.data(), database);
    store_u32_be(bytes.data() + 4, 0);
    store_u64_be(bytes.data() + 8, uint64_t{number} << 8 | kEncryptionKeyNibble << 4);
    return encoded(bytes.data(), bytes.size());
  }
  const uint8_t nibble = kind == RidKind::stored_procedure ? kProcedureNibble
                         : kind == RidKind::trigger        ? kTriggerNibble
                                                           : kFunctionNibble;
  assert(nibble != kFunctionNibble || kind == RidKind::user_function);
  put_container(bytes.data(), database, owner);
  store_u64_be(bytes.data() + 8, uint64_t{number} << 8 | nibble << 4);
  return encoded(bytes.data(), bytes.size());
}

std::string attachment_rid(std::string_view item_rid, uint32_t number) {
  const auto item = parse_rid(item_rid);
  assert(item && item->kind == RidKind::item);
  std::array<uint8_t, 20> bytes{};
  if (item) {
    put_container(bytes.data(), item->database, item->container);
    store_u64_be(bytes.data() + 8, item->child);
  }
  store_u32_be(bytes.data() + 16, number);
  return encoded(bytes.data(), bytes.size());
}

std::string database_offer_rid(uint32_t database) {
  return offer_rid(database * 2);
}
std::string container_offer_rid(uint32_t container) {
  return offer_rid(container * 2 + 1);
}

OfferOwner offer_owner(const Rid& offer) {
  return {.is_container = (offer.offer & 1) != 0, .number = offer.offer / 2};
}

std::string database_self(uint32_t database) {
  std::string out = "dbs/";
  append_database_rid(out, database);
  out += '/';
  return out;
}

std::string container_self(uint32_t database, uint32_t container) {
  std::string out = "dbs/";
  append_database_rid(out, database);
  out += "/colls/";
  append_container_rid(out, database, container);
  out += '/';
  return out;
}

void append_item_self(std::string& out, uint32_t database, uint32_t container, uint32_t range_id,
                      uint64_t number) {
  out += "dbs/";
  append_database_rid(out, database);
  out += "/colls/";
  append_container_rid(out, database, container);
  out += "/docs/";
  append_item_rid(out, database, container, range_id, number);
  out += '/';
}

Result<Rid> parse_rid(std::string_view text) {
  const std::optional<RidBytes> bytes = decoded(text);
  if (!bytes) return not_a_rid(text);
  const std::optional<Rid> rid = read_rid(*bytes);
  if (!rid) return not_a_rid(text);
  return *rid;
}

uint64_t ItemAge::operator()(std::string_view item_json) {
  // The last one is the system's own: what a user calls so is before it, or inside something.
  constexpr std::string_view kName = ",\"_rid\":\"";
  constexpr size_t kCharacters = 24;  // of 16 bytes
  const size_t size = item_json.size();
  size_t at = from_end_ <= size ? size - from_end_ : size;
  if (item_json.substr(at, kName.size()) != kName) {
    at = item_json.rfind(kName);
    if (at == std::string_view::npos) return 0;
    from_end_ = size - at;
  }
  const std::string_view rid = item_json.substr(at + kName.size(), kCharacters);
  if (rid.size() != kCharacters || !rid.ends_with("==")) return 0;
  // The last 8 bytes: the lower two bits of the character at 10, those up to 20, and two of the
  // next.
  uint64_t child = 0;
  for (size_t i = 10; i <= 20; ++i) child = child << 6 | digit_of(rid[i]);
  return child << 2 | digit_of(rid[21]) >> 4;
}

}  // namespace orrery::cosmos

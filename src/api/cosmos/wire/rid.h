// Resource ids as the Cosmos DB clients know them. A client takes them apart (to find the container
// of an item, to follow a partition range), so they must be genuine.
//
//   database        4 bytes  number, big-endian
//   container       8 bytes  database, container number with its high bit set
//   item           16 bytes  container, u64 = (range id << 36 | number) << 8
//   row            16 bytes  container, u32 = number, u32 little-endian = number >> 3
//   range          16 bytes  container, u64 = id << 8 | 50
//   script         16 bytes  container, u64 = number << 8 | 80 (procedure), 70 (trigger), 60
//                            (function)
//   user            8 bytes  database, number without the high bit
//   permission     16 bytes  user, u64 = number << 8
//   encryption key 16 bytes  database, 4 bytes 0, u64 = number << 8 | 20
//   attachment     20 bytes  item, u32 = number
//   offer           3 bytes  number, little-endian
// In the 16-byte forms of a container the high nibble of the last byte tells the kind (conflicts
// have their own and are only recognised here). The text is padded base64 in which
// `/` is written `-`, and each id has exactly one spelling.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery::cosmos {

enum class RidKind : uint8_t {
  database,
  container,
  item,
  partition_range,
  stored_procedure,
  trigger,
  user_function,
  conflict,
  user,
  permission,
  client_encryption_key,
  attachment,
  offer,
};

inline constexpr int kRidRangeBits = 20;
inline constexpr int kRidNumberBits = 36;
inline constexpr uint32_t kMaxOfferNumber = (1U << 24) - 1;

struct Rid {
  RidKind kind = RidKind::database;
  uint32_t database = 0;
  uint32_t container = 0;  // without the high bit; a user's number for users and permissions
  uint64_t child = 0;      // the last 8 bytes of a 16-byte form
  uint32_t offer = 0;
  uint32_t attachment = 0;  // the last 4 bytes of a 20-byte form

  // Of an item: the range that made it, and its number there. Of a partition range: its id.
  uint32_t range_id() const;
  uint64_t item_number() const;
  // Of a user, a permission, a script and so on: its number in the catalog; 0 if no number is that
  // large.
  uint32_t number() const;
  bool operator==(const Rid&) const = default;
};

std::string database_rid(uint32_t database);
std::string container_rid(uint32_t database, uint32_t container);
std::string item_rid(uint32_t database, uint32_t container, uint32_t range_id, uint64_t number);
// A resource id that encodes the number of a row among its ties (tie_rids.h), below 2^31. Clients
// compare the last 8 bytes as one integer, big-endian (Java) or little-endian (JavaScript, .NET):
// this encoding has the same order either way. It has the form of an item's id, and is the id of
// none.
std::string row_rid(uint32_t database, uint32_t container, uint32_t number);
std::string pkrange_rid(uint32_t database, uint32_t container, uint32_t id);
// Of a user or an encryption key (whose owner is the database), a permission (its user), a script
// (its container).
std::string resource_rid(RidKind kind, uint32_t database, uint32_t owner, uint32_t number);
// `item_rid` is that of the item.
std::string attachment_rid(std::string_view item_rid, uint32_t number);

// An offer belongs to a database or to a container; its number says which.
std::string database_offer_rid(uint32_t database);
std::string container_offer_rid(uint32_t container);
struct OfferOwner {
  bool is_container = false;
  uint32_t number = 0;  // of the database or of the container
};
OfferOwner offer_owner(const Rid& offer);

// The same, put at the end of a string: for the writers of items.
void append_database_rid(std::string& out, uint32_t database);
void append_container_rid(std::string& out, uint32_t database, uint32_t container);
void append_item_rid(std::string& out, uint32_t database, uint32_t container, uint32_t range_id,
                     uint64_t number);

// `dbs/{rid}/`, `dbs/{rid}/colls/{rid}/`, `dbs/{rid}/colls/{rid}/docs/{rid}/`
std::string database_self(uint32_t database);
std::string container_self(uint32_t database, uint32_t container);
void append_item_self(std::string& out, uint32_t database, uint32_t container, uint32_t range_id,
                      uint64_t number);

// What a string is, if it is a resource id at all (Code::invalid otherwise).
Result<Rid> parse_rid(std::string_view text);

// A number that increases with the items that a range creates, read from the _rid in an item's
// JSON; 0 without one. The items of a page are alike, so it first looks where it found the last
// _rid.
class ItemAge {
 public:
  uint64_t operator()(std::string_view item_json);

 private:
  size_t from_end_ = 0;  // where the last one was found, in bytes before the end
};

}  // namespace orrery::cosmos

// The bytes of a partition: keys and records of each column family. Pure. docs/formats/partition.md
// says the same in prose.
//
//   items    ordered(placement) row            → item header (44 bytes), body
//   terms    term ordered(placement) row       → nothing
//   changes  lsn (8) range (4) step (2),       → ordered(placement) row: the item whose newest
//            all big-endian                      write this is (an older write's entry goes when
//                                                the item is written again)
//   history  lsn (8) range (4) step (2)        → a write: see history_entry.h
//   default  'm'                               → partition record
//            's' ordered(placement)            → bytes (8), items (8), key text
//            'u' ordered(placement) index(1) value → row that has this unique value
//            'd' version (4, big-endian)       → definition that the terms of this version are by
//            'h' version (4) hash (8), both big-endian → shape that items of this version have
//            'p' ordered(placement)            → LSN (8) of the purge of these items
//            'n' ordered(owner) number (8) part (4) placement, both big-endian → note: see note.h
//
// Fixed-width integers in values are little-endian. ordered() is value::append_ordered_bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "partition/item.h"
#include "partition/time_order.h"
#include "value/terms.h"

namespace orrery::partition {

inline constexpr uint32_t kFormatVersion = 8;

std::string item_key(std::string_view placement, std::string_view row);
Result<ItemKey> parse_item_key(std::string_view key);

// The first key that items of a placement can have. All items with placement in the range [min,
// max) have keys in [items_from(min), items_from(max)).
std::string items_from(std::string_view placement);

// What comes before its body.
inline constexpr size_t kItemHeaderBytes = 44;
using ItemHeader = std::array<char, kItemHeaderBytes>;
ItemHeader encode_header(const Item& item);
std::string encode_item(const Item& item);
Result<Item> decode_item(std::string_view value);
// The same without a copy of the body, which is left a part of `value`.
Result<Item> decode_item(std::string_view value, std::string_view& body);

// With the range that took the write: partitions that were merged gave the same LSNs.
std::string change_key(const Version& version);
// The first key that the changes of an LSN can have.
std::string change_key(uint64_t lsn);

std::string size_key(std::string_view placement);
std::string unique_key(std::string_view placement, size_t index, std::string_view value);
// The first key that unique values of `placement` and those after it can have.
std::string unique_range(std::string_view placement);

std::string purge_key(std::string_view placement);
inline constexpr std::string_view kPurges = "p";  // what their keys start with
std::string encode_purge(uint64_t lsn);
Result<uint64_t> decode_purge(std::string_view value);

struct LogicalSize {
  uint64_t bytes = 0;
  uint64_t items = 0;
  std::string key_text;  // the partition key as people write it
};
std::string encode_size(const LogicalSize& size);
Result<LogicalSize> decode_size(std::string_view value);

inline constexpr uint64_t kNoHistory = UINT64_MAX;

// Of the placements in [min, max) the history has every write after this LSN, and not before: what
// a partition that was merged had forgotten, or never kept.
struct HistoryFloor {
  std::string min;
  std::string max;
  uint64_t after = 0;
  bool operator==(const HistoryFloor&) const = default;
};
// More are drawn together (merged_record.h).
inline constexpr size_t kHistoryFloorsMax = 32;

// The state of the partition itself; written with every commit.
struct PartitionRecord {
  uint32_t format = kFormatVersion;
  uint32_t range = 0;
  uint64_t lsn = 0;     // of the newest commit
  uint32_t time_s = 0;  // of the newest commit
  uint64_t bytes = 0;   // of the items in [min, max)
  uint64_t items = 0;
  uint64_t made = 0;           // items that were ever made here, those that are gone included
  bool trimmed = true;         // false: the files still hold what is outside [min, max)
  uint32_t index_version = 0;  // of the newest index rules that a write came with
  bool indexed = true;         // every item has the terms of those rules
  std::string min;
  std::string max;
  // The history has every write after this LSN. kNoHistory: it has none.
  uint64_t history_after = kNoHistory;
  TimeOrder time_order;
  std::vector<HistoryFloor> history_floors;  // all above history_after

  // The history of placements in [from, to) has every write after this LSN.
  uint64_t history_from(std::string_view from, std::string_view to) const;
};
inline constexpr std::string_view kRecordKey = "m";
std::string encode_record(const PartitionRecord& record);
Result<PartitionRecord> decode_record(std::string_view value);

std::string definition_key(uint32_t index_version);
std::string encode_definition(const value::IndexDefinition& definition);
Result<value::IndexDefinition> decode_definition(std::string_view value);
std::string shape_key(uint32_t index_version, uint64_t hash);
inline constexpr std::string_view kDefinitions = "d";  // what their keys start with
inline constexpr std::string_view kShapes = "h";

// The placement key in a term's key, to tell whether it is in range. The term is skipped over.
Result<std::string> placement_of_term(std::string_view term_key);

}  // namespace orrery::partition

// See format.h.
#include "partition/format.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "value/ordered.h"

namespace orrery::partition {
namespace {

constexpr uint8_t kItemFormat = 2;

std::unexpected<Error> damaged(std::string_view what) {
  return fail(Code::corrupt, fmt::format("a stored {} does not have the form it should", what));
}

void append_u32(std::string& out, uint32_t number) {
  char bytes[4];
  store_u32_le(bytes, number);
  out.append(bytes, sizeof bytes);
}

void append_u64_le(std::string& out, uint64_t number) {
  char bytes[8];
  store_u64_le(bytes, number);
  out.append(bytes, sizeof bytes);
}

void append_u32_be(std::string& out, uint32_t number) {
  char bytes[4];
  store_u32_be(bytes, number);
  out.append(bytes, sizeof bytes);
}

void append_text(std::string& out, std::string_view text) {
  append_u32(out, static_cast<uint32_t>(text.size()));
  out += text;
}

// Takes fixed-width fields off the front; `ok` turns false when the input is too short.
struct Reader {
  std::string_view in;
  bool ok = true;

  uint32_t u32() {
    if (in.size() < 4) return ok = false, 0;
    uint32_t number = load_u32_le(in.data());
    in.remove_prefix(4);
    return number;
  }
  uint64_t u64() {
    if (in.size() < 8) return ok = false, 0;
    uint64_t number = load_u64_le(in.data());
    in.remove_prefix(8);
    return number;
  }
  std::string text() {
    uint32_t size = u32();
    if (!ok || in.size() < size) return ok = false, "";
    std::string bytes(in.substr(0, size));
    in.remove_prefix(size);
    return bytes;
  }
};

}  // namespace

std::string item_key(std::string_view placement, std::string_view row) {
  std::string key;
  key.reserve(placement.size() + row.size() + 4);
  value::append_ordered_bytes(key, placement);
  key += row;
  return key;
}

Result<ItemKey> parse_item_key(std::string_view key) {
  auto placement = value::take_ordered_bytes(key);
  if (!placement) return pass(placement.error());
  return ItemKey{std::move(*placement), std::string(key)};
}

std::string items_from(std::string_view placement) {
  std::string key;
  value::append_ordered_bytes(key, placement);
  return key;
}

// header: format (1), kind of expiry (1), step (2), time of expiry (8), lsn (8), time (4), range
// (4), origin number (8), origin range (4), index version (4).
ItemHeader encode_header(const Item& item) {
  ItemHeader header;
  char* at = header.data();
  at[0] = static_cast<char>(kItemFormat);
  at[1] = static_cast<char>(item.expiry.kind);
  store_u16_be(at + 2, item.version.step);
  store_u64_le(at + 4, static_cast<uint64_t>(item.expiry.time_ms));
  store_u64_le(at + 12, item.version.lsn);
  store_u32_le(at + 20, item.version.time_s);
  store_u32_le(at + 24, item.version.range);
  store_u64_le(at + 28, item.origin.number);
  store_u32_le(at + 36, item.origin.range);
  store_u32_le(at + 40, item.index_version);
  return header;
}

std::string encode_item(const Item& item) {
  const ItemHeader header = encode_header(item);
  std::string out;
  out.reserve(header.size() + item.body.size());
  return out.append(header.data(), header.size()).append(item.body);
}

Result<Item> decode_item(std::string_view stored) {
  std::string_view body;
  auto item = decode_item(stored, body);
  if (item) item->body = body;
  return item;
}

Result<Item> decode_item(std::string_view stored, std::string_view& body) {
  if (stored.size() < kItemHeaderBytes || stored[0] != static_cast<char>(kItemFormat) ||
      stored[1] < 0 || stored[1] > static_cast<char>(Expiry::Kind::never)) {
    return damaged("item");
  }
  const char* at = stored.data();
  Item item;
  item.expiry = {static_cast<Expiry::Kind>(at[1]), static_cast<int64_t>(load_u64_le(at + 4))};
  item.version = {load_u64_le(at + 12), load_u32_le(at + 20), load_u32_le(at + 24),
                  load_u16_be(at + 2)};
  item.origin = {load_u32_le(at + 36), load_u64_le(at + 28)};
  item.index_version = load_u32_le(at + 40);
  body = stored.substr(kItemHeaderBytes);
  return item;
}

std::string change_key(uint64_t lsn) {
  return change_key(Version{.lsn = lsn});
}

std::string change_key(const Version& version) {
  std::string key;
  value::append_u64(key, version.lsn);
  char bytes[6];
  store_u32_be(bytes, version.range);
  store_u16_be(bytes + 4, version.step);
  return key.append(bytes, sizeof bytes);
}

std::string size_key(std::string_view placement) {
  std::string key = "s";
  value::append_ordered_bytes(key, placement);
  return key;
}

std::string unique_range(std::string_view placement) {
  std::string key = "u";
  value::append_ordered_bytes(key, placement);
  return key;
}

std::string unique_key(std::string_view placement, size_t index, std::string_view unique_value) {
  std::string key = unique_range(placement);
  key += static_cast<char>(index);
  key += unique_value;
  return key;
}

std::string purge_key(std::string_view placement) {
  std::string key(kPurges);
  value::append_ordered_bytes(key, placement);
  return key;
}

std::string encode_purge(uint64_t lsn) {
  std::string out;
  append_u64_le(out, lsn);
  return out;
}

Result<uint64_t> decode_purge(std::string_view stored) {
  Reader reader{stored};
  const uint64_t lsn = reader.u64();
  if (!reader.ok || !reader.in.empty()) return damaged("purge");
  return lsn;
}

std::string encode_size(const LogicalSize& size) {
  std::string out;
  append_u64_le(out, size.bytes);
  append_u64_le(out, size.items);
  out += size.key_text;
  return out;
}

Result<LogicalSize> decode_size(std::string_view stored) {
  Reader reader{stored};
  LogicalSize size;
  size.bytes = reader.u64();
  size.items = reader.u64();
  if (!reader.ok) return damaged("logical partition size");
  size.key_text = reader.in;
  return size;
}

std::string encode_record(const PartitionRecord& record) {
  std::string out;
  append_u32(out, record.format);
  append_u32(out, record.range);
  append_u64_le(out, record.lsn);
  append_u32(out, record.time_s);
  append_u64_le(out, record.bytes);
  append_u64_le(out, record.items);
  append_u64_le(out, record.made);
  append_u32(out, record.trimmed ? 1 : 0);
  append_u32(out, record.index_version);
  append_u32(out, record.indexed ? 1 : 0);
  append_text(out, record.min);
  append_text(out, record.max);
  append_u64_le(out, record.history_after);
  append_u64_le(out, record.time_order.until);
  append_u32(out, record.time_order.until_s);
  append_u64_le(out, record.time_order.from);
  append_u32(out, record.time_order.from_s);
  append_u32(out, static_cast<uint32_t>(record.history_floors.size()));
  for (const HistoryFloor& floor : record.history_floors) {
    append_text(out, floor.min);
    append_text(out, floor.max);
    append_u64_le(out, floor.after);
  }
  return out;
}

Result<PartitionRecord> decode_record(std::string_view stored) {
  Reader reader{stored};
  PartitionRecord record;
  record.format = reader.u32();
  if (reader.ok && record.format == 0) return damaged("partition record");
  if (reader.ok && record.format != kFormatVersion) {
    return fail(
        Code::corrupt,
        fmt::format("the partition was written by {} version of this program (its format is {}, "
                    "this one reads {}): use that version, or start with an empty data folder",
                    record.format > kFormatVersion ? "a newer" : "an older", record.format,
                    kFormatVersion));
  }
  record.range = reader.u32();
  record.lsn = reader.u64();
  record.time_s = reader.u32();
  record.bytes = reader.u64();
  record.items = reader.u64();
  record.made = reader.u64();
  record.trimmed = reader.u32() != 0;
  record.index_version = reader.u32();
  record.indexed = reader.u32() != 0;
  record.min = reader.text();
  record.max = reader.text();
  record.history_after = reader.u64();
  record.time_order.until = reader.u64();
  record.time_order.until_s = reader.u32();
  record.time_order.from = reader.u64();
  record.time_order.from_s = reader.u32();
  const uint32_t floors = reader.u32();
  if (floors > kHistoryFloorsMax) reader.ok = false;
  for (uint32_t i = 0; i < floors && reader.ok; ++i) {
    HistoryFloor& floor = record.history_floors.emplace_back();
    floor.min = reader.text();
    floor.max = reader.text();
    floor.after = reader.u64();
  }
  if (!reader.ok || !reader.in.empty()) return damaged("partition record");
  return record;
}

uint64_t PartitionRecord::history_from(std::string_view from, std::string_view to) const {
  uint64_t after = history_after;
  for (const HistoryFloor& floor : history_floors) {
    if (floor.max > from && floor.min < to) after = std::max(after, floor.after);
  }
  return after;
}

std::string definition_key(uint32_t index_version) {
  std::string key(kDefinitions);
  append_u32_be(key, index_version);
  return key;
}

std::string shape_key(uint32_t index_version, uint64_t hash) {
  std::string key(kShapes);
  append_u32_be(key, index_version);
  value::append_u64(key, hash);
  return key;
}

std::string encode_definition(const value::IndexDefinition& definition) {
  std::string out;
  append_u32(out, static_cast<uint32_t>(definition.rules.size()));
  for (const value::IndexRule& rule : definition.rules) {
    append_text(out, to_string(rule.path));
    append_u32(out, rule.include ? 1 : 0);
  }
  append_u32(out, static_cast<uint32_t>(definition.always.size()));
  for (const value::Path& path : definition.always) append_text(out, to_string(path));
  append_u32(out, static_cast<uint32_t>(definition.composites.size()));
  for (const value::CompositeIndex& composite : definition.composites) {
    append_u32(out, static_cast<uint32_t>(composite.parts.size()));
    for (const value::CompositeIndex::Part& part : composite.parts) {
      append_text(out, to_string(part.path));
      append_u32(out, part.descending ? 1 : 0);
    }
  }
  append_u32(out, static_cast<uint32_t>(definition.spatial.size()));
  for (const value::IndexPath& path : definition.spatial) append_text(out, to_string(path));
  append_u32(out, definition.order == value::ValueOrder::typed ? 1 : 0);
  return out;
}

Result<value::IndexDefinition> decode_definition(std::string_view stored) {
  Reader reader{stored};
  value::IndexDefinition definition;
  for (uint32_t left = reader.u32(); left > 0 && reader.ok; --left) {
    auto path = value::parse_index_path(reader.text());
    const bool include = reader.u32() != 0;
    if (!path) return damaged("index definition");
    definition.rules.push_back({.path = std::move(*path), .include = include});
  }
  for (uint32_t left = reader.u32(); left > 0 && reader.ok; --left) {
    auto path = value::parse_property_path(reader.text());
    if (!path) return damaged("index definition");
    definition.always.push_back(std::move(*path));
  }
  for (uint32_t left = reader.u32(); left > 0 && reader.ok; --left) {
    value::CompositeIndex& composite = definition.composites.emplace_back();
    for (uint32_t parts = reader.u32(); parts > 0 && reader.ok; --parts) {
      auto path = value::parse_property_path(reader.text());
      const bool descending = reader.u32() != 0;
      if (!path) return damaged("index definition");
      composite.parts.push_back({.path = std::move(*path), .descending = descending});
    }
  }
  for (uint32_t left = reader.u32(); left > 0 && reader.ok; --left) {
    auto path = value::parse_index_path(reader.text());
    if (!path) return damaged("index definition");
    definition.spatial.push_back(std::move(*path));
  }
  const uint32_t order = reader.u32();
  if (order > 1) return damaged("index definition");
  definition.order = order == 1 ? value::ValueOrder::typed : value::ValueOrder::json;
  if (!reader.ok || !reader.in.empty()) return damaged("index definition");
  return definition;
}

Result<std::string> placement_of_term(std::string_view term_key) {
  auto size = value::term_size(term_key);
  if (!size) return pass(size.error());
  term_key.remove_prefix(*size);
  return value::take_ordered_bytes(term_key);
}

}  // namespace orrery::partition

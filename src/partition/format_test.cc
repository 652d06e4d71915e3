// Round trips and the exact bytes of keys and records, and that damaged ones are refused.
#include "partition/format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "value/ordered.h"
#include "value/terms.h"

namespace orrery::partition {
namespace {

using namespace std::string_literals;

Item some_item() {
  return Item{.version = {.lsn = 0x1122334455667788,
                          .time_s = 0x99AABBCC,
                          .range = 0xDDEEFF01,
                          .step = 0x0708},
              .origin = {.range = 0x01020304, .number = 0x1011121314151617},
              .expiry = {.kind = Expiry::Kind::at, .time_ms = 0x3132333435363738},
              .index_version = 0x21222324,
              .body = "{\"a\":1}"};
}

TEST(ItemKey, ReadsBackAndKeepsTheOrderOfPlacementThenRow) {
  std::mt19937 random(2);
  auto bytes = [&] {
    std::string out(random() % 5, '\0');
    for (char& c : out) c = "\x00\x01\x7F\xFF"[random() % 4];
    return out;
  };
  std::vector<std::pair<std::string, std::string>> pairs;
  for (int i = 0; i < 500; ++i) pairs.emplace_back(bytes(), bytes());
  for (const auto& [placement, row] : pairs) {
    auto parsed = parse_item_key(item_key(placement, row));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed, (ItemKey{placement, row}));
    // Everything of one placement lies between its own start and that of the next placement.
    EXPECT_GE(item_key(placement, row), items_from(placement));
    EXPECT_LT(item_key(placement, row), items_from(placement + '\0'));
  }
  auto by_key = pairs;
  std::ranges::sort(pairs);
  std::ranges::sort(by_key, {}, [](const auto& pair) { return item_key(pair.first, pair.second); });
  EXPECT_EQ(by_key, pairs);
}

TEST(ItemKey, DamagedBytesAreRefused) {
  for (const std::string& key : {""s, "abc"s, "abc\x00"s, "abc\x00\x02row"s}) {
    auto parsed = parse_item_key(key);
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().code, Code::corrupt);
  }
}

TEST(ItemRecord, ReadsBack) {
  Item item = some_item();
  for (const Expiry& expiry : {Expiry{}, Expiry{.kind = Expiry::Kind::never},
                               Expiry{.kind = Expiry::Kind::at, .time_ms = INT64_MAX},
                               Expiry{.kind = Expiry::Kind::by_default, .time_ms = -1}}) {
    item.expiry = expiry;
    auto decoded = decode_item(encode_item(item));
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->version, item.version);
    EXPECT_EQ(decoded->origin, item.origin);
    EXPECT_EQ(decoded->expiry, item.expiry);
    EXPECT_EQ(decoded->index_version, item.index_version);
    EXPECT_EQ(decoded->body, item.body);
  }
}

TEST(ItemRecord, HasTheDocumentedBytes) {
  EXPECT_EQ(encode_item(some_item()),
            "\x02\x01\x07\x08"s
            "\x38\x37\x36\x35\x34\x33\x32\x31"s
            "\x88\x77\x66\x55\x44\x33\x22\x11"s
            "\xCC\xBB\xAA\x99\x01\xFF\xEE\xDD"s
            "\x17\x16\x15\x14\x13\x12\x11\x10"s
            "\x04\x03\x02\x01\x24\x23\x22\x21"s
            "{\"a\":1}");
}

TEST(ItemRecord, DamagedBytesAreRefused) {
  const std::string good = encode_item(some_item());
  for (size_t size = 0; size < 44; ++size) {
    auto decoded = decode_item(good.substr(0, size));
    ASSERT_FALSE(decoded) << size;
    EXPECT_EQ(decoded.error().code, Code::corrupt);
  }
  std::string unknown = good;
  unknown[0] = 3;
  EXPECT_EQ(decode_item(unknown).error().code, Code::corrupt);
  std::string expiry = good;
  for (const char kind : {'\x03', '\xFF'}) {
    expiry[1] = kind;
    EXPECT_EQ(decode_item(expiry).error().code, Code::corrupt);
  }
}

TEST(SizeRecord, ReadsBackAndRefusesDamage) {
  const LogicalSize size{.bytes = 1ULL << 40, .items = 12, .key_text = "[\"Redmond\"]"};
  const std::string good = encode_size(size);
  auto decoded = decode_size(good);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->bytes, size.bytes);
  EXPECT_EQ(decoded->items, size.items);
  EXPECT_EQ(decoded->key_text, size.key_text);
  for (size_t bytes = 0; bytes < 16; ++bytes) {
    EXPECT_EQ(decode_size(good.substr(0, bytes)).error().code, Code::corrupt);
  }
}

PartitionRecord some_record() {
  PartitionRecord record;
  record.range = 3;
  record.lsn = 1ULL << 50;
  record.time_s = 1'700'000'000;
  record.bytes = 77;
  record.items = 8;
  record.made = 1ULL << 33;
  record.trimmed = false;
  record.min = "a\0b"s;
  record.max = "\xFF";
  record.history_after = 9;
  record.history_floors = {{.min = "a\0b"s, .max = "m", .after = 12}};
  record.time_order = {.until = 4, .until_s = 5, .from = 1ULL << 40, .from_s = 1'700'000'001};
  return record;
}

TEST(PartitionRecord, ReadsBack) {
  const PartitionRecord record = some_record();
  auto decoded = decode_record(encode_record(record));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->format, kFormatVersion);
  EXPECT_EQ(decoded->range, record.range);
  EXPECT_EQ(decoded->lsn, record.lsn);
  EXPECT_EQ(decoded->time_s, record.time_s);
  EXPECT_EQ(decoded->bytes, record.bytes);
  EXPECT_EQ(decoded->items, record.items);
  EXPECT_EQ(decoded->made, record.made);
  EXPECT_EQ(decoded->trimmed, record.trimmed);
  EXPECT_EQ(decoded->min, record.min);
  EXPECT_EQ(decoded->max, record.max);
  EXPECT_EQ(decoded->history_after, record.history_after);
  EXPECT_EQ(decoded->time_order, record.time_order);
  EXPECT_EQ(decoded->history_floors, record.history_floors);
}

TEST(PartitionRecord, DamagedBytesAreRefused) {
  const std::string good = encode_record(some_record());
  for (size_t size = 0; size < good.size(); ++size) {
    auto decoded = decode_record(good.substr(0, size));
    ASSERT_FALSE(decoded) << size;
    EXPECT_EQ(decoded.error().code, Code::corrupt);
  }
  EXPECT_EQ(decode_record(good + "x").error().code, Code::corrupt);
  PartitionRecord newer = some_record();
  newer.format = kFormatVersion + 1;
  auto decoded = decode_record(encode_record(newer));
  ASSERT_FALSE(decoded);
  EXPECT_NE(decoded.error().message.find("newer version"), std::string::npos);
  newer.format = kFormatVersion - 1;
  decoded = decode_record(encode_record(newer));
  ASSERT_FALSE(decoded);
  EXPECT_NE(decoded.error().message.find("older version"), std::string::npos);
  newer.format = 0;
  EXPECT_EQ(decode_record(encode_record(newer)).error().code, Code::corrupt);
}

TEST(TermEntry, PlacementIsFoundBehindEveryKindOfTerm) {
  const std::string long_text(5'000, 'x');
  auto json = value::JsonDocument::parse(
      "{\"a\":null,\"b\":true,\"c\":[1,-2.5,{\"d\\u0000e\":\"t\"}]"
      ",\"f\":\"" +
      long_text + "\",\"g\":\"\",\"h\":{}}");
  ASSERT_TRUE(json);
  const std::string key = item_key("pla\0ce"s, "row");
  int terms = 0;
  value::IndexPolicy::everything().each_term(json->root(), [&](std::string_view term) {
    ++terms;
    auto placement = placement_of_term(std::string(term) + key);
    ASSERT_TRUE(placement) << terms;
    EXPECT_EQ(*placement, "pla\0ce"s);
    EXPECT_FALSE(placement_of_term(term)) << "an entry without a key";
  });
  EXPECT_EQ(terms, 10);
}

TEST(LedgerKeys, OfOnePlacementLieBetweenItsBounds) {
  for (std::string_view placement : {"", "a", "a\x01", "b"}) {
    const std::string next = std::string(placement) + '\0';
    EXPECT_LT(size_key(placement), size_key(next));
    for (size_t index : {size_t{0}, size_t{255}}) {
      EXPECT_GE(unique_key(placement, index, "\xFF\xFF"), unique_range(placement));
      EXPECT_LT(unique_key(placement, index, "\xFF\xFF"), unique_range(next));
    }
  }
}

}  // namespace
}  // namespace orrery::partition

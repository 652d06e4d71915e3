// Batches in HybridRow: what is read of each field, what is refused, and the bytes of results.
#include "api/cosmos/wire/hybrid_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "api/cosmos/wire/test_hybrid_rows.h"
#include "base/bytes.h"

namespace orrery::cosmos {
namespace {

using test::counted;
using test::record;
using test::row_of;
using test::segment;
using test::u32;
using ::testing::HasSubstr;

std::string sparse_text(char field, std::string_view text) {
  return std::string({20, field}) + counted(text);
}

// The one operation of a stream that has only it.
BatchOperation parsed(const std::string& body) {
  auto batch = parse_hybrid_batch(body, Limits{});
  EXPECT_TRUE(batch) << (batch ? "" : batch.error().message);
  if (!batch || batch->size() != 1) return {};
  return batch->front();
}

std::string refusal(const std::string& body) {
  auto batch = parse_hybrid_batch(body, Limits{});
  if (batch) return "accepted";
  EXPECT_EQ(batch.error().code, Code::invalid);
  return batch.error().message;
}

TEST(HybridBatch, ReadsEveryKindOfOperation) {
  const std::string item = R"({"id":"a"})";
  const std::string body = segment() + record(row_of({.type = 0, .body = item})) +
                           record(row_of({.type = 1, .id = "p", .body = "{}"})) +
                           record(row_of({.type = 2, .id = "r"})) +
                           record(row_of({.type = 4, .key = "[\"k\"]", .id = "d"})) +
                           record(row_of({.type = 5, .id = "a", .body = item})) +
                           record(row_of({.type = 20, .body = item}));
  auto batch = parse_hybrid_batch(body, Limits{});
  ASSERT_TRUE(batch) << batch.error().message;
  ASSERT_EQ(batch->size(), 6U);
  const std::vector<ItemVerb> verbs = {ItemVerb::create, ItemVerb::patch,   ItemVerb::read,
                                       ItemVerb::remove, ItemVerb::replace, ItemVerb::upsert};
  for (size_t i = 0; i < verbs.size(); ++i) {
    EXPECT_EQ((*batch)[i].request.verb, verbs[i]) << i;
    EXPECT_FALSE((*batch)[i].minimal);
  }
  EXPECT_EQ((*batch)[0].request.body, item);
  EXPECT_EQ((*batch)[0].request.key, "");
  EXPECT_EQ((*batch)[1].request.id, "p");
  EXPECT_EQ((*batch)[3].request.key, "[\"k\"]");
  EXPECT_EQ((*batch)[3].request.id, "d");
}

TEST(HybridBatch, ReadsSparseFieldsByNumberAndByName) {
  // What is parsed borrows from the body.
  const std::string numbered =
      segment() + record(row_of({.type = 4,
                                 .id = "a",
                                 .sparse = sparse_text(8, "Exclude") + sparse_text(9, "x") +
                                           sparse_text(9, "y") + std::string({7, 11}) + u32(60) +
                                           std::string({3, 12})}));
  const BatchOperation by_number = parsed(numbered);
  EXPECT_EQ(by_number.request.if_match, "y");
  EXPECT_TRUE(by_number.minimal);
  const std::string name = "ifNoneMatch";
  const std::string named =
      segment() + record(row_of({.type = 2,
                                 .id = "a",
                                 .sparse = std::string({20, static_cast<char>(13 + name.size())}) +
                                           name + counted("\"e\"") + std::string({2, 12})}));
  const BatchOperation by_name = parsed(named);
  EXPECT_EQ(by_name.request.if_none_match, "\"e\"");
  EXPECT_FALSE(by_name.minimal);
}

TEST(HybridBatch, ReadsLongBodiesAndSkipsWhatASegmentAdds) {
  const std::string item = R"({"id":"a","text":")" + std::string(70'000, 'x') + "\"}";
  const std::string one = record(row_of({.type = 20, .body = item}));
  EXPECT_EQ(parsed(segment(sparse_text(2, "a comment")) + one).request.body, item);
  EXPECT_EQ(parsed(segment() + one + segment()).request.body, item);
}

TEST(HybridBatch, RefusesWhatIsCutShortAtEveryByte) {
  const std::string body =
      segment() +
      record(row_of({.type = 4, .key = "[1]", .id = "a", .sparse = sparse_text(9, "e")}));
  ASSERT_TRUE(parse_hybrid_batch(body, Limits{}));
  for (size_t size = 0; size < body.size(); ++size) {
    EXPECT_NE(refusal(body.substr(0, size)), "accepted") << size;
  }
  // The same for rows whose CRC is right.
  const std::string row =
      row_of({.type = 5, .id = "a", .body = "{}", .sparse = sparse_text(9, "e")});
  const size_t whole_at = row.size() - 4;  // without the sparse field it is whole
  for (size_t size = 0; size < row.size(); ++size) {
    const bool accepted = refusal(segment() + record(row.substr(0, size))) == "accepted";
    EXPECT_EQ(accepted, size == whole_at) << size;
  }
}

TEST(HybridBatch, RefusesADamagedByteAnywhere) {
  const std::string body = segment() + record(row_of({.type = 2, .id = "abc"}));
  for (size_t at = 0; at < body.size(); ++at) {
    std::string damaged = body;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    if (at == 5) continue;  // other bits of a segment's presence are about fields that are skipped
    EXPECT_NE(refusal(damaged), "accepted") << at;
  }
}

TEST(HybridBatch, SaysWhatIsWrong) {
  const auto one = [](const std::string& row) { return segment() + record(row); };
  const std::string row = row_of({.type = 2, .id = "a"});
  std::string other_schema = row;
  other_schema[1] = 7;
  std::string other_resource = row;
  other_resource[10] = 3;
  std::string without_type = row;
  without_type[5] = 0x12;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {segment(), "no operations"},
      {record(row), "where a segment or a record begins"},
      {"\x81" + u32(2147473648) + std::string(1, '\0') + u32(10), "does not say how long"},
      {"\x81" + u32(2147473648) + "\x01" + u32(9), "does not say how long"},
      {segment() + "\x81" + u32(2147473649) + u32(0x7FFFFFFF) + u32(0),
       "longer than what was sent"},
      {one(other_schema), "of the schema"},
      {one(other_resource), "resourceType"},
      {one(without_type), "operationType null"},
      {one(row_of({.type = 3, .id = "a"})), "operationType 3"},
      {one(row_of({.type = 2})), "has no id"},
      {one(row_of({.type = 0})), "has no resourceBody"},
      {one(row_of({.type = 1, .id = "a"})), "has no resourceBody"},
      {one(row.substr(0, 14) + std::string(12, '\xFF')), "longer than its row"},
      {one(row + std::string({13, 11, 1})), "of type 13"},
      {one(row + std::string({7, 12}) + u32(1)), "minimalReturnPreference"},
      {one(row + sparse_text(5, "b")), "not one of"},
      {one(row + sparse_text(0, "b")), "not one of"},
      {one(row + std::string({20, 14, 'z'}) + counted("b")), "not one of"},
      {one(row + sparse_text(9, "e").substr(0, 3)), "longer than its row"},
  };
  for (const auto& [body, words] : cases) {
    EXPECT_THAT(refusal(body), HasSubstr(words)) << to_hex_upper(body);
  }
}

TEST(HybridBatch, KeepsToTheMostOperations) {
  Limits limits;
  limits.batch_operations = 2;
  const std::string one = record(row_of({.type = 2, .id = "a"}));
  EXPECT_TRUE(parse_hybrid_batch(segment() + one + one, limits));
  auto many = parse_hybrid_batch(segment() + one + one + one, limits);
  ASSERT_FALSE(many);
  EXPECT_THAT(many.error().message, HasSubstr("more than 2"));
}

TEST(HybridBatch, WritesResults) {
  BatchResult done;
  done.status = 201;
  done.charge = 1.5;
  done.version = partition::Version{};
  done.body = std::string(200, 'b');
  BatchResult throttled;
  throttled.status = 429;
  throttled.substatus = 3200;
  throttled.retry_after_ms = 25;
  const std::string etag = "\"00000000-0000-0000-0000-000000000000\"";
  const std::string first = "\x81" + u32(2145473649) + "\x0F" + u32(201) + u32(0) + counted(etag) +
                            counted(done.body) +
                            std::string({16, 6, 0, 0, 0, 0, 0, 0, '\xF8', '\x3F'});
  const std::string second = "\x81" + u32(2145473649) + "\x03" + u32(429) + u32(3200) +
                             std::string({11, 5}) + u32(25) + std::string({16, 6}) +
                             std::string(8, '\0');
  EXPECT_EQ(to_hex_upper(hybrid_results({done, throttled})),
            to_hex_upper(segment() + record(first) + record(second)));
}

TEST(HybridBatch, TheFirstByteTellsTheForm) {
  EXPECT_TRUE(is_hybrid_batch(segment()));
  EXPECT_FALSE(is_hybrid_batch("[{}]"));
  EXPECT_FALSE(is_hybrid_batch(""));
  auto batch = parse_batch(segment() + record(row_of({.type = 2, .id = "a"})), Limits{});
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->form, BatchForm::hybrid_row);
}

}  // namespace
}  // namespace orrery::cosmos

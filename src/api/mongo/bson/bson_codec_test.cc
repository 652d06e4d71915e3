// BSON to values and back, and what is refused.
#include "api/mongo/bson/bson_codec.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace orrery::mongo {
namespace {

using value::NumberKind;
using value::Type;
using value::Value;

constexpr size_t kNoLimit = size_t{1} << 20;

Value everything() {
  std::string decimal(16, '\0');
  decimal[0] = 1;
  decimal[15] = 0x30;
  const auto name = [](const char* text) { return Value::make_string(text); };
  return Value::make_object({
      {name("_id"), Value::make_bytes(Type::object_id, "0123456789ab")},
      {name("real"), Value::make_number(1.5)},
      {name("int"), Value::make_integer(-7, NumberKind::int32)},
      {name("long"), Value::make_integer(INT64_MAX)},
      {name("decimal"), Value::make_decimal(decimal)},
      {name("text"), Value::make_string(std::string("a\0b\xc3\xa4", 5))},
      {name("null"), Value::make_null()},
      {name("yes"), Value::make_bool(true)},
      {name("list"), Value::make_array({Value::make_integer(1, NumberKind::int32),
                                        Value::make_object({{name("x"), Value::make_null()}})})},
      {name("empty"), Value::make_object({})},
      {name("bytes"), Value::make_bytes(Type::binary, std::string("\0\1", 2), 5)},
      {name("old"), Value::make_bytes(Type::binary, "abc", 2)},
      {name("date"), Value::make_date({-1, 0})},
      {name("time"), Value::make_timestamp(uint64_t{7} << 32 | 3)},
      {name("regex"), Value::make_bytes(Type::regex, std::string("^a\0im", 5))},
      {name("code"), Value::make_bytes(Type::code, "f()", 0)},
      {name("scoped"), Value::make_bytes(Type::code, std::string("f()\0\5\0\0\0\0", 9), 1)},
      {name("min"), Value::make_min_key()},
      {name("max"), Value::make_max_key()},
  });
}

TEST(BsonCodec, ReadsBackWhatItWrites) {
  const Value all = everything();
  auto bytes = to_bson(all);
  ASSERT_TRUE(bytes) << bytes.error().message;
  auto back = from_bson(*bytes);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(compare(all, *back, value::ValueOrder::typed), std::strong_ordering::equal);
  EXPECT_EQ(back->find("int").number_kind(), NumberKind::int32);
  EXPECT_EQ(back->find("long").integer(), INT64_MAX);
  EXPECT_EQ(back->find("old").subtype(), 2);
  auto again = to_bson(*back);
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *bytes);
}

TEST(BsonCodec, NodesHaveTheirBytes) {
  BsonWriter writer;
  writer.begin_document("a").int32("b", 1).end();
  const std::string bytes = writer.take();
  auto document = parse_bson_in_place(bytes);
  ASSERT_TRUE(document);
  EXPECT_EQ(document->root().raw, bytes);
  BsonWriter inner;
  inner.int32("b", 1);
  EXPECT_EQ(document->root().find("a")->raw, inner.take());
}

TEST(BsonCodec, RefusesEveryTruncationAndEveryWrongLength) {
  const std::string bytes = *to_bson(everything());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(from_bson(std::string_view(bytes).substr(0, size))) << size;
  }
  EXPECT_FALSE(from_bson(bytes + '\0'));
}

TEST(BsonCodec, RefusesTwoMembersOfOneName) {
  for (const int between : {0, 40}) {
    BsonWriter writer;
    writer.int32("twice", 1);
    for (int i = 0; i < between; ++i) writer.int32("m" + std::to_string(i), i);
    writer.int32("twice", 2);
    auto refused = from_bson(writer.take());
    ASSERT_FALSE(refused) << between;
    EXPECT_EQ(refused.error().code, kInvalidBson);
  }
}

TEST(BsonCodec, RefusesWhatIsNotUtf8) {
  BsonWriter writer;
  writer.string("s", "\xff");
  EXPECT_FALSE(from_bson(writer.take()));
}

TEST(BsonCodec, BoundsNestingBothWays) {
  BsonWriter writer;
  for (int i = 0; i < 200; ++i) writer.begin_array("0");
  for (int i = 0; i < 200; ++i) writer.end();
  EXPECT_FALSE(from_bson(writer.take()));
  Value deep = Value::make_array({});
  for (int i = 0; i < 200; ++i) deep = Value::make_array({deep});
  auto refused = to_bson(Value::make_object({{Value::make_string("a"), deep}}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, kOverflow);
}

TEST(BsonCodec, StopsAtTheSizeAskedFor) {
  Value wide = Value::make_array({Value::make_null()});
  for (int i = 0; i < 60; ++i) wide = Value::make_array({wide, wide});  // 2^60 leaves, shared
  EXPECT_FALSE(to_bson(Value::make_object({{Value::make_string("a"), wide}}), kNoLimit));
  std::string out;
  EXPECT_FALSE(bson_codec()->append(out, wide, kNoLimit));
}

TEST(BsonCodec, OldTypesBecomeWhatReplacedThem) {
  // {s: symbol "x", p: pointer to "c", u: undefined}
  std::string bytes("\0\0\0\0\x0es\0\2\0\0\0x\0\x0cp\0\2\0\0\0c\0", 22);
  bytes += "0123456789ab";
  bytes += std::string("\x06u\0\0", 4);
  bytes[0] = static_cast<char>(bytes.size());
  auto value = from_bson(bytes);
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(value->find("s").text(), "x");
  EXPECT_EQ(value->find("p").find("$ref").text(), "c");
  EXPECT_TRUE(value->find("u").is_null());
}

}  // namespace
}  // namespace orrery::mongo

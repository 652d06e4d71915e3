// The grammar of filters, what they mean for each type, and what is refused.
#include "api/table/query/filter.h"

#include <gtest/gtest.h>

#include "api/table/entities/entity_json.h"

namespace orrery::table {
namespace {

class FilterTest : public testing::Test {
 protected:
  FilterTest() {
    auto entity = parse_entity(
        R"({"PartitionKey":"p","RowKey":"r","n":5,"half":2.5,"not":1,
            "big@odata.type":"Edm.Int64","big":"9007199254740993",
            "nan@odata.type":"Edm.Double","nan":"NaN","text":"it's","yes":true,
            "date@odata.type":"Edm.DateTime","date":"2020-01-01T00:00:00Z",
            "guid@odata.type":"Edm.Guid","guid":"11111111-1111-1111-1111-111111111111",
            "bytes@odata.type":"Edm.Binary","bytes":"AQI="})",
        nullptr);
    EXPECT_TRUE(entity);
    stored_ = entity->stored;
  }
  bool is(std::string_view text) const {
    auto filter = parse_filter(text);
    EXPECT_TRUE(filter) << text << ": " << (filter ? "" : filter.error().message);
    return filter && matches_entity(*filter, stored_);
  }
  std::string stored_;
};

TEST_F(FilterTest, TheGrammar) {
  for (const char* text : {"",
                           "  ",
                           "true",
                           "not false",
                           "n eq 5",
                           "5 eq n",
                           "4 lt n",
                           "n ge 5 and n le 5",
                           "n eq 1 or n eq 5",
                           "n eq 1 or n eq 5 and yes eq true",
                           "(n eq 5)and(yes eq TRue)",
                           "not n eq 4",
                           "not (n eq 4)",
                           "not not n eq 5",
                           "not n eq 4 and yes eq true",
                           "text eq 'it''s'",
                           "date eq datetime'2020-01-01T00:00:00Z'",
                           "date lt DATETIME'2020-01-01T00:00:00.0000001Z'",
                           "guid eq guid'11111111-1111-1111-1111-111111111111'",
                           "bytes eq X'0102'",
                           "bytes eq binary'0102'",
                           "half eq 2.5",
                           "half gt -1e3",
                           "not eq 1",
                           "1 eq 1",
                           "PartitionKey eq 'p' and RowKey eq 'r'",
                           "Timestamp eq datetime'1970-01-01T00:00:00Z'",
                           "n EQ 5 AND yes eq true",
                           "half eq 2.5d",
                           "n eq +5"}) {
    EXPECT_TRUE(is(text)) << text;
  }
  for (const char* text : {"false", "n ne 5", "not (n eq 5)", "n eq 1 or n eq 2", "yes eq false",
                           "1 eq 2", "'a' gt 'b'", "text eq 'it'"}) {
    EXPECT_FALSE(is(text)) << text;
  }
}

TEST_F(FilterTest, NumbersCompareExactly) {
  for (const char* text : {"big eq 9007199254740993L", "big gt 9007199254740992L",
                           "big gt 9007199254740992.0", "n eq 5.0", "n eq 5L", "half gt 2L",
                           "half lt 3", "n lt 1e300", "n gt -1e300", "nan ne 1", "n lt INF"}) {
    EXPECT_TRUE(is(text)) << text;
  }
  for (const char* text : {"big eq 9007199254740992L", "big eq 9007199254740992.0", "nan eq NaN",
                           "nan lt 1", "nan ge 1"}) {
    EXPECT_FALSE(is(text)) << text;
  }
}

TEST_F(FilterTest, WhatIsMissingOrOfAnotherTypeIsNeverTrue) {
  for (const char* operation : {"eq", "ne", "gt", "ge", "lt", "le"}) {
    for (const char* literal : {"1", "''", "true", "datetime'2020-01-01T00:00:00Z'", "X'00'",
                                "guid'11111111-1111-1111-1111-111111111111'"}) {
      EXPECT_FALSE(is(std::string("missing ") + operation + " " + literal));
    }
    EXPECT_FALSE(is(std::string("text ") + operation + " 1"));
    EXPECT_FALSE(is(std::string("guid ") + operation + " '11111111-1111-1111-1111-111111111111'"));
    EXPECT_FALSE(is(std::string("n ") + operation + " '5'"));
  }
}

TEST_F(FilterTest, Refusals) {
  for (const char* text : {"n",
                           "n eq",
                           "eq 5",
                           "(n eq 5",
                           "n eq 5)",
                           "n eq 5 and",
                           "and n eq 5",
                           "n eq eq 5",
                           "n foo 5",
                           "n eq 'open",
                           "(1)",
                           "1 === 1",
                           "(1 1 1)",
                           "\"a\" eq \"a\"",
                           "n eq 5 yes eq true",
                           "n eq 12x",
                           "n eq datetime'x'",
                           "n eq guid'1'",
                           "n eq X'0'",
                           "n eq time'1'",
                           "n eq n",
                           "()",
                           "n eq 99999999999999999999L",
                           "n eq --5",
                           "n eq 5 eq 5",
                           "not"}) {
    EXPECT_FALSE(parse_filter(text)) << text;
  }
}

TEST_F(FilterTest, DepthIsBoundedAndChainsAreNot) {
  const std::string deep = std::string(kFilterDepthMax + 5, '(') + "true";
  EXPECT_FALSE(parse_filter(deep + std::string(kFilterDepthMax + 5, ')')));
  std::string negations;
  for (int i = 0; i < kFilterDepthMax + 5; ++i) negations += "not ";
  EXPECT_FALSE(parse_filter(negations + "true"));
  std::string chain = "n eq 5";
  for (int i = 0; i < 5000; ++i) chain += " and n eq 5";
  EXPECT_TRUE(is(chain));
}

}  // namespace
}  // namespace orrery::table

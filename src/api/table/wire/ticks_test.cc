// Times, etags, continuations and the options of requests.
#include "api/table/wire/ticks.h"

#include <gtest/gtest.h>

#include "api/table/wire/request_options.h"

namespace orrery::table {
namespace {

std::string etag_of(Ticks ticks) {
  std::string out;
  append_etag(out, ticks);
  return out;
}

TEST(Ticks, ATimeKeepsSevenDigits) {
  const auto ticks = parse_time("2026-11-15T17:13:05.1979943Z");
  ASSERT_TRUE(ticks);
  EXPECT_EQ(time_text(*ticks), "2026-11-15T17:13:05.1979943Z");
  EXPECT_EQ(etag_of(*ticks), "W/\"datetime'2026-11-15T17%3A13%3A05.1979943Z'\"");
  std::string json;
  append_etag_json(json, *ticks);
  EXPECT_EQ(json, R"("W/\"datetime'2026-11-15T17%3A13%3A05.1979943Z'\"")");
  EXPECT_EQ(parse_time("2026-11-15T19:13:05.1979943+02:00"), ticks);
  EXPECT_EQ(parse_time("2026-11-15T17:13:05.19799439Z"), ticks);
  EXPECT_EQ(parse_time("2026-11-15T17:13:05.1979943"), ticks);
  EXPECT_EQ(parse_time("1970-01-01T00:00Z"), 0);
  EXPECT_EQ(parse_time("1970-01-01"), 0);
  // Beyond the years that can be written: the nearest that can.
  EXPECT_EQ(time_text(INT64_MIN), "0001-01-01T00:00:00.0000000Z");
  EXPECT_EQ(time_text(INT64_MAX), "9999-12-31T23:59:59.9999999Z");
  EXPECT_EQ(time_text(-1), "1969-12-31T23:59:59.9999999Z");
  EXPECT_EQ(time_text(*parse_time("0001-01-01T00:00:00Z")), "0001-01-01T00:00:00.0000000Z");
  EXPECT_EQ(time_text(*parse_time("9999-12-31T23:59:59.9999999Z")), "9999-12-31T23:59:59.9999999Z");
}

TEST(Ticks, WhatIsNoTime) {
  for (const char* text :
       {"", "yesterday", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-01-01T24:00:00Z",
        "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00X", "2026-01-01T00:00:00ZZ",
        "0000-01-01T00:00:00Z", "0001-01-01T00:00:00+01:00"}) {
    EXPECT_FALSE(parse_time(text)) << text;
  }
}

TEST(Ticks, IfMatchIsAnyOrAWeakEtag) {
  EXPECT_TRUE(parse_if_match("*")->any);
  EXPECT_EQ(parse_if_match(etag_of(12345))->ticks, 12345);
  // Weak, and none that was ever given: it matches nothing.
  EXPECT_FALSE(parse_if_match("W/\"odd\"")->ticks);
  EXPECT_FALSE(parse_if_match("w/\"odd\"")->ticks);
  EXPECT_FALSE(parse_if_match("W/\"datetime'\"")->ticks);
  for (const char* text : {"", "odd", "\"strong\"", "W/\"", "W/x"}) {
    EXPECT_FALSE(parse_if_match(text)) << text;
  }
}

TEST(RequestOptions, ContinuationsAreNeverEmptyAndComeBack) {
  for (const std::string& key : {std::string(), std::string("a"), std::string("Ä/+?\0x", 7)}) {
    const std::string text = continuation_text(key);
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(text.find_first_of("+/= &"), std::string::npos);
    EXPECT_EQ(parse_continuation(text), key);
  }
  EXPECT_FALSE(parse_continuation(""));
  EXPECT_FALSE(parse_continuation("mine"));
}

TEST(RequestOptions, MetadataByFormatOrByAccept) {
  EXPECT_EQ(metadata_of("", "application/json"), Metadata::minimal);
  EXPECT_EQ(metadata_of("", "application/json;odata=nometadata"), Metadata::none);
  EXPECT_EQ(metadata_of("application/json;odata=fullmetadata", "application/json"), Metadata::full);
  EXPECT_EQ(metadata_of("", "application/atom+xml").error().code,
            ErrorCode::atom_format_not_supported);
  EXPECT_EQ(metadata_of("", "").error().code, ErrorCode::atom_format_not_supported);
}

TEST(RequestOptions, ParametersAreDecodedOnce) {
  auto all = parse_query_parameters("$filter=a%20eq%20'%2525'&%24top=5&x=%zz&NextRowKey=");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->filter, "a eq '%25'");
  EXPECT_EQ(all->top, "5");
  EXPECT_EQ(all->next_row, "");
  EXPECT_FALSE(all->next_partition);
  EXPECT_FALSE(parse_query_parameters("$filter=%zz"));
  EXPECT_EQ(parse_select(" a, b ,,c"), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(parse_select("a,*").empty());
}

}  // namespace
}  // namespace orrery::table

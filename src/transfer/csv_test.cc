// What the cells of CSV mean.
#include "transfer/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "transfer/record_parser.h"
#include "value/json.h"

namespace orrery::transfer {
namespace {

std::string read(std::string text, bool quoted, CellType type = CellType::detect) {
  auto json = cell_json({.text = std::move(text), .quoted = quoted}, type);
  return json ? *json : "refused: " + json.error().message;
}

TEST(CsvTest, CellsHaveTypesByTheirLooks) {
  for (const char* same : {"null", "true", "false", "0", "-1", "2.50", "1e3", "-0.5E-7",
                           "123456789012345", "12345678901234568"}) {
    EXPECT_EQ(read(same, false), same);
    EXPECT_EQ(read(same, true), "\"" + std::string(same) + "\"");
  }
  for (const char* text : {"007", "12345678901234567", "+1", "1.", ".5", "0x10", "NaN", "1e999",
                           "12345678901234567890", "0.12345678901234567890", "True", "NULL", " 1",
                           "1 ", "{\"a\":1}x", "[1", "2024-01-01", "-"}) {
    EXPECT_EQ(read(text, false).front(), '"') << text;
  }
  EXPECT_EQ(read("", false), "");
  EXPECT_EQ(read("", true), "\"\"");
  EXPECT_EQ(read("{ \"a\" : [1] }", true), "{\"a\":[1]}");
  EXPECT_EQ(read("\"x\"", true), "\"x\"");
  EXPECT_EQ(read("{a}", true), "\"{a}\"");
}

TEST(CsvTest, ATypeOfItsOwnIsStronger) {
  EXPECT_EQ(read("5", false, CellType::string), "\"5\"");
  EXPECT_EQ(read("{}", true, CellType::string), "\"{}\"");
  EXPECT_EQ(read("5", true, CellType::number), "5");
  EXPECT_EQ(read("12345678901234567890", false, CellType::number), "12345678901234567890");
  EXPECT_EQ(read("five", false, CellType::number), "refused: is not a number");
  EXPECT_EQ(read("true", true, CellType::boolean), "true");
  EXPECT_EQ(read("1", false, CellType::boolean), "refused: is neither true nor false");
  EXPECT_EQ(read("\"x\"", true, CellType::json), "\"x\"");
  EXPECT_EQ(read("x", false, CellType::json), "refused: is not JSON");
  EXPECT_EQ(read("", false, CellType::number), "");
}

TEST(CsvTest, WhatIsWrittenIsReadBackAsItWas) {
  for (const char* json :
       {R"("")", R"("plain")", R"("a,b;\"c\"\r\n")", R"("123")", R"("null")", R"("{\"a\":1}")",
        R"("[1]")", R"("\"x\"")", R"("{not json")", "null", "true", "false", "5", "-0.5",
        "1.2345678901234567", R"({"a":[1,"2",null,{}]})", "[]", "{}"}) {
    auto document = value::JsonDocument::parse(json);
    ASSERT_TRUE(document) << json;
    std::string text = "v\r\n";
    append_cell(text, &document->root(), ',');
    text += "\r\n";
    std::vector<ParsedRecord> records;
    const auto parser = make_csv_parser({});
    ASSERT_TRUE(parser->feed(text, records));
    ASSERT_TRUE(parser->finish(records));
    ASSERT_EQ(records.size(), 1U) << json;
    EXPECT_EQ(records[0].text, "{\"v\":" + std::string(document->text()) + "}");
  }
}

TEST(CsvTest, NestedNamesAreObjectsBothWays) {
  auto document = value::JsonDocument::parse(R"({"id":"1","a":{"b":1,"c":{"d":[2]}},"e":{}})");
  ASSERT_TRUE(document);
  auto columns = columns_of(document->root(), true);
  ASSERT_TRUE(columns);
  std::vector<std::string> names;
  for (const Column& column : *columns) names.push_back(column.name);
  EXPECT_THAT(names, testing::ElementsAre("id", "a.b", "a.c.d", "e"));
  const auto object = object_of_cells({{"1", true}, {"1", false}, {"[2]", true}, {"{}", true}},
                                      names, std::vector<CellType>(4), true);
  ASSERT_TRUE(object) << object.error().message;
  EXPECT_EQ(*object, document->text());
  EXPECT_FALSE(
      object_of_cells({{"1", false}, {"2", false}}, {"a", "a.b"}, std::vector<CellType>(2), true));
  EXPECT_FALSE(
      object_of_cells({{"1", false}, {"2", false}}, {"a.b", "a"}, std::vector<CellType>(2), true));
  auto dotted = value::JsonDocument::parse(R"({"a.b":1})");
  EXPECT_FALSE(columns_of(dotted->root(), true));
  EXPECT_TRUE(columns_of(dotted->root(), false));
}

}  // namespace
}  // namespace orrery::transfer

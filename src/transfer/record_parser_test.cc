// Records out of bytes: what they are, wherever the bytes are cut.
#include "transfer/record_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace orrery::transfer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Parsed {
  std::vector<std::string> texts;    // of those that are not rejected
  std::vector<std::string> reasons;  // of the others
  std::vector<uint64_t> lines;
  std::string error;
};

// In pieces of `piece` bytes.
Parsed parse(RecordParser& parser, std::string_view bytes, size_t piece) {
  std::vector<ParsedRecord> records;
  Status done;
  for (size_t at = 0; at < bytes.size() && done; at += piece) {
    done = parser.feed(bytes.substr(at, piece), records);
  }
  if (done) done = parser.finish(records);
  Parsed parsed;
  for (ParsedRecord& record : records) {
    parsed.lines.push_back(record.line);
    if (record.reason.empty()) {
      parsed.texts.push_back(std::move(record.text));
    } else {
      parsed.reasons.push_back(std::move(record.reason));
    }
  }
  if (!done) parsed.error = done.error().message;
  return parsed;
}

// With pieces of every size, which must make no difference.
Parsed parse(Format format, std::string_view bytes, const CsvOptions& csv = {}) {
  const Parsed whole = parse(*make_parser(format, csv), bytes, bytes.size() + 1);
  for (const size_t piece : {1, 2, 3, 7}) {
    const Parsed pieces = parse(*make_parser(format, csv), bytes, piece);
    EXPECT_EQ(pieces.texts, whole.texts) << piece;
    EXPECT_EQ(pieces.reasons, whole.reasons) << piece;
    EXPECT_EQ(pieces.lines, whole.lines) << piece;
    EXPECT_EQ(pieces.error, whole.error) << piece;
  }
  return whole;
}

TEST(RecordParserTest, LinesOfNdjson) {
  const Parsed parsed =
      parse(Format::ndjson, "\xef\xbb\xbf{\"id\":\"1\"}\r\n\n  \n{\"id\":\"2\"}\nlast");
  EXPECT_THAT(parsed.texts, ElementsAre("{\"id\":\"1\"}\r", "{\"id\":\"2\"}", "last"));
  EXPECT_THAT(parsed.lines, ElementsAre(1, 4, 5));
  EXPECT_EQ(parsed.error, "");
}

TEST(RecordParserTest, ElementsOfAnArray) {
  const Parsed parsed =
      parse(Format::array, "\n[ {\"a\":[1,{\"b\":\"],\\\"}\"}]} ,\n5,\"x,]\", [ ] , null ]\n ");
  EXPECT_THAT(parsed.texts,
              ElementsAre("{\"a\":[1,{\"b\":\"],\\\"}\"}]} ", "5", "\"x,]\"", "[ ] ", "null "));
  EXPECT_THAT(parsed.lines, ElementsAre(2, 3, 3, 3, 3));
  EXPECT_EQ(parsed.error, "");
  EXPECT_EQ(parse(Format::array, " [ ] ").texts.size(), 0U);
  EXPECT_EQ(parse(Format::array, " [ ] ").error, "");
}

TEST(RecordParserTest, AnArrayThatIsNoneOrCutOffIsAnErrorAfterItsElements) {
  const Parsed cut = parse(Format::array, "[1,2,{\"a\":");
  EXPECT_THAT(cut.texts, ElementsAre("1", "2"));
  EXPECT_THAT(cut.reasons, ElementsAre(HasSubstr("ends in the middle")));
  EXPECT_THAT(cut.error, HasSubstr("cut off"));
  EXPECT_THAT(parse(Format::array, "").error, HasSubstr("empty"));
  EXPECT_THAT(parse(Format::array, "[1,2").error, HasSubstr("cut off"));
  EXPECT_THAT(parse(Format::array, "{\"a\":1}").error, HasSubstr("ndjson"));
  const Parsed more = parse(Format::array, "[1]\n[2]");
  EXPECT_THAT(more.texts, ElementsAre("1"));
  EXPECT_THAT(more.error, HasSubstr("line 2: there is more"));
}

TEST(RecordParserTest, RowsOfCsv) {
  const Parsed parsed = parse(Format::csv,
                              "id,\"the \"\"name\"\"\",n\r\n"
                              "\"1\",\"a,b\r\nc \"\"d\"\"\",5\r\n"
                              "\n"
                              "2,plain,\n"
                              "3,last,-1.5");
  EXPECT_THAT(parsed.texts, ElementsAre(R"({"id":"1","the \"name\"":"a,b\r\nc \"d\"","n":5})",
                                        R"({"id":2,"the \"name\"":"plain"})",
                                        R"({"id":3,"the \"name\"":"last","n":-1.5})"));
  EXPECT_THAT(parsed.lines, ElementsAre(2, 5, 6));
  EXPECT_EQ(parsed.error, "");
}

TEST(RecordParserTest, RowsOfCsvThatDoNotFitAreRejected) {
  const Parsed parsed = parse(Format::csv, "a,b\n1\n1,2,3\n\"x\"y,2\n1,2\n");
  EXPECT_THAT(parsed.texts, ElementsAre(R"({"a":1,"b":2})"));
  EXPECT_THAT(parsed.reasons,
              ElementsAre(HasSubstr("1 cells, and there are 2 columns"), HasSubstr("3 cells"),
                          HasSubstr("text after a quoted cell")));
  EXPECT_THAT(parse(Format::csv, "a,b\n1,\"2").error, HasSubstr("inside of a quoted cell"));
}

TEST(RecordParserTest, ColumnsOfCsvAreChecked) {
  EXPECT_THAT(parse(Format::csv, "").error, HasSubstr("no header"));
  EXPECT_THAT(parse(Format::csv, "a,a\n1,2\n").error, HasSubstr("two columns 'a'"));
  EXPECT_THAT(parse(Format::csv, "a,\n1,2\n").error, HasSubstr("no name"));
  CsvOptions typed;
  ASSERT_TRUE(add_type(typed, "c=number"));
  EXPECT_THAT(parse(Format::csv, "a,b\n1,2\n", typed).error, HasSubstr("'c', which is not there"));
  CsvOptions given;
  given.columns = {"x", "y"};
  given.delimiter = '\t';
  EXPECT_THAT(parse(Format::csv, "1\ttwo\n", given).texts, ElementsAre(R"({"x":1,"y":"two"})"));
}

TEST(RecordParserTest, ARecordThatIsTooLongIsPassedOverAndItsBeginningKept) {
  const std::string longer(kRecordBytesMax + 10, 'x');
  for (const auto& [format, text] : {std::pair(Format::ndjson, "1\n" + longer + "\n2\n"),
                                     std::pair(Format::array, "[1,\"" + longer + "\",2]"),
                                     std::pair(Format::csv, "a\n1\n\"" + longer + "\"\n2\n")}) {
    std::vector<ParsedRecord> records;
    const auto parser = make_parser(format, {});
    for (size_t at = 0; at < text.size(); at += 100'000) {
      ASSERT_TRUE(parser->feed(std::string_view(text).substr(at, 100'000), records));
    }
    ASSERT_TRUE(parser->finish(records));
    ASSERT_EQ(records.size(), 3U);
    EXPECT_EQ(records[0].reason, "");
    EXPECT_THAT(records[1].reason, HasSubstr("bytes, which is more than 8388608"));
    EXPECT_LE(records[1].text.size(), kExcerptBytes);
    EXPECT_EQ(records[2].reason, "");
  }
}

}  // namespace
}  // namespace orrery::transfer

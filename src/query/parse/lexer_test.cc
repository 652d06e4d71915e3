// Tokens, literal values, positions.
#include "query/parse/lexer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace orrery::query {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> raws(std::string_view text) {
  std::vector<std::string> out;
  for (const Token& token : tokenize(text).list) {
    out.emplace_back(token.kind == TokenKind::invalid ? "INVALID" : token.raw);
  }
  return out;
}

TEST(Lexer, TakesTheLongestSymbol) {
  EXPECT_THAT(raws("a>>>b>>c>=d>e"),
              ElementsAre("a", ">>>", "b", ">>", "c", ">=", "d", ">", "e", ""));
  EXPECT_THAT(raws("a||b|c??d?e"), ElementsAre("a", "||", "b", "|", "c", "??", "d", "?", "e", ""));
  EXPECT_THAT(raws("<><=<<<!="), ElementsAre("<>", "<=", "<<", "<", "!=", ""));
}

TEST(Lexer, BlanksAndCommentsSeparate) {
  EXPECT_THAT(raws(" a\t\r\n b -- c 'd\n e--"), ElementsAre("a", "b", "e", ""));
  EXPECT_THAT(raws("1 - -2"), ElementsAre("1", "-", "-", "2", ""));
  EXPECT_THAT(raws("--"), ElementsAre(""));
  EXPECT_THAT(raws(""), ElementsAre(""));
}

TEST(Lexer, KeywordsHaveNoCase) {
  EXPECT_EQ(keyword_of("select"), Keyword::select);
  EXPECT_EQ(keyword_of("SeLeCT"), Keyword::select);
  EXPECT_EQ(keyword_of("UNDEFINED"), Keyword::undefined);
  EXPECT_EQ(keyword_of("selects"), Keyword::none);
  EXPECT_EQ(keyword_of("undefined_"), Keyword::none);
  EXPECT_EQ(keyword_of(""), Keyword::none);
  EXPECT_TRUE(is_reserved(Keyword::order));
  EXPECT_TRUE(is_reserved(Keyword::where));
  EXPECT_FALSE(is_reserved(Keyword::rank));
  EXPECT_FALSE(is_reserved(Keyword::all));
  EXPECT_FALSE(is_reserved(Keyword::none));
}

TEST(Lexer, PlainNamesNeedNoBrackets) {
  EXPECT_TRUE(is_plain_name("a"));
  EXPECT_TRUE(is_plain_name("_at"));
  EXPECT_TRUE(is_plain_name("rank"));
  for (const std::string_view name : {"", "1a", "a b", "a-b", "order", "VALUE", "né"}) {
    EXPECT_FALSE(is_plain_name(name)) << name;
  }
}

TEST(Lexer, NumbersInAllForms) {
  EXPECT_EQ(number_value("0"), 0);
  EXPECT_EQ(number_value("42"), 42);
  EXPECT_EQ(number_value("1."), 1);
  EXPECT_EQ(number_value(".5"), 0.5);
  EXPECT_EQ(number_value("1.5e3"), 1500);
  EXPECT_EQ(number_value("1E-2"), 0.01);
  EXPECT_EQ(number_value("2e+1"), 20);
  EXPECT_EQ(number_value("0x1F"), 31);
  EXPECT_EQ(number_value("0XfF"), 255);
  EXPECT_EQ(number_value("9007199254740993"), 9007199254740992);
  EXPECT_TRUE(std::isinf(number_value("1e999")));
  EXPECT_EQ(number_value("1e-999"), 0);
}

TEST(Lexer, BrokenNumbersAreRefused) {
  for (const std::string_view text : {"12a", "1e", "1e+", "0x", "0xg", "1.5.x1", "0.E", "1_000"}) {
    const Tokens tokens = tokenize(text);
    if (text == "1.5.x1") {  // a number, then a dot and a name
      EXPECT_FALSE(tokens.error) << text;
      continue;
    }
    ASSERT_TRUE(tokens.error) << text;
    EXPECT_EQ(tokens.error->fault, QueryFault::invalid_number) << text;
    EXPECT_EQ(tokens.list.back().kind, TokenKind::invalid);
  }
}

TEST(Lexer, StringsAreUnescaped) {
  EXPECT_EQ(string_value("'a'"), "a");
  EXPECT_EQ(string_value("\"it's\""), "it's");
  EXPECT_EQ(string_value(R"('it\'s')"), "it's");
  EXPECT_EQ(string_value(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(string_value(R"('\u0041\u00e9\u20AC')"), "Aé€");
  EXPECT_EQ(string_value(R"('\ud83d\ude00')"), "😀");
  EXPECT_EQ(string_value("''"), "");
  EXPECT_EQ(string_value(R"('\u0000')"), std::string(1, '\0'));
}

TEST(Lexer, BrokenStringsAreRefused) {
  for (const std::string_view text : {"'a", "\"a'", "'\\", "'\\q'", "'\\u12'", "'\\u12g4'",
                                      R"('\ud83d')", R"('\ude00')", R"('\ud83d\u0041')"}) {
    const Tokens tokens = tokenize(text);
    ASSERT_TRUE(tokens.error) << text;
    EXPECT_EQ(tokens.error->fault, QueryFault::invalid_string) << text;
  }
  EXPECT_THAT(tokenize("'abc").error->message, HasSubstr("closing quote"));
}

TEST(Lexer, UnknownCharactersAreRefused) {
  for (const std::string_view text : {";", "#", "$", "@", "\\", "`", "é", "!"}) {
    const Tokens tokens = tokenize(text);
    ASSERT_TRUE(tokens.error) << text;
    EXPECT_EQ(tokens.error->fault, QueryFault::invalid_token) << text;
  }
  EXPECT_THAT(tokenize("a ;").error->message, HasSubstr("invalid token ';'"));
}

TEST(Lexer, TextMustBeUtf8) {
  for (const std::string_view text :
       {"\xff", "'\xc3'", "'\xc0\x80'", "'\xe0\x80\x80'", "'\xed\xa0\x80'", "'\xf0\x80\x80\x80'",
        "'\xf4\x90\x80\x80'", "'\x80'", "-- \xff", "'\xe2\x82"}) {
    EXPECT_TRUE(tokenize(text).error) << testing::PrintToString(text);
  }
}

TEST(Lexer, PositionsCountUtf16Units) {
  const Tokens tokens = tokenize("a\n 'é😀' b");
  ASSERT_EQ(tokens.list.size(), 4U);
  EXPECT_EQ(tokens.list[0].span.start, 0U);
  EXPECT_EQ(tokens.list[0].span.end, 1U);
  EXPECT_EQ(tokens.list[1].span.line, 2U);
  EXPECT_EQ(tokens.list[1].span.column, 2U);
  EXPECT_EQ(tokens.list[1].span.start, 3U);
  EXPECT_EQ(tokens.list[1].span.end, 8U);
  EXPECT_EQ(tokens.list[2].span.column, 8U);
}

TEST(Lexer, LongTextIsRefused) {
  EXPECT_FALSE(tokenize(std::string(kMaxQueryBytes, ' ')).error);
  const Tokens tokens = tokenize(std::string(kMaxQueryBytes + 1, ' '));
  ASSERT_TRUE(tokens.error);
  EXPECT_EQ(tokens.error->fault, QueryFault::text_too_long);
  EXPECT_EQ(tokens.error->end, kMaxQueryBytes + 1);
}

}  // namespace
}  // namespace orrery::query

// JSON that is accepted and what it becomes, JSON that is refused, and writing it back.
#include "value/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace orrery::value {
namespace {

using testing::HasSubstr;

JsonDocument parsed(std::string_view text) {
  auto document = JsonDocument::parse(text);
  EXPECT_TRUE(document) << text << ": " << (document ? "" : document.error().message);
  return std::move(*document);
}

std::string error_of(std::string_view text) {
  const auto document = JsonDocument::parse(text);
  EXPECT_FALSE(document) << text;
  if (document) return "";
  EXPECT_EQ(document.error().code, Code::invalid);
  return document.error().message;
}

std::string number_text(double number) {
  std::string out;
  append_json_number(out, number);
  return out;
}

TEST(JsonParse, BuildsTheTree) {
  const auto document = parsed(
      "  { \"a\" : 1 , \"b c\" : [ true , false, null ,\"x\" ] ,\n\t\"o\":{ \"in\" : -2.5e1 } } "
      "\r\n");
  EXPECT_EQ(document.text(), R"({"a":1,"b c":[true,false,null,"x"],"o":{"in":-2.5e1}})");
  const Node& root = document.root();
  EXPECT_EQ(root.type, Type::object);
  EXPECT_EQ(root.count, 3U);
  EXPECT_EQ(root.raw, document.text());
  const Node* list = root.find("b c");
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->type, Type::array);
  EXPECT_EQ(list->count, 4U);
  EXPECT_EQ(list->raw, R"([true,false,null,"x"])");
  EXPECT_EQ(list->raw_name, "b c");
  const Node* element = list->first;
  EXPECT_EQ(element->type, Type::boolean);
  EXPECT_TRUE(element->boolean);
  element = element->next;
  EXPECT_EQ(element->type, Type::boolean);
  EXPECT_FALSE(element->boolean);
  element = element->next;
  EXPECT_EQ(element->type, Type::null);
  element = element->next;
  EXPECT_EQ(element->type, Type::string);
  EXPECT_EQ(element->text, "x");
  EXPECT_EQ(element->raw, "\"x\"");
  EXPECT_EQ(element->next, nullptr);
  EXPECT_EQ(root.find("o")->find("in")->number, -25);
  EXPECT_EQ(root.find("o")->find("in")->raw, "-2.5e1");
  EXPECT_EQ(root.find("nowhere"), nullptr);
  EXPECT_EQ(list->find("a"), nullptr);
}

TEST(JsonParse, TakesScalarsAsDocuments) {
  EXPECT_EQ(parsed(" 12 ").root().number, 12);
  EXPECT_EQ(parsed("\"\"").root().text, "");
  EXPECT_EQ(parsed("null").root().type, Type::null);
  EXPECT_EQ(parsed("[]").root().count, 0U);
  EXPECT_EQ(parsed("{ }").text(), "{}");
}

TEST(JsonParse, MovedDocumentsKeepTheirViews) {
  auto first = parsed(R"({"name":"a\tb"})");
  const Node* name = first.root().find("name");
  const JsonDocument second = std::move(first);
  EXPECT_EQ(second.root().find("name"), name);
  EXPECT_EQ(name->text, "a\tb");
}

TEST(JsonParse, UnescapesStringsAndKeepsThemAsWritten) {
  const auto document = parsed(
      R"({"\u0061\n" : "\"\\\/\b\f\n\r\t \u00e9\u20AC\ud83d\ude00 é😀\u0000" , "plain":"ok"})");
  const Node* node = document.root().find("a\n");
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->raw_name, R"(\u0061\n)");
  using namespace std::string_view_literals;
  EXPECT_EQ(node->text, "\"\\/\b\f\n\r\t é€😀 é😀\0"sv);
  EXPECT_EQ(node->raw, R"("\"\\\/\b\f\n\r\t \u00e9\u20AC\ud83d\ude00 é😀\u0000")");
  EXPECT_EQ(document.root().find("plain")->text, "ok");
}

TEST(JsonParse, ReadsNumbersAsDoubles) {
  const std::pair<const char*, double> cases[] = {
      {"0", 0.0},
      {"-1", -1.0},
      {"0.1", 0.1},
      {"1E2", 100.0},
      {"1e+2", 100.0},
      {"123456789012345", 123456789012345.0},
      {"9007199254740993", 9007199254740992.0},
      {"18446744073709551616", 18446744073709551616.0},
      {"123456789012345678901234567890", 123456789012345678901234567890.0},
      {"1.7976931348623157e308", std::numeric_limits<double>::max()},
      {"5e-324", 5e-324},
      {"1e-400", 0.0},
      {"0.000e999999999999", 0.0},
      {"1e-99999999999999999999", 0.0},
      {"2.2250738585072011e-308", 2.2250738585072011e-308},
  };
  for (const auto& [text, number] : cases) EXPECT_EQ(parsed(text).root().number, number) << text;
  const double negative_zero = parsed("-0").root().number;
  EXPECT_EQ(negative_zero, 0);
  EXPECT_TRUE(std::signbit(negative_zero));
  EXPECT_TRUE(std::signbit(parsed("-1e-400").root().number));
}

TEST(JsonParse, NumbersBeyondDoubleAreErrors) {
  const std::string long_number(400, '9');
  for (const std::string& text :
       {std::string("1e309"), std::string("-1e400"), std::string("1e99999999999"),
        std::string("0.0001e400"), long_number, long_number + "e-1"}) {
    EXPECT_THAT(error_of(text), HasSubstr("does not fit a double"));
  }
  EXPECT_EQ(parsed(long_number + "e-400").root().number, 1.0);
}

TEST(JsonParse, SaysWhatIsWrongAndWhere) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "byte 0: the text is empty"},
      {"  \n", "byte 3: the text is empty"},
      {"[1 2]", "byte 3: expected ',' or ']'"},
      {"tr ue", "byte 0: expected a value"},
      {"[1,]", "byte 3: expected a value"},
      {"[,1]", "byte 1: expected a value"},
      {"[1,,2]", "byte 3: expected a value"},
      {"[1", "byte 2: the text ends where ',' or ']' was expected"},
      {"[", "byte 1: the text ends where a value was expected"},
      {"{\"a\":1,}", "byte 7: expected a property name"},
      {"{,}", "byte 1: expected a property name"},
      {"{1:2}", "byte 1: expected a property name"},
      {"{\"a\" 1}", "byte 5: expected ':'"},
      {"{\"a\":}", "byte 5: expected a value"},
      {"{\"a\":1 \"b\":2}", "byte 7: expected ',' or '}'"},
      {"{\"a\":1]", "byte 6: expected ',' or '}'"},
      {"[1}", "byte 2: expected ',' or ']'"},
      {"[1] x", "byte 4: unexpected text after"},
      {"{}{}", "byte 2: unexpected text after"},
      {"12x", "byte 2: unexpected text after"},
      {"nullx", "byte 4: unexpected text after"},
      {"nul", "byte 0: expected a value"},
      {"NaN", "byte 0: expected a value"},
      {"'a'", "byte 0: expected a value"},
      {"\"abc", "byte 0: a string is not closed"},
      {"\"abcdefgh", "byte 0: a string is not closed"},
      {"\"abc\\", "byte 0: a string is not closed"},
      {"\"abc\\\"", "byte 0: a string is not closed"},
      {"\"a\nb\"", "byte 2: a control character"},
      {"\"a\\xb\"", "byte 2: unknown escape"},
      {"\"\\u12\"", "byte 1: \\u must be followed by four"},
      {"\"\\u12g4\"", "byte 1: \\u must be followed by four"},
      {"01", "byte 0: a number starts with a needless 0"},
      {"-", "byte 1: the text ends where a digit was expected"},
      {"-a", "byte 1: expected a digit"},
      {"+1", "byte 0: expected a value"},
      {".5", "byte 0: expected a value"},
      {"1.", "a digit after the point"},
      {"1.e5", "byte 2: expected a digit after the point"},
      {"1e", "a digit in the exponent"},
      {"\xEF\xBB\xBF{}", "byte 0: expected a value"},
      {"\"\\ud800\"", "byte 1: half of a surrogate pair"},
      {"\"\\udc00\"", "byte 1: half of a surrogate pair"},
      {"\"\\ud800\\u0041\"", "byte 1: half of a surrogate pair"},
      {"\"\\ud800\\ud800\"", "byte 1: half of a surrogate pair"},
      {"\"\\ud800x\\udc00\"", "byte 1: half of a surrogate pair"},
      {"\"ab\xFF\"", "byte 3: the text is not UTF-8"},
      {"\"ab\xC3\"", "byte 3: the text is not UTF-8"},
      {"\"\xED\xA0\x80\"", "byte 1: the text is not UTF-8"},
      {"\xC0\xAF", "byte 0: the text is not UTF-8"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_THAT(error_of(text), HasSubstr(expected)) << text;
  EXPECT_THAT(error_of(std::string_view("[1\0]", 4)), HasSubstr("byte 2: expected"));
  EXPECT_THAT(error_of(std::string_view("\0", 1)), HasSubstr("byte 0: expected a value"));
  EXPECT_THAT(error_of(std::string_view("1\0", 2)), HasSubstr("byte 1: unexpected"));
  EXPECT_THAT(error_of(std::string_view("\"\0\"", 3)), HasSubstr("byte 1: a control character"));
}

TEST(JsonParse, LimitsNesting) {
  const auto nested = [](int depth) {
    return std::string(static_cast<size_t>(depth), '[') +
           std::string(static_cast<size_t>(depth), ']');
  };
  parsed(nested(kMaxDepth));
  EXPECT_THAT(error_of(nested(kMaxDepth + 1)), HasSubstr("nested deeper than 128 levels"));
  EXPECT_THAT(error_of(std::string(1 << 20, '[')), HasSubstr("nested deeper"));
}

TEST(JsonParse, RefusesAPropertyNamedTwice) {
  EXPECT_THAT(error_of(R"({"a":1,"b":2,"a":3})"),
              HasSubstr(R"(byte 13: the property "a" is there twice)"));
  EXPECT_THAT(error_of(R"({"a":1,"\u0061":2})"), HasSubstr(R"("a" is there twice)"));
  EXPECT_THAT(error_of(R"([{"x":{"":1,"":2}}])"), HasSubstr(R"("" is there twice)"));
  parsed(R"({"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]})");
  for (const int count : {2, 15, 31, 32, 33, 34, 100, 5000}) {
    std::string text = "{";
    for (int i = 0; i < count; ++i) text += (i == 0 ? "\"n" : ",\"n") + std::to_string(i) + "\":0";
    EXPECT_EQ(parsed(text + "}").root().count, static_cast<uint32_t>(count));
    EXPECT_THAT(error_of(text + ",\"n1\":0}"), HasSubstr(R"("n1" is there twice)")) << count;
  }
}

// A random value with random white space, and the text that must come of it.
class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  void value(std::string& loose, std::string& tight, int depth) {
    const uint64_t kind = random_() % (depth > 5 ? 4 : 6);
    std::string scalar;
    switch (kind) {
      case 0:
        scalar = random_() % 3 == 0 ? "null" : random_() % 2 == 0 ? "true" : "false";
        break;
      case 1:
        append_json_number(scalar, static_cast<double>(static_cast<int64_t>(random_())) /
                                       static_cast<double>(1 + random_() % 100000));
        break;
      case 2:
      case 3:
        scalar = string();
        break;
      default:
        container(kind == 4, loose, tight, depth);
        return;
    }
    loose += scalar;
    tight += scalar;
  }

  void space(std::string& out) {
    for (uint64_t i = random_() % 3; i > 0; --i) out.push_back(" \n\r\t"[random_() % 4]);
  }

 private:
  std::string string() {
    std::string text;
    for (uint64_t i = random_() % 20; i > 0; --i) {
      static constexpr std::string_view kPieces[] = {"a",  "\"",   "\\", "\n", "é",
                                                     "😀", "\x01", " ",  "xyz"};
      text += kPieces[random_() % std::size(kPieces)];
    }
    std::string out;
    append_json_string(out, text);
    return out;
  }

  void container(bool object, std::string& loose, std::string& tight, int depth) {
    const auto both = [&](char c) {
      loose.push_back(c);
      tight.push_back(c);
      space(loose);
    };
    both(object ? '{' : '[');
    for (uint64_t i = random_() % 6, index = 0; index < i; ++index) {
      if (index > 0) both(',');
      if (object) {
        const std::string name = "\"" + std::to_string(index) + string().substr(1);
        loose += name;
        tight += name;
        space(loose);
        both(':');
      }
      value(loose, tight, depth + 1);
      space(loose);
    }
    loose.push_back(object ? '}' : ']');
    tight.push_back(object ? '}' : ']');
  }

  std::mt19937_64 random_;
};

void check_links(const Node& node) {
  uint32_t count = 0;
  for (const Node* child = node.first; child != nullptr; child = child->next) {
    ++count;
    EXPECT_GE(child->raw.data(), node.raw.data());
    EXPECT_LE(child->raw.data() + child->raw.size(), node.raw.data() + node.raw.size());
    check_links(*child);
  }
  EXPECT_EQ(count, node.count);
  if (node.type == Type::string) {
    std::string written;
    append_json_string(written, node.text);
    EXPECT_EQ(written, node.raw);
  }
}

TEST(JsonParse, MinifiesWhateverTheWhiteSpace) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Generator generator(seed);
    std::string loose;
    std::string tight;
    generator.space(loose);
    generator.value(loose, tight, 0);
    generator.space(loose);
    const auto document = parsed(loose);
    ASSERT_EQ(document.text(), tight) << seed;
    check_links(document.root());
    // Cut anywhere, a container is broken.
    if (document.root().type >= Type::array) {
      EXPECT_FALSE(
          JsonDocument::parse(std::string_view(tight).substr(0, tight.size() * (seed % 10) / 10)));
    }
  }
}

TEST(JsonWrite, EscapesStringsAsJavaScriptDoes) {
  std::string out;
  using namespace std::string_view_literals;
  append_json_string(out, "a\"b\\c/\b\f\n\r\t\x01\x1f\x7fé😀\0"sv);
  EXPECT_EQ(out, R"("a\"b\\c/\b\f\n\r\t\u0001\u001f)"
                 "\x7fé😀"
                 R"(\u0000")");
}

TEST(JsonWrite, EscapesWhereverTheyStand) {
  for (size_t size = 1; size <= 70; ++size) {
    for (size_t at = 0; at < size; ++at) {
      std::string text(size, 'x');
      text[at] = at % 2 == 0 ? '"' : '\n';
      std::string out;
      append_json_string(out, text);
      const std::string escaped = at % 2 == 0 ? "\\\"" : "\\n";
      EXPECT_EQ(out, "\"" + text.substr(0, at) + escaped + text.substr(at + 1) + "\"");
    }
  }
}

TEST(JsonWrite, PrintsNumbersAsJavaScriptDoes) {
  const std::pair<double, const char*> cases[] = {
      {0, "0"},
      {-0.0, "0"},
      {1, "1"},
      {-17, "-17"},
      {0.1, "0.1"},
      {-1.5, "-1.5"},
      {123456.789, "123456.789"},
      {9007199254740991, "9007199254740991"},
      {9007199254740992, "9007199254740992"},
      {9007199254740994, "9007199254740994"},
      {1e20, "100000000000000000000"},
      {123456789012345680000.0, "123456789012345680000"},
      {1e21, "1e+21"},
      {1.5e21, "1.5e+21"},
      {-1e21, "-1e+21"},
      {1e-6, "0.000001"},
      {1.5e-6, "0.0000015"},
      {1e-7, "1e-7"},
      {1.25e-7, "1.25e-7"},
      {5e-324, "5e-324"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {1e100, "1e+100"},
      {4503599627370495.5, "4503599627370495.5"},
      {std::numeric_limits<double>::infinity(), "null"},
      {std::numeric_limits<double>::quiet_NaN(), "null"},
  };
  for (const auto& [number, text] : cases) EXPECT_EQ(number_text(number), text);
}

TEST(JsonWrite, NumbersReadBackTheSame) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const auto number = std::bit_cast<double>(static_cast<uint64_t>(random()));
    if (!std::isfinite(number)) continue;
    EXPECT_EQ(parsed(number_text(number)).root().number, number);
  }
}

}  // namespace
}  // namespace orrery::value

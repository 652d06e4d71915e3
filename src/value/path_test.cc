// Paths to properties: plain, quoted, nested, with wildcards; and what is no path.
#include "value/path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace orrery::value {
namespace {

using testing::HasSubstr;

std::vector<std::string> names(std::string_view text) {
  const auto path = parse_property_path(text);
  EXPECT_TRUE(path) << text << ": " << (path ? "" : path.error().message);
  std::vector<std::string> out;
  if (!path) return out;
  for (const auto& step : path->steps) {
    EXPECT_FALSE(step.array);
    out.push_back(step.name);
  }
  return out;
}

using Names = std::vector<std::string>;

TEST(PropertyPath, NamesAreTakenApart) {
  EXPECT_EQ(names("/department"), (Names{"department"}));
  EXPECT_EQ(names("/properties/name"), (Names{"properties", "name"}));
  EXPECT_EQ(names("/\"department name\""), (Names{"department name"}));
  EXPECT_EQ(names("/a/\"b/c\"/d"), (Names{"a", "b/c", "d"}));
  EXPECT_EQ(names("/'a \"b\"'/c"), (Names{"a \"b\"", "c"}));
  EXPECT_EQ(names(R"(/"a \"b\" \\ c")"), (Names{"a \"b\" \\ c"}));
  EXPECT_EQ(names("/\"*\"/\"?\"/\"[]\""), (Names{"*", "?", "[]"}));
  EXPECT_EQ(names("/first name/été"), (Names{"first name", "été"}));
  EXPECT_EQ(names("/\"\""), (Names{""}));
  EXPECT_EQ(names("/it's"), (Names{"it's"}));
}

TEST(PropertyPath, SaysWhatIsWrong) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "must start with /"},
      {"a", "must start with /"},
      {"/", "expected a property name"},
      {"//a", "expected a property name"},
      {"/a/", "expected a property name"},
      {"/a//b", "expected a property name"},
      {"/\"a", "the quote is not closed"},
      {"/\"a\"b", "expected / after a quoted name"},
      {"/\"a\\n\"", "a backslash must be followed"},
      {"/\"a\\", "a backslash must be followed"},
      {"/a/*", "must name one property"},
      {"/a/?", "must name one property"},
      {"/a/[]/b", "must name one property"},
      {"/" + std::string(5000, 'a'), "over the limit"},
  };
  for (const auto& [text, message] : cases) {
    const auto path = parse_property_path(text);
    ASSERT_FALSE(path) << text;
    EXPECT_EQ(path.error().code, Code::invalid);
    EXPECT_THAT(path.error().message, HasSubstr(message)) << text;
  }
  std::string deep;
  for (int i = 0; i <= kMaxDepth; ++i) deep += "/a";
  EXPECT_THAT(parse_property_path(deep).error().message, HasSubstr("more than 128 steps"));
}

TEST(PropertyPath, PrintsSoThatItReadsBack) {
  EXPECT_EQ(to_string(parse_property_path("/a/'b c'/d-1").value()), "/a/\"b c\"/d-1");
  std::mt19937_64 random(3);
  for (int i = 0; i < 5000; ++i) {
    Path path;
    for (uint64_t steps = 1 + random() % 4; steps > 0; --steps) {
      std::string name;
      for (uint64_t size = random() % 5; size > 0; --size) {
        name.push_back("ab/\"'\\*?[] \n"[random() % 12]);
      }
      path.steps.push_back({.name = name});
    }
    ASSERT_EQ(parse_property_path(to_string(path)).value(), path) << to_string(path);
    ASSERT_EQ(parse_index_path(to_string(path) + "/?").value().path, path);
  }
}

TEST(PropertyPath, FindsTheNode) {
  const auto document =
      JsonDocument::parse(R"({"a":{"b":{"c d":5},"n":null},"list":[{"b":1}],"s":"x"})").value();
  const auto at = [&](std::string_view text) {
    return find(document.root(), parse_property_path(text).value());
  };
  EXPECT_EQ(at("/a/b/\"c d\"")->number, 5);
  EXPECT_EQ(at("/a/n")->type, Type::null);
  EXPECT_EQ(at("/s")->text, "x");
  EXPECT_EQ(at("/a/x"), nullptr);
  EXPECT_EQ(at("/s/x"), nullptr);
  EXPECT_EQ(at("/list/b"), nullptr);
  EXPECT_EQ(at("/list/0"), nullptr);
  EXPECT_EQ(find(document.root(), Path{}), &document.root());
  EXPECT_EQ(find(document.root(), parse_index_path("/list/[]/?").value().path), nullptr);
}

TEST(IndexPath, HasStepsAndATail) {
  const auto all = parse_index_path("/*").value();
  EXPECT_TRUE(all.path.steps.empty());
  EXPECT_EQ(all.tail, Tail::subtree);
  const auto tag = parse_index_path("/\"_tag\"/?").value();
  EXPECT_EQ(tag.path.steps, (std::vector<Path::Step>{{.name = "_tag"}}));
  EXPECT_EQ(tag.tail, Tail::value);
  const auto tags = parse_index_path("/tags/[]/name/?").value();
  EXPECT_EQ(tags.path.steps, (std::vector<Path::Step>{
                                 {.name = "tags"}, {.name = "", .array = true}, {.name = "name"}}));
  EXPECT_EQ(to_string(tags.path), "/tags/[]/name");
  EXPECT_EQ(parse_index_path("/address/*").value().tail, Tail::subtree);
  EXPECT_EQ(parse_index_path("/\"[]\"/*").value().path.steps,
            (std::vector<Path::Step>{{.name = "[]"}}));
}

TEST(IndexPath, SaysWhatIsWrong) {
  for (const auto& [text, message] :
       std::initializer_list<std::pair<const char*, const char*>>{{"/a", "must end with /?"},
                                                                  {"/", "expected a property name"},
                                                                  {"*", "must start with /"},
                                                                  {"/*/a/?", "only at its end"},
                                                                  {"/?/*", "only at its end"},
                                                                  {"/a/\"?\"", "must end with /?"},
                                                                  {"/a?", "must end with /?"}}) {
    const auto path = parse_index_path(text);
    ASSERT_FALSE(path) << text;
    EXPECT_THAT(path.error().message, HasSubstr(message)) << text;
  }
}

TEST(Path, WhatIsTooLongOncePrintedIsRefused) {
  const std::string name(4'000, 'a');
  EXPECT_TRUE(parse_property_path("/" + name));
  EXPECT_TRUE(parse_index_path("/" + name + "/?"));
  const std::string quotes = "/a" + std::string(4'000, '"');
  EXPECT_EQ(parse_property_path(quotes).error().code, Code::invalid);
  EXPECT_EQ(parse_index_path(quotes + "/*").error().code, Code::invalid);
}

}  // namespace
}  // namespace orrery::value

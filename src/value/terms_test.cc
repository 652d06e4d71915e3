// Which index terms an item has under a policy, their bytes, and their order.
#include "value/terms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>

#include "value/ordered.h"

namespace orrery::value {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using Terms = std::vector<std::string>;

// A term as a person would write it: /a/[]/b=5.
std::string readable(std::string_view term) {
  std::string out;
  while (term.front() != '\x01') {
    const char step = term.front();
    term.remove_prefix(1);
    out += '/';
    if (step == '\x03') {
      out += "[]";
    } else {
      EXPECT_EQ(step, '\x02');
      out += take_ordered_bytes(term).value();
    }
  }
  term.remove_prefix(1);
  const char tag = term.front();
  term.remove_prefix(1);
  out += '=';
  switch (tag) {
    case 1:
      out += "null";
      break;
    case 2:
      out += "false";
      break;
    case 3:
      out += "true";
      break;
    case 4:
      append_json_number(out, take_ordered_number(term).value());
      break;
    case 5:
      out += '\'' + take_ordered_bytes(term).value() + '\'';
      break;
    case 7:
      out += "array";
      break;
    case 8:
      out += "object";
      break;
    default:
      ADD_FAILURE() << "unknown tag " << int{tag};
  }
  EXPECT_TRUE(term.empty());
  return out;
}

Terms terms_of(const IndexPolicy& policy, std::string_view item) {
  const auto document = JsonDocument::parse(item).value();
  Terms out;
  policy.each_term(document.root(), [&](std::string_view term) { out.push_back(readable(term)); });
  return out;
}

IndexPolicy policy(std::initializer_list<const char*> include,
                   std::initializer_list<const char*> exclude,
                   std::initializer_list<const char*> always = {}) {
  std::vector<IndexRule> rules;
  for (const char* path : include) rules.push_back({parse_index_path(path).value(), true});
  for (const char* path : exclude) rules.push_back({parse_index_path(path).value(), false});
  std::vector<Path> kept;
  for (const char* path : always) kept.push_back(parse_property_path(path).value());
  return IndexPolicy({.rules = rules, .always = kept});
}

constexpr std::string_view kItem =
    R"({"id":"1","n":-2.5,"t":true,"f":false,"z":null,"tags":["x","y",["w"]],"a":{"b":{"c":1},"d":[{"e":2}]}})";

TEST(Terms, EverythingCoversTheWholeItem) {
  EXPECT_THAT(
      terms_of(IndexPolicy::everything(), kItem),
      ElementsAre("/id='1'", "/n=-2.5", "/t=true", "/f=false", "/z=null", "/tags=array",
                  "/tags/[]='x'", "/tags/[]='y'", "/tags/[]=array", "/tags/[]/[]='w'", "/a=object",
                  "/a/b=object", "/a/b/c=1", "/a/d=array", "/a/d/[]=object", "/a/d/[]/e=2"));
}

TEST(Terms, NothingIsIndexedByDefault) {
  EXPECT_THAT(terms_of(IndexPolicy(), kItem), IsEmpty());
  EXPECT_THAT(terms_of(policy({}, {"/*"}), kItem), IsEmpty());
  EXPECT_THAT(terms_of(IndexPolicy::everything(), "{}"), IsEmpty());
}

TEST(Terms, ValueRulesCoverOneValue) {
  EXPECT_THAT(terms_of(policy({"/n/?", "/a/b/c/?", "/nowhere/?"}, {}), kItem),
              ElementsAre("/n=-2.5", "/a/b/c=1"));
  EXPECT_THAT(terms_of(policy({"/a/?", "/tags/?"}, {}), kItem),
              ElementsAre("/tags=array", "/a=object"));
}

TEST(Terms, ElementsHaveTheirOwnStep) {
  EXPECT_THAT(terms_of(policy({"/tags/[]/?"}, {}), kItem),
              ElementsAre("/tags/[]='x'", "/tags/[]='y'", "/tags/[]=array"));
  EXPECT_THAT(terms_of(policy({"/tags/[]/[]/?", "/a/d/[]/e/?"}, {}), kItem),
              ElementsAre("/tags/[]/[]='w'", "/a/d/[]/e=2"));
  EXPECT_THAT(terms_of(policy({"/id/[]/?", "/a/[]/*"}, {}), kItem), IsEmpty());
}

TEST(Terms, TheMostPreciseRuleWins) {
  EXPECT_THAT(terms_of(policy({"/*"}, {"/a/*", "/tags/*", "/z/?"}), kItem),
              ElementsAre("/id='1'", "/n=-2.5", "/t=true", "/f=false"));
  EXPECT_THAT(terms_of(policy({"/a/b/*"}, {"/*", "/a/*"}), kItem),
              ElementsAre("/a/b=object", "/a/b/c=1"));
  EXPECT_THAT(terms_of(policy({"/a/*"}, {"/a/b/?"}), kItem),
              ElementsAre("/a=object", "/a/b/c=1", "/a/d=array", "/a/d/[]=object", "/a/d/[]/e=2"));
  EXPECT_THAT(terms_of(policy({"/a/b/?"}, {"/a/b/*"}), kItem), ElementsAre("/a/b=object"));
  EXPECT_THAT(terms_of(policy({"/a/b/*"}, {"/a/b/?"}), kItem), ElementsAre("/a/b/c=1"));
}

TEST(Terms, AlwaysIsStrongerThanAnyRule) {
  EXPECT_THAT(terms_of(policy({}, {"/*", "/a/b/c/?"}, {"/a/b/c", "/id", "/missing"}), kItem),
              ElementsAre("/id='1'", "/a/b/c=1"));
  EXPECT_THAT(terms_of(policy({}, {"/a/*"}, {"/a/b"}), kItem), ElementsAre("/a/b=object"));
}

TEST(Terms, CoveredPathsAreThoseThatGiveTerms) {
  const auto path = [](std::string_view text) { return parse_index_path(text).value().path; };
  const IndexPolicy policy({.rules = {{parse_index_path("/*").value(), true},
                                      {parse_index_path("/a/*").value(), false},
                                      {parse_index_path("/a/b/?").value(), true},
                                      {parse_index_path("/l/[]/*").value(), false}},
                            .always = {path("/a/key/?")}});
  EXPECT_TRUE(policy.covers(path("/x/?")));
  EXPECT_TRUE(policy.covers(path("/x/[]/y/?")));
  EXPECT_FALSE(policy.covers(path("/a/?")));
  EXPECT_FALSE(policy.covers(path("/a/c/?")));
  EXPECT_TRUE(policy.covers(path("/a/b/?")));
  EXPECT_FALSE(policy.covers(path("/a/b/c/?")));
  EXPECT_TRUE(policy.covers(path("/a/key/?")));
  EXPECT_TRUE(policy.covers(path("/l/?")));
  EXPECT_FALSE(policy.covers(path("/l/[]/?")));
  EXPECT_FALSE(policy.covers({}));
  EXPECT_FALSE(IndexPolicy().covers(path("/x/?")));
}

TEST(Terms, BytesAreAsDocumented) {
  const auto document = JsonDocument::parse(R"({"a":[{"b\u0000":"x"}]})").value();
  Terms terms;
  IndexPolicy::everything().each_term(document.root(),
                                      [&](std::string_view term) { terms.emplace_back(term); });
  EXPECT_THAT(terms, ElementsAre("\x02"s
                                 "a\0\1\1\7"s,
                                 "\x02"s
                                 "a\0\1\3\1\10"s,
                                 "\x02"s
                                 "a\0\1\3\2"s
                                 "b\0\xFF\0\1\1\5"s
                                 "x\0\1"s));
}

TEST(Terms, ByHandAreTheSameAsByWalk) {
  Path path = parse_index_path("/a/[]/\"b c\"/?").value().path;
  std::string term = term_path(path);
  append_term_value(term, 2.5);
  EXPECT_EQ(readable(term), "/a/[]/b c=2.5");
  std::string text = term_path({});
  append_term_value(text, "x");
  EXPECT_EQ(readable(text), "='x'");

  const auto document = JsonDocument::parse(R"({"a":[{"b c":2.5}]})").value();
  Terms walked;
  policy({"/a/[]/\"b c\"/?"}, {}).each_term(document.root(), [&](std::string_view each) {
    walked.emplace_back(each);
  });
  EXPECT_THAT(walked, ElementsAre(term));
}

std::string value_in(std::string_view text) {
  std::string out;
  append_term_value(out, text);
  return out;
}

TEST(Terms, LongStringsAreCutAndKeepTheirOrder) {
  const std::string limit(kMaxTermText, 'm');
  EXPECT_EQ(value_in(limit).size(), 1 + kMaxTermText + 2);
  EXPECT_EQ(value_in(limit + "a").size(), 1 + kMaxTermText + 2 + 8);
  EXPECT_NE(value_in(limit + "a"), value_in(limit + "b"));
  EXPECT_EQ(value_in(limit + "a"), value_in(limit + "a"));
  EXPECT_LT(value_in(limit), value_in(limit + "a"));
  EXPECT_LT(value_in("a" + limit), value_in("b"));
  EXPECT_LT(value_in("l"), value_in(limit + "a"));
  EXPECT_LT(value_in(limit + "a"), value_in("n"));
  EXPECT_LT(value_in("m"), value_in(limit + "a"));
  std::mt19937_64 random(31);
  for (int i = 0; i < 3000; ++i) {
    const auto make = [&] {
      std::string text(random() % 4 == 0 ? kMaxTermText + random() % 3 : random() % 3, '\0');
      if (!text.empty()) text[random() % std::min<size_t>(text.size(), kMaxTermText)] = '\1';
      return text;
    };
    const std::string a = make();
    const std::string b = make();
    if (a.substr(0, kMaxTermText) == b.substr(0, kMaxTermText)) continue;
    ASSERT_EQ(a < b, value_in(a) < value_in(b));
  }
}

TEST(Terms, ValuesSortByTypeThenValue) {
  const auto document =
      JsonDocument::parse(R"([null,false,true,-1e300,-1,0,0.5,7,"","a","a\u0000","aa","b",[],{}])")
          .value();
  std::string last;
  for (const Node* node = document.root().first; node != nullptr; node = node->next) {
    std::string value;
    append_term_value(value, *node);
    EXPECT_LT(last, value) << node->raw;
    last = value;
  }
}

TEST(Terms, APathSortsBeforeThePathsThatContinueIt) {
  const auto at = [](std::string_view text) {
    return term_path(parse_index_path(text).value().path);
  };
  EXPECT_LT(at("/a/?") + "\xFF", at("/a/b/?"));
  EXPECT_LT(at("/a/?") + "\xFF", at("/a/[]/?"));
  EXPECT_LT(at("/a/b/?"), at("/b/?"));
  EXPECT_LT(at("/a/b/c/?"), at("/ab/?"));
}

// The walk against the definition: for each node, look the most precise rule up the long way.
TEST(Terms, WalkAgreesWithTheDefinition) {
  std::mt19937_64 random(32);
  const auto document =
      JsonDocument::parse(R"({"a":{"a":{"a":1,"b":2},"b":[1,{"a":3}]},"b":[[1],{"b":4}],"c":5})")
          .value();
  for (int round = 0; round < 3000; ++round) {
    std::map<std::string, bool> rules;
    std::vector<IndexRule> list;
    for (uint64_t i = random() % 6; i > 0; --i) {
      std::string path;
      for (uint64_t steps = random() % 4; steps > 0; --steps) {
        path += std::array{"/a", "/b", "/[]"}[random() % 3];
      }
      path += random() % 2 == 0 ? "/?" : "/*";
      const bool include = random() % 2 == 0;
      if (rules.emplace(path, include).second) {
        list.push_back({parse_index_path(path).value(), include});
      }
    }
    Terms expected;
    const auto visit = [&](const auto& self, const Node& node, const std::string& path) -> void {
      bool included = false;
      if (const auto exact = rules.find(path + "/?"); exact != rules.end()) {
        included = exact->second;
      } else {
        for (std::string prefix = path;; prefix.resize(prefix.rfind('/'))) {
          if (const auto rule = rules.find(prefix + "/*"); rule != rules.end()) {
            included = rule->second;
            break;
          }
          if (prefix.empty()) break;
        }
      }
      if (included && !path.empty()) {
        std::string value;
        append_term_value(value, node);
        expected.push_back(readable(term_path(parse_index_path(path + "/?").value().path) + value));
      }
      for (const Node* child = node.first; child != nullptr; child = child->next) {
        self(self, *child,
             path + "/" + (node.type == Type::array ? "[]" : std::string(child->name)));
      }
    };
    visit(visit, document.root(), "");
    ASSERT_EQ(terms_of(IndexPolicy({.rules = list}), document.text()), expected);
  }
}

}  // namespace
}  // namespace orrery::value

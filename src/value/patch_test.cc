// Every operation on objects, arrays and numbers; pointers; what is refused and how it is told.
#include "value/patch.h"

#include <gtest/gtest.h>

namespace orrery::value {
namespace {

using Kind = PatchOperation::Kind;

struct Op {
  Kind kind;
  std::string path;
  std::string value;  // JSON; for a move, where from
};

Result<std::string> patch(std::string_view document, const std::vector<Op>& ops) {
  auto parsed = JsonDocument::parse(document);
  EXPECT_TRUE(parsed) << document;
  std::vector<PatchOperation> operations;
  for (const Op& op : ops) {
    PatchOperation& made = operations.emplace_back();
    made.kind = op.kind;
    auto path = parse_pointer(op.path);
    if (!path) return pass(path.error());
    made.path = std::move(*path);
    if (op.kind == Kind::move) {
      auto from = parse_pointer(op.value);
      if (!from) return pass(from.error());
      made.from = std::move(*from);
    } else if (op.kind != Kind::remove) {
      auto value = JsonDocument::parse(op.value);
      EXPECT_TRUE(value) << op.value;
      made.value = std::move(*value);
    }
  }
  return apply_patch(parsed->root(), operations);
}

struct Case {
  std::string_view document;
  std::vector<Op> operations;
  std::string_view expected;  // empty: refused
};

void check(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    std::string said(one.document);
    for (const Op& op : one.operations) {
      said += " " + std::string(to_string(op.kind)) + " " + op.path + " " + op.value;
    }
    auto result = patch(one.document, one.operations);
    if (one.expected.empty()) {
      ASSERT_FALSE(result) << said << " gave " << *result;
      EXPECT_EQ(result.error().code, Code::invalid) << said;
      EXPECT_FALSE(result.error().message.empty());
    } else {
      ASSERT_TRUE(result) << said << ": " << result.error().message;
      EXPECT_EQ(*result, one.expected) << said;
      EXPECT_TRUE(JsonDocument::parse(*result)) << said;
    }
  }
}

TEST(Patch, Pointers) {
  EXPECT_EQ(*parse_pointer(""), Pointer{});
  EXPECT_EQ(*parse_pointer("/"), Pointer{""});
  EXPECT_EQ(*parse_pointer("/a/b"), (Pointer{"a", "b"}));
  EXPECT_EQ(*parse_pointer("/a~1b/c~0d"), (Pointer{"a/b", "c~d"}));
  EXPECT_EQ(*parse_pointer("/~01"), Pointer{"~1"});
  EXPECT_EQ(*parse_pointer("/a/"), (Pointer{"a", ""}));
  for (std::string_view bad : {"a", "a/b", "/~", "/~2", "/a~"}) {
    auto refused = parse_pointer(bad);
    ASSERT_FALSE(refused) << bad;
    EXPECT_NE(refused.error().message.find(bad), std::string::npos);
  }
  std::string deep;
  for (size_t i = 0; i < kMaxPointerSteps; ++i) deep += "/a";
  EXPECT_TRUE(parse_pointer(deep));
  EXPECT_FALSE(parse_pointer(deep + "/a"));
  for (std::string_view text : {"", "/", "/a~1b/c~0d", "/~01/0/-"}) {
    EXPECT_EQ(to_string(*parse_pointer(text)), text);
  }
  EXPECT_TRUE(is_within({"a", "b"}, {"a"}));
  EXPECT_TRUE(is_within({"a"}, {"a"}));
  EXPECT_FALSE(is_within({"a"}, {"a", "b"}));
  EXPECT_FALSE(is_within({"ab"}, {"a"}));
}

TEST(Patch, Add) {
  check({
      {R"({"a":1})", {{Kind::add, "/b", "2"}}, R"({"a":1,"b":2})"},
      {R"({"a":1})", {{Kind::add, "/a", "[true]"}}, R"({"a":[true]})"},
      {R"({"a":{"b":1}})", {{Kind::add, "/a/c", "null"}}, R"({"a":{"b":1,"c":null}})"},
      {R"({"a":1})", {{Kind::add, "/b/c", "2"}}, ""},  // no parent
      {R"({"a":1})", {{Kind::add, "/a/c", "2"}}, ""},  // the parent is a number
      {R"({"a":null})", {{Kind::add, "/a/c", "2"}}, ""},
      {R"({"a":1})", {{Kind::add, "", "{}"}}, ""},  // the root
      {R"({"a":1})", {{Kind::add, "/", "2"}}, R"({"a":1,"":2})"},
      {R"({})", {{Kind::add, "/a~1b", "1"}, {Kind::add, "/c~0d", "2"}}, R"({"a/b":1,"c~d":2})"},
      {R"({})", {{Kind::add, "/q\"", "1"}}, R"({"q\"":1})"},
      // arrays
      {R"({"t":[1,2]})", {{Kind::add, "/t/0", "0"}}, R"({"t":[0,1,2]})"},
      {R"({"t":[1,2]})", {{Kind::add, "/t/1", "9"}}, R"({"t":[1,9,2]})"},
      {R"({"t":[1,2]})", {{Kind::add, "/t/2", "3"}}, R"({"t":[1,2,3]})"},
      {R"({"t":[1,2]})", {{Kind::add, "/t/-", "3"}}, R"({"t":[1,2,3]})"},
      {R"({"t":[]})", {{Kind::add, "/t/-", "3"}}, R"({"t":[3]})"},
      {R"({"t":[1,2]})", {{Kind::add, "/t/3", "3"}}, ""},
      {R"({"t":[1,2]})", {{Kind::add, "/t/x", "3"}}, ""},
      {R"({"t":[1,2]})", {{Kind::add, "/t/-1", "3"}}, ""},
      {R"({"t":[1,2]})", {{Kind::add, "/t/01", "3"}}, ""},
      {R"({"t":[1,2]})", {{Kind::add, "/t/18446744073709551617", "3"}}, ""},
      {R"({"t":[[1],[2]]})", {{Kind::add, "/t/1/0", "3"}}, R"({"t":[[1],[3,2]]})"},
      {R"({"t":[{"x":1}]})", {{Kind::add, "/t/0/y", "2"}}, R"({"t":[{"x":1,"y":2}]})"},
      {R"({"t":{"0":1}})", {{Kind::add, "/t/0", "2"}}, R"({"t":{"0":2}})"},
      {R"({"t":{}})", {{Kind::add, "/t/-", "2"}}, R"({"t":{"-":2}})"},
      // what was added can be reached at once
      {R"({})",
       {{Kind::add, "/a", R"({"b":[1]})"},
        {Kind::add, "/a/b/-", "2"},
        {Kind::remove, "/a/b/0", ""}},
       R"({"a":{"b":[2]}})"},
  });
}

TEST(Patch, Set) {
  check({
      {R"({"a":1})", {{Kind::set, "/a", "2"}}, R"({"a":2})"},
      {R"({"a":1})", {{Kind::set, "/b", "2"}}, R"({"a":1,"b":2})"},
      {R"({"a":1})", {{Kind::set, "/b/c", "2"}}, ""},
      {R"({"t":[1,2]})", {{Kind::set, "/t/0", "9"}}, R"({"t":[9,2]})"},
      {R"({"t":[1,2]})", {{Kind::set, "/t/2", "9"}}, R"({"t":[1,2,9]})"},
      {R"({"t":[1,2]})", {{Kind::set, "/t/-", "9"}}, R"({"t":[1,2,9]})"},
      {R"({"t":[1,2]})", {{Kind::set, "/t/3", "9"}}, ""},
  });
}

TEST(Patch, Replace) {
  check({
      {R"({"a":1,"b":2})", {{Kind::replace, "/a", "\"x\""}}, R"({"a":"x","b":2})"},
      {R"({"a":1})", {{Kind::replace, "/b", "2"}}, ""},
      {R"({"a":{"b":null}})", {{Kind::replace, "/a/b", "2"}}, R"({"a":{"b":2}})"},
      {R"({"t":[1,2]})", {{Kind::replace, "/t/1", "9"}}, R"({"t":[1,9]})"},
      {R"({"t":[1,2]})", {{Kind::replace, "/t/2", "9"}}, ""},
      {R"({"t":[1,2]})", {{Kind::replace, "/t/-", "9"}}, ""},
  });
}

TEST(Patch, Remove) {
  check({
      {R"({"a":1,"b":2})", {{Kind::remove, "/a", ""}}, R"({"b":2})"},
      {R"({"a":1})", {{Kind::remove, "/a", ""}}, R"({})"},
      {R"({"a":1})", {{Kind::remove, "/b", ""}}, ""},
      {R"({"a":1})", {{Kind::remove, "", ""}}, ""},
      {R"({"a":{"b":{"c":1}}})", {{Kind::remove, "/a/b/c", ""}}, R"({"a":{"b":{}}})"},
      {R"({"t":[1,2,3]})", {{Kind::remove, "/t/1", ""}}, R"({"t":[1,3]})"},
      {R"({"t":[1,2,3]})", {{Kind::remove, "/t/3", ""}}, ""},
      {R"({"t":[1,2,3]})", {{Kind::remove, "/t/-", ""}}, ""},
      {R"({"t":[1,2]})", {{Kind::remove, "/t/0", ""}, {Kind::remove, "/t/0", ""}}, R"({"t":[]})"},
  });
}

TEST(Patch, Increment) {
  check({
      {R"({"n":1})", {{Kind::increment, "/n", "2"}}, R"({"n":3})"},
      {R"({"n":1})", {{Kind::increment, "/n", "-2"}}, R"({"n":-1})"},
      {R"({"n":1})", {{Kind::increment, "/n", "0.5"}}, R"({"n":1.5})"},
      {R"({"n":1.5})", {{Kind::increment, "/n", "0.5"}}, R"({"n":2})"},
      {R"({"n":1e3})", {{Kind::increment, "/n", "1"}}, R"({"n":1001})"},
      {R"({})", {{Kind::increment, "/n", "2"}}, R"({"n":2})"},
      {R"({})", {{Kind::increment, "/n/m", "2"}}, ""},
      {R"({"n":"1"})", {{Kind::increment, "/n", "2"}}, ""},
      {R"({"n":null})", {{Kind::increment, "/n", "2"}}, ""},
      {R"({"t":[1,2]})", {{Kind::increment, "/t/1", "5"}}, R"({"t":[1,7]})"},
      {R"({"t":[1,2]})", {{Kind::increment, "/t/2", "5"}}, R"({"t":[1,2,5]})"},
      {R"({"t":[1,2]})", {{Kind::increment, "/t/3", "5"}}, ""},
      // whole numbers beyond 2^53 stay exact; beyond 64 bits they become doubles
      {R"({"n":9007199254740993})", {{Kind::increment, "/n", "2"}}, R"({"n":9007199254740995})"},
      {R"({"n":9223372036854775807})",
       {{Kind::increment, "/n", "1"}},
       R"({"n":9223372036854776000})"},
      {R"({"n":1e308})", {{Kind::increment, "/n", "1.7e308"}}, ""},
      {R"({"n":1})",
       {{Kind::increment, "/n", "2"}, {Kind::increment, "/n", "3"}, {Kind::move, "/m", "/n"}},
       R"({"m":6})"},
  });
}

TEST(Patch, Move) {
  check({
      {R"({"a":1,"b":{}})", {{Kind::move, "/b/a", "/a"}}, R"({"b":{"a":1}})"},
      {R"({"a":1,"b":2})", {{Kind::move, "/b", "/a"}}, R"({"b":1})"},
      {R"({"a":1})", {{Kind::move, "/b", "/c"}}, ""},
      {R"({"a":1})", {{Kind::move, "/b/c", "/a"}}, ""},
      {R"({"a":{"b":{}}})", {{Kind::move, "/a/b/c", "/a"}}, ""},
      {R"({"a":{"b":{}}})", {{Kind::move, "/a/b", "/a"}}, ""},
      {R"({"a":{"b":1}})", {{Kind::move, "/a", "/a/b"}}, R"({"a":1})"},
      {R"({"a":1,"ab":{}})", {{Kind::move, "/ab/a", "/a"}}, R"({"ab":{"a":1}})"},
      {R"({"a":1})", {{Kind::move, "/a", "/a"}}, R"({"a":1})"},
      {R"({"a":1})", {{Kind::move, "/b", ""}}, ""},
      {R"({"t":[1,2,3]})", {{Kind::move, "/t/2", "/t/0"}}, R"({"t":[2,3,1]})"},
      {R"({"t":[1,2,3]})", {{Kind::move, "/t/-", "/t/0"}}, R"({"t":[2,3,1]})"},
      {R"({"t":[1,2,3]})", {{Kind::move, "/t/3", "/t/0"}}, ""},
      {R"({"t":[1,2],"a":0})", {{Kind::move, "/t/0", "/a"}}, R"({"t":[0,1,2]})"},
      {R"({"t":[1,{"x":2}]})", {{Kind::move, "/y", "/t/1/x"}}, R"({"t":[1,{}],"y":2})"},
  });
}

TEST(Patch, KeepsTheSpellingOfWhatItDoesNotTouch) {
  check({
      {R"({"a":1.50,"b":{"c":1E2,"d":"A"},"n":1})",
       {{Kind::increment, "/n", "1"}},
       R"({"a":1.50,"b":{"c":1E2,"d":"A"},"n":2})"},
  });
}

TEST(Patch, NamesTheOperationThatFailed) {
  auto result = patch(R"({"a":1})", {{Kind::set, "/b", "1"}, {Kind::replace, "/c/d", "1"}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message,
            "operation 2 of the patch (replace /c/d) cannot be done: the item has nothing at '/c'");
}

}  // namespace
}  // namespace orrery::value

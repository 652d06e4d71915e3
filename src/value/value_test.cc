// Values: both forms behave alike, order and hash agree with equality, copies outlive documents.
#include "value/value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

namespace orrery::value {
namespace {

Value parse(std::string_view text) {
  return Value::make_document(JsonDocument::parse(text).value());
}

// The same value made of owned parts.
Value rebuild(const Value& value) {
  if (value.is_array()) {
    std::vector<Value> elements;
    for (const Value& element : value.elements()) elements.push_back(rebuild(element));
    return Value::make_array(std::move(elements));
  }
  if (value.is_object()) {
    std::vector<Value::Field> fields;
    for (const Value::Member& member : value.members()) {
      fields.push_back(
          {.name = Value::make_string(std::string(member.name)), .value = rebuild(member.value)});
    }
    return Value::make_object(std::move(fields));
  }
  return value;
}

TEST(Value, StaysSmall) {
  EXPECT_LE(sizeof(Value), 32U);
}

TEST(Value, BothFormsBehaveAlike) {
  const Value borrowed = parse(R"({"a":[1,"x",null,true,{"b":[]}],"c":"é\n","d":{}})");
  const Value owned = rebuild(borrowed);
  EXPECT_EQ(borrowed, owned);
  EXPECT_EQ(borrowed <=> owned, std::strong_ordering::equal);
  EXPECT_EQ(borrowed.hash(), owned.hash());
  EXPECT_EQ(borrowed.to_json(), owned.to_json());
  for (const Value& value : {borrowed, owned}) {
    EXPECT_EQ(value.size(), 3U);
    EXPECT_EQ(value.find("a").size(), 5U);
    EXPECT_EQ(value.find("a").at(1).text(), "x");
    EXPECT_TRUE(value.find("a").at(5).is_undefined());
    EXPECT_TRUE(value.find("z").is_undefined());
    EXPECT_TRUE(value.at(0).is_undefined());
    EXPECT_TRUE(value.find("c").find("x").is_undefined());
    EXPECT_TRUE(value.find("a").at(4).find("b").is_array());
  }
  size_t seen = 0;
  const Value scalar = Value::make_number(1);
  for (const Value& element : scalar.elements()) seen += element.size() + 1;
  for (const Value::Member& member : scalar.members()) seen += member.name.size() + 1;
  EXPECT_EQ(seen, 0U);
}

TEST(Value, OrdersTypesAndValues) {
  std::vector<Value> ascending = {Value(),
                                  Value::make_null(),
                                  Value::make_bool(false),
                                  Value::make_bool(true),
                                  Value::make_number(std::numeric_limits<double>::quiet_NaN()),
                                  Value::make_number(-std::numeric_limits<double>::infinity()),
                                  Value::make_number(-1),
                                  Value::make_number(0),
                                  Value::make_number(9007199254740992.0),
                                  Value::borrow_string(""),
                                  Value::borrow_string("A"),
                                  Value::borrow_string("a"),
                                  Value::borrow_string("\xef\xbf\xbd"),
                                  Value::borrow_string("\xf0\x9f\x98\x80"),
                                  parse("[]"),
                                  parse("[1]"),
                                  parse("[1,2]"),
                                  parse("[2]"),
                                  parse("{}"),
                                  parse(R"({"a":1})"),
                                  parse(R"({"b":0,"a":1})"),
                                  parse(R"({"b":0})")};
  for (size_t i = 0; i < ascending.size(); ++i) {
    for (size_t j = 0; j < ascending.size(); ++j) {
      EXPECT_EQ(ascending[i] <=> ascending[j], i <=> j) << i << ' ' << j;
      EXPECT_EQ(ascending[i] == ascending[j], i == j) << i << ' ' << j;
      EXPECT_EQ(ascending[i].hash() == ascending[j].hash(), i == j) << i << ' ' << j;
    }
  }
}

TEST(Value, MemberOrderDoesNotCount) {
  const Value a = parse(R"({"x":1,"y":[{"p":1,"q":2}]})");
  const Value b = parse(R"({"y":[{"q":2,"p":1}],"x":1.0})");
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.hash(), b.hash());
  EXPECT_NE(a, parse(R"({"x":1,"y":[{"p":1,"q":3}]})"));
  EXPECT_EQ(Value::make_number(-0.0), Value::make_number(0.0));
  EXPECT_EQ(Value::make_number(-0.0).hash(), Value::make_number(0.0).hash());
}

TEST(Value, UndefinedPartsAreLeftOut) {
  EXPECT_EQ(Value::make_array({Value::make_number(1), Value(), Value::make_null()}).to_json(),
            "[1,null]");
  EXPECT_EQ(Value::make_object({{.name = Value::borrow_string("a"), .value = Value()},
                                {.name = Value::borrow_string("b"), .value = Value::make_null()},
                                {.name = Value::borrow_string("b"), .value = parse("[]")}})
                .to_json(),
            R"({"b":[]})");
  EXPECT_EQ(Value::make_array({}).to_json(), "[]");
  EXPECT_EQ(Value::make_object({}).to_json(), "{}");
  EXPECT_EQ(Value().to_json(), "");
}

TEST(Value, PrintsAsJavaScriptDoes) {
  EXPECT_EQ(Value::make_number(1e21).to_json(), "1e+21");
  EXPECT_EQ(Value::make_number(0.1 + 0.2).to_json(), "0.30000000000000004");
  EXPECT_EQ(Value::make_number(-0.0).to_json(), "0");
  EXPECT_EQ(Value::borrow_string("a\"\n").to_json(), R"("a\"\n")");
}

TEST(Value, OwnedCopiesOutliveTheDocument) {
  std::optional<JsonDocument> document =
      JsonDocument::parse(R"({"s":"a string that is long enough to be on the heap","a":[1,{}]})")
          .value();
  const Value root = Value::from(document->root());
  std::vector<Value> kept = {root.to_owned(), root.find("s").to_owned(), root.find("a").to_owned(),
                             Value::make_array({root.find("s"), root}).to_owned()};
  const std::string expected = root.to_json();
  document.reset();
  EXPECT_EQ(kept[0].to_json(), expected);
  EXPECT_EQ(kept[1].text(), "a string that is long enough to be on the heap");
  EXPECT_EQ(kept[2].to_json(), "[1,{}]");
  EXPECT_EQ(kept[3].at(1).to_json(), expected);
  EXPECT_GT(kept[3].memory(), 2 * kept[1].memory());
  const Value part = kept[0].find("a");
  kept.clear();
  EXPECT_EQ(part.to_json(), "[1,{}]");
}

}  // namespace
}  // namespace orrery::value

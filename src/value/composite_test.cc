// Composite terms: that their byte order is the order of the values, and what readers make of them.
#include "value/composite.h"

#include <gtest/gtest.h>

#include <random>

#include "value/ordered.h"
#include "value/terms.h"

namespace orrery::value {
namespace {

using Edge = CompositeTerms::Edge;

CompositeIndex index_of(std::initializer_list<std::pair<const char*, bool>> parts) {
  CompositeIndex index;
  for (const auto& [path, descending] : parts) {
    index.parts.push_back({.path = parse_property_path(path).value(), .descending = descending});
  }
  return index;
}

std::string term_of(const CompositeIndex& index, std::string_view json) {
  const auto document = JsonDocument::parse(json).value();
  std::string term = CompositeTerms::prefix(index);
  CompositeTerms::append(term, index, document.root());
  return term;
}

Value value_of(std::string_view json) {
  return Value::make_document(JsonDocument::parse(json).value());
}

bool is_in(const CompositeRange& range, const std::string& term) {
  return range.from <= term && term < range.to;
}

// A value, or undefined; of arrays and objects one each, since terms do not tell them apart.
class RandomValues {
 public:
  explicit RandomValues(uint64_t seed) : random_(seed) {}
  std::string json() {
    switch (random_() % 9) {
      case 0:
        return "";
      case 1:
        return "null";
      case 2:
        return random_() % 2 == 0 ? "true" : "false";
      case 3:
      case 4:
        return std::to_string(static_cast<int>(random_() % 7) - 3);
      case 5:
        return std::array{"1e300", "-1e-300", "0.5", "-0", "123456789012"}[random_() % 5];
      case 6:
        return random_() % 2 == 0 ? "[]" : "{}";
      default: {
        std::string text = "\"";
        for (uint64_t i = random_() % 4; i > 0; --i) {
          text += std::array{
              "a", "b", "\\u0000", "\\u0001", "\\u00ff", "\\ud83d\\ude00"}[random_() % 6];
        }
        return text + "\"";
      }
    }
  }

 private:
  std::mt19937_64 random_;
};

// The order of the terms of a run is not told; that of runs is.
TEST(Composite, Runs) {
  for (const bool down : {false, true}) {
    const CompositeIndex index = index_of({{"/a", down}, {"/b", !down}});
    const auto run_of = [&](const std::string& a, const std::string& b) {
      const std::string term = term_of(index, "{\"a\":" + a + ",\"b\":" + b + "}");
      return std::string(composite_run(term));
    };
    const std::string lead(kMaxTermText, 'x');
    const auto text = [](const std::string& in) { return '"' + in + '"'; };
    EXPECT_EQ(run_of("1", text(lead)), term_of(index, "{\"a\":1,\"b\":" + text(lead) + "}"));
    EXPECT_EQ(run_of("1", text(lead + "a")), run_of("1", text(lead + "b")));
    EXPECT_NE(run_of("1", text(lead + "a")), run_of("2", text(lead + "a")));
    EXPECT_NE(run_of("1", text(lead + "a")), run_of("1", text("y" + lead)));
    EXPECT_EQ(run_of(text(lead + "a"), "1"), run_of(text(lead + "b"), "2"));
    EXPECT_EQ(run_of("[1]", "1"), run_of("[2]", "2"));
    EXPECT_NE(run_of("[]", "1"), run_of("{}", "1"));
    EXPECT_FALSE(run_of("[]", "1").starts_with(run_of("{}", "1")));
  }
}

TEST(Composite, ByteOrderIsTheOrderOfTheValues) {
  for (const bool first : {false, true}) {
    for (const bool second : {false, true}) {
      const CompositeIndex index = index_of({{"/a", first}, {"/b/c", second}});
      RandomValues values(41);
      struct Entry {
        Value a;
        Value b;
        std::string term;
      };
      std::vector<Entry> entries;
      for (int i = 0; i < 400; ++i) {
        const std::string a = values.json();
        const std::string b = values.json();
        std::string json = "{\"z\":1";
        if (!a.empty()) json += ",\"a\":" + a;
        if (!b.empty()) json += ",\"b\":{\"c\":" + b + "}";
        entries.push_back({a.empty() ? Value() : value_of(a), b.empty() ? Value() : value_of(b),
                           term_of(index, json + "}")});
      }
      for (const Entry& x : entries) {
        EXPECT_EQ(composite_term_size(x.term + "\x01key"), x.term.size());
        const auto decoded = CompositeTerms(index).decode(x.term).value();
        EXPECT_EQ(decoded[0].type, x.a.type());
        if (decoded[0].is_exact) EXPECT_EQ(decoded[0].value, x.a);
        if (decoded[1].is_exact) EXPECT_EQ(decoded[1].value, x.b);
        EXPECT_EQ(decoded[1].is_exact, !x.b.is_array() && !x.b.is_object());
        for (const Entry& y : entries) {
          auto order = first ? y.a <=> x.a : x.a <=> y.a;
          if (order == 0) order = second ? y.b <=> x.b : x.b <=> y.b;
          ASSERT_EQ(order < 0, x.term < y.term) << x.a.to_json() << ' ' << x.b.to_json() << " / "
                                                << y.a.to_json() << ' ' << y.b.to_json();
          ASSERT_EQ(order == 0, x.term == y.term);
        }
      }
    }
  }
}

TEST(Composite, RangesHoldTheTermsTheyShould) {
  for (const bool descending : {false, true}) {
    const CompositeIndex index = index_of({{"/a", true}, {"/b", descending}, {"/c", true}});
    RandomValues values(42);
    std::vector<std::pair<Value, std::string>> entries;
    for (int i = 0; i < 300; ++i) {
      const std::string b = values.json();
      const std::string c = values.json();
      entries.emplace_back(b.empty() ? Value() : value_of(b),
                           term_of(index, "{\"a\":7" + (b.empty() ? "" : ",\"b\":" + b) +
                                              (c.empty() ? "" : ",\"c\":" + c) + "}"));
    }
    CompositeTerms terms(index);
    EXPECT_EQ(terms.fixed(), 0U);
    terms.fix(Value::make_number(7));
    CompositeTerms others(index);
    others.fix(Value::make_number(8));
    for (const auto& [value, term] : entries) {
      EXPECT_TRUE(is_in(terms.all(), term));
      EXPECT_FALSE(is_in(others.all(), term));
      for (const Type type : {Type::undefined, Type::null, Type::boolean, Type::number,
                              Type::string, Type::array, Type::object}) {
        EXPECT_EQ(is_in(terms.of_type(type), term), value.type() == type);
      }
      EXPECT_EQ(is_in(terms.starting_with("a"), term),
                value.is_string() && value.text().starts_with("a"));
      CompositeTerms both = terms;
      both.fix(value);
      EXPECT_TRUE(is_in(both.all(), term));
      for (const auto& [edge, ignored] : entries) {
        if (edge.is_array() || edge.is_object()) continue;
        const bool same_type = edge.type() == value.type();
        for (const bool inclusive : {false, true}) {
          const Edge at{.value = edge, .inclusive = inclusive};
          const auto order = value <=> edge;
          ASSERT_EQ(is_in(terms.between(at, std::nullopt), term),
                    same_type && (order > 0 || (inclusive && order == 0)));
          ASSERT_EQ(is_in(terms.between(std::nullopt, at), term),
                    same_type && (order < 0 || (inclusive && order == 0)));
        }
      }
    }
    const Edge low{.value = Value::make_number(-1), .inclusive = false};
    const Edge high{.value = Value::make_number(2), .inclusive = true};
    for (const auto& [value, term] : entries) {
      EXPECT_EQ(is_in(terms.between(low, high), term),
                value.is_number() && value.number() > -1 && value.number() <= 2);
    }
  }
}

TEST(Composite, LongTextsMakeRangesWider) {
  const CompositeIndex index = index_of({{"/a", false}, {"/b", true}});
  const std::string start(kMaxTermText, 'm');
  const std::string term = term_of(index, "{\"a\":\"" + start + "x\",\"b\":1}");
  const CompositeTerms terms(index);
  for (const char* end : {"a", "x", "z"}) {
    const Edge edge{.value = Value::make_string(start + end), .inclusive = false};
    for (const CompositeRange& range :
         {terms.between(edge, std::nullopt), terms.between(std::nullopt, edge)}) {
      EXPECT_TRUE(is_in(range, term));
      EXPECT_FALSE(range.is_exact);
    }
  }
  CompositeTerms fixed(index);
  fixed.fix(Value::make_string(start + "x"));
  EXPECT_TRUE(is_in(fixed.all(), term));
  EXPECT_FALSE(fixed.all().is_exact);
  EXPECT_FALSE(CompositeTerms(index).decode(term).value()[0].is_exact);
  EXPECT_EQ(composite_term_size(term + "k"), term.size());
}

TEST(Composite, EachIndexHasItsOwnTerms) {
  const CompositeIndex one = index_of({{"/a", false}, {"/b", true}});
  for (const CompositeIndex& other :
       {index_of({{"/a", false}, {"/b", false}}), index_of({{"/b", false}, {"/a", true}}),
        index_of({{"/a", false}, {"/b", true}, {"/c", false}}), index_of({{"/a/b", false}})}) {
    EXPECT_NE(CompositeTerms::prefix(one), CompositeTerms::prefix(other));
    EXPECT_FALSE(CompositeTerms(other).decode(term_of(one, "{}")));
  }
  EXPECT_EQ(CompositeTerms::prefix(one),
            CompositeTerms::prefix(index_of({{"/a", false}, {"/b", true}})));
}

TEST(Composite, WhatIsNoTermIsRefused) {
  const CompositeIndex index = index_of({{"/a", false}, {"/b", true}});
  const CompositeTerms terms(index);
  const std::string good = term_of(index, R"({"a":"x\u0000y","b":2.5})");
  EXPECT_TRUE(terms.decode(good));
  EXPECT_FALSE(terms.decode(good + "x"));
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(terms.decode(good.substr(0, size)));
    EXPECT_EQ(composite_term_size(good.substr(0, size)), 0U);
  }
  std::mt19937_64 random(43);
  for (int i = 0; i < 100'000; ++i) {
    std::string bytes = good.substr(0, 9);
    for (uint64_t left = random() % 16; left > 0; --left) {
      bytes += "\x00\x01\x02\x04\x05\x07\x7F\xFA\xFB\xFE\xFF\x61"[random() % 12];
    }
    const size_t size = composite_term_size(bytes);
    ASSERT_LE(size, bytes.size());
    if (const auto decoded = terms.decode(bytes)) ASSERT_EQ(size, bytes.size());
  }
}

}  // namespace
}  // namespace orrery::value

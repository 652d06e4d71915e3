// The items that come through the index, in key order and in the order of a path, from every place
// on: the same as those found by looking at all items.
#include "query/run/index_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "query/bind/bind.h"
#include "query/evaluate/evaluate.h"
#include "query/parse/parser.h"
#include "query/run/indexed_space.h"

namespace orrery::query {
namespace {

using value::Value;
using Estimate = IndexedSpace::Options::Estimate;

std::shared_ptr<const BoundQuery> bound(const std::string& text) {
  return bind_query(parse_query(text).value(), {}).value();
}

struct Item {
  std::vector<Value> order;
  std::string key;
  std::string body;
};

class SourceTest : public testing::Test {
 protected:
  // Items of many types, with long strings that start alike.
  static std::vector<std::string> random_bodies(uint32_t seed, size_t count) {
    std::mt19937 random(seed);
    const std::string lead(value::kMaxTermText - 1, 'x');
    const std::vector<std::string> values = {"null",
                                             "true",
                                             "false",
                                             "1",
                                             "2",
                                             "2.5",
                                             "-3",
                                             "\"\"",
                                             "\"a\"",
                                             "\"ab\"",
                                             "[1]",
                                             "[0,5]",
                                             "[]",
                                             "{\"n\":1}",
                                             "\"" + lead + "x\"",
                                             "\"" + lead + "xz\"",
                                             "\"" + lead + "xa\"",
                                             "\"" + lead + "y\""};
    std::vector<std::string> bodies;
    for (size_t i = 0; i < count; ++i) {
      std::string body = "{\"id\":\"" + std::to_string(i) + "\"";
      for (const char* name : {"a", "b", "l"}) {
        if (random() % 6 == 0) continue;
        body += std::string(",\"") + name + "\":" + values[random() % values.size()];
      }
      bodies.push_back(body + "}");
    }
    return bodies;
  }

  // What passes the filter, by looking at everything.
  static std::vector<Item> expected(ItemSpace& space, const BoundQuery& query, bool ordered) {
    Context context;
    std::string end;
    const auto view = space.open("", end).value();
    const auto cursor = view->items(nullptr, false).value();
    std::vector<Item> found;
    while (cursor->next().value()) {
      const auto json = value::JsonDocument::parse(cursor->body()).value();
      Frame frame(query.slots, context);
      frame.slots[*query.document_slot] = Value::from(json.root());
      if (query.where && !evaluate(*query.where, frame).is_true()) continue;
      Item item{
          .order = {}, .key = std::string(cursor->key()), .body = std::string(cursor->body())};
      for (const BoundOrder& order : query.order_by) {
        item.order.push_back(evaluate(order.expr, frame).to_owned());
      }
      found.push_back(std::move(item));
    }
    if (!ordered) return found;
    const bool down = query.order_by.front().descending;
    std::ranges::sort(found, [&](const Item& a, const Item& b) {
      for (size_t i = 0; i < a.order.size(); ++i) {
        if (a.order[i] != b.order[i]) {
          return (a.order[i] < b.order[i]) != query.order_by[i].descending;
        }
      }
      return (a.key < b.key) != down;
    });
    return found;
  }

  // What comes out of a source and passes the filter; nothing when there is no source.
  std::optional<std::vector<std::string>> read(ItemSpace& space, const BoundQuery& query,
                                               bool ordered, const SourceStart* start,
                                               size_t wanted) {
    Context context;
    std::string end;
    const auto view = space.open("", end).value();
    const IndexPlan plan = plan_index_use(query, *space.policy(), context);
    counts_ = {};
    const SourceSetting setting{*view, plan, context, counts_};
    auto source =
        ordered ? open_in_order(setting, start, wanted) : open_in_key_order(setting, start);
    EXPECT_TRUE(source) << source.error().message;
    if (!source || !*source) return std::nullopt;
    std::vector<std::string> keys;
    while (keys.size() < wanted) {
      const auto item = (*source)->next(wanted - keys.size());
      EXPECT_TRUE(item) << item.error().message;
      if (!item || *item == nullptr) break;
      if ((*item)->body.empty()) continue;
      const auto json = value::JsonDocument::parse((*item)->body).value();
      Frame frame(query.slots, context);
      frame.slots[*query.document_slot] = Value::from(json.root());
      const bool passes = !query.where || evaluate(*query.where, frame).is_true();
      if (passes) keys.emplace_back((*item)->key);
      EXPECT_TRUE(passes || !(*item)->passes) << (*item)->body;
      if ((*item)->order != nullptr) {
        EXPECT_EQ(*(*item)->order, evaluate(query.order_by.front().expr, frame)) << (*item)->body;
      }
    }
    return keys;
  }

  void expect_same_from_everywhere(IndexedSpace& space, const std::string& text, bool ordered) {
    SCOPED_TRACE(text);
    const auto query = bound(text);
    const std::vector<Item> all = expected(space, *query, ordered);
    for (size_t from = 0; from <= all.size(); ++from) {
      for (const bool inclusive : {false, true}) {
        SourceStart start;
        if (from > 0) {
          start = {.values = all[from - 1].order, .key = all[from - 1].key, .inclusive = inclusive};
        }
        const auto keys = read(space, *query, ordered, from > 0 ? &start : nullptr, 1000);
        if (!keys) return;
        ++compared_;
        std::vector<std::string> rest;
        for (size_t i = from - (from > 0 && inclusive ? 1 : 0); i < all.size(); ++i) {
          rest.push_back(all[i].key);
        }
        ASSERT_EQ(*keys, rest) << "from " << from << (inclusive ? " inclusive" : "");
      }
    }
  }

  ReadCounts counts_;
  size_t compared_ = 0;
};

const char* const kFilters[] = {
    "",
    "WHERE c.a = 2",
    "WHERE c.a > 1",
    "WHERE c.a IN (1, \"a\", null, true)",
    "WHERE c.b = true AND c.a != 2",
    "WHERE c.b >= \"a\"",
    "WHERE NOT IS_DEFINED(c.b)",
    "WHERE NOT IS_STRING(c.a)",
    "WHERE CONTAINS(c.a, \"x\") OR c.b = 1",
    "WHERE ARRAY_CONTAINS(c.l, 5) AND IS_DEFINED(c.a)",
    "WHERE c.l[0] = 1 OR c.a = [1]",
    "WHERE LENGTH(c.a) = 1 AND c.b < 2",
    "WHERE c.a < \"xx\" AND c.b = 2",
    "WHERE (c.a = 2 AND c.b = 2) OR c.b = true OR NOT IS_DEFINED(c.l)",
    "WHERE c.a ?? true",
    "WHERE (c.a = 1 OR c.a = 2) AND (c.b = 1 OR c.b = 2 OR c.l = 1)",
};

TEST_F(SourceTest, KeyOrderFromEverywhere) {
  for (const Estimate estimate : {Estimate::one, Estimate::truth, Estimate::everything}) {
    IndexedSpace::Options options;
    options.estimate = estimate;
    options.shapes_max = 3;
    IndexedSpace space(IndexedSpace::in_order(random_bodies(1, 60)), options);
    for (const char* filter : kFilters) {
      expect_same_from_everywhere(space, std::string("SELECT * FROM c ") + filter, false);
    }
  }
}

TEST_F(SourceTest, OrderOfAPathFromEverywhere) {
  for (const Estimate estimate : {Estimate::one, Estimate::truth, Estimate::everything}) {
    IndexedSpace::Options options;
    options.estimate = estimate;
    options.shapes_max = 3;
    IndexedSpace space(IndexedSpace::in_order(random_bodies(2, 60)), options);
    for (const char* filter : kFilters) {
      for (const char* order : {" ORDER BY c.a", " ORDER BY c.a DESC", " ORDER BY c.no DESC"}) {
        expect_same_from_everywhere(space, std::string("SELECT * FROM c ") + filter + order, true);
      }
    }
  }
  EXPECT_GT(compared_, size_t{1000});
}

std::vector<std::string> numbered(size_t count) {
  std::vector<std::string> bodies;
  for (size_t i = 0; i < count; ++i) {
    bodies.push_back("{\"id\":\"" + std::to_string(i) + "\",\"n\":" + std::to_string(count - i) +
                     ",\"g\":" + std::to_string(i % 100) + ",\"t\":\"name " + std::to_string(i) +
                     "\"}");
  }
  return bodies;
}

// As after a page whose last row is in another view.
TEST_F(SourceTest, OrderOfAPathFromAValueThatIsNotThere) {
  IndexedSpace space(numbered(9));
  const std::string last = "\xff";  // behind all keys
  for (const bool inclusive : {true, false}) {
    for (const auto& [text, from, left] : {std::tuple("SELECT * FROM c ORDER BY c.n", 4.5, 5),
                                           std::tuple("SELECT * FROM c ORDER BY c.n", 4.0, 5),
                                           std::tuple("SELECT * FROM c ORDER BY c.n DESC", 4.5, 4),
                                           std::tuple("SELECT * FROM c ORDER BY c.n", 0.5, 9)}) {
      const SourceStart start{
          .values = {Value::make_number(from)}, .key = last, .inclusive = inclusive};
      const auto keys = read(space, *bound(text), true, &start, 100);
      ASSERT_TRUE(keys);
      EXPECT_EQ(keys->size(), size_t(left)) << text << " from " << from;
    }
  }
}

value::IndexPolicy with_composites(const std::vector<std::vector<std::string>>& composites) {
  value::IndexDefinition definition = value::IndexPolicy::everything().definition();
  for (const auto& paths : composites) {
    value::CompositeIndex& composite = definition.composites.emplace_back();
    for (const std::string& path : paths) {
      const bool descending = path.starts_with('-');
      composite.parts.push_back(
          {.path = value::parse_property_path(path.substr(descending ? 1 : 0)).value(),
           .descending = descending});
    }
  }
  return value::IndexPolicy(definition);
}

TEST_F(SourceTest, OrderOfACompositeFromEverywhere) {
  const char* const orders[] = {
      " ORDER BY c.a, c.b",
      " ORDER BY c.a DESC, c.b DESC",
      " ORDER BY c.b DESC, c.l",
      " ORDER BY c.b, c.l DESC",
      " ORDER BY c.l, c.a DESC, c.b",
      " ORDER BY c.l DESC, c.a, c.b DESC",
      " ORDER BY c.l DESC, c.b DESC",
      " ORDER BY c.l DESC",
      " ORDER BY c.b",
  };
  for (const Estimate estimate : {Estimate::one, Estimate::truth, Estimate::everything}) {
    IndexedSpace::Options options;
    options.estimate = estimate;
    options.policy =
        with_composites({{"/a", "/b"}, {"-/b", "/l"}, {"/l", "-/a", "/b"}, {"/a", "-/l", "-/b"}});
    IndexedSpace space(IndexedSpace::in_order(random_bodies(3, 60)), options);
    std::vector<std::string> filters(std::begin(kFilters), std::end(kFilters));
    const std::string lead(value::kMaxTermText, 'x');
    filters.emplace_back("WHERE c.b < 2.5 AND c.a >= 1");
    filters.emplace_back("WHERE c.a = 1 AND c.b > 1");
    filters.emplace_back("WHERE c.b = 2 AND c.l <= 2");
    filters.emplace_back("WHERE c.a != 2 AND c.b BETWEEN 'a' AND 'ab' AND c.l > 0");
    filters.emplace_back("WHERE c.b = '" + lead + "z' OR c.b = true");
    filters.emplace_back("WHERE c.a > '" + lead + "b' AND c.l < '" + lead + "b'");
    for (const std::string& filter : filters) {
      for (const char* order : orders) {
        expect_same_from_everywhere(space, "SELECT * FROM c " + filter + order, true);
      }
    }
  }
  EXPECT_GT(compared_, size_t{5000});
}

// A composite whose first path goes against the order of keys, with many equal values.
TEST_F(SourceTest, OrderOfACompositeAmongEqualValues) {
  std::vector<std::string> bodies;
  for (size_t i = 0; i < 40; ++i) {
    bodies.push_back("{\"a\":" + std::to_string(i % 3) + ",\"b\":" + std::to_string(i % 2) + "}");
  }
  IndexedSpace::Options options;
  options.policy = with_composites({{"-/a", "/b"}});
  IndexedSpace space(IndexedSpace::in_order(bodies), options);
  for (const char* order : {"c.a DESC, c.b", "c.a, c.b DESC"}) {
    expect_same_from_everywhere(space, std::string("SELECT * FROM c ORDER BY ") + order, true);
  }
  EXPECT_EQ(compared_, size_t{2 * 2 * 41});
}

TEST_F(SourceTest, OrderOfACompositeFromAPlaceThatIsNotThere) {
  IndexedSpace::Options options;
  options.policy = with_composites({{"/g", "-/n"}});
  IndexedSpace space(IndexedSpace::in_order({"{\"g\":1,\"n\":1}", "{\"g\":1,\"n\":3}",
                                             "{\"g\":2,\"n\":1}", "{\"g\":2,\"n\":3}"}),
                     options);
  const auto left = [&](const char* order, double g, double n, bool inclusive) {
    const SourceStart start{.values = {Value::make_number(g), Value::make_number(n)},
                            .key = "\xff",
                            .inclusive = inclusive};
    const auto query = bound(std::string("SELECT * FROM c ORDER BY ") + order);
    const auto keys = read(space, *query, true, &start, 100);
    return keys ? keys->size() : SIZE_MAX;
  };
  for (const bool inclusive : {true, false}) {
    EXPECT_EQ(left("c.g, c.n DESC", 1, 2, inclusive), size_t{3});
    EXPECT_EQ(left("c.g, c.n DESC", 1, 1, inclusive), size_t{2});
    EXPECT_EQ(left("c.g, c.n DESC", 1.5, 1, inclusive), size_t{2});
    EXPECT_EQ(left("c.g, c.n DESC", 2, 0, inclusive), size_t{0});
    EXPECT_EQ(left("c.g DESC, c.n", 2, 2, inclusive), size_t{3});
    // Downwards the key is before all others.
    EXPECT_EQ(left("c.g DESC, c.n", 2, 3, inclusive), size_t{3});
  }
}

// More than is put in order at a time: it comes in parts, and none is left out.
TEST_F(SourceTest, OrderOfACompositeOfManyLongStrings) {
  std::mt19937 random(4);
  std::vector<std::string> bodies = {R"({"a":1})", R"({"a":1,"b":2})", R"({"a":1,"b":[]})"};
  for (size_t i = 0; i < 120; ++i) {
    bodies.push_back("{\"a\":1,\"b\":\"" + std::string(100'000, 'x') +
                     std::to_string(random() % 100) + "\"}");
  }
  IndexedSpace::Options options;
  options.policy = with_composites({{"/a", "/b"}});
  IndexedSpace space(IndexedSpace::in_order(bodies), options);
  for (const char* order : {"c.a, c.b", "c.a DESC, c.b DESC"}) {
    const auto query = query::bind(std::string("SELECT * FROM c ORDER BY ") + order);
    const auto keys = read(space, *query, true, nullptr, 1000);
    ASSERT_TRUE(keys);
    std::vector<std::string> all;
    for (const Item& item : expected(space, *query, true)) all.push_back(item.key);
    EXPECT_EQ(*keys, all);
    EXPECT_GT(counts_.items, uint64_t{3 * 120});
  }
}

TEST_F(SourceTest, ACompositeIsReadNoFurtherThanIsWanted) {
  IndexedSpace::Options options;
  options.policy = with_composites({{"/g", "/n"}});
  IndexedSpace space(IndexedSpace::in_order(numbered(5000)), options);
  for (const char* text :
       {"SELECT * FROM c ORDER BY c.g, c.n", "SELECT * FROM c WHERE c.g = 7 ORDER BY c.n DESC",
        "SELECT * FROM c WHERE c.g = 7 ORDER BY c.g, c.n",
        "SELECT * FROM c WHERE c.g = 7 AND c.n > 2500 ORDER BY c.n",
        "SELECT * FROM c WHERE c.g = 7 AND c.n <= 2500 ORDER BY c.n DESC",
        "SELECT * FROM c WHERE c.g >= 50 ORDER BY c.g, c.n"}) {
    const auto keys = read(space, *bound(text), true, nullptr, 10);
    ASSERT_TRUE(keys) << text;
    EXPECT_EQ(keys->size(), size_t{10});
    EXPECT_EQ(counts_.items, uint64_t{10}) << text;
    EXPECT_LE(counts_.entries, uint64_t{20}) << text;
  }
}

TEST_F(SourceTest, ReadsNoMoreThanIsWanted) {
  IndexedSpace space(numbered(5000));
  const auto count = [&](const char* text, bool ordered, size_t wanted) {
    const auto keys = read(space, *bound(text), ordered, nullptr, wanted);
    EXPECT_TRUE(keys) << text;
    return keys ? keys->size() : 0;
  };
  EXPECT_EQ(count("SELECT * FROM c WHERE c.g = 7", false, 10), size_t{10});
  EXPECT_EQ(counts_.items, uint64_t{10});
  EXPECT_LE(counts_.entries, uint64_t{20});

  EXPECT_EQ(count("SELECT * FROM c WHERE c.g = 7 AND c.n < 1000", false, 1000), size_t{10});
  EXPECT_LE(counts_.items, uint64_t{60});

  EXPECT_EQ(count("SELECT * FROM c WHERE c.n BETWEEN 50 AND 60", false, 1000), size_t{11});
  EXPECT_EQ(counts_.items, uint64_t{11});

  EXPECT_EQ(count("SELECT * FROM c WHERE CONTAINS(c.t, \"999\")", false, 1000), size_t{5});
  EXPECT_EQ(counts_.items, uint64_t{5});

  EXPECT_EQ(count("SELECT * FROM c ORDER BY c.n", true, 10), size_t{10});
  EXPECT_EQ(counts_.items, uint64_t{10});
  EXPECT_LE(counts_.entries, uint64_t{20});

  EXPECT_EQ(count("SELECT * FROM c WHERE c.n > 4000 ORDER BY c.n DESC", true, 10), size_t{10});
  EXPECT_EQ(counts_.items, uint64_t{10});

  // What is seldom is asked of the index before items are read.
  EXPECT_EQ(count("SELECT * FROM c WHERE c.g IN (1, 2, 3, 4, 5) ORDER BY c.n", true, 10),
            size_t{10});
  EXPECT_EQ(counts_.items, uint64_t{10});
}

TEST_F(SourceTest, FewItemsAreSortedRatherThanWalkedTo) {
  IndexedSpace space(numbered(5000));
  EXPECT_FALSE(read(space, *bound("SELECT * FROM c WHERE c.t = \"name 7\" ORDER BY c.n"), true,
                    nullptr, 10));
}

TEST_F(SourceTest, AViewWithoutItsIndexIsReadWhole) {
  IndexedSpace::Options options;
  options.is_indexed = false;
  IndexedSpace space(IndexedSpace::in_order(numbered(50)), options);
  EXPECT_EQ(read(space, *bound("SELECT * FROM c WHERE c.n = 7"), false, nullptr, 10)->size(),
            size_t{1});
  EXPECT_EQ(counts_.entries, uint64_t{0});
  EXPECT_FALSE(read(space, *bound("SELECT * FROM c ORDER BY c.n"), true, nullptr, 10));
}

}  // namespace
}  // namespace orrery::query

// Which rows get such resource ids, and that clients compare them as is meant, each in its own way.
#include "api/cosmos/query/tie_rids.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "api/cosmos/query/gateway_plan.h"
#include "api/cosmos/wire/rid.h"
#include "base/bytes.h"
#include "query/parse/parser.h"
#include "value/ordered.h"

namespace orrery::cosmos {
namespace {

using value::Placement;

std::optional<TieRids> rids_of(std::string_view text) {
  return tie_rids_of(query::parse_query(text).value(), Placement::hash_v2, 1, 2);
}

// The query that clients send to each range.
std::string rewritten(std::string_view text) {
  value::KeyDefinition key;
  key.paths.push_back(value::parse_property_path("/pk").value());
  auto plan = make_gateway_plan(query::parse_query(text).value(), {key, {}}, {});
  EXPECT_TRUE(plan) << plan.error().message;
  std::string query =
      plan->hybrid ? plan->hybrid->components.at(0).rewritten_query : plan->info.rewritten_query;
  for (const std::string_view left : {"{documentdb-formattableorderbyquery-filter}"}) {
    if (const size_t at = query.find(left); at != std::string::npos) {
      query.replace(at, left.size(), "true");
    }
  }
  // What the statistics of a hybrid search would be.
  for (size_t at; (at = query.find("{documentdb-")) != std::string::npos;) {
    query.replace(at, query.find('}', at) + 1 - at, "1");
  }
  return query;
}

TEST(TieRids, AreOfOrdersThatClientsMerge) {
  for (const char* text :
       {"SELECT * FROM c ORDER BY c.a", "SELECT VALUE c.b FROM c WHERE c.b > 1 ORDER BY c.a DESC",
        "SELECT TOP 5 c.a, t FROM c JOIN t IN c.l ORDER BY t", "SELECT * FROM r ORDER BY r.a, r.b",
        "SELECT DISTINCT c.a FROM c ORDER BY c.a",
        "SELECT * FROM c ORDER BY c.a OFFSET 1 LIMIT 2"}) {
    EXPECT_FALSE(rids_of(text)) << text;
    EXPECT_TRUE(rids_of(rewritten(text))) << rewritten(text);
  }
  for (const char* text :
       {"SELECT c._rid, c.a AS orderByItems, c AS payload FROM c",
        "SELECT c._rid, [{'item': c.a}] AS orderByItems FROM c ORDER BY c.a",
        "SELECT c.id, [{'item': c.a}] AS orderByItems, c AS payload FROM c ORDER BY c.a",
        "SELECT c._rid AS id, [{'item': c.a}] AS orderByItems, c AS payload FROM c ORDER BY c.a"}) {
    EXPECT_FALSE(rids_of(text)) << text;
  }
  EXPECT_FALSE(rids_of(rewritten("SELECT TOP 3 * FROM c ORDER BY VectorDistance(c.v, [1, 2])")));
  // Clients join these by _rid.
  const std::string component =
      rewritten("SELECT TOP 3 * FROM c ORDER BY RANK FullTextScore(c.a, 'x')");
  EXPECT_TRUE(component.starts_with("SELECT TOP 120 c._rid, ")) << component;
  EXPECT_FALSE(rids_of(component)) << component;
}

TEST(TieRids, AreTurnedRoundAsClientsTurnThem) {
  const auto of = [](std::string_view order) {
    const auto rids = rids_of(
        "SELECT c._rid, [{'item': c.a}] AS orderByItems, c AS payload "
        "FROM c ORDER BY " +
        std::string(order));
    return std::pair(rids->keys_descend, rids->execution_info());
  };
  const std::string forward = R"({"reverseRidEnabled":false,"reverseIndexScan":false})";
  const std::string back = R"({"reverseRidEnabled":false,"reverseIndexScan":true})";
  EXPECT_EQ(of("c.a"), std::pair(false, forward));
  EXPECT_EQ(of("c.a ASC, c.b ASC"), std::pair(false, forward));
  EXPECT_EQ(of("c.a DESC"), std::pair(true, back));
  EXPECT_EQ(of("c.a DESC, c.b"), std::pair(true, back));
  EXPECT_EQ(of("c.a, c.b DESC"), std::pair(false, back));
}

// As JavaScript and .NET read it, from the last byte on, and as Java does, from the first.
TEST(TieRids, CompareTheSameFromEitherEnd) {
  std::vector<uint32_t> numbers = {
      0,      1,      7,          8,          9,          255,        256,        257,
      65'535, 65'536, 0x0FFFFFFF, 0x10000000, 0x3FFFFFFF, 0x40000000, 0x7FFFFFFE, 0x7FFFFFFF};
  for (uint32_t i = 1; i < 2000; ++i) numbers.push_back(i * 2'654'435'761U >> 1);
  std::ranges::sort(numbers);
  uint64_t last_forwards = 0;
  uint64_t last_backwards = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto rid = parse_rid(row_rid(7, 9, numbers[i]));
    ASSERT_TRUE(rid);
    EXPECT_EQ(rid->kind, RidKind::item);
    EXPECT_EQ(rid->database, 7U);
    EXPECT_EQ(rid->container, 9U);
    std::array<char, 8> bytes;
    store_u64_be(bytes.data(), rid->child);
    const uint64_t forwards = load_u64_be(bytes.data());
    const uint64_t backwards = load_u64_le(bytes.data());
    EXPECT_EQ(forwards >> 63, 0U) << "Java has signed numbers";
    if (i > 0 && numbers[i] != numbers[i - 1]) {
      EXPECT_LT(last_forwards, forwards) << numbers[i];
      EXPECT_LT(last_backwards, backwards) << numbers[i];
    }
    last_forwards = forwards;
    last_backwards = backwards;
  }
}

TEST(TieRids, AreWrittenInThePlaceOfTheItems) {
  TieRids rids{.database = 1, .container = 2};
  const std::string own = item_rid(1, 2, 0, 5);
  const auto row = [&](const std::string& rid) {
    return "{\"_rid\":\"" + rid + "\",\"orderByItems\":[{\"item\":1}],\"payload\":{\"_rid\":\"" +
           own + "\"}}";
  };
  std::string text = row(own);
  rids.write(text, 77);
  EXPECT_EQ(text, row(row_rid(1, 2, 77)));
  rids.reversed = true;
  rids.write(text, 77);
  EXPECT_EQ(text, row(row_rid(1, 2, query::kTieNumberMax - 77)));
  for (const std::string other : {"", "{}", "1", "{\"_rid\":\"", "{\"_rid\":\"x\"}",
                                  "{\"_rid\":\"a string that is as long as many others are\"}"}) {
    std::string same = other;
    rids.write(same, 1);
    EXPECT_EQ(same, other);
  }
}

// In the order of keys, and on either side of a boundary between ranges.
TEST(TieRids, GrowWithTheEffectivePartitionKey) {
  for (const Placement placement :
       {Placement::hash_v1, Placement::hash_v2, Placement::multi_hash}) {
    value::KeyDefinition definition{.placement = placement, .paths = {}};
    definition.paths.push_back(value::parse_property_path("/a").value());
    if (placement == Placement::multi_hash) {
      definition.paths.push_back(value::parse_property_path("/b").value());
    }
    std::vector<std::string> keys;
    for (int i = 0; i < 500; ++i) {
      value::PartitionKey key;
      if (placement == Placement::multi_hash) {
        key.push_back({.type = value::Type::string, .text = "tenant" + std::to_string(i % 5)});
      }
      key.push_back({.type = value::Type::string, .text = "key" + std::to_string(i)});
      value::append_ordered_bytes(keys.emplace_back(), value::place(definition, key));
      keys.back() += "row";
    }
    std::ranges::sort(keys);
    TieRids rids{.placement = placement};
    std::vector<uint32_t> up;
    for (const std::string& key : keys) up.push_back(rids.least(key));
    EXPECT_TRUE(std::ranges::is_sorted(up));
    EXPECT_LE(up.back(), kTieLeastMax);
    EXPECT_GT(up.back() - up.front(), kTieLeastMax / 100);
    rids.keys_descend = true;
    for (size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(rids.least(keys[i]), kTieLeastMax - up[i]);
    EXPECT_EQ(std::ranges::unique(up).begin() - up.begin(), 500);
  }
}

}  // namespace
}  // namespace orrery::cosmos

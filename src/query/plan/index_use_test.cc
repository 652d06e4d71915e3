// Which indexes a query uses, and which it lacks.
#include "query/plan/index_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "query/bind/bind.h"
#include "query/parse/parser.h"

namespace orrery::query {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

IndexUse use_of(const std::string& text) {
  value::IndexDefinition definition = value::IndexPolicy::everything().definition();
  definition.rules.push_back({value::parse_index_path("/secret/*").value(), false});
  const auto bound = bind_query(parse_query(text).value(), {}).value();
  Context context;
  return index_use_of(*bound, plan_index_use(*bound, value::IndexPolicy(definition), context));
}

std::vector<std::string> paths_of(const std::vector<IndexUse::Single>& list) {
  std::vector<std::string> paths;
  for (const IndexUse::Single& one : list) paths.push_back(one.path);
  return paths;
}

TEST(IndexUseTest, NamesWhatIsUsedAndWhatIsMissing) {
  const IndexUse use = use_of("SELECT * FROM c WHERE c.a = 1 AND c.secret.b = 2 AND c.t LIKE '%x'");
  EXPECT_THAT(paths_of(use.used), ElementsAre("/a/?", "/t/?"));
  EXPECT_EQ(use.used[0].impact, IndexUse::Impact::high);
  EXPECT_EQ(use.used[1].impact, IndexUse::Impact::low);
  EXPECT_THAT(paths_of(use.missing), ElementsAre("/secret/b/?"));
}

TEST(IndexUseTest, NamesTheCompositeThatWouldServeTheOrder) {
  const IndexUse use = use_of("SELECT * FROM c WHERE c.a = 1 ORDER BY c.b DESC, c.d");
  ASSERT_EQ(use.missing_composites.size(), size_t{1});
  EXPECT_THAT(use.missing_composites[0].parts, ElementsAre("/a ASC", "/b DESC", "/d ASC"));
  EXPECT_THAT(use_of("SELECT * FROM c WHERE c.a = 1").missing_composites, IsEmpty());
  EXPECT_THAT(use_of("SELECT * FROM c ORDER BY c.a").missing_composites, IsEmpty());
}

TEST(IndexUseTest, NamesTheCompositeThatServesTheOrder) {
  value::IndexDefinition definition = value::IndexPolicy::everything().definition();
  definition.composites.push_back({{{value::parse_property_path("/b").value(), true},
                                    {value::parse_property_path("/d").value(), false}}});
  const auto bound =
      bind_query(parse_query("SELECT * FROM c ORDER BY c.b DESC, c.d").value(), {}).value();
  Context context;
  const IndexUse use =
      index_use_of(*bound, plan_index_use(*bound, value::IndexPolicy(definition), context));
  ASSERT_EQ(use.used_composites.size(), size_t{1});
  EXPECT_THAT(use.used_composites[0].parts, ElementsAre("/b DESC", "/d ASC"));
  EXPECT_THAT(use.missing_composites, IsEmpty());
}

TEST(IndexUseTest, CountsAndGroupsUseTheirPath) {
  EXPECT_THAT(paths_of(use_of("SELECT c.g, COUNT(1) AS n FROM c GROUP BY c.g").used),
              ElementsAre("/g/?"));
}

}  // namespace
}  // namespace orrery::query

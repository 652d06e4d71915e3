// The text of traversals.
#include "api/gremlin/parse/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace orrery::gremlin {
namespace {

using testing::HasSubstr;

std::string parsed(std::string_view text, const Bindings& bindings = {}) {
  auto chain = parse_traversal(text, bindings);
  return chain ? print(*chain) : "refused: " + chain.error().message;
}

TEST(GremlinParser, ChainsValuesAndConstants) {
  EXPECT_EQ(parsed("g.V()"), "V()");
  EXPECT_EQ(parsed(" g . V ( 'a' , \"b\" ) ;"), "V(a,b)");
  EXPECT_EQ(parsed("g.V().has('n', 1L).has('d', -1.5d).limit(2)"),
            "V().has(n,1).has(d,-1.5).limit(2)");
  EXPECT_EQ(parsed("g.V().order().by('n', Order.decr).by(T.id)"), "V().order().by(n,desc).by(id)");
  EXPECT_EQ(parsed("g.V(['USA','Seattle'])"), "V([USA, Seattle])");
  EXPECT_EQ(parsed("g.inject([a: 1, (T.id): 'x'])"), "inject({a=1, id=x})");
  EXPECT_EQ(parsed("g.inject('\\u00e9\\n\\'')"), "inject(é\n')");
  EXPECT_EQ(parsed("g.V().property(VertexProperty.Cardinality.list, 'a', 1)"),
            "V().property(list,a,1)");
}

TEST(GremlinParser, PredicatesAndNestedTraversals) {
  EXPECT_EQ(parsed("g.V().has('a', gt(1).and(P.lt(3)).negate())"),
            "V().has(a,not(and(gt(1),lt(3))))");
  EXPECT_EQ(parsed("g.V().has('a', within([1, 2]))"), "V().has(a,within(1,2))");
  EXPECT_EQ(parsed("g.V().not(__.out()).where(not(in()))"),
            "V().not([out()]).where([not([in()])])");
  EXPECT_EQ(parsed("g.V().is(not(within(1)))"), "V().is(not(within(1)))");
  EXPECT_EQ(parsed("g.V('1').addE('k').to(g.V('2'))"), "V(1).addE(k).to([V(2)])");
}

TEST(GremlinParser, BindingsStandForValues) {
  const Bindings bindings = {{"x", {.value = Value::text("v"), .chain = {}, .predicate = {}}}};
  EXPECT_EQ(parsed("g.V(x).has('a', within(x))", bindings), "V(v).has(a,within(v))");
}

TEST(GremlinParser, ErrorsSayWhere) {
  EXPECT_THAT(parsed("g.V().nothing()"),
              HasSubstr("there is no step nothing() here, at character 7"));
  EXPECT_THAT(parsed("g.V("), HasSubstr("where the text ends"));
  EXPECT_THAT(parsed("g.V(y)"),
              HasSubstr("'y' is neither a constant of the language nor a binding"));
  EXPECT_THAT(parsed("g.V(); g.E()"), HasSubstr("only one is run"));
  EXPECT_THAT(parsed("g.V().filter({it})"), HasSubstr("closures are not supported"));
  EXPECT_THAT(parsed("g.V().count(1, 2)"), HasSubstr("count() takes 0 to 1 arguments, and not 2"));
  EXPECT_THAT(parsed("V()"), HasSubstr("begins with g"));
  EXPECT_THAT(parsed("g.V('a"), HasSubstr("without its closing quote"));
}

TEST(GremlinParser, DepthIsBounded) {
  std::string deep = "g.V()";
  for (int i = 0; i < 10'000; ++i) deep += ".where(not(";
  EXPECT_THAT(parsed(deep), HasSubstr("refused"));
  EXPECT_THAT(parsed("g.inject(" + std::string(10'000, '[')),
              HasSubstr("nested more than 64 deep"));
}

}  // namespace
}  // namespace orrery::gremlin

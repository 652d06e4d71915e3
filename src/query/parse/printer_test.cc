// Layouts, makers, and the promise that printed trees parse to themselves, over random trees.
#include "query/parse/printer.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "query/parse/parser.h"

namespace orrery::query {
namespace {

TEST(Printer, ClausesLayoutKeepsSubqueriesOnTheirLine) {
  const auto query = parse_query(
      "SELECT DISTINCT c.a FROM c JOIN (SELECT VALUE t FROM t IN c.t) AS u JOIN v IN c.v "
      "WHERE c.b > 1 GROUP BY c.a ORDER BY c.a, c.d DESC OFFSET 1 LIMIT 2");
  ASSERT_TRUE(query);
  EXPECT_EQ(to_text(*query, Layout::clauses),
            "SELECT DISTINCT c.a\nFROM c\nJOIN (SELECT VALUE t FROM t IN c.t) AS u\nJOIN v IN c.v\n"
            "WHERE (c.b > 1)\nGROUP BY c.a\nORDER BY c.a, c.d DESC\nOFFSET 1 LIMIT 2");
}

TEST(Printer, WritesWhatMakersMake) {
  std::vector<ExprPtr> both;
  both.push_back(make_placeholder("({filter})"));
  both.push_back(make_binary(Operator::equal, make_member(make_identifier("c"), "a b"),
                             make_unary(Operator::minus, make_number(2))));
  EXPECT_EQ(to_text(*make_logical(Operator::and_, std::move(both))),
            "(({filter}) AND (c[\"a b\"] = (- 2)))");

  std::vector<std::pair<std::string, ExprPtr>> members;
  members.emplace_back("item", make_member(make_identifier("c"), "order"));
  std::vector<ExprPtr> elements;
  elements.push_back(make_object(std::move(members)));
  elements.push_back(make_null());
  elements.push_back(make_boolean(true));
  elements.push_back(make_string("\""));
  std::vector<ExprPtr> arguments;
  arguments.push_back(make_array(std::move(elements)));
  EXPECT_EQ(to_text(*make_call("f", std::move(arguments))),
            "f([{\"item\": c[\"order\"]}, null, true, \"\\\"\"])");

  std::vector<ExprPtr> one;
  one.push_back(make_number(1));
  EXPECT_EQ(to_text(*make_logical(Operator::or_, std::move(one))), "1");
}

TEST(Ast, SameLooksPastSpelling) {
  const auto parsed = [](std::string_view text) { return parse_query(text).value(); };
  EXPECT_TRUE(same(parsed("SELECT c.a FROM c ORDER BY c.a"),
                   parsed("select  c['a']\nfrom c order by c[\"a\"] ASC")));
  EXPECT_TRUE(same(parsed("SELECT COUNT(1)"), parsed("SELECT count(1)")));
  EXPECT_TRUE(same(parsed("SELECT NaN"), parsed("SELECT NaN")));
  EXPECT_FALSE(same(parsed("SELECT udf.f(1)"), parsed("SELECT udf.F(1)")));
  EXPECT_FALSE(same(parsed("SELECT c.a"), parsed("SELECT c.A")));
  EXPECT_FALSE(same(parsed("SELECT 1"), parsed("SELECT '1'")));
  EXPECT_FALSE(same(parsed("SELECT 1"), parsed("SELECT 1 AS a")));
  EXPECT_FALSE(same(parsed("SELECT *"), parsed("SELECT * FROM c")));
  EXPECT_FALSE(same(parsed("SELECT * FROM c d"), parsed("SELECT * FROM d IN c")));
  EXPECT_FALSE(same(parsed("SELECT a IN (1)"), parsed("SELECT a NOT IN (1)")));
  EXPECT_FALSE(same(parsed("SELECT {a: 1}"), parsed("SELECT {b: 1}")));
  EXPECT_FALSE(same(parsed("SELECT (SELECT 1)"), parsed("SELECT ARRAY(SELECT 1)")));
  EXPECT_FALSE(same(parsed("SELECT * ORDER BY a"), parsed("SELECT * ORDER BY a DESC")));
}

TEST(Ast, EachExpressionCanBeReplaced) {
  Query query = parse_query(
                    "SELECT TOP 1 a, b FROM c JOIN d IN e WHERE f GROUP BY g ORDER BY h OFFSET 2 "
                    "LIMIT 3")
                    .value();
  std::string seen;
  each_expression(std::as_const(query),
                  [&seen](const ExprPtr& expr) { seen += to_text(*expr) + " "; });
  EXPECT_EQ(seen, "1 a b c e f g h 2 3 ");
  each_expression(query, [](ExprPtr& expr) {
    if (expr->kind == ExprKind::identifier) expr = make_member(make_identifier("x"), expr->text);
  });
  EXPECT_EQ(to_text(query),
            "SELECT TOP 1 x.a, x.b FROM x.c JOIN d IN x.e WHERE x.f GROUP BY x.g ORDER BY x.h ASC "
            "OFFSET 2 LIMIT 3");
}

// Makes any tree that the parser can make.
class RandomTrees {
 public:
  explicit RandomTrees(uint32_t seed) : random_(seed) {}

  Query query(int depth) {
    Query out;
    out.select.kind = pick<Select::Kind>(
        {Select::Kind::star, Select::Kind::value, Select::Kind::list, Select::Kind::list});
    out.select.distinct = chance(4);
    if (chance(4)) out.select.top = count();
    if (out.select.kind != Select::Kind::star) {
      const size_t items = out.select.kind == Select::Kind::value ? 1 : below(3) + 1;
      for (size_t i = 0; i < items; ++i) {
        out.select.items.push_back({.expr = expr(depth), .alias = chance(2) ? name() : ""});
      }
    }
    if (!chance(4)) {
      out.from = source(depth);
      for (size_t i = below(3); i > 0; --i) out.joins.push_back(source(depth));
    }
    if (chance(2)) out.where = expr(depth);
    for (size_t i = chance(3) ? below(3) : 0; i > 0; --i) out.group_by.push_back(expr(depth));
    if (chance(3)) {
      out.order_by_rank = chance(4);
      for (size_t i = below(2) + 1; i > 0; --i) {
        out.order_by.push_back(
            {.expr = out.order_by_rank ? call(depth) : expr(depth),
             .direction = pick<Direction>(
                 {Direction::unsaid, Direction::ascending, Direction::descending})});
      }
    }
    if (chance(4)) {
      out.offset = count();
      out.limit = count();
    }
    return out;
  }

 private:
  size_t below(size_t end) { return random_() % end; }
  bool chance(size_t one_in) { return below(one_in) == 0; }

  template <class T>
  T pick(std::initializer_list<T> list) {
    return list.begin()[below(list.size())];
  }

  std::string name() {
    return pick<const char*>({"a", "b", "_at", "Name1", "all", "first", "item", "x9"});
  }

  ExprPtr count() {
    if (chance(2)) return make_number(static_cast<double>(below(1000)));
    ExprPtr out = std::make_unique<Expr>(ExprKind::parameter, Span{});
    out->text = "@" + name();
    return out;
  }

  ExprPtr call(int depth) {
    ExprPtr out = make_call(pick<const char*>({"ABS", "f", "LEFT", "last"}), {});
    if (chance(4)) out->kind = ExprKind::udf_call;
    add_children(*out, depth, below(4));
    return out;
  }

  ExprPtr literal() {
    switch (below(5)) {
      case 0:
        return make_null();
      case 1:
        return make_boolean(chance(2));
      case 2:
        return std::make_unique<Expr>(ExprKind::literal, Span{});
      case 3:
        return make_number(pick<double>({0, 1, -1, 0.1, -2.5e-7, 1e21, 9007199254740992.0, 1e308}));
      default:
        return make_string(
            pick<const char*>({"", "a", "it's", "\"", "\\", "\b\f\n\r\t\x01", "é€😀", "--", "%_"}));
    }
  }

  Source source(int depth) {
    Source out;
    if (chance(3) && depth > 0) {
      out.collection = subquery(SubqueryKind::scalar, depth - 1);
    } else {
      out.collection = chance(6) ? call(depth - 1) : make_identifier(name());
      for (size_t i = below(3); i > 0; --i) {
        if (chance(3)) {
          auto step = std::make_unique<Expr>(ExprKind::index, Span{});
          step->children.push_back(std::move(out.collection));
          step->children.push_back(make_number(static_cast<double>(below(9))));
          out.collection = std::move(step);
        } else {
          out.collection = make_member(std::move(out.collection), member_name());
        }
      }
    }
    out.iterates = chance(2);
    if (out.iterates || chance(2)) out.alias = name();
    return out;
  }

  std::string member_name() {
    return pick<const char*>({"a", "order", "a b", "rank", "", "\"q\"", "é", "VALUE"});
  }

  ExprPtr subquery(SubqueryKind kind, int depth) {
    auto out = std::make_unique<Expr>(ExprKind::subquery, Span{});
    out->subquery = kind;
    out->query = std::make_unique<Query>(query(depth));
    return out;
  }

  void add_children(Expr& out, int depth, size_t count) {
    for (; count > 0; --count) out.children.push_back(expr(depth - 1));
  }

  // An operand that does not melt into a list of the same operator in front of it.
  ExprPtr expr(int depth) {
    if (depth <= 0 || chance(5)) return leaf();
    static constexpr std::array kKinds = {
        ExprKind::member,   ExprKind::index,       ExprKind::unary, ExprKind::binary,
        ExprKind::logical,  ExprKind::conditional, ExprKind::in,    ExprKind::between,
        ExprKind::like,     ExprKind::call,        ExprKind::array, ExprKind::object,
        ExprKind::subquery, ExprKind::binary};
    const ExprKind kind = kKinds[below(kKinds.size())];
    auto out = std::make_unique<Expr>(kind, Span{});
    out->negated =
        (kind == ExprKind::in || kind == ExprKind::between || kind == ExprKind::like) && chance(2);
    switch (kind) {
      case ExprKind::member:
        return make_member(expr(depth - 1), member_name());
      case ExprKind::index:
        add_children(*out, depth, 1);
        out->children.push_back(make_binary(Operator::add, leaf(), leaf()));
        return out;
      case ExprKind::unary:
        out->op = pick({Operator::plus, Operator::minus, Operator::bit_not, Operator::not_});
        add_children(*out, depth, 1);
        return out;
      case ExprKind::binary:
        out->op = static_cast<Operator>(static_cast<size_t>(Operator::coalesce) +
                                        below(static_cast<size_t>(Operator::modulo) -
                                              static_cast<size_t>(Operator::coalesce) + 1));
        add_children(*out, depth, 2);
        return out;
      case ExprKind::logical:
        out->op = pick({Operator::and_, Operator::or_});
        out->children.push_back(leaf());
        add_children(*out, depth, below(4) + 1);
        return out;
      case ExprKind::conditional:
      case ExprKind::between:
        add_children(*out, depth, 3);
        return out;
      case ExprKind::in:
        add_children(*out, depth, below(3) + 2);
        return out;
      case ExprKind::like:
        add_children(*out, depth, 2);
        if (chance(2)) out->children.push_back(make_string("!"));
        return out;
      case ExprKind::call:
        return call(depth);
      case ExprKind::object:
        add_children(*out, depth, below(4));
        for (size_t i = 0; i < out->children.size(); ++i) out->names.push_back(member_name());
        return out;
      case ExprKind::subquery:
        return subquery(static_cast<SubqueryKind>(below(6)), depth - 1);
      default:
        add_children(*out, depth, below(4));
        return out;
    }
  }

  ExprPtr leaf() {
    if (chance(3)) return literal();
    if (chance(4)) {
      auto out = std::make_unique<Expr>(ExprKind::parameter, Span{});
      out->text = "@" + name();
      return out;
    }
    return make_identifier(name());
  }

  std::mt19937 random_;
};

TEST(Printer, RandomTreesComeBackAsTheyWere) {
  constexpr uint32_t kTrees = 4000;
  for (uint32_t seed = 1; seed <= kTrees; ++seed) {
    const Query made = RandomTrees(seed).query(static_cast<int>(seed % 5));
    for (const Layout layout : {Layout::line, Layout::clauses}) {
      const std::string text = to_text(made, layout);
      const auto parsed = parse_query(text);
      ASSERT_TRUE(parsed) << seed << ": " << text << "\n" << parsed.error().message;
      ASSERT_TRUE(same(*parsed, made)) << seed << ": " << text << "\n" << to_text(*parsed, layout);
      ASSERT_EQ(to_text(*parsed, layout), text) << seed;
    }
    ASSERT_TRUE(same(made.clone(), made)) << seed;
  }
}

}  // namespace
}  // namespace orrery::query

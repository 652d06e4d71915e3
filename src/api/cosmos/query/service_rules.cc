// See service_rules.h.
//
// The expressions of ORDER BY are resolved through aliases, subqueries and object literals to a
// path of the item, as the service does: `SELECT VALUE r FROM (SELECT VALUE {"a": c.x} FROM c) AS r
// ORDER BY r.a` sorts by c.x.
#include "api/cosmos/query/service_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/cosmos/wire/query_error.h"
#include "base/keyed_hash.h"
#include "query/bind/vector_paths.h"
#include "query/parse/ast_forms.h"
#include "value/json.h"
#include "value/path.h"

namespace orrery::cosmos {
namespace {

using query::Expr;
using query::ExprKind;
using query::ExprPtr;
using query::OrderItem;
using query::Query;
using query::Select;
using query::SelectItem;
using query::Source;
using query::Span;

// What an expression stands for.
struct Meaning;
using MeaningPtr = std::shared_ptr<const Meaning>;
struct Meaning {
  enum class Kind : uint8_t {
    path,        // of the item
    correlated,  // of an element that JOIN gives
    object,      // with these members
    computed,
  };
  Kind kind = Kind::computed;
  value::Path path;
  KeyedMap<std::string, MeaningPtr> members;
};

MeaningPtr make_meaning(Meaning::Kind kind, value::Path path = {}) {
  return std::make_shared<const Meaning>(Meaning{kind, std::move(path), {}});
}

MeaningPtr computed() {
  static const MeaningPtr meaning = make_meaning(Meaning::Kind::computed);
  return meaning;
}

MeaningPtr correlated() {
  static const MeaningPtr meaning = make_meaning(Meaning::Kind::correlated);
  return meaning;
}

MeaningPtr step_into(const MeaningPtr& base, value::Path::Step step) {
  switch (base->kind) {
    case Meaning::Kind::path: {
      value::Path path = base->path;
      path.steps.push_back(std::move(step));
      return make_meaning(Meaning::Kind::path, std::move(path));
    }
    case Meaning::Kind::object: {
      const auto found = base->members.find(step.name);
      return found == base->members.end() ? computed() : found->second;
    }
    case Meaning::Kind::correlated:
    case Meaning::Kind::computed:
      return base;
  }
  return computed();
}

// The names in scope, and what they stand for. Both may be thousands: each is looked up once.
class NameScope {
 public:
  // Adds the sources of a query, in their order.
  void enter(const Query& query) {
    if (query.from) add(*query.from);
    for (const Source& join : query.joins) add(join);
  }

  MeaningPtr meaning(const Expr& expr) const {
    switch (expr.kind) {
      case ExprKind::identifier: {
        const auto known = meanings_.find(expr.text);
        const bool is_known = known != meanings_.end() && !known->second.empty();
        return is_known ? known->second.back() : make_meaning(Meaning::Kind::path);
      }
      case ExprKind::member:
        return step_into(meaning(*expr.children[0]), {.name = expr.text});
      case ExprKind::index: {
        const Expr& subscript = *expr.children[1];
        const bool is_number =
            subscript.kind == ExprKind::literal && subscript.type == value::Type::number;
        return is_number ? step_into(meaning(*expr.children[0]), {.name = "", .array = true})
                         : computed();
      }
      case ExprKind::object: {
        Meaning object{.kind = Meaning::Kind::object, .path = {}, .members = {}};
        for (size_t i = 0; i < expr.names.size(); ++i) {
          object.members.try_emplace(expr.names[i], meaning(*expr.children[i]));
        }
        return std::make_shared<const Meaning>(std::move(object));
      }
      default:
        return computed();
    }
  }

 private:
  void add(const Source& source) {
    const Expr& collection = *source.collection;
    MeaningPtr one =
        collection.kind == ExprKind::subquery ? rows_of(*collection.query) : meaning(collection);
    if (source.iterates) one = correlated();
    const bool names_itself =
        collection.kind == ExprKind::identifier || collection.kind == ExprKind::member;
    std::string name = source.alias.empty() && names_itself ? collection.text : source.alias;
    meanings_[name].push_back(std::move(one));
    names_.push_back(std::move(name));
  }

  // What a row of an inner query is.
  MeaningPtr rows_of(const Query& query) {
    const size_t outer = names_.size();
    enter(query);
    MeaningPtr row = row_of(query);
    while (names_.size() > outer) {
      meanings_[names_.back()].pop_back();
      names_.pop_back();
    }
    return row;
  }

  MeaningPtr row_of(const Query& query) const {
    if (!query.group_by.empty() || has_aggregate(query.select)) return computed();
    switch (query.select.kind) {
      case Select::Kind::star: {
        Expr root(ExprKind::identifier, {});
        root.text = root_alias(query);
        return meaning(root);
      }
      case Select::Kind::value:
        return meaning(*query.select.items[0].expr);
      case Select::Kind::list:
        break;
    }
    Meaning object{.kind = Meaning::Kind::object, .path = {}, .members = {}};
    for (const SelectItem& item : query.select.items) {
      const Expr& expr = *item.expr;
      const bool names_itself = expr.kind == ExprKind::identifier || expr.kind == ExprKind::member;
      object.members.try_emplace(item.alias.empty() && names_itself ? expr.text : item.alias,
                                 meaning(expr));
    }
    return std::make_shared<const Meaning>(std::move(object));
  }

  std::vector<std::string> names_;                           // in the order in which they came
  KeyedMap<std::string, std::vector<MeaningPtr>> meanings_;  // of each, the innermost last
};

// Scores that the parts of a hybrid search are sorted by.
bool is_score(const Expr& expr) {
  return is_vector_distance(expr) || is_call(expr, "_FULLTEXTSCORE");
}

class Checker {
 public:
  std::optional<Error> check(const Query& query) {
    look_into(query);
    if (query.order_by_rank) check_rank(query);
    if (!errors_.empty()) return refusal();
    if (!query.order_by_rank) return check_order(query);
    return std::nullopt;
  }

 private:
  // ---- What is not allowed inside

  void look_into(const Query& query) {
    each_expression(query, [this](const ExprPtr& expr) { look_into(*expr); });
  }

  void look_into(const Expr& expr) {
    if (errors_.size() >= kQueryRefusalsMax) return;
    if (expr.kind == ExprKind::subquery) {
      check_subquery(*expr.query);
      look_into(*expr.query);
      return;
    }
    if (expr.kind == ExprKind::index) check_subscript(expr);
    if (is_vector_distance(expr)) check_distance(expr);
    for (const ExprPtr& child : expr.children) look_into(*child);
  }

  void check_subquery(const Query& query) {
    if (query.select.top) {
      refuse("SC2203", query.select.top->span, "'TOP' is not supported in subqueries.");
    }
    if (!query.order_by.empty()) {
      const Span span = joined(query.order_by.front().expr->span, query.order_by.back().expr->span);
      if (query.order_by_rank) {
        refuse("SC2228", span, "The ORDER BY RANK clause is not supported in subqueries.");
      } else {
        refuse("SC2202", span, "'ORDER BY' is not supported in subqueries.");
      }
    }
    if (query.limit) {
      refuse("SC2204", joined(query.offset->span, query.limit->span),
             "'OFFSET LIMIT' clause is not supported in subqueries.");
    }
  }

  void check_subscript(const Expr& expr) {
    const ExprKind kind = expr.children[1]->kind;
    if (kind == ExprKind::literal || kind == ExprKind::parameter) return;
    refuse("SC2990", expr.span,
           "The specified query includes 'member indexer' which is currently not supported.");
  }

  void check_distance(const Expr& call) {
    constexpr std::string_view kOption = "searchListSizeMultiplier";
    if (call.children.size() < 4 || call.children[3]->kind != ExprKind::object) return;
    const Expr& options = *call.children[3];
    const auto at = std::ranges::find(options.names, kOption);
    if (at == options.names.end()) return;
    const Expr* number = options.children[static_cast<size_t>(at - options.names.begin())].get();
    const bool is_negative =
        number->kind == ExprKind::unary && number->op == query::Operator::minus;
    if (is_negative) number = number->children[0].get();
    if (number->kind != ExprKind::literal || number->type != value::Type::number) return;
    const double given = is_negative ? -number->number : number->number;
    if (given >= 1 && given <= 100) return;
    refuse("SC2213", options.span,
           fmt::format("The '{}' value {} specified in the VectorDistance function is outside the "
                       "supported range. The value must be between 1 and 100.",
                       kOption, given));
  }

  void check_rank(const Query& query) {
    if (!query.joins.empty()) {
      refuse("SC2224", query.joins.front().span,
             "The JOIN operator is not allowed with the ORDER BY RANK clause.");
    }
    if (query.from && query.from->iterates) {
      refuse("SC2223", query.from->span,
             "The FROM clause with the IN operator is not allowed with the ORDER BY RANK clause.");
    }
    if (query.from && query.from->collection->kind == ExprKind::subquery) {
      refuse("SC2225", query.from->collection->span,
             "Subqueries in the FROM clause are not allowed with the ORDER BY RANK clause.");
    }
  }

  // ---- What it sorts by

  std::optional<Error> check_order(const Query& query) {
    if (query.order_by.empty()) return std::nullopt;
    if (!query.group_by.empty()) {
      return Error{.code = Code::invalid,
                   .message =
                       R"({"Errors":["'ORDER BY' is not supported with 'GROUP BY': sort the )"
                       R"(groups afterwards."]})"};
    }
    if (has_aggregate(query.select)) return std::nullopt;  // one row
    NameScope scope;
    scope.enter(query);
    for (const OrderItem& item : query.order_by) {
      if (is_score(*item.expr)) continue;
      switch (scope.meaning(*item.expr)->kind) {
        case Meaning::Kind::path:
          continue;
        case Meaning::Kind::correlated:
          refuse("SC2205", item.expr->span,
                 "Order-by over correlated collections is not supported.");
          return refusal();
        case Meaning::Kind::object:
        case Meaning::Kind::computed:
          return Error{.code = Code::invalid,
                       .message =
                           R"({"errors":[{"severity":"Error","code":2206,"message":"Unsupported )"
                           R"(ORDER BY clause. ORDER BY item expression could not be mapped to a )"
                           R"(document path."}]})"};
      }
    }
    return std::nullopt;
  }

  // ---- Messages

  static Span joined(const Span& from, const Span& to) {
    Span span = from;
    span.end = to.end;
    return span;
  }

  void refuse(std::string_view code, const Span& span, std::string_view message) {
    if (errors_.size() >= kQueryRefusalsMax) return;
    errors_.push_back({code, span.start, span.end, std::string(message)});
  }

  Error refusal() const { return query_error(errors_); }

  std::vector<QueryRefusal> errors_;
};

bool is_order_of(const value::CompositeIndex& index, const std::vector<value::Path>& paths,
                 const Query& query) {
  if (index.parts.size() != paths.size()) return false;
  bool as_it_is = true;
  bool reversed = true;
  for (size_t i = 0; i < paths.size(); ++i) {
    if (index.parts[i].path != paths[i]) return false;
    const bool descending = query.order_by[i].direction == query::Direction::descending;
    (index.parts[i].descending == descending ? reversed : as_it_is) = false;
  }
  return as_it_is || reversed;
}

}  // namespace

std::optional<Error> refused_by_service(const Query& query) {
  return Checker().check(query);
}

Status check_order_is_indexed(const Query& query, const value::IndexPolicy& policy,
                              const query::ComputedProperties& computed) {
  const bool is_one_row = query.group_by.empty() && has_aggregate(query.select);
  if (query.order_by.empty() || query.order_by_rank || is_one_row) return {};
  NameScope scope;
  scope.enter(query);
  std::vector<value::Path> paths;
  for (const OrderItem& item : query.order_by) {
    if (is_score(*item.expr)) return {};
    paths.push_back(scope.meaning(*item.expr)->path);
    if (!paths.back().steps.empty() && computed.contains(paths.back().steps[0].name)) return {};
  }
  if (paths.size() > 1) {
    if (std::ranges::any_of(policy.definition().composites,
                            [&](const auto& index) { return is_order_of(index, paths, query); })) {
      return {};
    }
    return fail(Code::invalid,
                R"({"Errors":["The order by query does not have a corresponding composite index )"
                R"(that it can be served from."]})");
  }
  const bool is_item = paths[0].steps.empty();
  if (is_item || policy.covers(paths[0])) return {};
  return fail(Code::invalid,
              R"({"Errors":["The index path corresponding to the specified order-by item is )"
              R"(excluded."]})");
}

}  // namespace orrery::cosmos

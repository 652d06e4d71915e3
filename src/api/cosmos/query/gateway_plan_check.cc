// Checks of a query that do not depend on partitions (names, functions, counts, grouping), and of
// what clients cannot merge. The messages are the vendor's, since people search for them.
//
// All properties that are not grouped are reported, up to a hundred. Of other errors, the first.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "api/cosmos/query/gateway_plan_parts.h"
#include "api/cosmos/wire/query_error.h"
#include "query/functions/registry.h"
#include "query/parse/printer.h"

namespace orrery::cosmos::gateway {

namespace {

using query::Expr;
using query::ExprKind;
using query::ExprPtr;
using query::find_aggregate;
using query::is_rank_function;
using query::OrderItem;
using query::Parameters;
using query::Query;
using query::QueryFault;
using query::resolve_function;
using query::Select;
using query::SelectItem;
using query::Source;
using query::Span;

constexpr std::string_view kAggregateOfAggregate = "SC2101";
constexpr std::string_view kLimitTooLarge = "SC2061";
constexpr std::string_view kOffsetTooLarge = "SC2062";
constexpr std::string_view kStarOverSources = "SC2040";
constexpr std::string_view kScoreOutsideRank = "SC2240";

Error refuse(std::string_view code, const Span& span, std::string message) {
  const QueryRefusal refusal{code, span.start, span.end, std::move(message)};
  return query_error({&refusal, 1});
}

Error refuse(QueryFault fault, const Span& span, std::string message) {
  return refuse(code_of(fault), span, std::move(message));
}

// The form of what the vendor's planner refuses after the query was understood.
Error refuse_merging(std::string_view message) {
  std::string json = R"({"Errors":[)";
  value::append_json_string(json, message);
  json += "]}";
  return {.code = Code::invalid, .message = std::move(json)};
}

bool has_subquery(const Expr& expr) {
  return expr.kind == ExprKind::subquery ||
         std::ranges::any_of(expr.children,
                             [](const ExprPtr& child) { return has_subquery(*child); });
}

// Names and functions, of the query and of those inside it.
class Resolver {
 public:
  Status query(const Query& query) {
    const size_t outer = aliases_.size();
    Status status = inside(query);
    aliases_.resize(outer);
    return status;
  }

 private:
  Status inside(const Query& query) {
    if (query.from) {
      if (Status status = source(*query.from, true); !status) return status;
    }
    for (const Source& join : query.joins) {
      if (Status status = source(join, false); !status) return status;
    }
    if (Status status = star(query); !status) return status;
    Status status;
    const auto visit = [this, &status](const Expr* one) {
      if (status && one != nullptr) status = expr(*one);
    };
    for (const SelectItem& item : query.select.items) visit(item.expr.get());
    visit(query.where.get());
    for (const ExprPtr& key : query.group_by) visit(key.get());
    const bool was_rank = std::exchange(in_rank_, query.order_by_rank);
    for (const OrderItem& item : query.order_by) visit(item.expr.get());
    in_rank_ = was_rank;
    return status;
  }

  static Status star(const Query& query) {
    if (query.select.kind != Select::Kind::star) return {};
    if (!query.from) {
      return pass(refuse(kStarOverSources, query.select.star,
                         "'SELECT *' is not valid if FROM clause is omitted."));
    }
    if (!query.joins.empty()) {
      return pass(refuse(kStarOverSources, query.select.star,
                         "'SELECT *' is only valid with a single input set."));
    }
    if (!query.group_by.empty()) {
      return pass(refuse(QueryFault::star_with_group_by, query.select.star,
                         "'SELECT *' is not allowed with GROUP BY."));
    }
    return {};
  }

  // The first name in FROM may be the container, whatever it is called here.
  Status source(const Source& source, bool may_be_container) {
    const Expr* root = source.collection.get();
    while (root->kind == ExprKind::member || root->kind == ExprKind::index) {
      root = root->children[0].get();
    }
    if (!may_be_container || root->kind != ExprKind::identifier) {
      if (Status status = expr(*source.collection); !status) return status;
    }
    const Expr& last = *source.collection;
    const bool names_itself = last.kind == ExprKind::identifier || last.kind == ExprKind::member;
    if (!source.alias.empty()) {
      aliases_.push_back(source.alias);
    } else if (names_itself) {
      aliases_.push_back(last.text);
    }
    return {};
  }

  Status expr(const Expr& expr) {
    if (expr.kind == ExprKind::identifier &&
        std::ranges::find(aliases_, expr.text) == aliases_.end()) {
      return pass(refuse(QueryFault::unknown_name, expr.span,
                         fmt::format("Identifier '{}' could not be resolved.", expr.text)));
    }
    if (expr.kind == ExprKind::subquery) return query(*expr.query);
    if (expr.kind == ExprKind::call) {
      if (Status status = call(expr); !status) return status;
    }
    for (const ExprPtr& child : expr.children) {
      if (Status status = this->expr(*child); !status) return status;
    }
    return {};
  }

  Status call(const Expr& expr) const {
    if (find_aggregate(expr.text)) {
      if (expr.children.size() == 1) return {};
      return pass(refuse(QueryFault::argument_count, expr.span,
                         fmt::format("The {} function requires 1 argument(s).", expr.text)));
    }
    if (is_rank_function(expr.text)) {
      if (in_rank_) return {};
      if (is_call(expr, "RRF")) {
        Span span = expr.span;
        span.end = span.start + static_cast<uint32_t>(expr.text.size());
        return pass(refuse(QueryFault::unknown_function, span,
                           "'RRF' is not a recognized built-in function name."));
      }
      return pass(
          refuse(kScoreOutsideRank, expr.span,
                 "The FullTextScore function is only allowed in the ORDER BY RANK clause."));
    }
    const auto function = resolve_function(expr.text, expr.children.size());
    if (function) return {};
    Span span = expr.span;
    if (function.error().fault == QueryFault::unknown_function) {
      // Names of functions are ASCII: as many bytes as UTF-16 units.
      span.end = span.start + static_cast<uint32_t>(expr.text.size());
    }
    return pass(refuse(function.error().fault, span, function.error().message));
  }

  std::vector<std::string> aliases_;  // those of outer queries first
  bool in_rank_ = false;              // in the expressions of ORDER BY RANK
};

Status check_aggregates(const Expr& expr) {
  if (aggregate_of(expr)) {
    const Expr& argument = *expr.children[0];
    if (!has_aggregate(argument) && !has_subquery(argument)) return {};
    return pass(refuse(kAggregateOfAggregate, expr.span,
                       "Cannot perform an aggregate function on an expression containing an "
                       "aggregate or a subquery."));
  }
  for (const ExprPtr& child : expr.children) {
    if (Status status = check_aggregates(*child); !status) return status;
  }
  return {};
}

// Properties of the select list that differ between the rows of a group.
void find_ungrouped(const Expr& expr, const Query& query, std::vector<QueryRefusal>& errors) {
  const auto is_grouped = [&query](const Expr& one) {
    return std::ranges::any_of(query.group_by,
                               [&one](const ExprPtr& key) { return same(*key, one); });
  };
  if (errors.size() == kQueryRefusalsMax) return;
  if (is_grouped(expr) || aggregate_of(expr) || expr.kind == ExprKind::subquery) return;
  if (is_path(expr)) {
    const Expr* base = &expr;
    while (base->kind != ExprKind::identifier) {
      base = base->children[0].get();
      if (is_grouped(*base)) return;
    }
    errors.push_back(
        {code_of(QueryFault::not_grouped), expr.span.start, expr.span.end,
         fmt::format("Property reference '{}' is invalid in the select list because it is not "
                     "contained in either an aggregate function or the GROUP BY clause.",
                     to_text(expr))});
    return;
  }
  for (const ExprPtr& child : expr.children) find_ungrouped(*child, query, errors);
}

Status check_groups(const Query& query) {
  for (const SelectItem& item : query.select.items) {
    if (Status status = check_aggregates(*item.expr); !status) return status;
  }
  if (query.group_by.empty() && !has_aggregate(query.select)) return {};
  std::vector<QueryRefusal> errors;
  for (const SelectItem& item : query.select.items) find_ungrouped(*item.expr, query, errors);
  if (!errors.empty()) return pass(query_error(errors));
  for (const SelectItem& item : query.select.items) {
    if (!aggregate_of(*item.expr) && has_aggregate(*item.expr)) {
      return pass(
          refuse_merging("Compositions of aggregates and other expressions are not allowed."));
    }
  }
  return {};
}

Status check_order(const Query& query) {
  if (query.order_by.empty() || query.order_by_rank) return {};
  if (!query.group_by.empty()) {
    return pass(refuse_merging(
        "ORDER BY with GROUP BY is not supported over partitions: sort the groups afterwards."));
  }
  for (const OrderItem& item : query.order_by) {
    if (is_path(*item.expr) || is_vector_distance(*item.expr)) continue;
    return fail(Code::invalid,
                R"({"errors":[{"severity":"Error","code":2206,"message":"Unsupported ORDER BY )"
                R"(clause. ORDER BY item expression could not be mapped to a document path."}]})");
  }
  return {};
}

Status check_where(const Query& query) {
  if (query.where && has_aggregate(*query.where)) {
    return pass(refuse_merging("Aggregates are not allowed in WHERE."));
  }
  return {};
}

Result<std::optional<uint64_t>> read_count(const ExprPtr& expr, std::string_view clause,
                                           std::string_view too_large,
                                           const Parameters& parameters) {
  if (!expr) return std::nullopt;
  double number = expr->number;
  bool is_number = expr->kind == ExprKind::literal && expr->type == value::Type::number;
  if (expr->kind == ExprKind::parameter) {
    const auto found = parameters.find(expr->text);
    is_number = found != parameters.end() && found->second.is_number();
    if (is_number) number = found->second.number();
  }
  const bool is_whole = is_number && number >= 0 && number == std::floor(number);
  const bool is_too_large = is_whole && number > static_cast<double>(kMaxCount);
  if (is_too_large && !too_large.empty()) {
    return pass(
        refuse(too_large, expr->span,
               fmt::format("The {} count value exceeds the maximum allowed value.", clause)));
  }
  if (!is_whole || is_too_large) {
    return pass(refuse(
        QueryFault::count_not_integer, expr->span,
        fmt::format("The count value provided for a {} clause must be an integer.", clause)));
  }
  return static_cast<uint64_t>(number);
}

}  // namespace

Result<Counts> read_counts(const Query& query, const Parameters& parameters) {
  const auto top = read_count(query.select.top, "TOP", "", parameters);
  if (!top) return pass(top.error());
  const auto offset = read_count(query.offset, "OFFSET", kOffsetTooLarge, parameters);
  if (!offset) return pass(offset.error());
  const auto limit = read_count(query.limit, "LIMIT", kLimitTooLarge, parameters);
  if (!limit) return pass(limit.error());
  return Counts{.top = *top, .offset = *offset, .limit = *limit};
}

Status check(const Query& query) {
  if (Status status = Resolver().query(query); !status) return status;
  if (Status status = check_where(query); !status) return status;
  if (Status status = check_groups(query); !status) return status;
  return check_order(query);
}

}  // namespace orrery::cosmos::gateway

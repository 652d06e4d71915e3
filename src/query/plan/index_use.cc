// See index_use.h.
#include "query/plan/index_use.h"

#include <algorithm>
#include <optional>

namespace orrery::query {
namespace {

using Impact = IndexUse::Impact;

std::string shown_path(const value::Path& path, value::Tail tail) {
  return value::to_string(value::IndexPath{.path = path, .tail = tail});
}

// Only the first paths of each kind are listed, since the answer goes into a header.
constexpr size_t kPathsMax = 100;

void add(std::vector<IndexUse::Single>& list, IndexUse::Single one) {
  if (list.size() == kPathsMax) return;
  if (std::ranges::find(list, one.path, &IndexUse::Single::path) == list.end()) {
    list.push_back(std::move(one));
  }
}

void add_used(const IndexNode& node, IndexUse& use) {
  for (const IndexNode& child : node.children) add_used(child, use);
  const bool is_leaf =
      node.kind == IndexNode::Kind::ranges || node.kind == IndexNode::Kind::lacking;
  if (!is_leaf) return;
  const value::Tail tail = node.is_spatial ? value::Tail::subtree : value::Tail::value;
  add(use.used, {.path = shown_path(node.path, tail),
                 .impact = node.test ? Impact::low : Impact::high,
                 .is_exact = node.is_exact});
}

// The path that an expression is, from the item on, without array elements.
std::optional<value::Path> path_of(const BoundExpr& expr, const BoundQuery& query) {
  if (expr.kind == BoundKind::slot) {
    return expr.index == query.document_slot ? std::optional(value::Path()) : std::nullopt;
  }
  if (expr.kind != BoundKind::member) return std::nullopt;
  auto path = path_of(expr.children[0], query);
  if (path) path->steps.push_back({.name = expr.name, .array = false});
  return path;
}

std::string part_of(const value::Path& path, bool descending) {
  return value::to_string(path) + (descending ? " DESC" : " ASC");
}

// Adds the composite index that would have the query's order, behind the paths that its filter
// fixes.
void add_missing_composite(const BoundQuery& query, const IndexPlan& plan, IndexUse& use) {
  IndexUse::Composite composite;
  std::vector<const IndexNode*> nodes;
  if (plan.filter.kind == IndexNode::Kind::all_of) {
    for (const IndexNode& child : plan.filter.children) nodes.push_back(&child);
  } else {
    nodes.push_back(&plan.filter);
  }
  const auto is_plain = [](const IndexNode* node) {
    return node->kind == IndexNode::Kind::ranges && !node->is_spatial && !node->test &&
           node->variable == IndexNode::kOnly;
  };
  for (const IndexNode* node : nodes) {
    const bool is_equal = is_plain(node) && node->is_points() && node->ranges.size() == 1;
    if (is_equal) composite.parts.push_back(part_of(node->path, false));
  }
  for (const BoundOrder& order : query.order_by) {
    const auto path = path_of(order.expr, query);
    if (!path) return;
    composite.parts.push_back(part_of(*path, order.descending));
  }
  if (query.order_by.empty()) {
    for (const IndexNode* node : nodes) {
      const bool is_range = is_plain(node) && !(node->is_points() && node->ranges.size() == 1);
      if (!is_range) continue;
      composite.parts.push_back(part_of(node->path, false));
      break;
    }
  }
  if (composite.parts.size() > 1) use.missing_composites.push_back(std::move(composite));
}

}  // namespace

IndexUse index_use_of(const BoundQuery& query, const IndexPlan& plan) {
  IndexUse use;
  add_used(plan.filter, use);
  if (plan.order && plan.order->composite) {
    IndexUse::Composite& composite = use.used_composites.emplace_back();
    for (const value::CompositeIndex::Part& part : plan.order->composite->parts) {
      composite.parts.push_back(part_of(part.path, part.descending));
    }
  } else if (plan.order) {
    const value::Path& path = plan.order->keys.front().path;
    add(use.used, {.path = shown_path(path, value::Tail::value), .is_exact = true});
  }
  if (plan.only && plan.only->path) {
    add(use.used, {.path = shown_path(*plan.only->path, value::Tail::value), .is_exact = true});
  }
  for (const value::Path& path : plan.missing) {
    add(use.missing, {.path = shown_path(path, value::Tail::value)});
  }
  if (use.used_composites.empty()) add_missing_composite(query, plan, use);
  return use;
}

}  // namespace orrery::query

// Where rows come from, and whether there are any: FROM, JOIN and EXISTS. See index_planner.h.
#include <algorithm>
#include <utility>
#include <vector>

#include "query/plan/index_planner.h"

namespace orrery::query {
namespace {

// Whether every row gives a result: SELECT VALUE leaves out undefined ones.
bool selects_a_value(const BoundQuery& query) {
  if (query.select != Select::Kind::value) return true;
  const BoundExpr& shown = query.items[0].second;
  return shown.is_constant() ? !shown.constant.is_undefined() : shown.kind == BoundKind::slot;
}

// A subquery's variables mean nothing outside of it.
void forget_variables(IndexNode& node, const BoundQuery& query) {
  for (const BoundSource& source : query.sources) {
    if (node.variable == source.slot) node.variable = IndexNode::kAny;
  }
  for (IndexNode& child : node.children) forget_variables(child, query);
}

}  // namespace

IndexNode IndexPlanner::rows_of(const BoundQuery& query) {
  slots_.resize(std::max<size_t>(slots_.size(), query.slots));
  if (query.document_slot) slots_[*query.document_slot] = PathRef{.path = {}, .is_defined = true};
  std::vector<IndexNode> parts;
  for (const BoundSource& source : query.sources) name_source(source, parts);
  if (query.where) parts.push_back(plan(*query.where, true));
  return all_of(std::move(parts));
}

void IndexPlanner::name_source(const BoundSource& source, std::vector<IndexNode>& constraints) {
  std::optional<PathRef>& slot = slots_[source.slot];
  switch (source.kind) {
    case BoundSource::Kind::document:
      slot = PathRef{.path = {}, .is_defined = true};
      return;
    case BoundSource::Kind::value:
      slot = path_of(source.collection);
      if (slot) slot->is_defined = true;
      return;
    case BoundSource::Kind::elements:
      slot = path_of(source.collection);
      if (!slot) return;
      slot->path.steps.push_back({.name = "", .array = true});
      slot->variable = source.slot;
      slot->is_defined = true;
      return;
    case BoundSource::Kind::rows: {
      slot.reset();
      const BoundQuery& inner = *source.collection.query;
      if (source.of_container || inner.grouped()) return;
      constraints.push_back(plan_exists(inner));
      if (inner.select != Select::Kind::value || source.of_elements) return;
      slot = path_of(inner.items[0].second);
      if (slot && slot->variable != IndexNode::kOnly) slot->variable = source.slot;
      if (slot) slot->is_defined = true;
      return;
    }
  }
}

// EXISTS is true of an item if the subquery has a row there. The plan of the subquery's filter does
// not imply that, since the filter may be on other values; then the item needs an entry of the
// source's values as well. Entries are of items, not of rows. So the node can be exact only for a
// single source that is a value of the item or the elements of one, and only if every row that
// passes gives a result.
IndexNode IndexPlanner::plan_exists(const BoundQuery& query) {
  if (query.grouped() || query.sources.empty() || query.derived() != nullptr) {
    return everything(false);
  }
  slots_.resize(std::max<size_t>(slots_.size(), query.slots));
  IndexNode found = rows_of(query);
  const BoundSource& last = query.sources.back();
  const auto collection =
      last.kind != BoundSource::Kind::rows ? path_of(last.collection) : std::nullopt;
  const bool is_of_item =
      collection && collection->variable == IndexNode::kOnly && collection->is_exact;
  bool is_exact = is_of_item && query.sources.size() == 1 && !query.top && !query.limit &&
                  !query.offset && selects_a_value(query);
  if (collection) {
    const PathRef& row = *slots_[last.slot];
    const bool has_row = (last.kind == BoundSource::Kind::value && collection->is_defined) ||
                         implies_value(found, row.path);
    if (!has_row && policy_.covers(row.path)) {
      std::vector<IndexNode> parts;
      parts.push_back(std::move(found));
      parts.push_back(in_ranges(row, terms_of(row.path).all()));
      found = all_of(std::move(parts));
    } else if (!has_row) {
      is_exact = false;
    }
  }
  found.is_exact = found.is_exact && is_exact;
  forget_variables(found, query);
  return found;
}

}  // namespace orrery::query

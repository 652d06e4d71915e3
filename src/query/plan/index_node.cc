// See index_node.h and index_plan.h.
#include "query/plan/index_node.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>

#include "base/keyed_hash.h"

namespace orrery::query {
namespace {

using Kind = IndexNode::Kind;

// Replaces children of this kind by their own children.
void flatten(std::vector<IndexNode>& children, Kind kind) {
  std::vector<IndexNode> flat;
  for (IndexNode& child : children) {
    if (child.kind == kind) {
      std::ranges::move(child.children, std::back_inserter(flat));
    } else {
      flat.push_back(std::move(child));
    }
  }
  children = std::move(flat);
}

// Identifies the value that a node constrains: nodes with the same name constrain the same value.
// Empty where entries do not tell which of several values they are of.
std::optional<std::string> value_named_by(const IndexNode& node) {
  if (node.kind != Kind::ranges || node.variable == IndexNode::kAny) return std::nullopt;
  return std::to_string(node.variable) + value::term_path(node.path);
}

enum class Tested : uint8_t { stay_apart, join_untested };

// Merges nodes that constrain the same value into the first of them. Two nodes that both have a
// test stay apart. With Tested::stay_apart, so does every node with a test.
void merge(std::vector<IndexNode>& children, Tested tested,
           TermRanges (*join)(std::vector<TermRanges>)) {
  if (children.size() < 2) return;
  std::vector<IndexNode> merged;
  std::vector<std::vector<TermRanges>> joined;  // for each of them; empty: it is alone
  KeyedMap<std::string, size_t> places;
  merged.reserve(children.size());
  joined.reserve(children.size());
  for (IndexNode& child : children) {
    const bool may_join = !child.test || tested == Tested::join_untested;
    if (const auto name = may_join ? value_named_by(child) : std::nullopt) {
      const auto [place, is_first] = places.try_emplace(*name, merged.size());
      IndexNode& first = is_first ? child : merged[place->second];
      if (!is_first && !(first.test && child.test)) {
        std::vector<TermRanges>& sets = joined[place->second];
        if (sets.empty()) sets.push_back({std::move(first.ranges), first.is_exact});
        sets.push_back({std::move(child.ranges), child.is_exact});
        if (child.test) first.test = std::move(child.test);
        continue;
      }
    }
    merged.push_back(std::move(child));
    joined.emplace_back();
  }
  for (size_t i = 0; i < merged.size(); ++i) {
    if (joined[i].empty()) continue;
    TermRanges all = join(std::move(joined[i]));
    merged[i].ranges = std::move(all.ranges);
    merged[i].is_exact = all.is_exact;
  }
  children = std::move(merged);
}

// Whether the node constrains a row variable, which other nodes may constrain as well.
bool is_of_variable(const IndexNode& node) {
  if (node.kind == Kind::ranges) {
    return node.variable != IndexNode::kOnly && node.variable != IndexNode::kAny;
  }
  return std::ranges::any_of(node.children, is_of_variable);
}

bool all_exact(const std::vector<IndexNode>& children) {
  return std::ranges::all_of(children, &IndexNode::is_exact);
}

std::string_view tail_of(const IndexNode& node) {
  if (node.kind == Kind::lacking) return "missing";
  if (node.test) return "scan";
  if (node.is_spatial) return "cells";
  return node.is_points() ? "point" : "range";
}

std::string text_of(const value::Path& path) {
  return value::to_string(value::IndexPath{.path = path, .tail = value::Tail::value});
}

void append(std::string& out, const IndexNode& node, bool nested) {
  switch (node.kind) {
    case Kind::everything:
      out += "none";
      return;
    case Kind::nothing:
      out += "nothing";
      return;
    case Kind::ranges:
    case Kind::lacking:
      out += text_of(node.path);
      out += ' ';
      out += tail_of(node);
      return;
    case Kind::all_of:
    case Kind::any_of:
      if (nested) out += '(';
      for (size_t i = 0; i < node.children.size(); ++i) {
        if (i > 0) out += node.kind == Kind::all_of ? " and " : " or ";
        append(out, node.children[i], true);
      }
      if (nested) out += ')';
  }
}

}  // namespace

bool IndexNode::is_points() const {
  return kind == Kind::ranges && std::ranges::all_of(ranges, is_point);
}

IndexNode everything(bool is_exact) {
  IndexNode node;
  node.is_exact = is_exact;
  return node;
}

IndexNode nothing() {
  IndexNode node;
  node.kind = Kind::nothing;
  node.is_exact = true;
  return node;
}

IndexNode in_ranges(const PathRef& ref, TermRanges ranges) {
  if (ranges.ranges.empty()) return nothing();
  IndexNode node;
  node.kind = Kind::ranges;
  node.is_exact = ranges.is_exact && ref.is_exact;
  node.path = ref.path;
  node.variable = ref.variable;
  node.ranges = std::move(ranges.ranges);
  return node;
}

IndexNode all_of(std::vector<IndexNode> children) {
  const bool exact_parts = all_exact(children);
  flatten(children, Kind::all_of);
  if (std::ranges::any_of(children, [](auto& c) { return c.kind == Kind::nothing; })) {
    return nothing();
  }
  merge(children, Tested::join_untested, common_of);
  const bool empty = std::ranges::any_of(
      children, [](auto& c) { return c.kind == Kind::ranges && c.ranges.empty(); });
  if (empty) return nothing();
  const bool is_exact = exact_parts && std::ranges::count_if(children, is_of_variable) < 2;
  std::erase_if(children, [](const IndexNode& c) { return c.kind == Kind::everything; });
  if (children.empty()) return everything(is_exact);
  if (children.size() == 1) {
    children.front().is_exact = is_exact;
    return std::move(children.front());
  }
  IndexNode node;
  node.kind = Kind::all_of;
  node.is_exact = is_exact;
  node.children = std::move(children);
  return node;
}

IndexNode any_of(std::vector<IndexNode> children) {
  const bool is_exact = all_exact(children);
  flatten(children, Kind::any_of);
  std::erase_if(children, [](const IndexNode& c) { return c.kind == Kind::nothing; });
  if (children.empty()) return nothing();
  const auto all = std::ranges::find(children, Kind::everything, &IndexNode::kind);
  if (all != children.end()) {
    return everything(std::ranges::any_of(
        children, [](auto& c) { return c.kind == Kind::everything && c.is_exact; }));
  }
  merge(children, Tested::stay_apart, union_of);
  if (children.size() == 1) return std::move(children.front());
  IndexNode node;
  node.kind = Kind::any_of;
  node.is_exact = is_exact;
  node.children = std::move(children);
  return node;
}

std::string to_string(const IndexPlan& plan) {
  std::string out;
  append(out, plan.filter, false);
  if (plan.order && plan.order->composite) {
    out += " by (";
    for (const value::CompositeIndex::Part& part : plan.order->composite->parts) {
      if (out.back() != '(') out += ", ";
      out += value::to_string(part.path) + (part.descending ? " DESC" : " ASC");
    }
    out += ')';
  } else if (plan.order) {
    out += " by " + text_of(plan.order->keys.front().path);
  }
  if (plan.only) out += " alone";
  return out;
}

bool tells_exactly(const IndexNode& node) {
  switch (node.kind) {
    case Kind::everything:
    case Kind::nothing:
      return node.is_exact;
    case Kind::ranges:
      return node.is_exact && !node.test;
    case Kind::any_of:
      return node.is_exact && std::ranges::all_of(node.children, tells_exactly);
    case Kind::lacking:
    case Kind::all_of:
      return false;
  }
  return false;
}

bool implies_value(const IndexNode& node, const value::Path& path) {
  const auto implies = [&](const IndexNode& child) { return implies_value(child, path); };
  switch (node.kind) {
    case Kind::everything:
    case Kind::lacking:
      return false;
    case Kind::nothing:
      return true;
    case Kind::ranges:  // what is below a value is only there with it
      return node.path.steps.size() >= path.steps.size() &&
             std::ranges::equal(path.steps, node.path.steps | std::views::take(path.steps.size()));
    case Kind::all_of:
      return std::ranges::any_of(node.children, implies);
    case Kind::any_of:
      return std::ranges::all_of(node.children, implies);
  }
  return false;
}

}  // namespace orrery::query

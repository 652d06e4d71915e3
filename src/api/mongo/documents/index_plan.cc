// See index_plan.h.
#include "api/mongo/documents/index_plan.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "api/mongo/bson/types.h"
#include "api/mongo/collections/collections.h"
#include "api/mongo/match/bounds.h"
#include "value/ordered.h"
#include "value/term_value.h"
#include "value/terms.h"

namespace orrery::mongo {
namespace {

using value::CompositeTerms;
using value::Path;
using value::Type;
using value::Value;
using value::ValueOrder;

constexpr int kFilterDepthMax = 100;
constexpr size_t kStepsMax = 4;  // of a path: each may lead through an array or not
// An index that leaves more than one document in so many is no help, unless they are few.
constexpr uint64_t kSelectivity = 3;
constexpr uint64_t kFewItems = 1'000;
constexpr size_t kRangesMax = 200;  // of a plan; more values of $in bound the field as a whole

bool is_point(const Interval& interval) {
  return interval.low && interval.high && interval.has_low && interval.has_high &&
         compare(*interval.low, *interval.high, nullptr) == 0;
}

TermRange range_of(const CompositeTerms& terms, const Interval& interval) {
  const bool is_list = interval.type == Type::array || interval.type == Type::object;
  value::CompositeRange range;
  if (is_point(interval)) {
    CompositeTerms fixed = terms;
    fixed.fix(*interval.low);
    range = fixed.all();
  } else if (is_list || (!interval.low && !interval.high)) {
    range = terms.of_type(interval.type);
  } else {
    using Edge = CompositeTerms::Edge;
    std::optional<Edge> low, high;
    if (interval.low) low = Edge{*interval.low, interval.has_low};
    if (interval.high) high = Edge{*interval.high, interval.has_high};
    range = terms.between(low, high);
  }
  return {std::move(range.from), std::move(range.to)};
}

// Sorted, those that touch joined.
void join(std::vector<TermRange>& ranges) {
  std::ranges::sort(ranges);
  std::vector<TermRange> joined;
  for (TermRange& range : ranges) {
    if (range.first >= range.second) continue;
    if (!joined.empty() && range.first <= joined.back().second) {
      joined.back().second = std::max(joined.back().second, range.second);
    } else {
      joined.push_back(std::move(range));
    }
  }
  ranges = std::move(joined);
}

// What the filter says of the fields of an index, the first ones first.
void bind(IndexPlan& plan, const value::CompositeIndex& composite, const Value& filter) {
  std::vector<CompositeTerms> fixed = {CompositeTerms(composite, ValueOrder::typed)};
  for (const std::string& path : plan.paths) {
    const Bounds bounds = bounds_of(filter, path, false);
    if (bounds.is_everything) break;
    const auto& intervals = bounds.intervals;
    if (std::ranges::any_of(
            intervals, [](const Interval& interval) { return interval.type == Type::undefined; })) {
      break;
    }
    const bool is_last = plan.bounded + 1 == plan.paths.size();
    if (fixed.size() * std::max<size_t>(intervals.size(), 1) > kRangesMax) break;
    ++plan.bounded;
    if (is_last || !std::ranges::all_of(intervals, is_point)) {
      for (const CompositeTerms& terms : fixed) {
        for (const Interval& interval : intervals) plan.ranges.push_back(range_of(terms, interval));
      }
      if (intervals.size() == 1 && is_point(intervals[0]) && plan.constant + 1 == plan.bounded) {
        ++plan.constant;
      }
      return join(plan.ranges);
    }
    if (intervals.size() == 1 && plan.constant + 1 == plan.bounded) ++plan.constant;
    std::vector<CompositeTerms> longer;
    for (const CompositeTerms& terms : fixed) {
      for (const Interval& interval : intervals) {
        longer.push_back(terms);
        longer.back().fix(*interval.low);
      }
    }
    fixed = std::move(longer);
  }
  for (const CompositeTerms& terms : fixed) {
    value::CompositeRange all = terms.all();
    plan.ranges.emplace_back(std::move(all.from), std::move(all.to));
  }
  join(plan.ranges);
}

void add_paths(const Value& filter, std::vector<std::string>& paths, int depth) {
  if (depth > kFilterDepthMax) return;
  for (const Value::Member& member : filter.members()) {
    if (!member.name.starts_with('$')) {
      if (std::ranges::find(paths, member.name) == paths.end()) paths.emplace_back(member.name);
      continue;
    }
    for (const Value& clause : member.value.elements()) add_paths(clause, paths, depth + 1);
  }
}

bool is_number_text(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_indexable_path(std::string_view dotted) {
  if (dotted.contains('$')) return false;
  const Path path = path_of(dotted);
  return path.steps.size() <= kStepsMax &&
         std::ranges::none_of(path.steps,
                              [](const Path::Step& step) { return is_number_text(step.name); });
}

}  // namespace

uint64_t worthwhile(uint64_t items) {
  return std::max(kFewItems, items / kSelectivity);
}

std::vector<Path> with_arrays(const Path& path, bool ends) {
  std::vector<Path> all = {Path{}};
  for (size_t i = 0; i < path.steps.size(); ++i) {
    const bool forks = ends || i + 1 < path.steps.size();
    std::vector<Path> longer;
    for (Path& one : all) {
      one.steps.push_back(path.steps[i]);
      if (forks) {
        longer.push_back(one);
        longer.back().steps.push_back({.name = {}, .array = true});
      }
    }
    std::ranges::move(longer, std::back_inserter(all));
  }
  return all;
}

bool is_indexable(const Value::Member& field) {
  const bool is_plain =
      field.value.is_number() || (field.value.is_string() && field.value.text() == "hashed");
  return is_plain && is_indexable_path(field.name);
}

std::optional<std::string> wildcard_prefix(const IndexSpec& index) {
  constexpr std::string_view kAll = "$**";
  if (index.key.size() != 1 || !index.spec.find("wildcardProjection").is_undefined()) {
    return std::nullopt;
  }
  for (const Value::Member& field : index.key.members()) {
    if (!field.value.is_number() || !field.name.ends_with(kAll)) break;
    std::string_view prefix = field.name.substr(0, field.name.size() - kAll.size());
    if (prefix.empty()) return std::string();
    prefix.remove_suffix(1);  // the dot
    if (is_indexable_path(prefix)) return std::string(prefix);
  }
  return std::nullopt;
}

std::vector<std::string> paths_below(const std::string& prefix, const Value& filter) {
  std::vector<std::string> paths;
  add_paths(filter, paths, 0);
  std::erase_if(paths, [&](const std::string& path) {
    const bool is_below = prefix.empty() || path == prefix || path.starts_with(prefix + ".");
    return !is_below || !is_indexable_path(path);
  });
  return paths;
}

std::vector<value::IndexPath> spatial_paths_of(const Definition& definition) {
  std::vector<value::IndexPath> paths;
  for (const IndexSpec& index : definition.indexes) {
    for (const std::string& field : places_of(index)) {
      if (!is_indexable_path(field)) continue;
      for (Path& path : with_arrays(path_of(field), false)) {
        value::IndexPath place{.path = std::move(path), .tail = value::Tail::value};
        if (std::ranges::find(paths, place) == paths.end()) paths.push_back(std::move(place));
      }
    }
  }
  return paths;
}

bool has_places(const catalog::ContainerSpec& spec, std::string_view field) {
  const value::IndexPath place{.path = path_of(field), .tail = value::Tail::value};
  return std::ranges::find(spec.spatial_indexes, place) != spec.spatial_indexes.end();
}

std::optional<value::CompositeIndex> composite_of(const IndexSpec& index) {
  value::CompositeIndex composite;
  for (const Value::Member& field : index.key.members()) {
    if (!is_indexable(field)) return std::nullopt;
    composite.parts.push_back({.path = path_of(field.name),
                               .descending = field.value.is_number() && field.value.number() < 0});
  }
  if (composite.parts.empty()) return std::nullopt;
  return composite;
}

std::vector<value::CompositeIndex> composites_of(const Definition& definition) {
  std::vector<value::CompositeIndex> all;
  for (const IndexSpec& index : definition.indexes) {
    auto composite = composite_of(index);
    if (composite && std::ranges::find(all, *composite) == all.end()) {
      all.push_back(std::move(*composite));
    }
  }
  return all;
}

std::vector<IndexPlan> index_plans(const Definition& definition, const catalog::ContainerSpec& spec,
                                   const Value& filter, const IndexSpec* only) {
  std::vector<IndexPlan> plans;
  for (const IndexSpec& index : definition.indexes) {
    if (only != nullptr && &index != only) continue;
    const auto composite = composite_of(index);
    if (!composite) continue;
    const auto& there = spec.composite_indexes;
    if (std::ranges::find(there, *composite) == there.end()) continue;
    IndexPlan plan{.index = &index, .paths = {}, .descending = {}, .ranges = {}};
    for (const Value::Member& field : index.key.members()) plan.paths.emplace_back(field.name);
    for (const auto& part : composite->parts) plan.descending.push_back(part.descending);
    bind(plan, *composite, filter);
    plans.push_back(std::move(plan));
  }
  return plans;
}

std::optional<bool> direction_for(const IndexPlan& plan, const Sort& sort, bool ties_by_id) {
  const auto fixed = std::span(plan.paths).first(plan.constant);
  std::optional<bool> backwards;
  size_t at = plan.constant;
  for (const Sort::Part& part : sort.parts()) {
    if (std::ranges::find(fixed, part.path) != fixed.end()) continue;  // the same in all of them
    const bool is_tie = at == plan.paths.size();
    if (is_tie && !(ties_by_id && part.path == "_id")) return std::nullopt;
    if (!is_tie && plan.paths[at] != part.path) return std::nullopt;
    const bool turns = part.descending != (!is_tie && plan.descending[at]);
    if (backwards.value_or(turns) != turns) return std::nullopt;
    backwards = turns;
    if (part.path == "_id") break;  // there is one of each
    ++at;
  }
  return backwards.value_or(false);
}

std::vector<TermRange> array_terms(const IndexPlan& plan, size_t fields) {
  std::vector<TermRange> ranges;
  const auto [first, last] = value::term_tags(Type::array, ValueOrder::typed);
  for (const std::string& dotted : std::span(plan.paths).first(fields)) {
    for (const Path& path : with_arrays(path_of(dotted), true)) {
      const bool has_array =
          std::ranges::any_of(path.steps, [](const Path::Step& step) { return step.array; });
      const std::string term = value::term_path(path);
      if (has_array) {
        ranges.emplace_back(term, value::after_prefix(term));
      } else {
        ranges.emplace_back(term + first, value::after_prefix(term + last));
      }
    }
  }
  return ranges;
}

}  // namespace orrery::mongo

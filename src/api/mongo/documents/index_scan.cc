// See index_scan.h.
#include "api/mongo/documents/index_scan.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/mongo/call.h"
#include "api/mongo/collections/collections.h"
#include "api/mongo/collections/definition.h"
#include "api/mongo/documents/index_plan.h"
#include "api/mongo/match/bounds.h"
#include "api/mongo/match/geo_region.h"
#include "partition/format.h"
#include "value/ordered.h"
#include "value/spatial.h"
#include "value/term_value.h"

namespace orrery::mongo {
namespace {

using value::Path;
using value::Type;
using value::Value;
using value::ValueOrder;

constexpr size_t kKeysMax = 200'000;
constexpr size_t kPage = 128;
// So many entries are read rather than a document.
constexpr uint64_t kEntriesOfDocument = 4;

std::string encoded(const Value& value) {
  std::string out;
  append_term_value(out, value, ValueOrder::typed);
  return out;
}

// The terms of an interval's values behind a path: [from, to). Nothing: the index cannot tell.
std::optional<std::pair<std::string, std::string>> terms_of(const std::string& path,
                                                            const Interval& interval) {
  if (interval.type == Type::null || interval.type == Type::undefined) return std::nullopt;
  const auto [first, last] = term_tags(interval.type, ValueOrder::typed);
  const std::string low = interval.low ? encoded(*interval.low) : std::string(1, first);
  const std::string high = interval.high ? encoded(*interval.high) : std::string(1, last);
  // Of long texts the index has the first part and a hash, which does not sort.
  const bool is_cut = (interval.low && value::is_cut_term_value(low)) ||
                      (interval.high && value::is_cut_term_value(high));
  if (is_cut && low != high) return std::nullopt;
  const bool leaves_low = interval.low && !interval.has_low;
  const bool leaves_high = interval.high && !interval.has_high;
  return std::pair(leaves_low ? value::after_prefix(path + low) : path + low,
                   leaves_high ? path + high : value::after_prefix(path + high));
}

}  // namespace

std::vector<value::IndexRule> index_rules_of(const Definition& definition) {
  std::vector<value::IndexRule> rules;
  const auto include = [&rules](Path path) {
    value::IndexRule rule{.path = {.path = std::move(path), .tail = value::Tail::subtree},
                          .include = true};
    if (std::ranges::find(rules, rule) == rules.end()) rules.push_back(std::move(rule));
  };
  for (const IndexSpec& index : definition.indexes) {
    if (const auto prefix = wildcard_prefix(index)) {
      const Path path = prefix->empty() ? Path{} : path_of(*prefix);
      for (Path& one : with_arrays(path, false)) include(std::move(one));
    }
    for (const Value::Member& field : index.key.members()) {
      if (!is_indexable(field)) continue;
      for (Path& path : with_arrays(path_of(field.name), false)) include(std::move(path));
    }
  }
  return rules;
}

// A field that the filter bounds.
struct IndexScan::Candidate {
  const IndexSpec* index = nullptr;
  std::string field;
  std::vector<std::string> plain = {};     // encoded paths without an array
  std::vector<std::string> multikey = {};  // those with one
  std::optional<GeoRegion> region = {};    // of places, whose paths are all in `plain`
};

struct IndexScan::Part {
  const IndexSpec* index = nullptr;
  std::vector<TermRange> ranges = {};
  uint64_t entries = 0;
};

Answer<std::unique_ptr<IndexScan>> IndexScan::open(const HandlerContext& context,
                                                   cluster::RoutingPtr routing,
                                                   const ScanRange& range, const Value& filter,
                                                   const IndexSpec* only, uint64_t at_most) {
  std::unique_ptr<IndexScan> made(new IndexScan(context, std::move(routing), range));
  auto helps = made->collect(filter, only, at_most);
  if (!helps) return pass(std::move(helps.error()));
  if (!*helps) return nullptr;
  return made;
}

std::unique_ptr<IndexScan> IndexScan::of_keys(const HandlerContext& context,
                                              cluster::RoutingPtr routing, const ScanRange& range,
                                              const IndexSpec& index, std::vector<std::string> keys,
                                              uint64_t entries) {
  std::unique_ptr<IndexScan> made(new IndexScan(context, std::move(routing), range));
  made->index_ = &index;
  made->keys_ = std::move(keys);
  made->entries_ = entries;
  made->sort_keys();
  return made;
}

void IndexScan::sort_keys() {
  std::ranges::sort(keys_);
  const auto repeated = std::ranges::unique(keys_);
  keys_.erase(repeated.begin(), repeated.end());
}

std::vector<IndexScan::Candidate> IndexScan::candidates_of(const IndexSpec& index,
                                                           const Value& filter) const {
  std::vector<Candidate> candidates;
  for (const std::string& field : places_of(index)) {
    auto region = region_of(filter, field);
    if (!region || !has_places(routing_->container->spec, field)) continue;
    candidates.push_back({.index = &index, .field = field, .region = std::move(region)});
    for (const Path& path : with_arrays(path_of(field), false)) {
      candidates.back().plain.push_back(value::term_path(path));
    }
  }
  std::vector<std::string> fields;
  if (const auto prefix = wildcard_prefix(index)) fields = paths_below(*prefix, filter);
  for (const Value::Member& field : index.key.members()) {
    if (is_indexable(field)) fields.emplace_back(field.name);
  }
  for (std::string& field : fields) {
    if (bounds_of(filter, field, true).is_everything) continue;
    Candidate candidate{.index = &index, .field = std::move(field)};
    for (const Path& path : with_arrays(path_of(candidate.field), true)) {
      const bool has_array =
          std::ranges::any_of(path.steps, [](const Path::Step& step) { return step.array; });
      (has_array ? candidate.multikey : candidate.plain).push_back(value::term_path(path));
    }
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

Answer<bool> IndexScan::collect(const Value& filter, const IndexSpec* only, uint64_t at_most) {
  std::vector<Candidate> candidates;
  for (const IndexSpec& index : definition_of(*routing_).indexes) {
    if (only != nullptr && &index != only) continue;
    std::ranges::move(candidates_of(index, filter), std::back_inserter(candidates));
  }
  if (candidates.empty()) return false;
  std::string placement = range_.min;
  for (;;) {
    auto view = open_view(context_, routing_, placement, range_.min, range_.max);
    if (!view) return false;  // the scan that comes in its place tells why
    if (!view->view->is_indexed()) return false;
    filter_ = &filter;
    const uint64_t most =
        only != nullptr ? UINT64_MAX : std::min(at_most, worthwhile(view->view->items_at_most()));
    auto helps = collect_view(*view->view, candidates, most);
    if (!helps || !*helps) return helps;
    if (view->max >= range_.max) break;
    placement = view->max;
  }
  sort_keys();
  return true;
}

std::optional<IndexScan::Part> IndexScan::part_of(const query::ItemView& view,
                                                  const Candidate& candidate) const {
  Part part{.index = candidate.index};
  const auto add = [&](std::string from, std::string to) {
    part.entries += view.estimate({from, to});
    part.ranges.emplace_back(std::move(from), std::move(to));
  };
  if (candidate.region) {
    const auto& [shape, widened_m] = *candidate.region;
    for (const std::string& path : candidate.plain) {
      for (auto& [from, to] : value::spatial_ranges(path, shape, widened_m)) {
        add(std::move(from), std::move(to));
      }
    }
    return part;
  }
  // Conditions on a field are joined where no document has an array there.
  const bool is_multikey = std::ranges::any_of(candidate.multikey, [&](const std::string& path) {
    return view.estimate({path, value::after_prefix(path)}) > 0;
  });
  const Bounds bounds = bounds_of(*filter_, candidate.field, is_multikey);
  if (bounds.is_everything) return std::nullopt;
  const auto add_path = [&](const std::string& path) {
    for (const Interval& interval : bounds.intervals) {
      auto terms = terms_of(path, interval);
      if (!terms) return false;
      add(std::move(terms->first), std::move(terms->second));
    }
    return true;
  };
  if (!std::ranges::all_of(candidate.plain, add_path)) return std::nullopt;
  if (is_multikey && !std::ranges::all_of(candidate.multikey, add_path)) return std::nullopt;
  return part;
}

Answer<bool> IndexScan::read_keys(const query::ItemView& view, const Part& part,
                                  std::vector<std::string>& keys) {
  for (const auto& [from, to] : part.ranges) {
    auto cursor = view.entries({from, to}, false, nullptr);
    if (!cursor) return pass(engine_error(cursor.error()));
    for (;;) {
      auto found = (*cursor)->next();
      if (!found) return pass(engine_error(found.error()));
      if (!*found) break;
      ++entries_;
      if (keys_.size() + keys.size() >= kKeysMax) return false;
      keys.emplace_back((*cursor)->key());
    }
  }
  std::ranges::sort(keys);
  const auto repeated = std::ranges::unique(keys);
  keys.erase(repeated.begin(), repeated.end());
  return true;
}

Answer<bool> IndexScan::collect_view(const query::ItemView& view,
                                     const std::vector<Candidate>& candidates, uint64_t most) {
  std::vector<Part> parts;
  size_t best = SIZE_MAX;
  for (const Candidate& candidate : candidates) {
    auto part = part_of(view, candidate);
    if (!part || part->entries > most) continue;
    if (best == SIZE_MAX || part->entries <= parts[best].entries) best = parts.size();
    parts.push_back(std::move(*part));
  }
  if (best == SIZE_MAX) return false;
  index_ = parts[best].index;
  std::vector<std::string> keys;
  if (auto read = read_keys(view, parts[best], keys); !read || !*read) return read;
  for (size_t i = 0; i < parts.size() && !places_of(*index_).empty(); ++i) {
    const Part& other = parts[i];
    if (i == best || other.index != index_ || other.entries > kEntriesOfDocument * keys.size()) {
      continue;
    }
    std::vector<std::string> others, shared;
    if (auto read = read_keys(view, other, others); !read || !*read) return read;
    std::ranges::set_intersection(keys, others, std::back_inserter(shared));
    keys = std::move(shared);
  }
  std::ranges::move(keys, std::back_inserter(keys_));
  return true;
}

void IndexScan::pause() {
  bodies_.clear();
  view_ = {};
}

// The documents from next_ on, some of them, of one partition.
Answer<void> IndexScan::fetch() {
  pause();
  auto first = partition::parse_item_key(keys_[next_]);
  if (!first) return pass(engine_error(first.error()));
  auto view = open_view(context_, routing_, first->placement, range_.min, range_.max);
  if (!view) return pass(engine_error(view.error()));
  view_ = std::move(*view);
  const std::string end = partition::items_from(view_.max);
  std::vector<std::string> page;
  for (size_t i = next_; i < keys_.size() && page.size() < kPage && keys_[i] < end; ++i) {
    page.push_back(keys_[i]);
  }
  auto bodies = view_.view->fetch(page);
  if (!bodies && is_lost_view(bodies.error()) && ++lost_views_ < kLostViewsMax) return fetch();
  lost_views_ = 0;
  if (!bodies) return pass(engine_error(bodies.error()));
  page_from_ = next_;
  bodies_ = std::move(*bodies);
  return {};
}

Answer<std::optional<std::string_view>> IndexScan::next() {
  while (next_ < keys_.size()) {
    if (bodies_.empty() || next_ >= page_from_ + bodies_.size()) {
      if (auto fetched = fetch(); !fetched) return pass(std::move(fetched.error()));
    }
    const std::string_view body = bodies_[next_ - page_from_];
    ++next_;
    if (body.empty()) continue;  // gone since
    ++items_;
    bytes_ += body.size();
    return body;
  }
  pause();
  return std::optional<std::string_view>();
}

}  // namespace orrery::mongo

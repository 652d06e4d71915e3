// See index_scan.h.
#include "api/mongo/documents/index_scan.h"

#include <algorithm>
#include <utility>

#include "api/mongo/call.h"
#include "api/mongo/collections/collections.h"
#include "api/mongo/collections/definition.h"
#include "api/mongo/documents/index_plan.h"
#include "api/mongo/match/bounds.h"
#include "partition/format.h"
#include "value/ordered.h"
#include "value/term_value.h"

namespace orrery::mongo {
namespace {

using value::Path;
using value::Type;
using value::Value;
using value::ValueOrder;

constexpr size_t kKeysMax = 200'000;
constexpr size_t kPage = 128;
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

Answer<bool> IndexScan::collect(const Value& filter, const IndexSpec* only, uint64_t at_most) {
  std::vector<Candidate> candidates;
  for (const IndexSpec& index : definition_of(*routing_).indexes) {
    if (only != nullptr && &index != only) continue;
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

Answer<bool> IndexScan::collect_view(const query::ItemView& view,
                                     const std::vector<Candidate>& candidates, uint64_t most) {
  using Ranges = std::vector<std::pair<std::string, std::string>>;
  std::optional<Ranges> best;
  uint64_t least = most;
  for (const Candidate& candidate : candidates) {
    // Conditions on a field are joined where no document has an array there.
    const bool is_multikey = std::ranges::any_of(candidate.multikey, [&](const std::string& path) {
      return view.estimate({path, value::after_prefix(path)}) > 0;
    });
    const Bounds bounds = bounds_of(*filter_, candidate.field, is_multikey);
    if (bounds.is_everything) continue;
    Ranges ranges;
    bool is_told = true;
    uint64_t entries = 0;
    const auto add = [&](const std::string& path) {
      for (const Interval& interval : bounds.intervals) {
        auto terms = terms_of(path, interval);
        is_told = is_told && terms.has_value();
        if (!terms) return;
        entries += view.estimate({terms->first, terms->second});
        ranges.push_back(std::move(*terms));
      }
    };
    for (const std::string& path : candidate.plain) add(path);
    if (is_multikey) {
      for (const std::string& path : candidate.multikey) add(path);
    }
    if (!is_told || entries > least) continue;
    least = entries;
    best = std::move(ranges);
    index_ = candidate.index;
  }
  if (!best) return false;
  for (const auto& [from, to] : *best) {
    auto cursor = view.entries({from, to}, false, nullptr);
    if (!cursor) return pass(engine_error(cursor.error()));
    for (;;) {
      auto found = (*cursor)->next();
      if (!found) return pass(engine_error(found.error()));
      if (!*found) break;
      ++entries_;
      if (keys_.size() >= kKeysMax) return false;
      keys_.emplace_back((*cursor)->key());
    }
  }
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

// See index_walk.h.
#include "api/mongo/documents/index_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/call.h"
#include "partition/format.h"
#include "value/composite.h"

namespace orrery::mongo {
namespace {

using value::Value;

constexpr size_t kPageMin = 8;
constexpr size_t kPageMax = 128;
// After so many a snapshot is let go of.
constexpr uint64_t kEntriesInView = 8'192;
constexpr size_t kAlikeBytesMax = size_t{64} << 20;
constexpr int32_t kQueryPlanKilled = 175;

}  // namespace

Answer<std::optional<std::vector<IndexLane>>> IndexWalk::open_lanes(
    const HandlerContext& context, const cluster::RoutingPtr& routing, const ScanRange& range) {
  std::vector<IndexLane> lanes;
  std::string placement = range.min;
  cluster::RoutingPtr newest = routing;
  for (;;) {
    auto opened = open_view(context, newest, placement, range.min, range.max);
    if (!opened) return pass(engine_error(opened.error()));
    placement = opened->max;
    lanes.push_back({.opened = std::move(*opened)});
    if (placement >= range.max) return lanes;
    if (lanes.size() >= kLanesMax) return std::optional<std::vector<IndexLane>>();
  }
}

IndexWalk::IndexWalk(const HandlerContext& context, cluster::RoutingPtr routing, ScanRange range,
                     IndexPlan plan, bool is_backwards, std::vector<IndexLane> lanes,
                     uint64_t wanted)
    : context_(context),
      routing_(std::move(routing)),
      range_(std::move(range)),
      plan_(std::move(plan)),
      is_backwards_(is_backwards),
      lanes_(std::move(lanes)),
      page_size_(std::clamp<size_t>(wanted, kPageMin, kPageMax)) {}

void IndexWalk::pause() {
  if (is_alike_) {
    for (size_t i = next_; i < page_.size(); ++i) {
      if (page_[i].kept.empty()) page_[i].kept = bodies_[i];
      bodies_[i] = page_[i].kept;
    }
  } else {
    // What was read and not given yet is read again.
    if (next_ < page_.size()) {
      taken_.reset();
      if (next_ > 0) taken_ = std::move(page_[next_ - 1].at);
      if (next_ == 0) taken_ = before_page_;
      is_done_ = false;
    }
    page_.clear();
    bodies_.clear();
    next_ = 0;
  }
  has_cursors_ = false;
  lanes_.clear();
  in_view_ = 0;
}

Answer<bool> IndexWalk::open_again() {
  cluster::RoutingPtr now = context_.engine.find(routing_->container->number);
  if (!now) return false;
  routing_ = std::move(now);
  // It was complete when this began, and is as long as it is not dropped.
  const auto composite = composite_of(*plan_.index);
  const auto& there = routing_->container->spec.composite_indexes;
  if (!composite || std::ranges::find(there, *composite) == there.end()) {
    return refuse(kQueryPlanKilled,
                  fmt::format("the index '{}' was dropped while it was read", plan_.index->name));
  }
  auto lanes = open_lanes(context_, routing_, range_);
  if (!lanes) return pass(std::move(lanes.error()));
  if (!*lanes) {
    return refuse(kQueryPlanKilled,
                  "the collection was split into too many partitions to be read "
                  "in the order of an index");
  }
  lanes_ = std::move(**lanes);
  resume_ = taken_;
  ranges_done_ = 0;
  if (!resume_) return true;
  const auto is_behind = [this](const TermRange& range) {
    return is_backwards_ ? range.first > resume_->term : range.second <= resume_->term;
  };
  ranges_done_ = static_cast<size_t>(std::ranges::count_if(plan_.ranges, is_behind));
  return true;
}

Answer<void> IndexWalk::open_range() {
  const size_t at = is_backwards_ ? plan_.ranges.size() - 1 - ranges_done_ : ranges_done_;
  const auto& [from, to] = plan_.ranges[at];
  for (IndexLane& lane : lanes_) {
    query::ItemView::Place after;
    if (resume_) after = {resume_->term, resume_->key};
    auto cursor = lane.view().entries({from, to}, is_backwards_, resume_ ? &after : nullptr);
    if (!cursor) return pass(engine_error(cursor.error()));
    lane.cursor = std::move(*cursor);
    lane.has_entry = false;
  }
  resume_.reset();
  has_cursors_ = true;
  return {};
}

Answer<std::optional<size_t>> IndexWalk::next_lane() {
  while (has_cursors_ || ranges_done_ < plan_.ranges.size()) {
    if (!has_cursors_) {
      if (auto opened = open_range(); !opened) return pass(std::move(opened.error()));
    }
    std::optional<size_t> first;
    for (size_t i = 0; i < lanes_.size(); ++i) {
      IndexLane& lane = lanes_[i];
      if (!lane.cursor) continue;
      if (!lane.has_entry) {
        auto found = lane.cursor->next();
        if (!found) return pass(engine_error(found.error()));
        lane.has_entry = *found;
        if (!*found) lane.cursor.reset();
        if (!*found) continue;
      }
      if (!first) {
        first = i;
        continue;
      }
      const auto& best = *lanes_[*first].cursor;
      const auto order =
          std::pair(lane.cursor->term(), lane.cursor->key()) <=> std::pair(best.term(), best.key());
      if (is_backwards_ ? order > 0 : order < 0) first = i;
    }
    if (first) return first;
    has_cursors_ = false;
    ++ranges_done_;
  }
  return std::optional<size_t>();
}

IndexWalk::Entry IndexWalk::take(size_t lane) {
  IndexLane& from = lanes_[lane];
  from.has_entry = false;
  Entry entry{.at = {std::string(from.cursor->term()), std::string(from.cursor->key())},
              .lane = lane};
  return entry;
}

// One page, in order. Documents that the index cannot tell apart have a page of their own.
Answer<void> IndexWalk::fill() {
  if (!page_.empty()) page_size_ = std::min(2 * page_size_, kPageMax);
  page_.clear();
  bodies_.clear();
  next_ = 0;
  is_alike_ = false;
  before_page_ = taken_;
  if (lanes_.empty()) {
    auto opened = open_again();
    if (!opened) return pass(std::move(opened.error()));
    is_done_ = !*opened;
  }
  while (!is_done_ && page_.size() < page_size_) {
    auto lane = next_lane();
    if (!lane) return pass(std::move(lane.error()));
    if (!*lane) {
      is_done_ = true;
      break;
    }
    const std::string_view term = lanes_[**lane].cursor->term();
    if (const std::string_view start = value::composite_run(term); start.size() < term.size()) {
      if (!page_.empty()) break;
      return fill_alike(std::string(start));
    }
    page_.push_back(take(**lane));
  }
  if (!page_.empty()) taken_ = page_.back().at;
  return fetch();
}

Answer<void> IndexWalk::fill_alike(const std::string& start) {
  for (;;) {
    auto lane = next_lane();
    if (!lane) return pass(std::move(lane.error()));
    if (!*lane || !lanes_[**lane].cursor->term().starts_with(start)) break;
    if (page_.size() >= kAlikeMax) {
      return refuse(kQueryExceededMemory,
                    fmt::format("more than {} documents have texts that begin alike in the fields "
                                "of the index '{}': hint another one",
                                kAlikeMax, plan_.index->name));
    }
    page_.push_back(take(**lane));
  }
  taken_ = page_.back().at;
  is_alike_ = true;
  if (auto fetched = fetch(); !fetched) return fetched;
  return sort_page();
}

Answer<void> IndexWalk::fetch() {
  bodies_.assign(page_.size(), {});
  in_view_ += page_.size();
  std::vector<std::string> keys;
  std::vector<size_t> places;
  for (size_t lane = 0; lane < lanes_.size(); ++lane) {
    keys.clear();
    places.clear();
    for (size_t i = 0; i < page_.size(); ++i) {
      if (page_[i].lane != lane) continue;
      keys.push_back(page_[i].at.key);
      places.push_back(i);
    }
    if (keys.empty()) continue;
    auto bodies = lanes_[lane].view().fetch(keys);
    if (!bodies) return pass(engine_error(bodies.error()));
    for (size_t i = 0; i < places.size(); ++i) bodies_[places[i]] = (*bodies)[i];
  }
  return {};
}

Answer<void> IndexWalk::sort_page() {
  std::vector<Value::Field> fields;
  for (size_t i = 0; i < plan_.paths.size(); ++i) {
    const bool is_descending = plan_.descending[i] != is_backwards_;
    fields.push_back({Value::make_string(plan_.paths[i]),
                      Value::make_integer(is_descending ? -1 : 1, value::NumberKind::int32)});
  }
  auto sort = Sort::parse(Value::make_object(std::move(fields)));
  if (!sort) return pass(std::move(sort.error()));
  struct Sorted {
    Sort::Key key;
    size_t place = 0;
  };
  std::vector<Sorted> sorted;
  size_t bytes = 0;
  for (size_t i = 0; i < page_.size(); ++i) {
    bytes += bodies_[i].size();
    if (bytes > kAlikeBytesMax) {
      return refuse(kQueryExceededMemory,
                    fmt::format("documents with texts that begin alike in the fields of the index "
                                "'{}' take more than {} bytes: hint another one",
                                plan_.index->name, kAlikeBytesMax));
    }
    if (bodies_[i].empty()) continue;  // not to be seen
    auto document = from_bson(bodies_[i]);
    if (!document) return pass(std::move(document.error()));
    Sorted one{.key = sort->key(*document), .place = i};
    for (Value& part : one.key) part = part.to_owned();
    sorted.push_back(std::move(one));
  }
  std::ranges::sort(sorted, [&](const Sorted& a, const Sorted& b) {
    const auto order = sort->compare(a.key, b.key);
    return order != 0 ? order < 0 : a.place < b.place;
  });
  std::vector<Entry> page;
  std::vector<std::string_view> bodies;
  for (const Sorted& one : sorted) {
    page.push_back(std::move(page_[one.place]));
    bodies.push_back(bodies_[one.place]);
  }
  page_ = std::move(page);
  bodies_ = std::move(bodies);
  return {};
}

Answer<std::optional<std::string_view>> IndexWalk::next() {
  for (;;) {
    while (next_ < page_.size()) {
      const size_t at = next_++;
      ++entries_;
      if (bodies_[at].empty()) continue;  // gone since, or expired
      ++items_;
      bytes_ += bodies_[at].size();
      key_ = page_[at].at.key;
      return bodies_[at];
    }
    if (is_done_) {
      pause();
      return std::optional<std::string_view>();
    }
    if (in_view_ >= kEntriesInView) pause();
    auto filled = fill();
    // A view at another node is gone. What was read and not given yet is read again.
    if (!filled && context_.remote && filled.error().code == kWriteConflict &&
        ++lost_views_ < kLostViewsMax) {
      is_alike_ = false;
      pause();
      continue;
    }
    if (!filled) return pass(std::move(filled.error()));
    lost_views_ = 0;
  }
}

Answer<std::optional<std::vector<std::string>>> IndexWalk::take_keys(size_t most) {
  std::vector<std::string> keys;
  for (;;) {
    auto lane = next_lane();
    if (!lane) return pass(std::move(lane.error()));
    if (!*lane) return keys;
    if (keys.size() >= most) return std::optional<std::vector<std::string>>();
    keys.push_back(take(**lane).at.key);
    ++entries_;
  }
}

}  // namespace orrery::mongo

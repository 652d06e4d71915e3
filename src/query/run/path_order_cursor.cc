// See path_order_cursor.h.
#include "query/run/path_order_cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "query/evaluate/collector.h"
#include "query/run/page.h"
#include "value/ordered.h"

namespace orrery::query {
namespace {

using value::Value;

constexpr size_t kRunBatch = 64;

// The prefix that the terms of a run have in common: the whole term, unless it is that of a text
// that was cut.
std::string_view run_of(std::string_view term, size_t path_size) {
  if (!value::is_cut_term_value(term.substr(path_size))) return term;
  return term.substr(0, term.size() - value::kCutTextHashBytes);
}

// Whether the entries of a term are of values that differ.
bool is_run(std::string_view term, size_t path_size) {
  return value_of_term(term, path_size).is_undefined();
}

}  // namespace

PathOrderCursor::PathOrderCursor(const SourceSetting& setting, const IndexNode* narrowed,
                                 const SourceStart* start)
    : setting_(setting),
      order_path_(setting.plan.order->keys.front().path),
      path_(value::term_path(order_path_)),
      descending_(setting.plan.order->keys.front().descending),
      tester_(narrowed, setting.context) {
  lay_out(narrowed);
  if (start != nullptr) start_at(*start);
}

void PathOrderCursor::lay_out(const IndexNode* narrowed) {
  if (narrowed == nullptr) {
    // What has no value stands among the values where undefined does.
    const std::string lacking = term_of_undefined();
    TermRange values = PathTerms(order_path_, setting_.plan.value_order).all().ranges.front();
    if (values.from < lacking) {
      stretches_.push_back({.range = TermRange{.from = values.from, .to = lacking}, .after = {}});
      values.from = lacking;
    }
    stretches_.push_back({});
    stretches_.push_back({.range = std::move(values), .after = {}});
  } else {
    for (const TermRange& range : narrowed->ranges) {
      stretches_.push_back({.range = range, .after = {}});
    }
  }
  if (!descending_) std::ranges::reverse(stretches_);
}

// Drops the stretches before the start, and cuts the one that it lies in.
void PathOrderCursor::start_at(const SourceStart& start) {
  const Value value = start.values.empty() ? Value() : start.values.front();
  const std::string lacking = term_of_undefined();
  if (value.is_undefined()) {
    while (!stretches_.empty() && stretches_.back().range) {
      const TermRange& range = *stretches_.back().range;
      if (descending_ ? range.to <= lacking : range.from >= lacking) return;
      stretches_.pop_back();
    }
    if (stretches_.empty()) return;
    stretches_.back().after = ItemView::Place{.term = "", .key = start.key};
    stretches_.back().seek_first = start.inclusive;
    return;
  }
  const std::string term = PathTerms(order_path_, setting_.plan.value_order).term(value);
  const std::string_view run = run_of(term, path_.size());
  const TermRange of_run{.from = std::string(run), .to = value::after_prefix(run)};
  while (!stretches_.empty()) {
    std::optional<TermRange>& range = stretches_.back().range;
    const bool is_passed = range
                               ? (descending_ ? range->from >= of_run.to : range->to <= of_run.from)
                               : (descending_ ? lacking > term : lacking < term);
    if (!is_passed) break;
    stretches_.pop_back();
  }
  if (stretches_.empty() || !stretches_.back().range) return;
  Stretch& first = stretches_.back();
  if (is_run(term, path_.size())) {
    if (descending_) {
      first.range->to = std::min(first.range->to, of_run.to);
    } else {
      first.range->from = std::max(first.range->from, of_run.from);
    }
    start_in_run_ = start;
    return;
  }
  first.after = ItemView::Place{.term = term, .key = start.key};
  if (descending_) {
    first.range->to = std::min(first.range->to, of_run.to);
    // The last place that is not after it.
    if (start.inclusive) first.after->key.push_back('\0');
  } else {
    first.range->from = std::max(first.range->from, term);
    first.seek_first = start.inclusive;
  }
}

std::string PathOrderCursor::term_of_undefined() const {
  return path_ + value::term_tags(value::Type::undefined, setting_.plan.value_order).first;
}

uint64_t PathOrderCursor::unordered_items(const ItemView& view, const IndexPlan& plan) {
  if (plan.value_order == value::ValueOrder::typed) return 0;
  const PathTerms terms(plan.order->keys.front().path, plan.value_order);
  return view.estimate(terms.collections().ranges.front());
}

Result<bool> PathOrderCursor::next() {
  is_doubtful_ = false;
  is_pause_ = false;
  value_ = {};
  for (;;) {
    if (!run_.empty()) {
      key_ = std::move(run_.back().key);
      run_.pop_back();
      return true;
    }
    if (!shapes_.empty()) {
      auto found = next_without();
      if (!found || *found) return found;
    } else if (entries_) {
      auto found = next_entry();
      if (!found || *found) return found;
      if (!run_.empty()) continue;
    }
    if (stretches_.empty()) return false;
    if (auto status = open_stretch(); !status) return pass(status.error());
  }
}

Status PathOrderCursor::open_stretch() {
  const Stretch stretch = std::move(stretches_.back());
  stretches_.pop_back();
  if (!stretch.range) return open_shapes(stretch);
  if (stretch.range->from >= stretch.range->to) return {};
  const bool seeks = stretch.seek_first && stretch.range->from == stretch.after->term;
  auto cursor = setting_.view.entries(*stretch.range, descending_,
                                      stretch.after && !seeks ? &*stretch.after : nullptr);
  if (!cursor) return pass(cursor.error());
  entries_ = std::move(*cursor);
  if (!seeks) return {};
  auto found = entries_->next();
  // The first entry may be one of a later term, which comes whole.
  if (found && *found && entries_->term() == stretch.after->term) {
    found = entries_->seek(stretch.after->key);
  }
  if (!found) return pass(found.error());
  setting_.counts.entries += 1;
  entry_waits_ = *found;
  if (!*found) entries_.reset();
  return {};
}

Status PathOrderCursor::open_shapes(const Stretch& stretch) {
  const auto shapes = setting_.view.shapes_without(path_);
  const auto open = [&](const std::string& term, bool is_doubtful) -> Status {
    const TermRange point{.from = term, .to = term + '\0'};
    std::optional<ItemView::Place> after;
    if (stretch.after) after = {.term = term, .key = stretch.after->key};
    const bool seeks = stretch.seek_first && !descending_;
    if (after && stretch.seek_first && descending_) after->key.push_back('\0');
    auto cursor = setting_.view.entries(point, descending_, after && !seeks ? &*after : nullptr);
    if (!cursor) return pass(cursor.error());
    auto found = seeks ? (*cursor)->seek(after->key) : (*cursor)->next();
    if (!found) return pass(found.error());
    setting_.counts.entries += 1;
    if (*found) shapes_.push_back({std::move(*cursor), is_doubtful});
    return {};
  };
  for (const std::string& term : shapes.lacking) {
    if (auto status = open(term, false); !status) return status;
  }
  return shapes.others ? open(*shapes.others, true) : Status{};
}

// The shapes are few, and each one's keys are in order.
Result<bool> PathOrderCursor::next_without() {
  const auto next = std::ranges::min_element(shapes_, [this](const Shape& a, const Shape& b) {
    return descending_ ? a.cursor->key() > b.cursor->key() : a.cursor->key() < b.cursor->key();
  });
  key_ = next->cursor->key();
  is_doubtful_ = next->is_doubtful;
  auto found = next->cursor->next();
  if (!found) return found;
  setting_.counts.entries += 1;
  if (!*found) shapes_.erase(next);
  return true;
}

Result<bool> PathOrderCursor::move_entry() {
  if (std::exchange(entry_waits_, false)) return true;
  auto found = entries_->next();
  if (found && *found) setting_.counts.entries += 1;
  return found;
}

// False when the stretch is at its end, or a run has been read.
Result<bool> PathOrderCursor::next_entry() {
  for (;;) {
    auto found = move_entry();
    if (!found) return found;
    if (!*found) {
      entries_.reset();
      return false;
    }
    const std::string_view term = entries_->term();
    Value value = value_of_term(term, path_.size());
    if (value.is_undefined()) {  // one of several values
      if (auto status = read_run(); !status) return pass(status.error());
      if (!run_.empty() || !entries_) return false;
      continue;
    }
    bool is_sure = true;
    if (!tester_.passes(term, is_sure)) {
      if (!setting_.context.budget.spend(kStepsOfEntry)) continue;
      is_pause_ = true;
    }
    key_ = entries_->key();
    value_ = std::move(value);
    return true;
  }
}

Status PathOrderCursor::read_run() {
  const std::string run(run_of(entries_->term(), path_.size()));
  run_bytes_ = 0;
  std::vector<std::string> keys;
  Budget& budget = setting_.context.budget;
  for (;;) {
    if (budget.spend(kStepsOfEntry)) return pass(ended_early(budget));
    keys.emplace_back(entries_->key());
    auto found = move_entry();
    if (!found) return pass(found.error());
    const bool ends = !*found || run_of(entries_->term(), path_.size()) != run;
    if (ends || keys.size() == kRunBatch) {
      if (auto status = order_items(keys); !status) return status;
    }
    if (!*found) entries_.reset();
    entry_waits_ = *found && ends;
    if (ends) break;
  }
  std::ranges::sort(run_, [this](const Ordered& a, const Ordered& b) { return is_before(b, a); });
  const auto start = std::exchange(start_in_run_, std::nullopt);
  if (!start) return {};
  const Ordered place{start->values.front(), start->key};
  std::erase_if(run_, [&](const Ordered& one) {
    return start->inclusive ? is_before(one, place) : !is_before(place, one);
  });
  return {};
}

Status PathOrderCursor::order_items(std::vector<std::string>& keys) {
  auto read = each_item(setting_, keys, [&](size_t i, const value::Node& item) {
    Ordered one{Value::from(value::find(item, order_path_)).to_owned(), std::move(keys[i])};
    run_bytes_ += one.value.memory() + one.key.size() + sizeof one;
    run_.push_back(std::move(one));
  });
  if (!read) return read;
  keys.clear();
  if (run_bytes_ <= kQueryMemoryMax) return {};
  return fail(
      Code::invalid,
      fmt::format("ORDER BY needs more than {} MB to put arrays, objects or long strings in "
                  "order: filter them out",
                  kQueryMemoryMax >> 20));
}

bool PathOrderCursor::is_before(const Ordered& a, const Ordered& b) const {
  auto order = value::compare(a.value, b.value, setting_.plan.value_order);
  if (order == 0) order = a.key.compare(b.key) <=> 0;
  return descending_ ? order > 0 : order < 0;
}

}  // namespace orrery::query

// See composite_order_cursor.h.
#include "query/run/composite_order_cursor.h"

#include <algorithm>
#include <utility>

#include "query/run/key_cursor.h"
#include "query/run/page.h"
#include "value/ordered.h"

namespace orrery::query {
namespace {

using value::CompositeTerms;
using value::Value;

constexpr size_t kCompositeRunBatch = 64;
constexpr size_t kRunBytesMax = 4ULL << 20;  // of a run's order values and keys, in memory

}  // namespace

size_t CompositeOrderCursor::Ordered::memory() const {
  size_t bytes = sizeof(Ordered) + key.size();
  for (const Value& value : values) bytes += value.memory();
  return bytes;
}

TermRange CompositeOrderCursor::terms(const IndexPlan& plan, const IndexNode* narrowed) {
  const IndexOrder& order = *plan.order;
  CompositeTerms terms(*order.composite, plan.value_order);
  for (const Value& value : order.fixed) terms.fix(value);
  value::CompositeRange all = terms.all();
  if (narrowed == nullptr) return {.from = std::move(all.from), .to = std::move(all.to)};
  // What comes after the path in terms of one value is what a composite term has of it.
  const size_t path_size = value::term_path(narrowed->path).size();
  std::string low = narrowed->ranges.front().from.substr(path_size);
  std::string high = narrowed->ranges.back().to.substr(path_size);
  // An end behind one value only: in composite terms that value goes on with the next one.
  if (high.ends_with('\0')) high.pop_back();
  if (order.composite->parts[order.fixed.size()].descending) {
    std::swap(low, high);
    for (std::string* end : {&low, &high}) {
      for (char& byte : *end) byte = static_cast<char>(~byte);
    }
  }
  return {.from = all.from + low, .to = value::after_prefix(all.from + high)};
}

CompositeOrderCursor::CompositeOrderCursor(const SourceSetting& setting, const IndexNode* narrowed,
                                           const SourceStart* start)
    : setting_(setting),
      order_(*setting.plan.order),
      keys_descend_(order_.keys.front().descending),
      range_(terms(setting.plan, narrowed)) {
  if (start != nullptr && start->values.size() == order_.keys.size()) start_at(*start);
}

void CompositeOrderCursor::start_at(const SourceStart& start) {
  CompositeTerms terms(*order_.composite, setting_.plan.value_order);
  const size_t before = order_.composite->parts.size() - order_.keys.size();
  for (size_t i = 0; i < before; ++i) terms.fix(order_.fixed[i]);
  for (const Value& value : start.values) terms.fix(value);
  const std::string term = terms.all().from + value::kCompositeEnd;
  start_run_ = value::composite_run(term);
  start_ = start;
  if (order_.is_backwards) {
    range_.to = std::min(range_.to, value::after_prefix(start_run_));
  } else {
    range_.from = std::max(range_.from, start_run_);
  }
}

Result<bool> CompositeOrderCursor::next() {
  if (!std::exchange(is_open_, true)) {
    if (auto opened = open(); !opened) return pass(opened.error());
  }
  for (;;) {
    if (!run_.empty()) {
      key_ = run_.back().key;
      if (run_.size() == 1 && run_end_) {
        start_ = SourceStart{.values = std::move(run_.back().values), .key = key_};
        if (auto opened = open(); !opened) return pass(opened.error());
      }
      run_.pop_back();
      return true;
    }
    if (ties_) {
      auto found = next_tie();
      if (!found || *found) return found;
    }
    if (!entries_) return false;
    const std::string term(entries_->term());
    const std::string run(value::composite_run(term));
    if (start_ && run != start_run_) start_.reset();
    if (run != term) {
      if (auto read = read_run(run); !read) return pass(read.error());
      continue;
    }
    if (start_) {
      if (auto opened = open_ties(term); !opened) return pass(opened.error());
      continue;
    }
    key_ = entries_->key();
    if (auto moved = move(); !moved) return pass(moved.error());
    const bool is_last = !entries_ || entries_->term() != term;
    if (is_last || keys_descend_ == order_.is_backwards) return true;
    if (auto opened = open_ties(term); !opened) return pass(opened.error());
  }
}

Status CompositeOrderCursor::open() {
  entries_.reset();
  if (range_.from >= range_.to) return {};
  auto cursor = setting_.view.entries(range_, order_.is_backwards, nullptr);
  if (!cursor) return pass(cursor.error());
  entries_ = std::move(*cursor);
  return move();
}

Status CompositeOrderCursor::move() {
  auto found = entries_->next();
  if (!found) return pass(found.error());
  if (*found) {
    setting_.counts.entries += 1;
  } else {
    entries_.reset();
  }
  return {};
}

// Opens a cursor on the keys of one term (the ties), from the start position on. The index scan
// then continues after the term.
Status CompositeOrderCursor::open_ties(const std::string& term) {
  const auto start = std::exchange(start_, std::nullopt);
  pass_run(term);
  entries_.reset();
  std::optional<ItemView::Place> after;
  if (start) after = {.term = term, .key = start->key};
  const bool seeks = start && start->inclusive && !keys_descend_;
  // The last place that is not after it.
  if (start && start->inclusive && keys_descend_) after->key.push_back('\0');
  const TermRange point{.from = term, .to = term + '\0'};
  auto cursor = setting_.view.entries(point, keys_descend_, after && !seeks ? &*after : nullptr);
  if (!cursor) return pass(cursor.error());
  ties_ = std::move(*cursor);
  auto found = seeks ? ties_->seek(start->key) : ties_->next();
  if (!found) return pass(found.error());
  if (*found) return {};
  ties_.reset();
  return open();
}

Result<bool> CompositeOrderCursor::next_tie() {
  key_ = ties_->key();
  setting_.counts.entries += 1;
  auto found = ties_->next();
  if (!found) return found;
  if (!*found) {
    ties_.reset();
    if (auto opened = open(); !opened) return pass(opened.error());
  }
  return true;
}

void CompositeOrderCursor::pass_run(std::string_view run) {
  if (order_.is_backwards) {
    range_.to = run;
  } else {
    range_.from = value::after_prefix(run);
  }
}

Status CompositeOrderCursor::read_run(const std::string& run) {
  run_bytes_ = 0;
  run_end_.reset();
  std::vector<std::string> keys;
  Budget& budget = setting_.context.budget;
  while (entries_ && entries_->term().starts_with(run)) {
    if (budget.spend(kStepsOfEntry)) return pass(ended_early(budget));
    keys.emplace_back(entries_->key());
    if (auto moved = move(); !moved) return moved;
    if (keys.size() < kCompositeRunBatch) continue;
    if (auto ordered = order_items(keys); !ordered) return ordered;
  }
  if (auto ordered = order_items(keys); !ordered) return ordered;
  sort_run();
  start_.reset();
  if (!run_end_) {
    pass_run(run);
    return {};
  }
  // The run is scanned again for the part that did not fit.
  start_run_ = run;
  if (order_.is_backwards) {
    range_.to = value::after_prefix(run);
  } else {
    range_.from = run;
  }
  return {};
}

Status CompositeOrderCursor::order_items(std::vector<std::string>& keys) {
  auto read = each_item(setting_, keys, [&](size_t i, const value::Node& item) {
    Ordered one{.values = {}, .key = std::move(keys[i])};
    for (const value::CompositeIndex::Part& part : order_.keys) {
      one.values.push_back(Value::from(value::find(item, part.path)).to_owned());
    }
    if (start_) {
      const Ordered start{.values = start_->values, .key = start_->key};
      if (start_->inclusive ? is_before(one, start) : !is_before(start, one)) return;
    }
    if (run_end_ && !is_before(one, *run_end_)) return;
    run_bytes_ += one.memory();
    run_.push_back(std::move(one));
  });
  if (!read) return read;
  keys.clear();
  if (run_bytes_ > kRunBytesMax) sort_run();
  return {};
}

void CompositeOrderCursor::sort_run() {
  std::ranges::sort(run_, [this](const Ordered& a, const Ordered& b) { return is_before(b, a); });
  if (run_bytes_ <= kRunBytesMax) return;
  size_t dropped = 0;
  // Half of it, so that this is not done again at once.
  while (run_.size() - dropped > 1 && run_bytes_ > kRunBytesMax / 2) {
    run_bytes_ -= run_[dropped++].memory();
  }
  if (dropped == 0) return;
  run_end_ = std::move(run_[dropped - 1]);
  run_.erase(run_.begin(), run_.begin() + static_cast<ptrdiff_t>(dropped));
}

bool CompositeOrderCursor::is_before(const Ordered& a, const Ordered& b) const {
  for (size_t i = 0; i < order_.keys.size(); ++i) {
    const auto order = value::compare(a.values[i], b.values[i], setting_.plan.value_order);
    if (order != 0) return order_.keys[i].descending ? order > 0 : order < 0;
  }
  return keys_descend_ ? a.key > b.key : a.key < b.key;
}

}  // namespace orrery::query

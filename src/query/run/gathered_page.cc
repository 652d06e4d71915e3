// See gathered_page.h.
#include "query/run/gathered_page.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "base/keyed_hash.h"
#include "query/evaluate/collector.h"
#include "query/evaluate/evaluate.h"
#include "query/evaluate/fingerprint.h"
#include "query/evaluate/order_values.h"
#include "query/evaluate/sorted_order.h"
#include "query/run/item_scan.h"

namespace orrery::query {
namespace {

using value::Value;

// Computes all results of a query, and of the subqueries in its FROM.
class Gathering {
 public:
  Gathering(const BoundQuery& query, const PageInput& input, const PageLimits& limits,
            ReadCounts& counts)
      : input_(input), limits_(limits), counts_(counts), frame_(query.slots, input.context) {}

  Result<std::vector<Collector::Ranked>> results(const BoundQuery& query,
                                                 Collector::Extent extent) {
    Collector collector(query, Collector::Lifetime::copy, frame_.context.budget, extent);
    const std::function<bool()> add = [&] { return collector.add(frame_); };
    if (auto status = each(query, add); !status) return pass(status.error());
    // The items that the slots borrow from are gone.
    std::ranges::fill(frame_.slots, Value());
    if (collector.over_limit()) return pass(too_much_memory());
    std::vector<Collector::Ranked> all = collector.finish(frame_);
    if (collector.over_limit()) return pass(too_much_memory());
    if (frame_.ended() != Frame::Ended::no) return pass(ended_early(frame_.context.budget));
    return all;
  }

 private:
  Status each(const BoundQuery& query, const std::function<bool()>& row) {
    if (const BoundQuery* derived = query.derived()) {
      auto first = results(*derived, Collector::Extent::cut);
      if (!first) return pass(first.error());
      each_row_of(query, Collector::values_of(std::move(*first)), frame_, row);
    } else if (query.document_slot) {
      if (auto status = each_of_items(query, row); !status) return status;
    } else {
      each_row(query, frame_, row);
    }
    if (frame_.ended() != Frame::Ended::no) return pass(ended_early(frame_.context.budget));
    return {};
  }

  Status each_of_items(const BoundQuery& query, const std::function<bool()>& row) {
    ItemScan scan(input_, query, counts_);
    for (;;) {
      auto found = scan.next(kAllItems);
      if (!found) return pass(found.error());
      if (!*found) return {};
      if (scan.has_item()) {
        frame_.slots[*query.document_slot] = Value::from(scan.item());
        bool matches = false;
        const bool wants_more = each_row(query, frame_, [&] {
          matches = true;
          return row();
        });
        if (matches) ++counts_.matched;
        if (!wants_more) return {};
      }
      if (is_time_up(limits_, frame_.context)) return pass(too_much_time());
    }
  }

  const PageInput& input_;
  const PageLimits& limits_;
  ReadCounts& counts_;
  Frame frame_;
};

struct GatheredRow {
  OrderValues order;
  Fingerprint mark{};
  uint64_t number = 0;  // among those with the same place
  std::string written;
};

class GatheredPage {
 public:
  GatheredPage(const BoundQuery& query, const Position* from, const PageLimits& limits)
      : query_(query), limits_(limits), resumes_(from != nullptr) {
    if (from != nullptr) at_ = *from;
    const uint64_t offset = query.offset.value_or(0);
    skip_ = offset - std::min(offset, at_.skipped);
  }

  Result<QueryPage> run(const PageInput& input) {
    auto results =
        Gathering(query_, input, limits_, page_.read).results(query_, Collector::Extent::whole);
    if (!results) return pass(results.error());
    size_t bytes = 0;
    rows_.reserve(results->size());
    Budget& budget = input.context.budget;
    Held held(budget);
    for (Collector::Ranked& one : *results) {
      GatheredRow& row = rows_.emplace_back();
      row.order = std::move(one.order);
      row.mark = fingerprint_of(one.result);
      if (!append_row(one.result, row.written, input)) return pass(ended_early(budget));
      one.result = Value();  // what it is written as is in its place
      bytes += row.written.size();
      held.add(sizeof(GatheredRow) + row.written.capacity());
    }
    results->clear();
    const bool has_order = !query_.order_by.empty();
    const bool is_short = rows_.size() <= skip_ + limits_.rows && bytes <= limits_.bytes;
    if (!has_order) {
      number_as_they_came();
    } else if (resumes_ || !is_short) {  // equal ones may come in any order where all of them fit
      sort(budget);
      if (budget.is_over()) return pass(ended_early(budget));
    }
    size_t start = 0;
    if (resumes_) {
      auto found = has_order ? after_position() : after_last();
      if (!found) return pass(found.error());
      start = *found;
    }
    give_out(start);
    return std::move(page_);
  }

 private:
  std::strong_ordering places(const GatheredRow& a, const GatheredRow& b) const {
    const auto order = compare(query_, a.order, b.order);
    return order != std::strong_ordering::equal ? order : a.mark <=> b.mark;
  }

  void sort(Budget& budget) {
    const auto order = sorted_order(rows_.size(), budget, [this](uint32_t a, uint32_t b) {
      return places(rows_[a], rows_[b]) < 0;
    });
    std::vector<GatheredRow> sorted;
    sorted.reserve(rows_.size());
    for (const uint32_t at : order) sorted.push_back(std::move(rows_[at]));
    rows_ = std::move(sorted);
    for (size_t i = 1; i < rows_.size(); ++i) {
      if (places(rows_[i - 1], rows_[i]) == 0) rows_[i].number = rows_[i - 1].number + 1;
    }
  }

  // Without ORDER BY, rows keep the order of the rows that they are computed from: a subquery in
  // FROM may have sorted those.
  void number_as_they_came() {
    KeyedMap<std::string_view, uint64_t> seen;
    for (GatheredRow& row : rows_) row.number = seen[row.written]++;
  }

  // The index after the last row of the previous page; by count when that row is gone.
  Result<size_t> after_last() const {
    if (!at_.result_mark) return fail(Code::invalid, "the position is not one of this query");
    const auto last = std::ranges::find_if(rows_, [&](const GatheredRow& row) {
      return row.mark == *at_.result_mark && row.number == at_.rows_of_it;
    });
    if (last != rows_.end()) return static_cast<size_t>(last - rows_.begin()) + 1;
    return static_cast<size_t>(std::min<uint64_t>(at_.skipped + at_.given, rows_.size()));
  }

  Result<size_t> after_position() const {
    if (!at_.result_mark) return fail(Code::invalid, "the position is not one of this query");
    GatheredRow place{
        .order = {}, .mark = *at_.result_mark, .number = at_.rows_of_it, .written = {}};
    if (!at_.order.empty()) {
      auto values = parse_order_values(query_, at_.order);
      if (!values) return pass(values.error());
      place.order = std::move(*values);
    } else {
      const auto same = std::ranges::find_if(rows_, [&](const GatheredRow& row) {
        return row.mark == place.mark && fingerprint_of(row.order) == at_.order_mark;
      });
      if (same == rows_.end()) return pass(order_values_gone());
      place.order = same->order;
    }
    const auto next =
        std::ranges::upper_bound(rows_, place, [this](const GatheredRow& a, const GatheredRow& b) {
          const auto order = places(a, b);
          return order < 0 || (order == 0 && a.number < b.number);
        });
    return static_cast<size_t>(next - rows_.begin());
  }

  void give_out(size_t at) {
    const auto most = query_.most();
    if (most && at_.given >= *most) return;
    for (; at < rows_.size(); ++at) {
      if (page_.rows.size() >= limits_.rows || page_.rows.bytes() >= limits_.bytes) break;
      if (skip_ > 0) {
        --skip_;
        ++at_.skipped;
        continue;
      }
      page_.rows.push_back(rows_[at].written);
      if (++at_.given == most) return;
    }
    if (at == rows_.size()) return;
    const GatheredRow& last = rows_[at - 1];
    at_.rows_of_it = last.number;
    at_.order = to_json(last.order);
    at_.order_mark = fingerprint_of(last.order);
    at_.result_mark = last.mark;
    page_.next = std::move(at_);
  }

  const BoundQuery& query_;
  const PageLimits& limits_;
  const bool resumes_;
  QueryPage page_;
  Position at_;
  uint64_t skip_ = 0;
  std::vector<GatheredRow> rows_;
};

}  // namespace

Result<QueryPage> make_gathered_page(const BoundQuery& query, const PageInput& input,
                                     const Position* from, const PageLimits& limits) {
  return GatheredPage(query, from, limits).run(input);
}

}  // namespace orrery::query

// See ranked_page.h.
#include "query/run/ranked_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "query/bind/rank_clause.h"
#include "query/evaluate/collector.h"
#include "query/evaluate/evaluate.h"
#include "query/evaluate/sorted_order.h"
#include "query/functions/vector.h"
#include "query/run/execute.h"
#include "query/run/item_scan.h"
#include "query/run/stored_item.h"

namespace orrery::query {
namespace {

using value::Value;

// Behind the text and the terms of _FullTextScore.
constexpr size_t kStatisticsArguments = 2;

Error rows_over_memory() {
  return {.code = Code::invalid,
          .message = fmt::format("ranking the rows of the query needs more than {} MB: filter more",
                                 kQueryMemoryMax >> 20)};
}

struct RankedRow {
  std::string key;
  uint64_t number = 0;  // among the rows of its item
  double fused = 0;     // the larger the better
};

// A score as it is computed for this page.
struct Score {
  BoundExpr expr;
  double weight = 1;
  bool smaller_is_better = false;
};

bool is_distance(const BoundScore& score) {
  if (score.is_text) return false;
  const std::vector<BoundExpr>& arguments = score.expr.children;
  const bool has_options = arguments.size() > 3 && arguments[3].is_constant();
  return has_options && vector_metric(arguments[3].constant) == VectorMetric::euclidean;
}

class RankedPage {
 public:
  RankedPage(const BoundQuery& query, const PageInput& input, const PageLimits& limits)
      : query_(query), input_(input), limits_(limits), frame_(query.slots, input.context) {
    for (const BoundScore& score : query.rank->scores) {
      scores_.push_back(
          {.expr = score.expr, .weight = score.weight, .smaller_is_better = is_distance(score)});
    }
  }

  Result<QueryPage> run(uint64_t given) {
    if (auto status = read_statistics(); !status) return pass(status.error());
    if (auto status = read_scores(); !status) return pass(status.error());
    sort();
    if (frame_.ended() != Frame::Ended::no) return pass(ended_early(frame_.context.budget));
    if (auto status = give_out(given); !status) return pass(status.error());
    return std::move(page_);
  }

 private:
  // Puts the statistics into the text scores.
  Status read_statistics() {
    const BoundRank& rank = *query_.rank;
    if (!rank.statistics) return {};
    auto answer = run_page(*rank.statistics, input_.space, nullptr, limits_, input_.context);
    if (!answer) return pass(answer.error());
    page_.read.items += answer->read.items;
    page_.read.bytes += answer->read.bytes;
    page_.read.entries += answer->read.entries;
    if (answer->next || answer->rows.size() != 1) return pass(too_much_time());
    auto row = input_.space.codec().parse(answer->rows.front());
    if (!row) return fail(Code::internal, "statistics cannot be read: " + row.error().message);
    const Value statistics = Value::from(row->root());
    size_t texts = 0;
    for (size_t i = 0; i < scores_.size(); ++i) {
      if (!rank.scores[i].is_text) continue;
      const Value of_text = statistics.find("fullTextStatistics").at(texts++);
      // A constant text (a computed property) is as good for every row.
      if (scores_[i].expr.is_constant()) continue;
      size_t argument = kStatisticsArguments;
      for (const Value& value : {statistics.find("documentCount"), of_text.find("totalWordCount"),
                                 of_text.find("hitCounts")}) {
        scores_[i].expr.children[argument++].constant = value.to_owned();
      }
    }
    return {};
  }

  Status read_scores() {
    ItemScan scan(input_, query_, page_.read);
    for (;;) {
      auto found = scan.next(kAllItems);
      if (!found) return pass(found.error());
      if (!*found) break;
      if (scan.has_item()) {
        frame_.slots[*query_.document_slot] = Value::from(scan.item());
        uint64_t number = 0;
        each_row(query_, frame_, [&] { return add(scan.key(), number++); });
        if (number > 0) ++page_.read.matched;
        if (memory_ > kQueryMemoryMax || frame_.ended() == Frame::Ended::memory) {
          return pass(rows_over_memory());
        }
        if (frame_.ended() == Frame::Ended::time) return pass(too_much_time());
      }
      if (is_time_up(limits_, frame_.context)) return pass(too_much_time());
    }
    std::ranges::fill(frame_.slots, Value());
    return {};
  }

  bool add(std::string_view key, uint64_t number) {
    // A row that shows nothing is none.
    if (query_.select == Select::Kind::value && project(query_, frame_).is_undefined()) return true;
    for (const Score& score : scores_) {
      const Value value = evaluate(score.expr, frame_);
      constexpr double kWorst = std::numeric_limits<double>::infinity();
      const bool has_score = value.is_number() && !std::isnan(value.number());
      const double missing = score.smaller_is_better ? kWorst : -kWorst;
      scores_of_rows_.push_back(has_score ? value.number() : missing);
    }
    rows_.push_back({.key = std::string(key), .number = number});
    // A score, and its rank while rows are sorted.
    memory_ +=
        sizeof(RankedRow) + key.size() + scores_.size() * sizeof(double) + 3 * sizeof(uint32_t);
    return memory_ <= kQueryMemoryMax;
  }

  void sort() {
    Budget& budget = frame_.context.budget;
    for (size_t i = 0; i < scores_.size() && !budget.is_over(); ++i) {
      const Score& score = scores_[i];
      const auto goodness = [&](size_t row) {
        const double value = scores_of_rows_[row * scores_.size() + i];
        return score.smaller_is_better ? -value : value;
      };
      const auto order = sorted_order(
          rows_.size(), budget, [&](uint32_t a, uint32_t b) { return goodness(a) > goodness(b); });
      double rank = 0;
      for (size_t place = 0; place < order.size(); ++place) {
        if (place == 0 || goodness(order[place]) != goodness(order[place - 1])) ++rank;
        rows_[order[place]].fused += score.weight / (kRankConstant + rank);
      }
    }
    ranked_ = sorted_order(rows_.size(), budget, [this](uint32_t one, uint32_t other) {
      const RankedRow& a = rows_[one];
      const RankedRow& b = rows_[other];
      // Total even where weights are infinite.
      const auto order = std::weak_order(b.fused, a.fused);
      if (order != 0) return order < 0;
      return a.key != b.key ? a.key < b.key : a.number < b.number;
    });
  }

  Status give_out(uint64_t given) {
    const uint64_t total = rows_.size();
    const uint64_t first = std::min(query_.offset.value_or(0), total);
    const uint64_t end = first + std::min(query_.most().value_or(total), total - first);
    uint64_t at = first + std::min(given, end - first);
    for (; at < end && page_.rows.size() < limits_.rows && page_.rows.bytes() < limits_.bytes;
         ++at) {
      auto row = show(rows_[ranked_[at]]);
      if (!row) return pass(row.error());
      // An item that was changed or removed meanwhile may have no such row any more.
      if (!*row) continue;
      page_.rows.push_back(**row);
    }
    if (at < end) {
      page_.next = Position{};
      page_.next->given = at - first;
    }
    return {};
  }

  Result<std::optional<std::string>> show(const RankedRow& row) {
    auto body = ItemScan::find(input_.space, row.key);
    if (!body) return pass(body.error());
    if (!*body) return std::nullopt;
    ++page_.read.items;
    page_.read.bytes += (*body)->size();
    auto item = parse_stored(input_.space.codec(), **body);
    if (!item) return pass(item.error());
    frame_.slots[*query_.document_slot] = Value::from(item->root());
    std::optional<std::string> shown;
    uint64_t number = 0;
    each_row(query_, frame_, [&] {
      if (number++ < row.number) return true;
      const Value result = project(query_, frame_);
      if (!result.is_undefined()) append_row(result, shown.emplace(), input_);
      return false;
    });
    std::ranges::fill(frame_.slots, Value());
    if (frame_.ended() == Frame::Ended::memory) return pass(rows_over_memory());
    if (frame_.ended() == Frame::Ended::time) return pass(too_much_time());
    return shown;
  }

  const BoundQuery& query_;
  const PageInput& input_;
  const PageLimits& limits_;
  Frame frame_;
  std::vector<Score> scores_;
  // In pieces, which do not move when there are more of them.
  std::deque<RankedRow> rows_;
  std::deque<double> scores_of_rows_;  // those of the first row, those of the second …
  std::vector<uint32_t> ranked_;       // places in rows_, the best first
  size_t memory_ = 0;                  // of both
  QueryPage page_;
};

}  // namespace

Result<QueryPage> make_ranked_page(const BoundQuery& query, const PageInput& input,
                                   const Position* from, const PageLimits& limits) {
  return RankedPage(query, input, limits).run(from == nullptr ? 0 : from->given);
}

}  // namespace orrery::query

// See client.h. The order of the steps: merge by ORDER BY, put groups together, remove duplicates,
// skip, cut off, count. ORDER BY RANK has its own: statistics, rows by each score, ranks.
#include "client.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "api/cosmos/wire/query_error.h"
#include "query/parse/parser.h"
#include "value/placement.h"

namespace orrery::query {
namespace {

using cosmos::DistinctType;
using cosmos::GatewayPlan;
using cosmos::HybridSearchInfo;
using cosmos::QueryInfo;
using cosmos::SortOrder;

using Rows = std::vector<Value>;

constexpr std::string_view kFilter = "{documentdb-formattableorderbyquery-filter}";

// Parts of an aggregate, as partitions give them, put together.
class Parts {
 public:
  explicit Parts(Aggregate aggregate) : aggregate_(aggregate) {}

  void add(const Value& part) {
    const Value item = part.find("item");
    switch (aggregate_) {
      case Aggregate::count:
      case Aggregate::count_if:
      case Aggregate::sum:
        return add_number(item);
      case Aggregate::average:
        count_ += item.find("count").number();
        return add_number(item.find("sum"));
      case Aggregate::min:
      case Aggregate::max: {
        const Value detail = part.find("item2");
        if (detail.find("count").number() == 0) return;
        if (item.is_undefined()) undefined_ = true;
        const bool better =
            best_.is_undefined() || (aggregate_ == Aggregate::min ? item < best_ : best_ < item);
        if (better) best_ = item;
        return;
      }
      case Aggregate::make_list:
      case Aggregate::make_set:
        for (Value element : item.elements()) {
          const bool is_new = std::ranges::find(list_, element) == list_.end();
          if (is_new || aggregate_ == Aggregate::make_list) list_.push_back(element);
        }
        return;
    }
  }

  Value result() const {
    if (undefined_) return {};
    switch (aggregate_) {
      case Aggregate::average:
        return count_ == 0 ? Value() : Value::make_number(sum_ / count_);
      case Aggregate::min:
      case Aggregate::max:
        return best_;
      case Aggregate::make_list:
      case Aggregate::make_set:
        return Value::make_array(list_);
      default:
        return Value::make_number(sum_);
    }
  }

 private:
  void add_number(const Value& number) {
    if (!number.is_number()) {
      undefined_ = true;
    } else {
      sum_ += number.number();
    }
  }

  Aggregate aggregate_;
  bool undefined_ = false;
  double sum_ = 0;
  double count_ = 0;
  Value best_;
  Rows list_;
};

// One group: a column for each alias, or a single one for SELECT VALUE.
class MergedGroup {
 public:
  explicit MergedGroup(const QueryInfo& info) : info_(info) {
    for (const auto& [alias, aggregate] : info.group_by_aggregates) add_column(aggregate);
    if (info.group_by_aggregates.empty()) {
      add_column(info.aggregates.empty() ? std::nullopt : std::optional(info.aggregates[0]));
    }
  }

  void add(const Value& payload) {
    for (size_t i = 0; i < parts_.size(); ++i) {
      const bool is_value = info_.group_by_aggregates.empty();
      Value cell = is_value ? payload : payload.find(info_.group_by_aggregates[i].first);
      if (is_value && parts_[i]) cell = payload.at(0);
      if (parts_[i]) {
        parts_[i]->add(cell);
      } else {
        plain_[i] = cell;
      }
    }
  }

  Value result() const {
    std::vector<Value::Field> fields;
    for (size_t i = 0; i < parts_.size(); ++i) {
      Value cell = parts_[i] ? parts_[i]->result() : plain_[i];
      if (info_.group_by_aggregates.empty()) return cell;
      fields.push_back({Value::make_string(info_.group_by_aggregates[i].first), std::move(cell)});
    }
    return Value::make_object(std::move(fields));
  }

 private:
  void add_column(std::optional<Aggregate> aggregate) {
    parts_.push_back(aggregate ? std::optional<Parts>(*aggregate) : std::nullopt);
    plain_.emplace_back();
  }

  const QueryInfo& info_;
  std::vector<std::optional<Parts>> parts_;
  Rows plain_;
};

Rows merge_groups(const QueryInfo& info, const std::vector<Rows>& answers) {
  std::vector<std::pair<Value, MergedGroup>> groups;
  for (const Rows& rows : answers) {
    for (const Value& row : rows) {
      const bool has_keys = !info.group_by_expressions.empty();
      const Value keys = row.find("groupByItems");
      const Value payload = has_keys || !info.has_select_value ? row.find("payload") : row;
      auto found = std::ranges::find(groups, keys, [](const auto& group) { return group.first; });
      if (found == groups.end()) {
        groups.emplace_back(keys, MergedGroup(info));
        found = groups.end() - 1;
      }
      found->second.add(payload);
    }
  }
  Rows merged;
  for (const auto& [keys, group] : groups) {
    Value row = group.result();
    if (!row.is_undefined()) merged.push_back(std::move(row));
  }
  return merged;
}

bool comes_before(const QueryInfo& info, const Value& a, const Value& b) {
  for (size_t i = 0; i < info.order_by.size(); ++i) {
    const auto order =
        a.find("orderByItems").at(i).find("item") <=> b.find("orderByItems").at(i).find("item");
    if (order == std::strong_ordering::equal) continue;
    const bool upwards = info.order_by[i] == SortOrder::ascending;
    return (order == std::strong_ordering::less) == upwards;
  }
  return false;
}

// Takes the least of the heads again and again: wrong if a partition's rows are not in order.
Rows merge_sorted(const QueryInfo& info, const std::vector<Rows>& answers) {
  std::vector<size_t> heads(answers.size());
  Rows merged;
  for (;;) {
    std::optional<size_t> least;
    for (size_t i = 0; i < answers.size(); ++i) {
      if (heads[i] == answers[i].size()) continue;
      if (!least || comes_before(info, answers[i][heads[i]], answers[*least][heads[*least]])) {
        least = i;
      }
    }
    if (!least) return merged;
    merged.push_back(answers[*least][heads[*least]++].find("payload"));
  }
}

Rows concatenate(const std::vector<Rows>& answers) {
  Rows all;
  for (const Rows& rows : answers) all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

Rows without_duplicates(const Rows& rows) {
  Rows kept;
  for (const Value& row : rows) {
    if (std::ranges::find(kept, row) == kept.end()) kept.push_back(row);
  }
  return kept;
}

// DISTINCT with an ORDER BY over what is shown: equal rows are neighbours.
Rows without_repetition(Rows rows) {
  const auto repeated = std::ranges::unique(rows);
  rows.erase(repeated.begin(), repeated.end());
  return rows;
}

void keep(Rows& rows, size_t from, size_t count) {
  rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(std::min(from, rows.size())));
  if (rows.size() > count) rows.resize(count);
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

// ORDER BY RANK: a row of any component, with its scores by all of them.
struct RankedRow {
  Value id;
  Value scores;
  Value payload;
  double fused = 0;
};

class RankedClient {
 public:
  RankedClient(const TestContainer& container, const GatewayPlan& plan, size_t page_rows)
      : container_(container), plan_(plan), hybrid_(*plan.hybrid), page_rows_(page_rows) {}

  Result<Rows> run() {
    if (hybrid_.needs_statistics) {
      if (auto status = read_statistics(); !status) return pass(status.error());
    }
    for (const QueryInfo& component : hybrid_.components) {
      if (auto status = read(component); !status) return pass(status.error());
    }
    for (size_t i = 0; i < hybrid_.components.size(); ++i) add_ranks(i);
    std::ranges::sort(rows_, std::ranges::greater(), &RankedRow::fused);
    Rows rows;
    for (const RankedRow& row : rows_) rows.push_back(row.payload);
    keep(rows, hybrid_.skip.value_or(0), hybrid_.take.value_or(rows.size()));
    return rows;
  }

 private:
  // Without parameters: the JavaScript SDK leaves them out.
  Result<Rows> ask(size_t partition, const std::string& query) const {
    auto rows = container_.run_on(partition, query, {}, page_rows_);
    if (!rows) return fail(rows.error().code, query + ": " + rows.error().message);
    return rows;
  }

  Status read_statistics() {
    const PlacementRange everything{std::string(value::placement_min()),
                                    std::string(value::placement_max())};
    for (size_t partition : container_.partitions_of({everything})) {
      auto rows = ask(partition, hybrid_.statistics_query);
      if (!rows) return pass(rows.error());
      documents_ += rows->at(0).find("documentCount").number();
      const Value texts = rows->at(0).find("fullTextStatistics");
      words_.resize(texts.size());
      hits_.resize(texts.size());
      for (size_t i = 0; i < texts.size(); ++i) {
        words_[i] += texts.at(i).find("totalWordCount").number();
        const Value hits = texts.at(i).find("hitCounts");
        hits_[i].resize(hits.size());
        for (size_t j = 0; j < hits.size(); ++j) hits_[i][j] += hits.at(j).number();
      }
    }
    return {};
  }

  std::string with_statistics(std::string query) const {
    const std::string prefix = "{documentdb-formattablehybridsearchquery-";
    const auto text = [](double number) { return Value::make_number(number).to_json(); };
    replace_all(query, prefix + "totaldocumentcount}", text(documents_));
    for (size_t i = 0; i < words_.size(); ++i) {
      const std::string index = "-" + std::to_string(i) + "}";
      Rows hits;
      for (double count : hits_[i]) hits.push_back(Value::make_number(count));
      replace_all(query, prefix + "totalwordcount" + index, text(words_[i]));
      replace_all(query, prefix + "hitcountsarray" + index, Value::make_array(hits).to_json());
    }
    replace_all(query, std::string(kFilter), "true");
    return query;
  }

  Status read(const QueryInfo& component) {
    const std::string query = with_statistics(component.rewritten_query);
    for (size_t partition : container_.partitions_of(plan_.ranges)) {
      auto rows = ask(partition, query);
      if (!rows) return pass(rows.error());
      for (const Value& row : *rows) {
        const Value id = row.find("_rid");
        if (std::ranges::find(rows_, id, &RankedRow::id) != rows_.end()) continue;
        const Value payload = row.find("payload");
        rows_.push_back({.id = id,
                         .scores = payload.find("componentScores"),
                         .payload = payload.find("payload")});
      }
    }
    return {};
  }

  void add_ranks(size_t component) {
    const bool upwards = hybrid_.components[component].order_by[0] == SortOrder::ascending;
    const auto score = [&](const RankedRow& row) {
      const double number = row.scores.at(component).number();
      return upwards ? number : -number;
    };
    std::ranges::sort(rows_, {}, score);
    double rank = 0;
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (i == 0 || score(rows_[i]) != score(rows_[i - 1])) ++rank;
      const double weight = hybrid_.weights.empty() ? 1 : hybrid_.weights[component];
      rows_[i].fused += weight / (60 + rank);
    }
  }

  const TestContainer& container_;
  const GatewayPlan& plan_;
  const HybridSearchInfo& hybrid_;
  const size_t page_rows_;
  double documents_ = 0;
  std::vector<double> words_;
  std::vector<std::vector<double>> hits_;
  std::vector<RankedRow> rows_;
};

}  // namespace

Result<Rows> run_as_client(const TestContainer& container, const std::string& text,
                           const Parameters& parameters, size_t page_rows) {
  auto parsed = parse_query(text);
  if (!parsed) return pass(cosmos::query_error(parsed.error()));
  auto plan = cosmos::make_gateway_plan(*parsed, TestContainer::plan_context(), parameters);
  if (!plan) return pass(plan.error());
  if (plan->hybrid) return RankedClient(container, *plan, page_rows).run();
  const QueryInfo& info = plan->info;
  std::string sent = info.rewritten_query.empty() ? text : info.rewritten_query;
  if (const size_t at = sent.find(kFilter); at != std::string::npos) {
    sent.replace(at, kFilter.size(), "true");
  }
  std::vector<Rows> answers;
  for (size_t partition : container.partitions_of(plan->ranges)) {
    auto rows = container.run_on(partition, sent, parameters, page_rows);
    if (!rows) {
      return fail(rows.error().code, sent + ": " + rows.error().message);
    }
    answers.push_back(std::move(*rows));
  }
  const bool groups = !info.group_by_expressions.empty() || !info.group_by_aggregates.empty() ||
                      !info.aggregates.empty();
  Rows rows = groups                  ? merge_groups(info, answers)
              : info.order_by.empty() ? concatenate(answers)
                                      : merge_sorted(info, answers);
  if (info.distinct == DistinctType::unordered) rows = without_duplicates(rows);
  if (info.distinct == DistinctType::ordered) rows = without_repetition(std::move(rows));
  if (info.offset) keep(rows, *info.offset, *info.limit);
  if (info.top) keep(rows, 0, *info.top);
  if (info.distinct_count_alias) {
    const Value count = Value::make_number(static_cast<double>(rows.size()));
    const std::string& alias = *info.distinct_count_alias;
    rows = {alias.empty() ? count : Value::make_object({{Value::make_string(alias), count}})};
  }
  return rows;
}

}  // namespace orrery::query

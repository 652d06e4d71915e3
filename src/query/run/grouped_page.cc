// See grouped_page.h.
//
// The progress that a position holds when time was up:
//   {"no_room":"<fingerprint>","groups":[["<fingerprint>",[key,…],[state,…]],…]}
// Groups are in order of arrival, keys and states are as in kept_value.h, and the states are those
// of Accumulator::state. Where not all groups fit into a position, those with the largest
// fingerprints are left to later pages, from `no_room` on.
#include "query/run/grouped_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "base/bytes.h"
#include "query/evaluate/collector.h"
#include "query/evaluate/evaluate.h"
#include "query/evaluate/fingerprint.h"
#include "query/evaluate/kept_value.h"
#include "query/run/item_scan.h"
#include "query/run/page_parts.h"
#include "value/json.h"

namespace orrery::query {
namespace {

using value::Value;

struct Group {
  uint64_t arrival = 0;
  size_t view = 0;          // in which the last row was
  std::vector<Value> keys;  // of GROUP BY; with DISTINCT the row
  std::vector<Accumulator> accumulators;

  size_t memory() const {
    size_t sum = sizeof(Group);
    for (const Value& key : keys) sum += key.memory();
    for (const Accumulator& one : accumulators) sum += one.memory();
    return sum;
  }
};

std::string hex_of(const Fingerprint& mark) {
  return to_hex_upper(std::string_view(reinterpret_cast<const char*>(mark.data()), mark.size()));
}

std::optional<Fingerprint> mark_of(const Value& hex) {
  if (!hex.is_string()) return std::nullopt;
  const auto bytes = from_hex(hex.text());
  Fingerprint mark{};
  if (!bytes || bytes->size() != mark.size()) return std::nullopt;
  std::copy(bytes->begin(), bytes->end(), mark.begin());
  return mark;
}

class GroupedPage {
 public:
  GroupedPage(const BoundQuery& query, const PageInput& input, const Position* from,
              const PageLimits& limits)
      : query_(query),
        input_(input),
        limits_(limits),
        frame_(query.slots, input.context),
        most_(query.most()) {
    if (from != nullptr) at_ = *from;
    const uint64_t offset = query.offset.value_or(0);
    skip_ = offset - std::min(offset, at_.skipped);
    room_ = skip_ + limits.rows;
    if (most_ && at_.given <= *most_) room_ = std::min(room_, skip_ + *most_ - at_.given);
  }

  // Nothing when the parts of the page need too much memory together: then it has to be made by one
  // thread.
  Result<std::optional<QueryPage>> run() {
    if (most_ && at_.given >= *most_) return std::move(page_);
    const bool goes_on = !at_.gathered.empty() || !at_.key.empty();
    if (!at_.gathered.empty()) {
      if (auto restored = restore(); !restored) return pass(restored.error());
    }
    auto is_over = read_all(goes_on);
    if (is_given_up_) return std::nullopt;
    if (!is_over) return pass(is_over.error());
    std::ranges::fill(frame_.slots, Value());
    if (!*is_over) {
      if (can_give_parts() && give_parts() && !at_.key.empty()) {
        page_.next = std::move(at_);
        return std::move(page_);
      }
      if (auto kept = keep_for_later(); !kept) return pass(kept.error());
      return std::move(page_);
    }
    if (auto given = give_out(); !given) return pass(given.error());
    return std::move(page_);
  }

 private:
  // False when time was up: at_ holds the progress.
  Result<bool> read_all(bool goes_on) {
    // DISTINCT with a limit ends early, and reads no part that it does not need.
    const bool needs_all = !(query_.distinct && most_);
    if (limits_.helpers == nullptr || !needs_all || !can_run_in_parts(query_)) {
      return read_items(goes_on);
    }
    const IndexPlan plan = plan_scan(input_.space, query_, input_.context);
    const PageInput input{input_.space, input_.context, &plan};
    const auto parts = PageParts::divide(input, limits_, at_.key);
    return parts ? read_parts(*parts, goes_on) : read_items(goes_on);
  }

  Result<bool> read_parts(PageParts& parts, bool goes_on) {
    Position start = at_;
    start.gathered.clear();
    Position later = start;
    later.key.clear();
    later.rows_of_it = 0;
    std::vector<std::unique_ptr<GroupedPage>> pages(parts.count());
    std::vector<Result<bool>> results(parts.count(), true);
    Result<bool> is_over = true;
    parts.run(
        PartRun::Needs::all_parts,
        [&](size_t i) {
          const PageInput& input = parts.begin(i);
          pages[i] = std::make_unique<GroupedPage>(query_, input, i == 0 ? &start : &later,
                                                   parts.limits(i));
          pages[i]->parts_ = &parts;
          results[i] = pages[i]->read_items(goes_on);
          std::ranges::fill(pages[i]->frame_.slots, Value());
        },
        [&](size_t i) {
          is_over = take_part(parts, i, *pages[i], results[i]);
          pages[i].reset();
          return is_over && *is_over;
        });
    return is_over;
  }

  // False when time was up in this part.
  Result<bool> take_part(PageParts& parts, size_t i, GroupedPage& part,
                         const Result<bool>& result) {
    const Context& context = parts.context(i);
    if (context.failed) {
      input_.context.fail(*context.failed);
      return pass(*context.failed);
    }
    if (part.is_too_large_ || context.budget.ended() == Budget::Ended::memory) {
      is_given_up_ = true;
      return pass(too_much_memory());
    }
    input_.space.was_read(parts.space(i));
    page_.read += part.page_.read;
    if (!result && (i == 0 || context.budget.ended() != Budget::Ended::time)) return result;
    const bool is_whole = result && *result;
    if (i == 0 && part.leaves_to_items_) return leave_to_items();
    // A part in which nothing can be resumed is begun again.
    if (!is_whole && i > 0 && (part.leaves_to_items_ || part.at_.key.empty())) {
      at_.key = parts.start_key(i);
      at_.rows_of_it = 0;
      return false;
    }
    if (auto merged = merge(part); !merged) return pass(merged.error());
    parts.hold(0 - part.reported_);
    if (!parts.hold(memory_ - std::exchange(reported_, memory_))) {
      is_given_up_ = true;
      return pass(too_much_memory());
    }
    at_.key = part.at_.key;
    at_.rows_of_it = part.at_.rows_of_it;
    return is_whole;
  }

  // Adds the groups of a part behind all that are here.
  Status merge(GroupedPage& part) {
    if (part.no_room_ && (!no_room_ || *part.no_room_ < *no_room_)) no_room_ = part.no_room_;
    while (no_room_ && !groups_.empty() && groups_.rbegin()->first >= *no_room_) leave_out_last();
    std::vector<std::map<Fingerprint, Group>::iterator> arrived;
    for (auto one = part.groups_.begin(); one != part.groups_.end(); ++one) {
      if (!no_room_ || one->first < *no_room_) arrived.push_back(one);
    }
    std::ranges::sort(arrived, {}, [](const auto& one) { return one->second.arrival; });
    for (const auto& one : arrived) {
      const auto found = groups_.find(one->first);
      if (found == groups_.end()) {
        one->second.arrival = arrivals_++;
        memory_ += one->second.memory();
        groups_.emplace(one->first, std::move(one->second));
        continue;
      }
      memory_ -= found->second.memory();
      for (size_t i = 0; i < query_.aggregates.size(); ++i) {
        found->second.accumulators[i].merge(one->second.accumulators[i]);
      }
      memory_ += found->second.memory();
    }
    while (groups_.size() > 1 && (groups_.size() > room_ || memory_ > kPageMemoryMax)) {
      leave_out_last();
    }
    if (memory_ > kQueryMemoryMax) return pass(too_much_memory());
    return {};
  }

  // False when time was up: at_ holds the progress.
  Result<bool> read_items(bool goes_on) {
    ItemScan scan(input_, query_, page_.read);
    uint64_t pass_over = 0;
    if (goes_on) {
      pass_over = at_.rows_of_it;
      if (!at_.key.empty()) scan.start(at_.key, pass_over > 0);
    } else {
      scan.start_alike();
    }
    for (uint64_t items = 0;;) {
      auto found = scan.next(kAllItems);
      if (!found) {
        if (!goes_on && frame_.ended() == Frame::Ended::time) return leave_to_items();
        return pass(found.error());
      }
      if (!*found) return true;
      view_ = scan.views();
      if (const AlikeItems* alike = scan.alike()) {
        auto goes_on_after = add_alike(*alike);
        if (frame_.ended() == Frame::Ended::time) return leave_to_items();
        if (!goes_on_after) return goes_on_after;
        if (!*goes_on_after) return true;
        continue;
      }
      if (scan.has_item()) {
        ++items;
        frame_.slots[*query_.document_slot] = Value::from(scan.item());
        if (scan.key() != at_.key) pass_over = 0;
        uint64_t row = 0;
        const bool goes_on_in_it = each_row(query_, frame_, [&] {
          const bool wants_more = row < pass_over || add(1);
          if (frame_.ended() == Frame::Ended::no) ++row;
          return wants_more;
        });
        if (row > pass_over) ++page_.read.matched;
        if (frame_.ended() == Frame::Ended::memory || is_too_large_) return pass(too_much_memory());
        if (frame_.ended() == Frame::Ended::time) {
          // If no row of this item was added, the next page begins the item again. That makes
          // progress only if this page has read others before it.
          if (row <= pass_over && items <= 1) return pass(too_much_time());
          if (row > pass_over) {
            at_.key = scan.key();
            at_.rows_of_it = row;
          }
          return false;
        }
        if (!goes_on_in_it) return true;
        pass_over = 0;
      }
      at_.key = scan.key();
      at_.rows_of_it = 0;
      if (is_time_up(limits_, frame_.context)) return can_give_parts() && is_at_end(scan);
    }
  }

  // Whether the scan is at its end, so that the page with the last partial groups is the last page.
  bool is_at_end(ItemScan& scan) {
    const auto found = scan.next(kAllItems);
    const bool is = found && !*found;
    if (is) allow_showing();
    return is;
  }

  // Extends the budget, which is used up, by some 100 ms for projecting the groups.
  void allow_showing() {
    constexpr uint64_t kStepsMax = 10'000'000;
    frame_.context.budget.start({.bytes = kEvaluationBytesMax, .steps = kStepsMax});
  }

  // Adds items of an index-only scan. It cannot be resumed: all of its items are added, or none.
  Result<bool> add_alike(const AlikeItems& alike) {
    frame_.slots[*query_.document_slot] = alike.item;
    bool goes_on = true;
    const auto row = [&] { return goes_on = add(alike.count); };
    if (alike.passes) {
      row();
    } else {
      each_row(query_, frame_, row);
    }
    if (frame_.ended() == Frame::Ended::memory || is_too_large_) return pass(too_much_memory());
    return goes_on;
  }

  // Gives up an index-only scan that takes longer than a page may, since it cannot be resumed.
  // Later pages scan the items.
  bool leave_to_items() {
    leaves_to_items_ = true;
    groups_.clear();
    memory_ = 0;
    no_room_.reset();
    at_.key.clear();
    at_.rows_of_it = 0;
    return false;
  }

  // Adds the current row `times` times. When time or memory is up, none of it is added. False then,
  // and when no further row can change the page.
  bool add(uint64_t times) {
    std::vector<Value> keys;
    if (query_.distinct) {
      keys.push_back(project(query_, frame_));
      if (keys[0].is_undefined()) return true;
    } else {
      for (const BoundExpr& expr : query_.group_by) keys.push_back(evaluate(expr, frame_));
    }
    arguments_.clear();
    for (const BoundAggregate& one : query_.aggregates) {
      arguments_.push_back(evaluate(one.argument, frame_).to_owned());
    }
    if (frame_.ended() != Frame::Ended::no) return false;
    const Fingerprint mark = keys.empty() ? Fingerprint{} : fingerprints_.of(keys);
    if (at_.result_mark && mark <= *at_.result_mark) return true;
    if (no_room_ && mark >= *no_room_) return true;
    auto found = groups_.find(mark);
    if (found == groups_.end()) {
      Group group = empty_group();
      for (const Value& key : keys) group.keys.push_back(key.to_owned());
      memory_ += group.memory();
      found = groups_.emplace(mark, std::move(group)).first;
    }
    const bool is_new_view = std::exchange(found->second.view, view_) != view_;
    for (size_t i = 0; i < query_.aggregates.size(); ++i) {
      Accumulator& accumulator = found->second.accumulators[i];
      if (is_new_view) accumulator.end_part();
      memory_ -= accumulator.memory();
      accumulator.add(arguments_[i], times);
      memory_ += accumulator.memory();
    }
    while (groups_.size() > 1 && (groups_.size() > room_ || memory_ > kPageMemoryMax)) {
      leave_out_last();
    }
    is_too_large_ = memory_ > kQueryMemoryMax;
    if (parts_ != nullptr && !parts_->hold(memory_ - std::exchange(reported_, memory_))) {
      is_too_large_ = true;
    }
    return !is_too_large_ && !has_all();
  }

  // DISTINCT with a limit: whether the page has as many rows as the query returns.
  bool has_all() const {
    return query_.distinct && is_first() && most_ && groups_.size() == skip_ + *most_;
  }
  // Whether no group was given yet, nor left to later pages.
  bool is_first() const { return !at_.result_mark && !no_room_; }

  Group empty_group() {
    Group group;
    group.arrival = arrivals_++;
    for (const BoundAggregate& one : query_.aggregates) {
      group.accumulators.emplace_back(one.aggregate);
    }
    return group;
  }

  void leave_out_last() {
    const auto last = std::prev(groups_.end());
    memory_ -= last->second.memory();
    no_room_ = last->first;
    groups_.erase(last);
  }

  // ---- When all items were read

  struct Row {
    Fingerprint mark{};
    uint64_t arrival = 0;
    std::string json;  // empty: the group shows nothing
  };

  struct Rows {
    explicit Rows(Budget& budget) : held(budget) {}
    std::vector<Row> list;
    size_t bytes = 0;
    Held held;
  };

  // Of all groups, by fingerprint. False when the budget is over.
  bool make_rows(Rows& rows) {
    for (const auto& [mark, group] : groups_) {
      rows.list.push_back({mark, group.arrival, show(group)});
      rows.bytes += rows.list.back().json.size();
      rows.held.add(sizeof(Row) + rows.list.back().json.capacity());
      if (frame_.ended() != Frame::Ended::no) return false;
    }
    return true;
  }

  // Without GROUP BY there is one group, even of no rows.
  void add_only_group() {
    if (groups_.empty() && query_.grouped() && query_.group_by.empty()) {
      groups_.emplace(Fingerprint{}, empty_group());
    }
  }

  Status give_out() {
    add_only_group();
    Rows made(frame_.context.budget);
    if (!make_rows(made)) return pass(ended_early(frame_.context.budget));
    std::vector<Row>& rows = made.list;
    const bool fits = is_first() && rows.size() <= room_ && made.bytes <= limits_.bytes;
    if (fits) std::ranges::sort(rows, {}, &Row::arrival);

    for (Row& row : rows) {
      if (page_.rows.size() >= limits_.rows || page_.rows.bytes() >= limits_.bytes) {
        return end_at(at_);
      }
      at_.result_mark = row.mark;
      if (row.json.empty()) continue;
      if (skip_ > 0) {
        --skip_;
        ++at_.skipped;
        continue;
      }
      page_.rows.push_back(row.json);
      if (++at_.given == most_) return {};
    }
    return no_room_ ? end_at(at_) : Status();
  }

  std::string show(const Group& group) {
    std::string json;
    if (query_.distinct) {
      append_row(group.keys[0], json, input_);
      return json;
    }
    std::vector<Value> aggregates;
    for (const Accumulator& one : group.accumulators) aggregates.push_back(one.result());
    frame_.group_keys = &group.keys;
    frame_.aggregates = &aggregates;
    append_row(project(query_, frame_), json, input_);
    frame_.group_keys = nullptr;
    frame_.aggregates = nullptr;
    return json;
  }

  Status end_at(Position& position) {
    position.key.clear();
    position.rows_of_it = 0;
    position.gathered.clear();
    page_.next = std::move(position);
    return {};
  }

  // ---- When time was up

  // Clients cannot add up partial groups with OFFSET and LIMIT, which count whole groups, nor with
  // DISTINCT, which returns each row once.
  bool can_give_parts() const {
    return limits_.gives_parts && !query_.distinct && !query_.offset && !most_ && is_first();
  }

  // Returns the partial groups. False, and nothing is returned, when they exceed the size of a
  // page.
  bool give_parts() {
    add_only_group();
    allow_showing();
    Rows made(frame_.context.budget);
    if (!make_rows(made) || made.bytes > limits_.bytes) return false;
    std::ranges::sort(made.list, {}, &Row::arrival);
    for (const Row& row : made.list) {
      if (!row.json.empty()) page_.rows.push_back(row.json);
    }
    groups_.clear();
    memory_ = 0;
    return true;
  }

  static std::string kept_form(const Fingerprint& mark, const Group& group) {
    std::string form = "[\"" + hex_of(mark) + "\",[";
    for (const Value& key : group.keys) {
      if (form.back() != '[') form += ',';
      append_kept(form, key);
    }
    form += "],[";
    for (const Accumulator& one : group.accumulators) {
      if (form.back() != '[') form += ',';
      append_kept(form, one.state());
    }
    return form + "]]";
  }

  Status keep_for_later() {
    constexpr size_t kFrame = 80;  // what is around the groups
    const size_t room =
        limits_.position_bytes - std::min(limits_.position_bytes, kFrame + at_.key.size());
    std::map<uint64_t, std::string> forms;  // by arrival
    size_t bytes = 0;
    for (const auto& [mark, group] : groups_) {
      std::string form = kept_form(mark, group);
      if (bytes + form.size() + 1 > room) {
        if (forms.empty()) return pass(too_much_to_keep(form.size()));
        no_room_ = mark;
        break;
      }
      bytes += form.size() + 1;
      forms.emplace(group.arrival, std::move(form));
    }
    std::string all = "{\"no_room\":\"" + (no_room_ ? hex_of(*no_room_) : "") + "\",\"groups\":[";
    for (const auto& [arrival, form] : forms) {
      if (all.back() != '[') all += ',';
      all += form;
    }
    at_.gathered = all + "]}";
    page_.next = std::move(at_);
    return {};
  }

  static Error too_much_to_keep(size_t bytes) {
    return Error{.code = Code::invalid,
                 .message = fmt::format("the query takes longer than a page may, and what it has "
                                        "gathered so far ({} bytes for one group) is too much for "
                                        "a continuation: filter more, or allow longer ones",
                                        bytes)};
  }

  Status restore() {
    const auto invalid = [] {
      return fail(Code::invalid, "the position does not hold the groups of this query");
    };
    auto document = value::JsonDocument::parse(at_.gathered);
    if (!document) return invalid();
    const Value kept = Value::make_document(std::move(*document));
    no_room_ = mark_of(kept.find("no_room"));
    const Value groups = kept.find("groups");
    for (const Value form : groups.elements()) {
      const auto mark = mark_of(form.at(0));
      const Value states = form.at(2);
      if (!mark || states.size() != query_.aggregates.size()) return invalid();
      Group group;
      group.arrival = arrivals_++;
      const Value kept_keys = form.at(1);
      for (const Value kept_key : kept_keys.elements()) {
        auto key = parse_kept(kept_key);
        if (!key) return invalid();
        group.keys.push_back(std::move(*key));
      }
      if (group.keys.size() != (query_.distinct ? 1 : query_.group_by.size())) return invalid();
      for (size_t i = 0; i < query_.aggregates.size(); ++i) {
        const auto state = parse_kept(states.at(i));
        if (!state) return invalid();
        auto one = Accumulator::from_state(query_.aggregates[i].aggregate, *state);
        if (!one) return pass(one.error());
        group.accumulators.push_back(std::move(*one));
      }
      memory_ += group.memory();
      groups_.emplace(*mark, std::move(group));
    }
    return {};
  }

  const BoundQuery& query_;
  const PageInput& input_;
  const PageLimits& limits_;
  Frame frame_;
  const std::optional<uint64_t> most_;
  QueryPage page_;
  Position at_;
  uint64_t skip_ = 0;  // rows that OFFSET has yet to skip
  uint64_t room_ = 0;  // groups that the page can give or skip
  std::map<Fingerprint, Group> groups_;
  std::vector<Value> arguments_;  // of the aggregates, for the row at hand
  Fingerprints fingerprints_;
  size_t memory_ = 0;  // of groups_
  bool is_too_large_ = false;
  size_t view_ = 0;               // the one at hand
  bool leaves_to_items_ = false;  // it was given up
  bool is_given_up_ = false;      // the parts were too large
  PageParts* parts_ = nullptr;    // this is one of them
  size_t reported_ = 0;           // of memory_, to parts_
  uint64_t arrivals_ = 0;
  std::optional<Fingerprint> no_room_;  // from here on, groups are for later pages
};

}  // namespace

Result<QueryPage> make_grouped_page(const BoundQuery& query, const PageInput& input,
                                    const Position* from, const PageLimits& limits) {
  auto page = GroupedPage(query, input, from, limits).run();
  if (!page) return pass(page.error());
  if (*page) return std::move(**page);
  PageLimits alone = limits;
  alone.helpers = nullptr;
  auto again = GroupedPage(query, input, from, alone).run();
  if (!again) return pass(again.error());
  return std::move(**again);
}

}  // namespace orrery::query

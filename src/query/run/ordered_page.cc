// See ordered_page.h. All rows have one total order (position.h). The page keeps the first rows
// after its position, as many as it can return or skip (next_rows.h).
//
// When time is up during a scan in order, the rows of that view are complete up to the last one
// read, and later rows are for later pages. If no other view remains to be read, the page returns
// what it has. Otherwise, and in a scan in key order, it returns no rows: it ends with its progress
// (order_progress.h), cut to what fits into a position, and the next page resumes the scan. A row
// that is read twice, because a view is scanned again, has the same position and is kept once.
//
// With DISTINCT the position of a row is the first among its duplicates. Where duplicates can
// differ in their order values, a page first reads the rows that earlier pages have returned, and
// keeps their fingerprints. If time is up before that is done, the query fails.
#include "query/run/ordered_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "query/evaluate/collector.h"
#include "query/evaluate/evaluate.h"
#include "query/evaluate/fingerprint.h"
#include "query/evaluate/order_values.h"
#include "query/run/item_scan.h"
#include "query/run/next_rows.h"
#include "query/run/order_progress.h"
#include "query/run/page_parts.h"
#include "query/run/stored_item.h"
#include "query/run/tie_numbers.h"
#include "value/ordered.h"

namespace orrery::query {
namespace {

using value::Value;

using Row = OrderedRow;

// Whether both name the same property of the same row variable.
bool is_same_path(const BoundExpr& a, const BoundExpr& b) {
  if (a.kind != b.kind) return false;
  if (a.kind == BoundKind::slot) return a.index == b.index;
  if (a.kind != BoundKind::member) return false;
  return a.name == b.name && is_same_path(a.children[0], b.children[0]);
}

class OrderedPage {
 public:
  OrderedPage(const BoundQuery& query, const PageInput& input, const Position* from,
              const PageLimits& limits)
      : query_(query),
        input_(input),
        limits_(limits),
        frame_(query.slots, input.context),
        before_(query) {
    if (from != nullptr) at_ = *from;
    const uint64_t skip = query.offset.value_or(0);
    skip_ = skip - std::min(skip, at_.skipped);
    uint64_t most = limits.rows;
    if (const auto of_query = query.most()) {
      is_done_ = at_.given >= *of_query;
      most = is_done_ ? 0 : std::min<uint64_t>(most, *of_query - at_.given);
    }
    room_ = skip_ + most;
    next_.emplace(query, room_);
  }

  // Nothing when the parts of the page need too much memory together: then it has to be made by one
  // thread.
  Result<std::optional<QueryPage>> run() {
    if (is_done_) return std::move(page_);
    if (is_place(at_)) {
      auto after = row_at(at_);
      if (!after) return pass(after.error());
      after_ = std::move(*after);
    }
    if (!at_.gathered.empty()) {
      if (auto restored = restore(std::exchange(at_.gathered, {})); !restored) {
        return pass(restored.error());
      }
    }
    const bool finds_given = query_.distinct && after_ && !shows_order();
    if (finds_given) {
      auto read = read_items([this](const ItemScan&, uint64_t) { return remember_if_given(); });
      if (!read) return pass(read.error());
      if (!*read) return pass(too_much_time());
    }
    auto is_over = read_all();
    if (is_given_up_) return std::nullopt;
    if (!is_over) return pass(is_over.error());
    if (*is_over) {
      give_out();
    } else if (finds_given) {
      return pass(too_much_time());
    } else if (auto kept = keep_for_later(); !kept) {
      return pass(kept.error());
    }
    return std::move(page_);
  }

 private:
  // ---- Places

  // False for the position of a query that has returned no row yet.
  static bool is_place(const Position& position) {
    return position.order_mark || !position.order.empty();
  }

  // The row that a position names. When the position was shortened by leaving out the order values,
  // they are read again from the item.
  Result<Row> row_at(const Position& position) {
    Row row;
    row.key = position.key;
    row.number = position.rows_of_it;
    if (position.result_mark) row.mark = *position.result_mark;
    if (!position.order.empty()) {
      auto values = parse_order_values(query_, position.order);
      if (!values) return pass(values.error());
      row.order = std::move(*values);
      return row;
    }
    auto body = ItemScan::find(input_.space, position.key);
    if (!body) return pass(body.error());
    if (!*body) return pass(order_values_gone());
    auto found = with_rows(**body, !has_joins(), [&](uint64_t number) {
      if (number < row.number) return true;
      row.order = to_owned(order_values_of(query_, frame_));
      return false;
    });
    if (!found) return pass(found.error());
    if (row.order.empty() || fingerprint_of(row.order) != position.order_mark) {
      return pass(order_values_gone());
    }
    return row;
  }

  bool has_joins() const {
    return query_.sources.size() != 1 || query_.sources[0].kind != BoundSource::Kind::document;
  }

  // Calls `use` with the number of each row of an item, until it returns false. `unfiltered`:
  // without evaluating WHERE, since a later page may come with another filter. Only without joins,
  // where an item has one row.
  Status with_rows(const std::string& body, bool unfiltered,
                   const std::function<bool(uint64_t)>& use) {
    auto item = parse_stored(input_.space.codec(), body);
    if (!item) return pass(item.error());
    frame_.slots[*query_.document_slot] = Value::from(item->root());
    if (unfiltered) {
      use(0);
    } else {
      uint64_t number = 0;
      each_row(query_, frame_, [&] { return use(number++); });
    }
    std::ranges::fill(frame_.slots, Value());
    if (frame_.ended() != Frame::Ended::no) return pass(ended_early(frame_.context.budget));
    return {};
  }

  static void set_place(Position& position, const Row& row, bool is_distinct) {
    position.key = row.key;
    position.rows_of_it = row.number;
    position.order = to_json(row.order);
    position.order_mark = fingerprint_of(row.order);
    if (is_distinct) position.result_mark = row.mark;
  }

  // Whether the result contains every order value, so that duplicates agree in them.
  bool shows_order() const {
    return query_.select != Select::Kind::star &&
           std::ranges::all_of(query_.order_by, [&](const BoundOrder& order) {
             return std::ranges::any_of(query_.items, [&](const auto& item) {
               return is_same_path(item.second, order.expr);
             });
           });
  }

  // ---- reading items

  // False when time was up: progress_ says how far it came.
  Result<bool> read_all() {
    if (limits_.helpers == nullptr || query_.distinct || !can_run_in_parts(query_)) {
      return read_rows();
    }
    const IndexPlan plan = plan_scan(input_.space, query_, input_.context);
    const PageInput input{input_.space, input_.context, &plan};
    // Where an index has the order, a part ends at the last row that the parts before it leave room
    // for. Read beside them it would not know, and read more.
    const auto parts = plan.order ? nullptr : PageParts::divide(input, limits_, progress_.key);
    return parts ? read_parts(*parts) : read_rows();
  }

  Result<bool> read_rows() {
    return read_items([this](const ItemScan& scan, uint64_t number) { return add(scan, number); });
  }

  Result<bool> read_parts(PageParts& parts) {
    std::vector<std::unique_ptr<OrderedPage>> pages(parts.count());
    std::vector<Result<bool>> results(parts.count(), true);
    const Position start = at_;
    const OrderProgress progress = progress_;
    Result<bool> is_over = true;
    parts.run(
        PartRun::Needs::all_parts,
        [&](size_t i) {
          const PageInput& input = parts.begin(i);
          pages[i] = std::make_unique<OrderedPage>(query_, input, &start, parts.limits(i));
          pages[i]->parts_ = &parts;
          pages[i]->after_ = after_;
          if (i == 0) pages[i]->progress_ = progress;
          results[i] = pages[i]->read_rows();
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
  Result<bool> take_part(PageParts& parts, size_t i, OrderedPage& part,
                         const Result<bool>& result) {
    const Context& context = parts.context(i);
    if (context.failed) {
      input_.context.fail(*context.failed);
      return pass(*context.failed);
    }
    if (part.is_given_up_ || context.budget.ended() == Budget::Ended::memory) {
      is_given_up_ = true;
      return pass(too_much_memory());
    }
    input_.space.was_read(parts.space(i));
    page_.read += part.page_.read;
    const bool is_time_over = context.budget.ended() == Budget::Ended::time;
    if (!result && (i == 0 || !is_time_over)) return result;
    if (const Row* last = part.next_->last_place()) next_->cut_after(last->placed());
    for (const Row& row : *part.next_) {
      if (next_->has_room(row)) next_->keep(row);
    }
    parts.hold(0 - part.reported_);
    if (!parts.hold(next_->memory() - std::exchange(reported_, next_->memory()))) {
      is_given_up_ = true;
      return pass(too_much_memory());
    }
    if (result && *result) return true;
    progress_ = {};
    progress_.by_key = part.progress_.by_key;
    progress_.key = part.progress_.key.empty() ? parts.start_key(i) : part.progress_.key;
    progress_.at_start = part.progress_.key.empty();
    return false;
  }

  // False when time was up: progress_ says how far it came.
  Result<bool> read_items(const std::function<bool(const ItemScan&, uint64_t)>& row) {
    ItemScan scan(input_, query_, page_.read);
    start(scan);
    std::string read_to;  // the last key that was done, where items come by key
    for (;;) {
      auto found = scan.next(wanted());
      if (!found) return pass(found.error());
      if (!*found) break;
      if (scan.has_item()) {
        uint64_t number = 0;
        if (scan.is_text_alone()) {
          row(scan, number++);
        } else {
          frame_.slots[*query_.document_slot] = Value::from(scan.item());
          each_row(query_, frame_, [&] { return row(scan, number++); });
        }
        if (number > 0) ++page_.read.matched;
        if (frame_.ended() == Frame::Ended::memory) return pass(too_much_memory());
        if (given_.size() > kQueryMemoryMax / (4 * sizeof(Fingerprint))) {
          return pass(too_much_memory());
        }
        if (frame_.ended() == Frame::Ended::time) {
          if (scan.in_order()) return end_early(scan);
          // The next page begins this item again. That makes progress only if this page has read
          // others before it.
          if (read_to.empty()) return pass(too_much_time());
          return end_after(std::move(read_to));
        }
        // Reset for each item: a row past the room ends a view in order, and must not end the next
        // one.
        if (std::exchange(is_past_room_, false) && scan.in_order()) {
          scan.leave_view();
          continue;
        }
        if (parts_ != nullptr &&
            !parts_->hold(next_->memory() - std::exchange(reported_, next_->memory()))) {
          is_given_up_ = true;
          return pass(too_much_memory());
        }
      }
      if (!scan.in_order()) read_to = scan.key();
      if (is_time_up(limits_, frame_.context)) return end_early(scan);
    }
    std::ranges::fill(frame_.slots, Value());
    return true;
  }

  void start(ItemScan& scan) const {
    if (!progress_.key.empty()) scan.start(progress_.key, progress_.at_start);
    if (query_.distinct || progress_.by_key) return;
    std::optional<SourceStart> start;
    if (after_) {
      start = SourceStart{.values = after_->order, .key = after_->key, .inclusive = true};
    }
    scan.start_in_order(std::move(start));
    if (query_.shows_items()) scan.show_whole();
  }

  // One more than fits, to learn whether there is another page.
  size_t wanted() const {
    return static_cast<size_t>(room_ - std::min<uint64_t>(room_, next_->size())) + 1;
  }

  // Time is up, after the current item or, in a scan in order, among its rows. True: what was read
  // is a page.
  Result<bool> end_early(ItemScan& scan) {
    std::ranges::fill(frame_.slots, Value());
    if (!scan.in_order()) return end_after(std::string(scan.key()));
    if (!last_seen_ || last_seen_in_ != scan.views()) {
      // A scan in order cannot resume before it has seen a row. A scan in key order can resume
      // anywhere.
      progress_.by_key = true;
      return false;
    }
    next_->cut_after(std::move(*last_seen_));
    auto next = scan.next_view();
    if (!next) return pass(next.error());
    if (!*next) return true;
    progress_.key.clear();
    value::append_ordered_bytes(progress_.key, **next);
    progress_.at_start = true;
    return false;
  }

  bool end_after(std::string key) {
    progress_.key = std::move(key);
    progress_.at_start = false;
    return false;
  }

  // ---- Rows. Each is taken whole or, when time or memory is up, not at all: then false.

  bool add(const ItemScan& scan, uint64_t number) {
    if (!scan.is_text_alone()) return add(scan.key(), number, &scan);
    Row row;
    row.order = {scan.order_value()};
    row.key = scan.key();
    row.number = number;
    if (after_ && !before_(*after_, row)) return true;
    see(row, &scan);
    if (!next_->has_room(row)) {
      is_past_room_ = true;
      return true;
    }
    if (!next_->is_beyond(row)) row.result = scan.body();
    is_past_room_ = !next_->keep(std::move(row));
    return true;
  }

  // Adds the current row, of the item with this key. `reader` is null when an earlier page found
  // the row.
  bool add(std::string_view key, uint64_t number, const ItemScan* scan) {
    Row row;
    row.order = order_values_of(query_, frame_);
    row.key = key;
    row.number = number;
    Value result;
    if (query_.distinct) {
      result = project(query_, frame_);
      if (frame_.ended() != Frame::Ended::no) return false;
      if (result.is_undefined()) return true;
      row.mark = fingerprint_of(result);
    }
    if (frame_.ended() != Frame::Ended::no) return false;
    if (after_ && !before_(*after_, row)) return true;
    if (query_.distinct && (given_.contains(row.mark) || !next_->is_first_of_its_kind(row))) {
      return true;
    }
    if (!next_->has_room(row)) {
      see(row, scan);
      is_past_room_ = true;
      return true;
    }
    if (!query_.distinct) {
      result = project(query_, frame_);
      if (frame_.ended() != Frame::Ended::no) return false;
    }
    row.order = to_owned(row.order);
    if (!result.is_undefined() && !next_->is_beyond(row) &&
        !append_row(result, row.result, input_)) {
      return false;
    }
    see(row, scan);
    if (result.is_undefined()) return true;  // a row that shows nothing is none
    is_past_room_ = !next_->keep(std::move(row));
    return true;
  }

  void see(const Row& row, const ItemScan* scan) {
    if (scan == nullptr || !scan->in_order()) return;
    last_seen_ = row.placed();
    last_seen_in_ = scan->views();
  }

  bool remember_if_given() {
    Row row;
    row.order = order_values_of(query_, frame_);
    const Value result = project(query_, frame_);
    if (frame_.ended() != Frame::Ended::no) return false;
    if (result.is_undefined()) return true;
    row.mark = fingerprint_of(result);
    if (!before_(*after_, row)) given_.insert(row.mark);
    return true;
  }

  // ---- When all items were read

  void give_out() {
    const Row* last = nullptr;
    const auto most = query_.most();
    if (limits_.ties) {
      ties_.emplace(query_, *limits_.ties);
      if (after_) ties_->start_after(*after_, at_.tie_number);
    }
    for (const Row& row : *next_) {
      if (skip_ == 0 &&
          (page_.rows.size() >= limits_.rows || page_.rows.bytes() >= limits_.bytes)) {
        return end_at(*last);
      }
      last = &row;
      const uint32_t number = ties_ ? ties_->next(row) : 0;
      if (skip_ > 0) {
        --skip_;
        ++at_.skipped;
        continue;
      }
      if (ties_) {
        std::string numbered = row.result;
        limits_.ties->write(numbered, number);
        page_.rows.push_back(numbered);
      } else {
        page_.rows.push_back(row.result);
      }
      if (++at_.given == most) return;
    }
    if (next_->last_place() != nullptr) end_at(*next_->last_place());
  }

  void end_at(const Row& row) {
    set_place(at_, row, query_.distinct);
    at_.tie_number = ties_ ? ties_->at(row) : std::nullopt;
    page_.next = std::move(at_);
  }

  // ---- When time was up

  // As many rows as fit; those after them are for later pages.
  Status keep_for_later() {
    // Order values that would take much of the room are left out: they can be read again from the
    // item.
    const size_t order_max = limits_.position_bytes / 4;
    if (at_.order.size() > order_max) at_.order.clear();
    const size_t taken = at_.key.size() + at_.order.size();
    const size_t room = limits_.position_bytes - std::min(limits_.position_bytes, taken);
    const auto end_of = [&](const Row* place) {
      std::optional<Position> end;
      if (place == nullptr) return end;
      set_place(end.emplace(), *place, query_.distinct);
      if (end->order.size() > order_max) end->order.clear();
      if (!end->order.empty()) end->order_mark.reset();
      return end;
    };
    OrderProgress progress = progress_;
    progress.end = end_of(next_->last_place());
    std::vector<OrderProgress::Found> found;
    size_t found_bytes = 0;
    std::optional<OrderProgress> fitting;  // but for what was found
    size_t found_fitting = 0;
    if (next_->size() == 0 && encode(progress).size() <= room) fitting = progress;
    for (const Row& row : *next_) {
      found.push_back({.key = row.key, .number = row.number, .mark = {}});
      if (query_.distinct) found.back().mark = row.mark;
      found_bytes += encoded_size(found.back());
      if (found_bytes > room) break;
      const bool is_last = found.size() == next_->size();
      progress.end = end_of(is_last ? next_->last_place() : &row);
      if (encode(progress).size() + found_bytes > room) continue;
      fitting = progress;
      found_fitting = found.size();
    }
    if (!fitting) return pass(too_much_to_keep());
    found.resize(found_fitting);
    fitting->found = std::move(found);
    at_.gathered = encode(*fitting);
    page_.next = std::move(at_);
    return {};
  }

  Error too_much_to_keep() const {
    return Error{
        .code = Code::invalid,
        .message = fmt::format("sorting takes longer than a page may, and where it stands does not "
                               "fit into the {} bytes that a continuation has for it: give the "
                               "container an index that has this order (for several properties a "
                               "composite index), filter more, or allow longer continuations",
                               limits_.position_bytes)};
  }

  Status restore(const std::string& gathered) {
    auto progress = decode_order_progress(gathered);
    if (!progress) return pass(progress.error());
    const auto found = std::exchange(progress->found, {});
    const auto end = std::exchange(progress->end, std::nullopt);
    progress_ = std::move(*progress);
    if (end) {
      auto row = row_at(*end);
      if (!row && row.error().code != Code::invalid) return pass(row.error());
      if (!row) return start_again();
      next_->cut_after(std::move(*row));
    }
    std::map<std::string, std::set<uint64_t>> numbers;  // by key
    for (const OrderProgress::Found& one : found) numbers[one.key].insert(one.number);
    for (const auto& [key, wanted] : numbers) {
      auto body = ItemScan::find(input_.space, key);
      if (!body) return pass(body.error());
      if (!*body) continue;
      ++page_.read.items;
      page_.read.bytes += (*body)->size();
      auto added = with_rows(**body, false, [&](uint64_t number) {
        if (wanted.contains(number) && !add(key, number, nullptr)) return false;
        return number < *wanted.rbegin();
      });
      if (!added) return pass(added.error());
    }
    // A row that was found is gone. Duplicates of it may exist that were skipped because of it.
    for (const OrderProgress::Found& one : found) {
      if (one.mark && !next_->contains(*one.mark)) return start_again();
    }
    is_past_room_ = false;
    return {};
  }

  // What was found so far does not hold any more.
  Status start_again() {
    next_->clear();
    progress_ = {};
    return {};
  }

  const BoundQuery& query_;
  const PageInput& input_;
  const PageLimits& limits_;
  Frame frame_;
  const RowBefore before_;
  QueryPage page_;
  Position at_;
  bool is_done_ = false;
  uint64_t skip_ = 0;             // rows that OFFSET has yet to skip
  uint64_t room_ = 0;             // rows that the page can give or skip
  std::optional<Row> after_;      // where the last page ended
  std::optional<NextRows> next_;  // set
  bool is_past_room_ = false;     // the last row is for later pages
  std::optional<Row> last_seen_;  // in a view that is read in order
  size_t last_seen_in_ = 0;       // which view that is
  OrderProgress progress_;        // how far earlier pages came, and when time is up this one
  std::optional<TieNumbers> ties_;
  bool is_given_up_ = false;                                // the parts were too large
  PageParts* parts_ = nullptr;                              // this is one of them
  size_t reported_ = 0;                                     // of the memory of next_, to parts_
  std::unordered_set<Fingerprint, FingerprintHash> given_;  // DISTINCT
};

}  // namespace

Result<QueryPage> make_ordered_page(const BoundQuery& query, const PageInput& input,
                                    const Position* from, const PageLimits& limits) {
  auto page = OrderedPage(query, input, from, limits).run();
  if (!page) return pass(page.error());
  if (*page) return std::move(**page);
  PageLimits alone = limits;
  alone.helpers = nullptr;
  auto again = OrderedPage(query, input, from, alone).run();
  if (!again) return pass(again.error());
  return std::move(**again);
}

}  // namespace orrery::query

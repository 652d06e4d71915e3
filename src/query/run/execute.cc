// See execute.h. Here: the choice of the kind of page, and streamed pages.
#include "query/run/execute.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/fault.h"
#include "query/evaluate/collector.h"
#include "query/evaluate/evaluate.h"
#include "query/run/gathered_page.h"
#include "query/run/grouped_page.h"
#include "query/run/item_scan.h"
#include "query/run/ordered_page.h"
#include "query/run/page_parts.h"
#include "query/run/ranked_page.h"

namespace orrery::query {
namespace {

using value::Value;

// Of a page's memory, which grows with it. Most pages have at least so much.
constexpr size_t kFirstRows = 16;
constexpr size_t kFirstBytes = 4096;

// One page of a query whose rows are returned as they are read.
//
// A full page reads ahead to the next row, so that the last page knows that it is the last. Items
// without a row on the way are done with. The row that was found is left to the next page, which is
// charged for it.
class StreamedPage {
 public:
  StreamedPage(const BoundQuery& query, const PageInput& input, const PageLimits& limits)
      : query_(query),
        input_(input),
        limits_(limits),
        frame_(query.slots, input.context),
        most_(query.most()) {}

  Result<QueryPage> run(const Position* from) {
    if (from != nullptr) at_ = *from;
    if (most_ && at_.given >= *most_) return std::move(page_);
    pass_over_ = at_.rows_of_it;
    if (!query_.document_slot) {
      if (!run_rows()) {
        if (auto ended = stopped(); !ended) return pass(ended.error());
      }
      return std::move(page_);
    }
    wants_made_ = limits_.made && from == nullptr && !most_ && !query_.offset;
    auto read = read_all();
    if (!read) return pass(read.error());
    if (*read && wants_made_) put_oldest_first();
    return std::move(page_);
  }

 private:
  // How full the page is.
  struct Fill {
    size_t rows = 0;
    size_t bytes = 0;
    bool operator==(const Fill&) const = default;
  };
  Fill fill() const {
    return {before_part_.rows + page_.rows.size(), before_part_.bytes + page_.rows.bytes()};
  }

  // True when all items were read. Otherwise the page ends before that.
  Result<bool> read_all() {
    // OFFSET counts rows from part to part.
    if (limits_.helpers == nullptr || query_.offset || !can_run_in_parts(query_)) {
      return read_items();
    }
    const IndexPlan plan = plan_scan(input_.space, query_, input_.context);
    const PageInput input{input_.space, input_.context, &plan};
    // Where an index finds the rows, how it is read depends on how many more the page needs, which
    // a part that is read ahead does not know. Where no filter has to be evaluated, the first part
    // is enough.
    const bool is_scan = plan.filter.kind == IndexNode::Kind::everything && !plan.filter.is_exact;
    const auto parts = is_scan ? PageParts::divide(input, limits_, at_.key) : nullptr;
    return parts ? read_parts(*parts) : read_items();
  }

  Result<bool> read_parts(PageParts& parts) {
    std::vector<std::unique_ptr<StreamedPage>> pages(parts.count());
    std::vector<Result<bool>> results(parts.count(), true);
    Mutex mutex;  // over what is known when a part is begun
    struct {
      Fill fill;
      uint64_t given = 0;
    } known{.fill = {}, .given = at_.given};
    const Position start = at_;
    const uint64_t start_rows = pass_over_;
    const auto work = [&](size_t i) {
      const PageInput& input = parts.begin(i);
      pages[i] = std::make_unique<StreamedPage>(query_, input, parts.limits(i));
      StreamedPage& page = *pages[i];
      page.wants_made_ = wants_made_;
      if (i == 0) {
        page.at_ = start;
        page.pass_over_ = start_rows;
      }
      {
        MutexLock lock(mutex);
        page.before_part_ = known.fill;
        page.at_.given = known.given;
      }
      page.given_before_ = page.at_.given;
      results[i] = page.read_items();
      std::ranges::fill(page.frame_.slots, Value());
    };
    Result<bool> is_over = true;
    parts.run(PartRun::Needs::first_parts, work, [&](size_t i) {
      if (!is_as_read_in_turn(*pages[i], results[i])) work(i);
      is_over = take_part(parts, i, *pages[i], results[i]);
      pages[i].reset();
      MutexLock lock(mutex);
      known.fill = fill();
      known.given = at_.given;
      return is_over && *is_over;
    });
    return is_over;
  }

  // Whether a part gave what it would have given after the parts before it: it was begun with what
  // is known now, or it was read whole, and all of its rows are for this page.
  bool is_as_read_in_turn(const StreamedPage& part, const Result<bool>& result) const {
    if (part.before_part_ == fill() && part.given_before_ == at_.given) return true;
    if (!result || !*result) return false;
    const size_t rows = part.page_.rows.size();
    if (rows == 0) return true;
    return fill().rows + rows <= limits_.rows &&
           fill().bytes + part.page_.rows.bytes() < limits_.bytes &&
           (!most_ || at_.given + rows < *most_);
  }

  Result<bool> take_part(PageParts& parts, size_t i, StreamedPage& part,
                         const Result<bool>& result) {
    const Context& context = parts.context(i);
    if (context.failed) {
      input_.context.fail(*context.failed);
      return pass(*context.failed);
    }
    input_.space.was_read(parts.space(i));
    page_.read += part.page_.read;
    items_ += part.items_;
    for (const std::string_view row : part.page_.rows) page_.rows.push_back(row);
    made_.insert(made_.end(), part.made_.begin(), part.made_.end());
    at_.given += part.at_.given - part.given_before_;
    if (!result) {
      if (i == 0 || context.budget.ended() != Budget::Ended::time) return result;
      // It ended before its first item was done.
      page_.next = at_;
      page_.next->key = parts.start_key(i);
      page_.next->rows_of_it = 0;
      return false;
    }
    const std::string key_before = at_.key;
    if (!part.at_.key.empty()) at_.key = part.at_.key;
    at_.rows_of_it = part.at_.rows_of_it;
    if (part.page_.next) {
      page_.next = std::move(part.page_.next);
      page_.next->given = at_.given;
      // Its first row is left to the next page.
      if (page_.next->key.empty()) page_.next->key = key_before;
    }
    return *result;
  }

  // As read_all(), by this thread alone.
  Result<bool> read_items() {
    ItemScan scan(input_, query_, page_.read);
    if (!at_.key.empty()) scan.start(at_.key, pass_over_ > 0);
    if (query_.shows_items()) scan.show_whole();
    for (;;) {
      const ReadCounts read_before = page_.read;
      auto found = scan.next(wanted());
      if (!found) return pass(found.error());
      if (!*found) return true;
      // An item that was removed between two pages takes its rows with it.
      if (scan.key() != at_.key) pass_over_ = 0;
      before_.key.swap(at_.key);
      before_.rows_of_it = at_.rows_of_it;
      before_.skipped = at_.skipped;
      at_.key = scan.key();
      at_.rows_of_it = 0;
      if (scan.has_item()) {
        ++items_;
        if (!run_item(scan)) {
          if (leaves_a_row_ && at_.rows_of_it == 0) page_.read = read_before;
          auto ended = stopped();
          if (!ended) return pass(ended.error());
          return false;
        }
      }
      pass_over_ = 0;
      if (is_time_up(limits_, frame_.context)) {
        page_.next = at_;
        return false;
      }
    }
  }

  bool is_full() const { return fill().rows >= limits_.rows || fill().bytes >= limits_.bytes; }

  // How many more rows the page needs, with those that OFFSET skips. A full page needs one more, to
  // learn whether there is another page.
  size_t wanted() const {
    if (is_full()) return 1;
    uint64_t rows = limits_.rows - std::min(fill().rows, limits_.rows);
    if (most_) rows = std::min(rows, *most_ - std::min(at_.given, *most_));
    if (query_.offset) rows += *query_.offset - std::min(at_.skipped, *query_.offset);
    return rows;
  }

  // Returns the rows of the current item; false when the page ended among them.
  bool run_item(const ItemScan& scan) {
    if (wants_made_ && !is_full()) made_at_hand_ = limits_.made(scan.body());
    if (!scan.is_text_alone()) {
      frame_.slots[*query_.document_slot] = Value::from(scan.item());
      return run_rows();
    }
    if (pass_over_ > 0) return true;
    if (is_full()) return leave_row();
    ++page_.read.matched;
    at_.rows_of_it = 1;
    if (!skips() && !give(scan.body())) return false;
    at_.rows_of_it = 0;
    return true;
  }

  bool run_rows() {
    uint64_t row = 0;
    const bool done = each_row(query_, frame_, [&] {
      if (row < pass_over_) return ++row > 0;
      if (row == pass_over_) ++page_.read.matched;
      at_.rows_of_it = row;
      const Value result = project(query_, frame_);
      if (frame_.ended() != Frame::Ended::no) return false;
      if (is_full() && !result.is_undefined()) return leave_row();
      const bool is_given = !result.is_undefined() && !skips();
      row_.clear();
      if (is_given && !append_row(result, row_, input_)) return false;
      at_.rows_of_it = ++row;
      return !is_given || give(row_);
    });
    if (done && frame_.ended() == Frame::Ended::no) at_.rows_of_it = 0;
    return done && frame_.ended() == Frame::Ended::no;
  }

  // The row at hand is for the next page.
  bool leave_row() {
    leaves_a_row_ = true;
    return false;
  }

  // Whether OFFSET leaves out the next row.
  bool skips() {
    if (!query_.offset || at_.skipped >= *query_.offset) return false;
    ++at_.skipped;
    return true;
  }

  // Returns a row; false after the last row of the query.
  bool give(std::string_view row) {
    if (page_.rows.empty()) page_.rows.reserve(kFirstRows, kFirstBytes);
    page_.rows.push_back(row);
    if (wants_made_) made_.push_back(made_at_hand_);
    ++at_.given;
    return !most_ || at_.given < *most_;
  }

  // Sorts the rows by creation, when this page is the only one.
  void put_oldest_first() {
    if (std::ranges::is_sorted(made_)) return;
    std::vector<uint32_t> order(made_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, {}, [this](uint32_t row) { return std::pair(made_[row], row); });
    StringList sorted;
    sorted.reserve(order.size(), page_.rows.bytes());
    for (const uint32_t row : order) sorted.push_back(page_.rows[row]);
    page_.rows = std::move(sorted);
  }

  // When the page ends among the rows of an item.
  Status stopped() {
    if (frame_.ended() == Frame::Ended::memory) return pass(too_much_memory());
    if (most_ && at_.given >= *most_) return {};
    // If no row of this item was returned, the next page begins the item again. That makes progress
    // only if this page has read others before it.
    if (at_.rows_of_it <= pass_over_) {
      if (items_ <= 1 && !leaves_a_row_) return pass(too_much_time());
      at_.key = std::move(before_.key);
      at_.rows_of_it = before_.rows_of_it;
      at_.skipped = before_.skipped;
    }
    page_.next = at_;
    return {};
  }

  const BoundQuery& query_;
  const PageInput& input_;
  const PageLimits& limits_;
  Frame frame_;
  const std::optional<uint64_t> most_;
  QueryPage page_;
  std::string row_;  // the one at hand
  Position at_;
  struct {
    std::string key;
    uint64_t rows_of_it = 0;
    uint64_t skipped = 0;
  } before_;  // what `at_` was before the item at hand, of which it has given nothing
  // Of a part: what the parts before it have given, as far as it is known.
  Fill before_part_;
  uint64_t given_before_ = 0;
  uint64_t items_ = 0;
  bool leaves_a_row_ = false;  // the page is full, and there is another one
  uint64_t pass_over_ = 0;     // rows of the item at hand that earlier pages have given
  bool wants_made_ = false;
  uint64_t made_at_hand_ = 0;   // of the item at hand
  std::vector<uint64_t> made_;  // of each row's item
};

// Whether rows can be computed item by item, up to grouping, ordering and DISTINCT.
bool reads_item_by_item(const BoundQuery& query) {
  return query.document_slot && (!query.derived() || query.derived()->passes());
}

// Whether all results are made before the first is given.
bool gathers(const BoundQuery& query) {
  if (query.rank) return true;
  if (query.streams()) return false;
  const bool ordered = !query.order_by.empty();
  const bool is_plain = ordered ? !query.grouped() : !(query.grouped() && query.distinct);
  return !reads_item_by_item(query) || !is_plain;
}

Result<QueryPage> make_page(const BoundQuery& query, ItemSpace& space, const Position* from,
                            const PageLimits& limits, Context& context) {
  const PageInput input{.space = space, .context = context};
  if (query.rank) return make_ranked_page(query, input, from, limits);
  if (gathers(query)) return make_gathered_page(query, input, from, limits);
  if (query.streams()) return StreamedPage(query, input, limits).run(from);
  if (!query.order_by.empty()) return make_ordered_page(query, input, from, limits);
  return make_grouped_page(query, input, from, limits);
}

}  // namespace

Error too_much_memory() {
  return Error{.code = Code::invalid,
               .message = fmt::format(
                   "the query needs too much memory: more than {} MB to group, sort or "
                   "tell rows apart, more than {} MB to compute one row, or {} MB for a "
                   "row itself. Filter more, ask for less of each item, or add a TOP or "
                   "LIMIT to the ORDER BY",
                   kQueryMemoryMax >> 20, kEvaluationBytesMax >> 20, kValueBytesMax >> 20)};
}

Error too_much_time() {
  return Error{
      .code = Code::invalid,
      .message =
          "the query took longer than a page may, and has no place from which another page "
          "could go on: filter more, or ask for less"};
}

bool is_time_up(const PageLimits& limits, Context& context) {
  constexpr uint64_t kStepsOfItem = 200;
  if (context.budget.spend(kStepsOfItem)) return true;
  return limits.stop && context.budget.steps() >= limits.free_steps && limits.stop();
}

Error ended_early(const Budget& budget) {
  return budget.ended() == Budget::Ended::memory ? too_much_memory() : too_much_time();
}

bool append_row(const value::Value& row, std::string& out, const PageInput& input) {
  const size_t before = out.size();
  Budget& budget = input.context.budget;
  if (!input.space.codec().append(out, row, before + kValueBytesMax)) {
    budget.end(Budget::Ended::memory);
  }
  return !budget.spend_bytes(out.size() - before);
}

Result<QueryPage> run_page(const BoundQuery& query, ItemSpace& space, const Position* from,
                           const PageLimits& limits, Context& context) {
  if (auto injected = fault::point("query.page"); !injected) return pass(injected.error());
  const size_t kept = gathers(query) ? kQueryMemoryMax : kPageMemoryMax;
  context.budget.start(
      {.stop = limits.stop, .free_steps = limits.free_steps, .bytes = kept + kEvaluationBytesMax});
  auto page = make_page(query, space, from, limits, context);
  if (context.failed) return pass(*context.failed);
  return page;
}

}  // namespace orrery::query

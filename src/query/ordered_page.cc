// See ordered_page.h. Every row has a place in one total order (position.h). The page keeps a
// sorted set of at most as many rows as it can give (or skip), and the first place that it had no
// room for: from there on, rows are for later pages.
//
// With DISTINCT a row's place is its first one. Where rows that are equal can have different order
// values, the rows that were given before are found first, and their fingerprints kept.
#include "query/ordered_page.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "query/collector.h"
#include "query/evaluate.h"
#include "query/fingerprint.h"
#include "query/item_reader.h"
#include "query/order_values.h"

namespace orrery::query {
namespace {

using value::Value;

struct Row {
  OrderValues order;
  std::string key;
  uint64_t number = 0;  // among the rows of its item
  Fingerprint mark{};   // of the result, with DISTINCT
  std::string result;   // JSON; not part of its place
  size_t memory() const { return sizeof(Row) + memory_of(order) + key.size() + result.size(); }
};

class Before {
 public:
  explicit Before(const BoundQuery& query) : query_(&query) {}
  bool operator()(const Row& a, const Row& b) const {
    const auto order = compare(*query_, a.order, b.order);
    if (order != std::strong_ordering::equal) return order == std::strong_ordering::less;
    if (query_->distinct) return a.mark < b.mark;
    if (a.key != b.key) return (a.key < b.key) != query_->order_by[0].descending;
    return a.number < b.number;
  }

 private:
  const BoundQuery* query_;
};

// Whether both name the same property of the same row variable.
bool is_same_path(const BoundExpr& a, const BoundExpr& b) {
  if (a.kind != b.kind) return false;
  if (a.kind == BoundKind::slot) return a.index == b.index;
  if (a.kind != BoundKind::member) return false;
  return a.name == b.name && is_same_path(a.children[0], b.children[0]);
}

struct HashMark {
  size_t operator()(const Fingerprint& mark) const {
    size_t hash = 0;
    std::copy_n(mark.begin(), sizeof hash, reinterpret_cast<uint8_t*>(&hash));
    return hash;
  }
};

class OrderedPage {
 public:
  OrderedPage(const BoundQuery& query, const Reading& reading, const Position* from,
              const PageLimits& limits)
      : query_(query),
        reading_(reading),
        limits_(limits),
        frame_(query.slots, reading.context),
        before_(query),
        kept_(before_) {
    frame_.stop = limits.stop;
    if (from != nullptr) at_ = *from;
    const uint64_t skip = query.offset.value_or(0);
    skip_ = skip - std::min(skip, at_.skipped);
    most_ = limits.rows;
    if (const auto most = query.most()) {
      is_done_ = at_.given >= *most;
      most_ = is_done_ ? 0 : std::min<uint64_t>(most_, *most - at_.given);
    }
  }

  Result<QueryPage> run(bool resumes) {
    if (is_done_) return std::move(page_);
    if (resumes) {
      if (auto found = find_position(); !found) return pass(found.error());
    }
    if (query_.distinct && after_ && !shows_order()) {
      auto read = read_items([this](const ItemReader&, uint64_t) { return remember_if_given(); });
      if (!read) return pass(read.error());
    }
    auto read = read_items(
        [this](const ItemReader& reader, uint64_t number) { return add(reader, number); });
    if (!read) return pass(read.error());
    give_out();
    return std::move(page_);
  }

 private:
  // The place where the last page ended, from the position or, when it left the order values out,
  // from the row itself.
  Status find_position() {
    Row row;
    row.key = at_.key;
    row.number = at_.rows_of_it;
    if (at_.result_mark) row.mark = *at_.result_mark;
    if (!at_.order.empty()) {
      auto values = parse_order_values(query_, at_.order);
      if (!values) return pass(values.error());
      row.order = std::move(*values);
      after_ = std::move(row);
      return {};
    }
    auto body = ItemReader::find(reading_.space, at_.key);
    if (!body) return pass(body.error());
    if (!*body) return pass(order_values_gone());
    auto json = value::JsonDocument::parse(**body);
    if (!json) return fail(Code::corrupt, "a stored item is not JSON: " + json.error().message);
    frame_.slots[*query_.document_slot] = Value::from(json->root());
    uint64_t number = 0;
    each_row(query_, frame_, [&] {
      if (number++ < at_.rows_of_it) return true;
      row.order = to_owned(order_values_of(query_, frame_));
      return false;
    });
    std::ranges::fill(frame_.slots, Value());
    if (row.order.empty() || fingerprint_of(row.order) != at_.order_mark) {
      return pass(order_values_gone());
    }
    after_ = std::move(row);
    return {};
  }

  // Whether every order value can be read off the result.
  bool shows_order() const {
    return query_.select != Select::Kind::star &&
           std::ranges::all_of(query_.order_by, [&](const BoundOrder& order) {
             return std::ranges::any_of(query_.items, [&](const auto& item) {
               return is_same_path(item.second, order.expr);
             });
           });
  }

  Status read_items(const std::function<bool(const ItemReader&, uint64_t)>& row) {
    ItemReader reader(reading_.space, query_, reading_.context, page_.read);
    if (!query_.distinct) {
      std::optional<SourceStart> start;
      if (after_) {
        start = SourceStart{.values = after_->order, .key = after_->key, .inclusive = true};
      }
      reader.start_in_order(std::move(start));
      if (query_.shows_items()) reader.show_whole();
    }
    for (;;) {
      auto found = reader.next(wanted());
      if (!found) return pass(found.error());
      if (!*found) break;
      if (reader.has_item()) {
        uint64_t number = 0;
        if (reader.is_text_alone()) {
          row(reader, number++);
        } else {
          frame_.slots[*query_.document_slot] = Value::from(reader.item());
          each_row(query_, frame_, [&] { return row(reader, number++); });
        }
        if (number > 0) ++page_.read.matched;
        if (frame_.ended == Frame::Ended::memory) return pass(too_much_memory());
        if (frame_.ended == Frame::Ended::time) return pass(too_much_time());
        if (given_.size() > kQueryMemoryMax / (4 * sizeof(Fingerprint))) {
          return pass(too_much_memory());
        }
        // Told by each item anew: a view that is not in order leaves nothing to the one after it.
        if (std::exchange(is_past_room_, false) && reader.in_order()) {
          reader.leave_view();
          continue;
        }
      }
      if (limits_.stop && limits_.stop()) {
        auto ended = end_early(reader);
        if (!ended) return pass(ended.error());
        break;
      }
    }
    std::ranges::fill(frame_.slots, Value());
    return {};
  }

  // One more than there is room for tells whether there is another page.
  size_t wanted() const {
    const uint64_t room = skip_ + most_;
    return static_cast<size_t>(room - std::min<uint64_t>(room, kept_.size())) + 1;
  }

  // Time is up. What was read is a page if it is the first there is, in order.
  Status end_early(ItemReader& reader) {
    if (!reader.in_order() || !last_seen_) return pass(too_much_time());
    auto only = reader.is_only_view();
    if (!only) return pass(only.error());
    if (!*only) return pass(too_much_time());
    goes_on_after_ = std::move(last_seen_);
    return {};
  }

  bool add(const ItemReader& reader, uint64_t number) {
    const bool is_text_alone = reader.is_text_alone();
    Row row;
    row.order = is_text_alone ? OrderValues{reader.order_value()} : order_values_of(query_, frame_);
    row.key = reader.key();
    row.number = number;
    Value result;
    if (query_.distinct) {
      result = project(query_, frame_);
      if (result.is_undefined()) return true;
      row.mark = fingerprint_of(result);
    }
    if (after_ && !before_(*after_, row)) return true;
    if (query_.distinct && !is_first_of_its_kind(row)) return true;
    if (reader.in_order()) last_seen_ = placed(row);
    const bool has_room = !no_room_ || before_(row, *no_room_);
    const bool is_full = kept_.size() >= skip_ + most_;
    if (!has_room) {
      is_past_room_ = true;
      return true;
    }
    if (is_full && !before_(row, *kept_.rbegin())) {
      // A row that shows nothing is none.
      if (!query_.distinct && !is_text_alone && project(query_, frame_).is_undefined()) return true;
      is_past_room_ = true;
      no_room_ = placed(row);
      return true;
    }
    if (is_text_alone) {
      row.result = reader.body();
    } else {
      if (!query_.distinct) result = project(query_, frame_);
      if (result.is_undefined() || frame_.ended != Frame::Ended::no) return true;
      row.order = to_owned(row.order);
      result.append_json(row.result);
    }
    keep(std::move(row));
    return true;
  }

  // Its place alone, to outlive the item.
  static Row placed(const Row& row) {
    return {to_owned(row.order), row.key, row.number, row.mark, {}};
  }

  bool remember_if_given() {
    Row row;
    row.order = order_values_of(query_, frame_);
    const Value result = project(query_, frame_);
    if (result.is_undefined()) return true;
    row.mark = fingerprint_of(result);
    if (!before_(*after_, row)) given_.insert(row.mark);
    return true;
  }

  // DISTINCT: false when the same row was given by an earlier page, or is kept with an earlier
  // place. A kept one with a later place makes room for this one.
  bool is_first_of_its_kind(const Row& row) {
    if (given_.contains(row.mark)) return false;
    const auto kept = kept_by_mark_.find(row.mark);
    if (kept == kept_by_mark_.end()) return true;
    if (!before_(row, *kept->second)) return false;
    forget(kept->second);
    return true;
  }

  using Kept = std::set<Row, Before>;

  void keep(Row row) {
    memory_ += row.memory();
    const auto [at, is_new] = kept_.insert(std::move(row));
    if (is_new && query_.distinct) kept_by_mark_[at->mark] = at;
    while (kept_.size() > 1 && (kept_.size() > skip_ + most_ || memory_ > kPageMemoryMax)) {
      const auto last = std::prev(kept_.end());
      no_room_ = placed(*last);
      forget(last);
    }
  }

  void forget(Kept::iterator row) {
    memory_ -= row->memory();
    if (query_.distinct) kept_by_mark_.erase(row->mark);
    kept_.erase(row);
  }

  void give_out() {
    size_t bytes = 0;
    const Row* last = nullptr;
    bool is_all = !no_room_ && !goes_on_after_;
    const auto most = query_.most();
    for (const Row& row : kept_) {
      if (skip_ == 0 && (page_.rows.size() >= limits_.rows || bytes >= limits_.bytes)) {
        is_all = false;
        goes_on_after_.reset();
        break;
      }
      last = &row;
      if (skip_ > 0) {
        --skip_;
        ++at_.skipped;
        continue;
      }
      bytes += row.result.size();
      page_.rows.push_back(row.result);
      if (++at_.given == most) return;
    }
    if (is_all) return;
    if (goes_on_after_) last = &*goes_on_after_;
    at_.key = last->key;
    at_.rows_of_it = last->number;
    at_.order = to_json(last->order);
    at_.order_mark = fingerprint_of(last->order);
    if (query_.distinct) at_.result_mark = last->mark;
    page_.next = std::move(at_);
  }

  const BoundQuery& query_;
  const Reading& reading_;
  const PageLimits& limits_;
  Frame frame_;
  const Before before_;
  QueryPage page_;
  Position at_;
  bool is_done_ = false;
  uint64_t skip_ = 0;         // rows that OFFSET has yet to skip
  uint64_t most_ = 0;         // rows that the page can give
  std::optional<Row> after_;  // where the last page ended
  Kept kept_;
  size_t memory_ = 0;                 // of kept_
  std::optional<Row> no_room_;        // the first place that is for later pages
  bool is_past_room_ = false;         // the last row came after that place
  std::optional<Row> last_seen_;      // in order
  std::optional<Row> goes_on_after_;  // when time was up: further than the rows that were found
  std::unordered_map<Fingerprint, Kept::iterator, HashMark> kept_by_mark_;  // DISTINCT
  std::unordered_set<Fingerprint, HashMark> given_;                         // DISTINCT
};

}  // namespace

Result<QueryPage> make_ordered_page(const BoundQuery& query, const Reading& reading,
                                    const Position* from, const PageLimits& limits) {
  return OrderedPage(query, reading, from, limits).run(from != nullptr);
}

}  // namespace orrery::query

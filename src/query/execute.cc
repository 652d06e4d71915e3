// See execute.h.
#include "query/execute.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "query/collector.h"
#include "query/evaluate.h"
#include "query/item_reader.h"

namespace orrery::query {
namespace {

using value::Value;

Error too_much_memory() {
  return Error{.code = Code::invalid,
               .message = fmt::format("the query needs more than {} MB to group, sort or tell rows "
                                      "apart: filter more, or add a TOP or LIMIT to the ORDER BY",
                                      kQueryMemoryMax >> 20)};
}

Error too_much_time() {
  return Error{
      .code = Code::overloaded,
      .message = "the query took longer than its time allows: filter more, or ask for less"};
}

// One page of a query whose rows pass straight through.
class Streaming {
 public:
  Streaming(const BoundQuery& query, const PageLimits& limits, Context& context)
      : query_(query), limits_(limits), frame_(query.slots, context), most_(query.most()) {
    frame_.stop = limits.stop;
  }

  Result<QueryPage> run(ItemSpace& space, const Position* from) {
    if (from != nullptr) at_ = *from;
    if (most_ && at_.given >= *most_) return std::move(page_);
    pass_over_ = at_.rows_of_it;
    if (!query_.document_slot) {
      if (!run_rows()) return stopped();
      return std::move(page_);
    }
    ItemReader reader(space, query_, frame_.context, page_.read);
    if (from != nullptr) reader.start(from->key, pass_over_ > 0);
    for (;;) {
      auto found = reader.next(wanted());
      if (!found) return pass(found.error());
      if (!*found) return std::move(page_);
      // An item that was removed between two pages takes its rows with it.
      if (reader.key() != at_.key) pass_over_ = 0;
      before_ = std::exchange(at_, {std::string(reader.key()), 0, at_.skipped, at_.given});
      if (reader.has_item()) {
        frame_.slots[*query_.document_slot] = Value::from(reader.item());
        if (!run_rows()) return stopped();
        pass_over_ = 0;
      }
      if (is_full() || (limits_.stop && limits_.stop())) {
        page_.next = at_;
        return std::move(page_);
      }
    }
  }

 private:
  bool is_full() const { return page_.rows.size() >= limits_.rows || bytes_ >= limits_.bytes; }

  // How many more rows the page can take, skipped ones included.
  size_t wanted() const {
    uint64_t rows = limits_.rows - std::min(page_.rows.size(), limits_.rows);
    if (most_) rows = std::min(rows, *most_ - std::min(at_.given, *most_));
    if (query_.offset) rows += *query_.offset - std::min(at_.skipped, *query_.offset);
    return rows;
  }

  // The rows of the item at hand; false when the page ended among them.
  bool run_rows() {
    uint64_t row = 0;
    const bool done = each_row(query_, frame_, [&] {
      if (row < pass_over_) return ++row > 0;
      at_.rows_of_it = row;
      if (is_full()) return false;
      Value result = project(query_, frame_);
      if (frame_.ended != Frame::Ended::no) return false;
      at_.rows_of_it = ++row;
      if (result.is_undefined()) return true;
      if (query_.offset && at_.skipped < *query_.offset) {
        ++at_.skipped;
        return true;
      }
      page_.rows.push_back(result.to_json());
      bytes_ += page_.rows.back().size();
      ++at_.given;
      return !most_ || at_.given < *most_;
    });
    if (done && frame_.ended == Frame::Ended::no) at_.rows_of_it = 0;
    return done && frame_.ended == Frame::Ended::no;
  }

  // The page, when it ended among the rows of an item.
  Result<QueryPage> stopped() {
    if (frame_.ended == Frame::Ended::memory) return pass(too_much_memory());
    if (most_ && at_.given >= *most_) return std::move(page_);
    // Where no row of this item was reached, the next page starts it again; that helps only if
    // there was something before it.
    if (at_.rows_of_it <= pass_over_) {
      if (page_.read.items <= 1) return pass(too_much_time());
      at_ = before_;
    }
    page_.next = at_;
    return std::move(page_);
  }

  const BoundQuery& query_;
  const PageLimits& limits_;
  Frame frame_;
  const std::optional<uint64_t> most_;
  QueryPage page_;
  Position at_;
  Position before_;
  uint64_t pass_over_ = 0;  // rows of the item at hand that earlier pages have given
  size_t bytes_ = 0;
};

// All results of a query that has to see all rows first, or whose FROM has such a query in it.
class Gathering {
 public:
  Gathering(const BoundQuery& query, ItemSpace& space, const PageLimits& limits, QueryPage& page,
            Context& context)
      : space_(space), page_(page), frame_(query.slots, context) {
    frame_.stop = limits.stop;
  }

  Result<std::vector<Value>> results(const BoundQuery& query) {
    Collector collector(query, Collector::Lifetime::copy);
    const std::function<bool()> add = [&] { return collector.add(frame_); };
    if (auto status = each(query, add); !status) return pass(status.error());
    // The items that the slots borrow from are gone.
    std::ranges::fill(frame_.slots, Value());
    if (collector.over_limit()) return pass(too_much_memory());
    std::vector<Value> all = collector.finish(frame_);
    if (collector.over_limit() || frame_.ended == Frame::Ended::memory) {
      return pass(too_much_memory());
    }
    return all;
  }

 private:
  Status each(const BoundQuery& query, const std::function<bool()>& row) {
    if (const BoundQuery* derived = query.derived()) {
      auto first = results(*derived);
      if (!first) return pass(first.error());
      each_row_of(query, std::move(*first), frame_, row);
    } else if (query.document_slot) {
      if (auto status = each_of_items(query, row); !status) return status;
    } else {
      each_row(query, frame_, row);
    }
    if (frame_.ended == Frame::Ended::memory) return pass(too_much_memory());
    if (frame_.ended == Frame::Ended::time) return pass(too_much_time());
    return {};
  }

  Status each_of_items(const BoundQuery& query, const std::function<bool()>& row) {
    ItemReader reader(space_, query, frame_.context, page_.read);
    for (;;) {
      auto found = reader.next(std::numeric_limits<size_t>::max());
      if (!found) return pass(found.error());
      if (!*found) return {};
      if (reader.has_item()) {
        frame_.slots[*query.document_slot] = Value::from(reader.item());
        if (!each_row(query, frame_, row)) return {};
      }
      if (frame_.stop && frame_.stop()) return pass(too_much_time());
    }
  }

  ItemSpace& space_;
  QueryPage& page_;
  Frame frame_;
};

Result<QueryPage> run_gathered(const BoundQuery& query, ItemSpace& space, const Position* from,
                               const PageLimits& limits, Context& context) {
  QueryPage page;
  auto results = Gathering(query, space, limits, page, context).results(query);
  if (!results) return pass(results.error());
  size_t bytes = 0;
  size_t at = from == nullptr ? 0 : static_cast<size_t>(from->given);
  while (at < results->size() && page.rows.size() < limits.rows && bytes < limits.bytes) {
    page.rows.push_back((*results)[at++].to_json());
    bytes += page.rows.back().size();
  }
  if (at < results->size()) {
    page.next = Position{};
    page.next->given = at;
  }
  return page;
}

}  // namespace

Result<QueryPage> run_page(const BoundQuery& query, ItemSpace& space, const Position* from,
                           const PageLimits& limits, Context& context) {
  if (query.streams()) return Streaming(query, limits, context).run(space, from);
  return run_gathered(query, space, from, limits, context);
}

}  // namespace orrery::query

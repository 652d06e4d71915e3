// See execute.h.
#include "query/execute.h"

#include <fmt/format.h>

#include "query/collector.h"
#include "query/evaluate.h"
#include "value/json.h"

namespace orrery::query {
namespace {

using value::Value;

Error too_much_memory() {
  return Error{.code = Code::invalid,
               .message = fmt::format("the query needs more than {} MB to group, sort or tell rows "
                                      "apart: filter more, or add a TOP or LIMIT to the ORDER BY",
                                      kQueryMemoryMax >> 20)};
}

std::optional<uint64_t> most_of(const BoundQuery& query) {
  if (query.top && query.limit) return std::min(*query.top, *query.limit);
  return query.top ? query.top : query.limit;
}

// One page of a query whose rows pass straight through.
class Streaming {
 public:
  Streaming(const BoundQuery& query, const PageLimits& limits, Context& context)
      : query_(query), limits_(limits), frame_(query.slots, context), most_(most_of(query)) {}

  Result<QueryPage> run(const OpenSource& open, const Position* from) {
    if (from != nullptr) at_ = *from;
    if (most_ && at_.given >= *most_) return std::move(page_);
    if (!query_.document_slot) {
      run_rows();
      return std::move(page_);
    }
    uint64_t pass_over = from == nullptr ? 0 : from->rows_of_it;
    auto source = open(from, pass_over > 0);
    if (!source) return pass(source.error());
    for (;;) {
      auto document = (*source)->next();
      if (!document) return pass(document.error());
      if (*document == nullptr) return std::move(page_);
      // An item that was removed between two pages takes its rows with it.
      if (pass_over > 0 &&
          ((*document)->placement != at_.placement || (*document)->row != at_.row)) {
        pass_over = 0;
      }
      auto json = value::JsonDocument::parse((*document)->body);
      if (!json) return fail(Code::corrupt, "a stored item is not JSON: " + json.error().message);
      page_.items_read += 1;
      page_.bytes_read += (*document)->body.size();
      frame_.slots[*query_.document_slot] = Value::from(json->root());
      at_.placement = (*document)->placement;
      at_.row = (*document)->row;
      at_.rows_of_it = 0;
      pass_over_ = pass_over;
      pass_over = 0;
      if (!run_rows()) {
        if (most_ && at_.given >= *most_) return std::move(page_);
        page_.next = at_;
        return std::move(page_);
      }
      at_.rows_of_it = 0;
      if (is_full() || (limits_.stop && limits_.stop())) {
        page_.next = at_;
        return std::move(page_);
      }
    }
  }

 private:
  bool is_full() const { return page_.rows.size() >= limits_.rows || bytes_ >= limits_.bytes; }

  // The rows of the item at hand; false when the page ended among them.
  bool run_rows() {
    uint64_t row = 0;
    return each_row(query_, frame_, [&] {
      if (row++ < pass_over_) return true;
      if (is_full()) {
        at_.rows_of_it = row - 1;
        return false;
      }
      Value result = project(query_, frame_);
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
  }

  const BoundQuery& query_;
  const PageLimits& limits_;
  Frame frame_;
  const std::optional<uint64_t> most_;
  QueryPage page_;
  Position at_;
  uint64_t pass_over_ = 0;
  size_t bytes_ = 0;
};

Result<QueryPage> run_collected(const BoundQuery& query, const OpenSource& open,
                                const Position* from, const PageLimits& limits, Context& context) {
  QueryPage page;
  Frame frame(query.slots, context);
  Collector collector(query, Collector::Lifetime::copy);
  if (!query.document_slot) {
    each_row(query, frame, [&] { return collector.add(frame); });
  } else {
    auto source = open(nullptr, false);
    if (!source) return pass(source.error());
    for (bool more = true; more;) {
      auto document = (*source)->next();
      if (!document) return pass(document.error());
      if (*document == nullptr) break;
      auto json = value::JsonDocument::parse((*document)->body);
      if (!json) return fail(Code::corrupt, "a stored item is not JSON: " + json.error().message);
      page.items_read += 1;
      page.bytes_read += (*document)->body.size();
      frame.slots[*query.document_slot] = Value::from(json->root());
      more = each_row(query, frame, [&] { return collector.add(frame); });
      if (limits.stop && limits.stop()) {
        return fail(Code::overloaded,
                    "the query took longer than its time allows: filter more, or ask for less");
      }
    }
  }
  if (collector.over_limit()) return pass(too_much_memory());
  const std::vector<Value> results = collector.finish(frame);
  if (collector.over_limit()) return pass(too_much_memory());
  size_t bytes = 0;
  size_t at = from == nullptr ? 0 : static_cast<size_t>(from->given);
  while (at < results.size() && page.rows.size() < limits.rows && bytes < limits.bytes) {
    page.rows.push_back(results[at++].to_json());
    bytes += page.rows.back().size();
  }
  if (at < results.size()) {
    page.next = Position{};
    page.next->given = at;
  }
  return page;
}

}  // namespace

Result<QueryPage> run_page(const BoundQuery& query, const OpenSource& open, const Position* from,
                           const PageLimits& limits, Context& context) {
  if (query.streams()) return Streaming(query, limits, context).run(open, from);
  return run_collected(query, open, from, limits, context);
}

}  // namespace orrery::query

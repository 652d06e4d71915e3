// Lookups by the index. See item_reader.h.
#include <algorithm>
#include <numeric>

#include "api/gremlin/graph/item_reader.h"
#include "partition/format.h"
#include "prices/request_units.h"
#include "query/plan/term_ranges.h"

namespace orrery::gremlin {
// What one call of next() collects.
struct ItemReader::Lookup::Request {
  size_t want;
  const Take& take;
  query::PathTerms terms;
  partition::Work work{.kind = partition::WorkKind::query};
  size_t found = 0;
  // Of the current view.
  std::vector<std::string> keys = {};
};

ItemReader::Lookup::Lookup(ItemReader& reader, value::Path path, std::vector<Asked> asked)
    : reader_(reader), path_(std::move(path)), asked_(std::move(asked)) {
  is_placed_ = !asked_.empty() && !asked_.front().placement.empty();
  if (is_placed_) {
    std::erase_if(asked_, [&](const Asked& one) { return !reader.bounds_.has(one.placement); });
  } else {
    from_placement_ = reader.bounds_.min;
  }
  order_.resize(asked_.size());
  std::iota(order_.begin(), order_.end(), 0);
  if (is_placed_) {
    std::ranges::sort(order_, [&](size_t a, size_t b) {
      const int by_place = asked_[a].placement.compare(asked_[b].placement);
      return by_place != 0 ? by_place < 0 : a < b;
    });
  }
  ended_ = asked_.empty();
}

bool ItemReader::Lookup::is_possible() const {
  const partition::Schema& schema = *reader_.routing_->schema;
  return schema.indexed && schema.index.covers(path_);
}

Status ItemReader::Lookup::next(size_t want, const Take& take) {
  if (ended_) return {};
  const auto& definition = reader_.routing_->schema->index.definition();
  Request request{.want = want, .take = take, .terms = {path_, definition.order}};
  const std::string start = is_placed_ ? asked_[order_[at_]].placement : from_placement_;
  auto admitted = reader_.terms_.engine.admit_query(reader_.routing_, start);
  if (!admitted) return pass(admitted.error());
  const value::LevelFilter any;
  const cluster::LsnDemand demand;
  cluster::Receipt receipt;
  cluster::EngineSpace space(reader_.terms_.engine, reader_.terms_.remote, reader_.routing_,
                             {reader_.ranges_, any}, demand, receipt, reader_.allowance());
  Status done;
  while (done && !ended_ && request.found < want) {
    done = reader_.patiently([&]() -> Status {
      std::string end;
      auto view = space.open(is_placed_ ? asked_[order_[at_]].placement : from_placement_, end);
      if (!view) return pass(view.error());
      if (*view == nullptr) {
        ended_ = true;
        return {};
      }
      if (!(*view)->is_indexed()) {
        return fail(Code::unsupported, "the items of a partition are being indexed");
      }
      return read_view(request, **view, end);
    });
    if (done) done = reader_.check();
  }
  if (done) done = reader_.terms_.engine.check_current();
  reader_.pay(start, request.work);
  return done;
}

Status ItemReader::Lookup::read_view(Request& request, query::ItemView& view,
                                     const std::string& end) {
  const size_t at_before = at_;
  const auto after_before = after_;
  request.keys.clear();
  Status read;
  while (read && at_ < order_.size() && request.found + request.keys.size() < request.want) {
    const size_t asked = order_[at_];
    if (is_placed_ && asked_[asked].placement >= end) break;
    read = collect(request, view, asked);
    if (read && !after_) ++at_;
  }
  StringList bodies;
  if (read) read = fetch(request, view, bodies);
  if (read) read = reader_.may_take(bodies.bytes());
  if (!read) {  // it may be tried again
    at_ = at_before;
    after_ = after_before;
    return read;
  }
  if (at_ == order_.size()) {
    at_ = is_placed_ ? at_ : 0;
    from_placement_ = end;
    ended_ = is_placed_ || end >= reader_.bounds_.max;
  }
  return give(request, bodies);
}

// The keys of the items with this value. after_ is set when there may be more.
Status ItemReader::Lookup::collect(Request& request, const query::ItemView& view, size_t asked) {
  const query::TermRanges ranges =
      request.terms.compared(query::Binary::equal, asked_[asked].value);
  const std::string prefix =
      is_placed_ ? partition::item_key(asked_[asked].placement, "") : std::string();
  const auto after = std::exchange(after_, std::nullopt);
  for (const query::TermRange& range : ranges.ranges) {
    auto cursor = view.entries(range, false, after ? &*after : nullptr);
    if (!cursor) return pass(cursor.error());
    const bool jumps = is_placed_ && !after && query::is_point(range);
    auto moved = jumps ? (*cursor)->seek(prefix) : (*cursor)->next();
    for (; moved && *moved; moved = (*cursor)->next()) {
      ++request.work.entries_read;
      const std::string_view key = (*cursor)->key();
      if (!key.starts_with(prefix)) {
        if (query::is_point(range)) break;
        continue;  // long values share terms
      }
      request.keys.emplace_back(key);
      if (request.found + request.keys.size() < request.want) continue;
      after_ = {std::string((*cursor)->term()), std::string(key)};
      return {};
    }
    if (!moved) return pass(moved.error());
  }
  return {};
}

Status ItemReader::Lookup::fetch(Request& request, query::ItemView& view, StringList& to) {
  constexpr size_t kKeysOfFetch = 512;
  for (size_t from = 0; from < request.keys.size(); from += kKeysOfFetch) {
    const size_t count = std::min(kKeysOfFetch, request.keys.size() - from);
    auto bodies = view.fetch(std::span(request.keys).subspan(from, count));
    if (!bodies) return pass(bodies.error());
    for (const std::string_view body : *bodies) to.push_back(body);
  }
  return {};
}

Status ItemReader::Lookup::give(Request& request, const StringList& bodies) {
  request.found += bodies.size();
  for (size_t i = 0; i < bodies.size(); ++i) {
    const std::string_view body = bodies[i];
    if (body.empty()) continue;
    ++request.work.items;
    request.work.bytes += prices::charged_bytes(body.size());
    request.work.bytes_returned += body.size();
    if (auto taken = request.take(body); !taken) return taken;
  }
  return {};
}

}  // namespace orrery::gremlin

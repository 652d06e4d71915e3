// Queries and reads by key. item_lookup.cc has the lookups. See item_reader.h.
#include "api/gremlin/graph/item_reader.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/await.h"
#include "partition/format.h"
#include "prices/request_units.h"
#include "query/bind/bind.h"

namespace orrery::gremlin {
namespace {

constexpr size_t kKeysOfFetch = 512;
// While a partition is on its way to another node.
constexpr int kTriesMax = 6;
constexpr std::chrono::milliseconds kPause{5};
// On a thread that may not wait: some ten microseconds.
constexpr uint32_t kEntriesAtOnce = 128;
constexpr uint32_t kItemsAtOnce = 8;
constexpr size_t kBytesAtOnce = 64 * 1024;  // of items

value::KeyPart key_part(const Value& value) {
  value::KeyPart part;
  switch (value.kind()) {
    case Kind::boolean:
      part.type = value::Type::boolean;
      part.boolean = value.as_bool();
      break;
    case Kind::int32:
    case Kind::int64:
    case Kind::float32:
    case Kind::float64:
      part.type = value::Type::number;
      part.number = value.as_number();
      break;
    case Kind::text:
      part.type = value::Type::string;
      part.text = value.string();
      break;
    default:
      break;
  }
  return part;
}

}  // namespace

std::string place_of(const cluster::Routing& routing, const Value& partition) {
  return value::place(routing.container->spec.key, {key_part(partition)});
}

Status ItemReader::charge(std::string_view placement, const ReadCost& cost) {
  auto admitted = terms_.engine.admit_query(routing_, placement);
  if (!admitted) return pass(admitted.error());
  pay(placement, {.kind = partition::WorkKind::query,
                  .items = cost.items,
                  .bytes = cost.bytes,
                  .entries_read = cost.entries,
                  .bytes_returned = cost.returned});
  return {};
}

cluster::ReadAllowance ItemReader::allowance() const {
  if (terms_.may_wait) return {};
  return {.reach = partition::Reach::memory, .entries = kEntriesAtOnce, .items = kItemsAtOnce};
}

Status ItemReader::check() {
  if (terms_.clock.steady_us() > terms_.until_us) {
    timed_out_ = true;
    return fail(Code::overloaded, "the traversal has taken longer than it may");
  }
  if (!terms_.is_wanted()) return fail(Code::overloaded, "the client has gone");
  return {};
}

Status ItemReader::patiently(const std::function<Status()>& read) {
  for (int tries = 1;; ++tries) {
    Status done = read();
    if (done || tries == kTriesMax || terms_.remote == nullptr) return done;
    const Code code = done.error().code;
    if (code != Code::retry && code != Code::elsewhere) return done;
    if (auto checked = check(); !checked) return checked;
    std::this_thread::sleep_for(kPause * (1 << tries));
  }
}

void ItemReader::pay(std::string_view placement, const partition::Work& work) {
  if (is_free_) return;
  const double charge = prices::query_charge(work);
  if (terms_.may_wait) {
    terms_.engine.pay_for_query(routing_, placement, charge);
  } else {
    owed_.emplace_back(placement, charge);
  }
  spent_.charge += charge;
  ++spent_.requests;
  spent_.items += work.items;
  spent_.entries += work.entries_read;
}

Status ItemReader::may_take(size_t bytes) const {
  if (terms_.may_wait || bytes <= kBytesAtOnce) return {};
  return fail(Code::would_wait, "these are large");
}

void ItemReader::settle() {
  for (const auto& [placement, charge] : std::exchange(owed_, {})) {
    terms_.engine.pay_for_query(routing_, placement, charge);
  }
}

ItemReader::Query::Query(ItemReader& reader, ItemFilter filter) : reader_(reader) {
  auto [text, parameters] = std::move(filter).finish();
  text_ = std::move(text);
  for (size_t i = 0; i < parameters.size(); ++i) {
    parameters_.emplace("@p" + std::to_string(i), query_value(parameters[i]));
  }
}

Status ItemReader::Query::prepare() {
  auto parsed = reader_.terms_.parsed.get(text_);
  if (!parsed) return pass(parsed.error());
  parsed_ = std::move(*parsed);
  context_.now_ticks = reader_.terms_.clock.now_s() * 10'000'000;
  auto bound = query::bind_query(*parsed_, parameters_, {}, nullptr, {}, &context_);
  if (!bound) return fail(Code::internal, "a query of a traversal: " + bound.error().message);
  bound_ = std::move(*bound);
  return {};
}

Result<const StringList*> ItemReader::Query::next(size_t rows) {
  if (ended_) return nullptr;
  if (!reader_.terms_.may_wait) return fail(Code::would_wait, "a query may take long");
  if (!bound_) {
    if (auto prepared = prepare(); !prepared) return pass(prepared.error());
  }
  query::PageLimits limits;
  limits.rows = std::clamp<size_t>(rows, 1, kRowsOfPage);
  limits.bytes = reader_.terms_.engine.limits().response_bytes;
  limits.position_bytes = 1 << 20;
  limits.stop = [this] { return !reader_.check(); };
  limits.free_steps = 1000;
  limits.made = reader_.terms_.items.age();
  auto ran = run(limits);
  if (!ran) {
    if (auto over = reader_.check(); !over) return pass(over.error());
    return pass(ran.error());
  }
  rows_ = std::move(ran->page.rows);
  at_ = std::move(ran->page.next);
  ended_ = !at_;
  if (rows_.empty()) {
    if (auto over = reader_.check(); !over) return pass(over.error());
  }
  return &rows_;
}

Result<cluster::ContainerQuery::Result> ItemReader::Query::run(const query::PageLimits& given) {
  query::PageLimits limits = given;
  Result<cluster::ContainerQuery::Result> ran = fail(Code::internal, "not run");
  const Status done = reader_.patiently([&]() -> Status {
    cluster::ContainerQuery query(reader_.terms_.engine, reader_.routing_, *parsed_, parameters_,
                                  reader_.bounds_, reader_.terms_.remote);
    if (query.partitions() > 1) limits.helpers = reader_.terms_.helpers;
    context_.budget.start({.stop = limits.stop,
                           .free_steps = limits.free_steps,
                           .bytes = query::kEvaluationBytesMax});
    ran = query.run(*bound_, at_ ? &*at_ : nullptr, {}, partition::Reach::files, limits, context_);
    if (!ran) return pass(ran.error());
    if (reader_.is_free_) return {};
    const partition::Work work{.items = ran->page.read.items,
                               .bytes = ran->page.read.bytes,
                               .entries_read = ran->page.read.entries,
                               .bytes_returned = ran->page.rows.bytes(),
                               .bytes_asked = text_.size()};
    ran->receipt.charge = prices::query_charge(work);
    query.pay(ran->receipt);
    StoreWork& spent = reader_.spent_;
    spent.charge += ran->receipt.charge;
    ++spent.requests;
    spent.items += work.items;
    spent.entries += work.entries_read;
    return {};
  });
  if (!done) return pass(done.error());
  return ran;
}

Status ItemReader::fetch(std::vector<Key> keys, const Take& take) {
  std::erase_if(keys, [&](const Key& key) { return !bounds_.has(key.placement); });
  if (keys.empty()) return {};
  std::ranges::sort(keys, {}, &Key::placement);
  auto admitted = terms_.engine.admit_query(routing_, keys.front().placement);
  if (!admitted) return pass(admitted.error());
  const value::LevelFilter any;
  const cluster::LsnDemand demand;
  cluster::Receipt receipt;
  cluster::EngineSpace space(terms_.engine, terms_.remote, routing_, {ranges_, any}, demand,
                             receipt, allowance());
  partition::Work work{.kind = partition::WorkKind::query};
  const auto read_view = [&](size_t& at) -> Status {
    std::string end;
    auto view = space.open(keys[at].placement, end);
    if (!view) return pass(view.error());
    while (at < keys.size() && keys[at].placement < end) {
      std::vector<std::string> stored;
      size_t to = at;
      while (to < keys.size() && keys[to].placement < end && stored.size() < kKeysOfFetch) {
        stored.push_back(partition::item_key(keys[to].placement, keys[to].row));
        ++to;
      }
      auto bodies = (*view)->fetch(stored);
      if (!bodies) return pass(bodies.error());
      size_t bytes = 0;
      for (const std::string_view body : *bodies) bytes += body.size();
      if (auto may = may_take(bytes); !may) return may;
      at = to;
      for (const std::string_view body : *bodies) {
        if (body.empty()) continue;
        ++work.items;
        work.bytes += prices::charged_bytes(body.size());
        work.bytes_returned += body.size();
        if (auto taken = take(body); !taken) return taken;
      }
      if (auto checked = check(); !checked) return checked;
    }
    return {};
  };
  Status done;
  for (size_t at = 0; at < keys.size() && done;) {
    done = patiently([&] { return read_view(at); });
  }
  if (done) done = terms_.engine.check_current();
  pay(keys.front().placement, work);
  return done;
}

Result<bool> ItemReader::scan(const std::string& placement, size_t most, const Take& take) {
  if (!terms_.may_wait) return fail(Code::would_wait, "these may be many");
  const value::LevelFilter any;
  const cluster::LsnDemand demand;
  cluster::Receipt receipt;
  cluster::EngineSpace space(terms_.engine, terms_.remote, routing_, {ranges_, any}, demand,
                             receipt);
  std::string end;
  auto view = space.open(placement, end);
  if (!view) return pass(view.error());
  if (*view == nullptr) return true;
  const std::string prefix = partition::item_key(placement, "");
  auto items = (*view)->items(&prefix, true);
  if (!items) return pass(items.error());
  auto moved = (*items)->next();
  for (size_t count = 0; moved && *moved; moved = (*items)->next(), ++count) {
    if (!(*items)->key().starts_with(prefix)) break;
    if (count == most) return false;
    if ((*items)->body().empty()) continue;
    if (auto taken = take((*items)->body()); !taken) return pass(taken.error());
  }
  if (!moved) return pass(moved.error());
  if (auto checked = check(); !checked) return pass(checked.error());
  if (auto current = terms_.engine.check_current(); !current) return pass(current.error());
  return true;
}

}  // namespace orrery::gremlin

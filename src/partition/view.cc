// See view.h.
#include "partition/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "partition/format.h"
#include "partition/store.h"
#include "value/ordered.h"
#include "value/terms.h"

namespace orrery::partition {
namespace {

// An entry that is to be passed over costs a tenth of a jump: so many are tried before one.
constexpr int kStepsBeforeJump = 8;
// Estimates below this are exact.
constexpr uint64_t kCountedMax = 256;

// Where entries whose terms are not before `term` begin. No term starts another: when the bound is
// more than a whole term, that term's entries are all before it.
std::string entries_from(std::string_view term) {
  auto size = value::term_size(term);
  if (size && *size < term.size()) return value::after_prefix(term.substr(0, *size));
  return std::string(term);
}

bool is_one_key(std::string_view min, std::string_view max) {
  return max.size() == min.size() + 1 && max.back() == '\0' && max.starts_with(min);
}

}  // namespace

struct View::State {
  State(std::shared_ptr<const Partition> partition_in, const Store& store_in, int64_t now_s_in,
        std::shared_ptr<const Schema> schema_in)
      : partition(std::move(partition_in)),
        store(store_in),
        use(store_in, Store::Use::NoWaiting{}),
        schema(std::move(schema_in)),
        now_s(now_s_in) {}

  rocksdb::ReadOptions options() const {
    rocksdb::ReadOptions read;
    read.snapshot = snapshot->snapshot();
    return read;
  }
  // The entries with terms in [from, to): the keys they lie between, and whether all that lies
  // there is of the stretch.
  struct Span {
    std::string lower;
    std::string upper;
    bool one_term = false;
  };
  Span span(std::string_view from, std::string_view to) const {
    Span span{entries_from(from), entries_from(to)};
    auto size = value::term_size(span.lower);
    span.one_term =
        size && *size == span.lower.size() && span.upper == value::after_prefix(span.lower);
    if (span.one_term) {
      span.upper = span.lower + key_max;
      span.lower += key_min;
    }
    return span;
  }

  // Entries in the span, whichever stretch they are of.
  uint64_t count_up_to(const Span& span, uint64_t most) const {
    const rocksdb::Slice upper = span.upper;
    rocksdb::ReadOptions read = options();
    read.iterate_upper_bound = &upper;
    const std::unique_ptr<rocksdb::Iterator> it(store.db().NewIterator(read, store.terms()));
    uint64_t count = 0;
    for (it->Seek(span.lower); it->Valid() && count < most; it->Next()) ++count;
    return count;
  }

  const std::shared_ptr<const Partition> partition;
  const Store& store;
  const Store::Use use;
  const std::shared_ptr<const Schema> schema;
  const int64_t now_s;  // expiry is decided once
  mutable std::optional<rocksdb::ManagedSnapshot> snapshot;
  PartitionRecord record;
  std::string key_min;  // of the stretch, as keys begin
  std::string key_max;
  bool all_of_it = false;  // nothing in the files is out of the stretch
  uint64_t items_at_most = 0;

  // of the last fetch
  std::vector<rocksdb::PinnableSlice> fetched;
};

// --- the view -----------------------------------------------------------------------------------

View::View(std::unique_ptr<State> state) : state_(std::move(state)) {}
View::~View() = default;

std::unique_ptr<View> View::of_nothing() {
  return std::unique_ptr<View>(new View(nullptr));
}

Result<std::unique_ptr<View>> View::open(std::shared_ptr<const Partition> partition,
                                         std::string_view min, std::string_view max,
                                         std::shared_ptr<const Schema> schema) {
  const Partition& of = *partition;
  min = std::max(min, std::string_view(of.identity_.min));
  max = std::min(max, std::string_view(of.identity_.max));
  if (min >= max) return of_nothing();
  auto state = std::make_unique<State>(std::move(partition), *of.store_, of.shared_.clock.now_s(),
                                       std::move(schema));
  if (auto ok = state->use.ok(); !ok) return pass(ok.error());
  const Store& store = state->store;
  state->snapshot.emplace(&store.db());
  const rocksdb::Snapshot* snapshot = state->snapshot->snapshot();
  auto stored = store.get(store.ledger(), kRecordKey, snapshot);
  if (!stored) return pass(stored.error());
  if (!*stored) return fail(Code::corrupt, "the partition has lost its record");
  auto record = decode_record(**stored);
  if (!record) return pass(record.error());
  state->record = std::move(*record);
  state->key_min = items_from(min);
  state->key_max = items_from(max);
  const bool whole = min == of.identity_.min && max == of.identity_.max;
  state->all_of_it = whole && state->record.trimmed;
  state->items_at_most = state->record.items;
  if (!whole && is_one_key(min, max)) {
    auto size = store.get(store.ledger(), size_key(min), snapshot);
    if (!size) return pass(size.error());
    state->items_at_most = 0;
    if (*size) {
      auto logical = decode_size(**size);
      if (!logical) return pass(logical.error());
      state->items_at_most = logical->items;
    }
  }
  return std::unique_ptr<View>(new View(std::move(state)));
}

uint64_t View::lsn() const {
  return state_ ? state_->record.lsn : 0;
}

bool View::is_indexed() const {
  if (!state_) return true;
  const PartitionRecord& record = state_->record;
  return record.items == 0 ||
         (record.indexed && record.index_version == state_->schema->index_version);
}

bool View::entries_are_items() const {
  return !state_ || !state_->schema->default_ttl_s;
}

uint64_t View::items_at_most() const {
  return state_ ? state_->items_at_most : 0;
}

uint64_t View::estimate(std::string_view from, std::string_view to) const {
  if (!state_ || from >= to) return 0;
  rocksdb::DB& db = state_->store.db();
  rocksdb::ColumnFamilyHandle* family = state_->store.terms();
  const State::Span span = state_->span(from, to);
  // A few are counted: what is estimated from memory can be wrong by any factor, and then the same
  // query would be answered, and charged, now in one way and now in another.
  const uint64_t counted = state_->count_up_to(span, kCountedMax);
  if (counted < kCountedMax) return counted;
  const rocksdb::Range range(span.lower, span.upper);
  uint64_t in_memory = 0;
  uint64_t ignored = 0;
  db.GetApproximateMemTableStats(family, range, &in_memory, &ignored);
  uint64_t bytes = 0;
  const rocksdb::SizeApproximationOptions options;
  if (!db.GetApproximateSizes(options, family, &range, 1, &bytes).ok()) bytes = 0;
  // Files keep entries compressed, some well and some badly: what they take on average is what
  // bytes are worth.
  auto property = [&](const std::string& name) {
    uint64_t number = 0;
    return db.GetIntProperty(family, name, &number) ? number : 0;
  };
  using Properties = rocksdb::DB::Properties;
  const uint64_t all = property(Properties::kEstimateNumKeys);
  const uint64_t unflushed = property(Properties::kNumEntriesActiveMemTable) +
                             property(Properties::kNumEntriesImmMemTables);
  const uint64_t file_bytes = std::max<uint64_t>(property(Properties::kLiveSstFilesSize), 1);
  const double in_files = static_cast<double>(all - std::min(all, unflushed)) *
                          static_cast<double>(std::min(bytes, file_bytes)) /
                          static_cast<double>(file_bytes);
  return std::max(counted, in_memory + static_cast<uint64_t>(in_files));
}

ShapesWithout View::shapes_without(std::string_view term_path) const {
  if (!state_) return {};
  return state_->partition->shapes_without(state_->schema->index_version, term_path);
}

Result<std::vector<std::string_view>> View::fetch(std::span<const std::string> keys) {
  std::vector<std::string_view> bodies(keys.size());
  if (!state_ || keys.empty()) return bodies;
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (!std::ranges::is_sorted(keys)) {
    std::ranges::sort(order, {}, [&](size_t i) -> const std::string& { return keys[i]; });
  }
  // What is out of the stretch may be in the files, and is another's.
  std::erase_if(order,
                [&](size_t i) { return keys[i] < state_->key_min || keys[i] >= state_->key_max; });
  std::vector<rocksdb::Slice> sorted(order.size());
  for (size_t i = 0; i < order.size(); ++i) sorted[i] = keys[order[i]];
  std::vector<rocksdb::Status> statuses(order.size());
  state_->fetched = std::vector<rocksdb::PinnableSlice>(order.size());
  const Store& store = state_->store;
  store.db().MultiGet(state_->options(), store.items(), sorted.size(), sorted.data(),
                      state_->fetched.data(), statuses.data(), /*sorted_input=*/true);
  for (size_t i = 0; i < order.size(); ++i) {
    if (statuses[i].IsNotFound()) continue;
    if (!statuses[i].ok()) return pass(store.translate(statuses[i], "reading items"));
    std::string_view body;
    auto item = decode_item(state_->fetched[i].ToStringView(), body);
    if (!item) return pass(item.error());
    if (!is_expired(*item, *state_->schema, state_->now_s)) bodies[order[i]] = body;
  }
  return bodies;
}

// --- items --------------------------------------------------------------------------------------

struct ItemCursor::State {
  const Store& store;
  const Schema& schema;
  const int64_t now_s;
  const std::string lower;
  const std::string upper;
  const rocksdb::Slice lower_bound = lower;
  const rocksdb::Slice upper_bound = upper;
  std::unique_ptr<rocksdb::Iterator> it = nullptr;
  bool started = false;
};

ItemCursor::ItemCursor(std::unique_ptr<State> state) : state_(std::move(state)) {}
ItemCursor::~ItemCursor() = default;

Result<std::unique_ptr<ItemCursor>> View::items(const std::string* after, bool inclusive) const {
  if (!state_) return std::unique_ptr<ItemCursor>(new ItemCursor(nullptr));
  std::string lower = state_->key_min;
  if (after != nullptr) lower = std::max(lower, inclusive ? *after : *after + '\0');
  auto state = std::unique_ptr<ItemCursor::State>(new ItemCursor::State{.store = state_->store,
                                                                        .schema = *state_->schema,
                                                                        .now_s = state_->now_s,
                                                                        .lower = std::move(lower),
                                                                        .upper = state_->key_max});
  rocksdb::ReadOptions options = state_->options();
  options.iterate_lower_bound = &state->lower_bound;
  options.iterate_upper_bound = &state->upper_bound;
  if (state->lower < state->upper) {
    state->it.reset(state_->store.db().NewIterator(options, state_->store.items()));
  }
  return std::unique_ptr<ItemCursor>(new ItemCursor(std::move(state)));
}

Result<bool> ItemCursor::next() {
  if (!state_ || !state_->it) return false;
  rocksdb::Iterator& it = *state_->it;
  for (;;) {
    if (!state_->started) {
      it.SeekToFirst();
      state_->started = true;
    } else if (it.Valid()) {
      it.Next();
    }
    if (!it.Valid()) {
      if (!it.status().ok()) return pass(state_->store.translate(it.status(), "reading items"));
      return false;
    }
    auto item = decode_item(it.value().ToStringView(), body_);
    if (!item) return pass(item.error());
    if (is_expired(*item, state_->schema, state_->now_s)) continue;
    key_ = it.key().ToStringView();
    return true;
  }
}

// --- entries ------------------------------------------------------------------------------------

struct EntryCursor::State {
  const Store& store;
  const std::string lower;
  const std::string upper;
  const rocksdb::Slice lower_bound = lower;
  const rocksdb::Slice upper_bound = upper;
  const bool descending;
  const bool one_term;
  const bool filtered;      // there may be entries of other stretches in between
  const std::string start;  // where to begin instead of at the first one
  const std::string key_min = {};
  const std::string key_max = {};
  std::unique_ptr<rocksdb::Iterator> it = nullptr;
  bool started = false;
  std::string term = {};  // of the entry last looked at, kept while the iterator moves on
  uint64_t terms_seen = 0;
  std::string target = {};  // of a jump; here so that its memory is used again
};

EntryCursor::EntryCursor(std::unique_ptr<State> state) : state_(std::move(state)) {}
EntryCursor::~EntryCursor() = default;

Result<std::unique_ptr<EntryCursor>> View::entries(std::string_view from, std::string_view to,
                                                   bool descending, const Place* after) const {
  if (!state_ || from >= to) return std::unique_ptr<EntryCursor>(new EntryCursor(nullptr));
  State::Span span = state_->span(from, to);
  std::string start;
  if (after != nullptr) {
    start.append(after->term).append(after->key);
    if (!descending) start.push_back('\0');
  }
  auto state = std::unique_ptr<EntryCursor::State>(
      new EntryCursor::State{.store = state_->store,
                             .lower = std::move(span.lower),
                             .upper = std::move(span.upper),
                             .descending = descending,
                             .one_term = span.one_term,
                             .filtered = !span.one_term && !state_->all_of_it,
                             .start = std::move(start),
                             .key_min = state_->key_min,
                             .key_max = state_->key_max});
  rocksdb::ReadOptions options = state_->options();
  options.iterate_lower_bound = &state->lower_bound;
  options.iterate_upper_bound = &state->upper_bound;
  if (state->lower < state->upper) {
    state->it.reset(state_->store.db().NewIterator(options, state_->store.terms()));
  }
  return std::unique_ptr<EntryCursor>(new EntryCursor(std::move(state)));
}

void EntryCursor::step() {
  rocksdb::Iterator& it = *state_->it;
  if (state_->started) {
    state_->descending ? it.Prev() : it.Next();
    return;
  }
  state_->started = true;
  const std::string& start = state_->start;
  if (state_->descending) {
    if (start.empty() || start >= state_->upper) return it.SeekToLast();
    it.SeekForPrev(start);
    if (it.Valid() && it.key() == start) it.Prev();
  } else {
    start <= state_->lower ? it.SeekToFirst() : it.Seek(start);
  }
}

// Over what is not wanted: to `key`, of the term last looked at.
void EntryCursor::jump(std::string_view key) {
  state_->target.assign(state_->term).append(key);
  state_->descending ? state_->it->SeekForPrev(state_->target) : state_->it->Seek(state_->target);
}

Result<bool> EntryCursor::end() {
  const rocksdb::Status status = state_->it->status();
  entry_ = {};
  term_size_ = 0;
  if (!status.ok()) return pass(state_->store.translate(status, "reading the index"));
  return false;
}

// From where the iterator is to the nearest entry that is to be given.
Result<bool> EntryCursor::settle() {
  rocksdb::Iterator& it = *state_->it;
  State& state = *state_;
  for (int passed = 0; it.Valid();) {
    entry_ = it.key().ToStringView();
    if (state.term.empty() || !entry_.starts_with(state.term)) {
      auto size = value::term_size(entry_);
      if (!size) return pass(size.error());
      term_size_ = *size;
      state.term.assign(entry_.substr(0, term_size_));
      ++state.terms_seen;
    }
    if (!state.filtered) return true;
    const bool before = key() < state.key_min;
    if (!before && key() < state.key_max) return true;
    if (++passed < kStepsBeforeJump) {
      step();
      continue;
    }
    passed = 0;
    if (before != state.descending) {
      jump(before ? state.key_min : state.key_max);
      if (it.Valid() && it.key() == state.target && state.descending) it.Prev();
    } else {
      // The rest of the term is out of the stretch.
      if (!state.descending) {
        state.target = value::after_prefix(state.term);
        it.Seek(state.target);
      } else {
        it.SeekForPrev(state.term);
      }
    }
  }
  return end();
}

Result<bool> EntryCursor::next() {
  if (!state_ || !state_->it) return false;
  if (state_->started && !state_->it->Valid()) return false;
  step();
  return settle();
}

Result<bool> EntryCursor::seek(std::string_view key) {
  if (!state_ || !state_->it) return false;
  if (!state_->started && state_->one_term) {
    // Its first entry need not be looked for.
    auto size = value::term_size(state_->lower);
    if (!size) return pass(size.error());
    state_->started = true;
    state_->target.assign(state_->lower, 0, *size).append(key);
    state_->it->Seek(std::max(state_->target, std::max(state_->start, state_->lower)));
    return settle();
  }
  if (!state_->started) {
    auto first = next();
    if (!first || !*first) return first;
  }
  if (!state_->it->Valid()) return false;
  for (int passed = 0; passed < kStepsBeforeJump; ++passed) {
    if (this->key() >= key) return true;
    const uint64_t term = state_->terms_seen;
    step();
    auto moved = settle();
    if (!moved || !*moved || state_->terms_seen != term) return moved;
  }
  if (this->key() >= key) return true;
  jump(key);
  return settle();
}

}  // namespace orrery::partition

// See view.h.
#include "partition/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <ranges>

#include "partition/file_reads.h"
#include "partition/format.h"
#include "partition/store.h"
#include "value/ordered.h"
#include "value/term_size.h"
#include "value/terms.h"

namespace orrery::partition {
namespace {

// An entry that is to be passed over costs a tenth of a jump: so many are tried before one.
constexpr int kStepsBeforeJump = 8;
// Estimates below this are exact, and their entries kept, for so many ranges.
constexpr uint64_t kCountedMax = 512;
constexpr size_t kCountedRanges = 8;
// A view puts no more items than these into the cache, lest a long query push out what others read.
constexpr size_t kCacheItemsMax = 256;

// Expired items that a cursor over items passes over in one step.
constexpr size_t kPassedMax = 128;

// Where entries whose terms are not before `term` begin. No term starts another: when the bound is
// more than a whole term, that term's entries are all before it.
std::string entries_from(std::string_view term) {
  const size_t size = value::term_size_or_0(term);
  if (size != 0 && size < term.size()) return value::after_prefix(term.substr(0, size));
  return std::string(term);
}

// Whether the range is that of the entries of one term.
bool is_one_term(std::string_view from, std::string_view to) {
  if (from.empty() || value::term_size_or_0(from) != from.size()) return false;
  const bool is_next = to.size() == from.size() + 1 && to.back() == '\0' && to.starts_with(from);
  return is_next || entries_from(to) == value::after_prefix(from);
}

std::string concat(std::string_view a, std::string_view b) {
  std::string both;
  both.reserve(a.size() + b.size());
  return both.append(a).append(b);
}

bool is_one_key(std::string_view min, std::string_view max) {
  return max.size() == min.size() + 1 && max.back() == '\0' && max.starts_with(min);
}

class CountedIterator final : public rocksdb::Iterator {
 public:
  explicit CountedIterator(std::shared_ptr<const StringList> entries)
      : entries_(std::move(entries)), at_(entries_->size()) {}
  bool Valid() const override { return at_ < entries_->size(); }
  void SeekToFirst() override { at_ = 0; }
  void SeekToLast() override { at_ = entries_->size() - 1; }  // beyond the end when there is none
  void Seek(const rocksdb::Slice& target) override { at_ = lower_bound(target.ToStringView()); }
  void SeekForPrev(const rocksdb::Slice& target) override {
    at_ = lower_bound(target.ToStringView());
    if (!Valid() || key() != target) --at_;
  }
  void Next() override { ++at_; }
  void Prev() override { --at_; }
  rocksdb::Slice key() const override { return (*entries_)[at_]; }
  rocksdb::Slice value() const override { return {}; }
  rocksdb::Status status() const override { return rocksdb::Status::OK(); }

 private:
  // The first that is not before this one.
  size_t lower_bound(std::string_view entry) const {
    const auto all = std::views::iota(size_t{0}, entries_->size());
    const auto found =
        std::ranges::lower_bound(all, entry, {}, [this](size_t i) { return (*entries_)[i]; });
    return static_cast<size_t>(found - all.begin());
  }

  const std::shared_ptr<const StringList> entries_;
  size_t at_;
};

}  // namespace

struct View::State {
  State(std::shared_ptr<const Partition> partition_in, const Store& store_in, int64_t now_ms_in,
        const Schema& schema, Reach reach_in)
      : partition(std::move(partition_in)),
        store(store_in),
        use(store_in, Store::Use::NoWaiting{}),
        index_version(schema.index_version),
        visibility{schema.default_life_ms, now_ms_in, store_in.purges().now()},
        reach(reach_in) {}
  ~State() {
    if (reading) store.readings().give_back(std::move(reading));
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const PartitionRecord& record() const { return reading->record(); }
  Error failed(const rocksdb::Status& status, std::string_view doing) const {
    if (reach == Reach::memory && status.IsIncomplete()) return Store::would_wait();
    return store.translate(status, doing);
  }
  // The entries with terms in [from, to): the keys they lie between, and whether all that lies
  // there is of the stretch.
  struct Span {
    std::string lower;
    std::string upper;
    bool one_term = false;
  };
  Span span(std::string_view from, std::string_view to) const {
    if (is_one_term(from, to)) {
      return {concat(from, key_min), concat(from, key_max), true};
    }
    return {entries_from(from), entries_from(to), false};
  }

  // Entries with terms in a range, whichever stretch they are of. If they are fewer than `most`,
  // they are kept for who reads them next.
  Result<uint64_t> count_up_to(std::string_view from, std::string_view to, uint64_t most) {
    const bool is_kept = is_whole && !store.is_follower() && is_one_term(from, to);
    if (is_kept) {
      auto known = partition->shared_.caches->terms.find(partition->term_owner_, from, moment());
      if (known) return keep_counted(from, to, std::move(*known));
    }
    const Span span = this->span(from, to);
    auto entries = reading->take_entries(span.lower, span.upper, {reach, span.one_term});
    auto found = std::make_shared<StringList>();
    rocksdb::Iterator& it = *entries->it;
    for (it.Seek(span.lower); it.Valid() && found->size() < most; it.Next()) {
      found->push_back(it.key().ToStringView());
    }
    const rocksdb::Status status = it.status();
    reading->give_back(std::move(entries));
    if (!status.ok()) return pass(failed(status, "reading the index"));
    if (found->size() >= most) return found->size();
    if (is_kept) {
      partition->shared_.caches->terms.put(partition->term_owner_, from, found, moment());
    }
    return keep_counted(from, to, std::move(found));
  }
  uint64_t keep_counted(std::string_view from, std::string_view to,
                        std::shared_ptr<const StringList> entries) {
    const uint64_t count = entries ? entries->size() : 0;
    if (count > 0 && counted.size() < kCountedRanges) {
      counted.push_back({std::string(from), std::string(to), std::move(entries)});
    }
    return count;
  }
  uint64_t moment() const { return reading->sequence(); }
  struct CountedRange {
    std::string from;
    std::string to;
    std::shared_ptr<const StringList> entries;
  };
  const CountedRange* counted_in(std::string_view from, std::string_view to) const {
    const auto known = std::ranges::find_if(
        counted, [&](const CountedRange& one) { return one.from == from && one.to == to; });
    return known == counted.end() ? nullptr : &*known;
  }

  const std::shared_ptr<const Partition> partition;
  const Store& store;
  const Store::Use use;
  const uint32_t index_version;
  const Visibility visibility;  // made before the reading
  const Reach reach;
  std::unique_ptr<Reading> reading;
  std::string_view key_min;  // of the stretch, as keys begin
  std::string_view key_max;
  std::string own_min;  // what these are of, if the stretch is not the partition
  std::string own_max;
  bool is_whole = false;   // the stretch is the partition
  bool all_of_it = false;  // nothing in the files is out of the stretch
  uint64_t items_at_most = 0;
  std::vector<CountedRange> counted;

  // Of an estimate, which cannot tell; whatever is read next does.
  std::optional<Error> failure;

  // of the last fetch
  std::vector<std::shared_ptr<const Item>> cached;
  std::vector<rocksdb::PinnableSlice> fetched;
  size_t put_in_cache = 0;
};

// --- the view -----------------------------------------------------------------------------------

View::View(std::unique_ptr<State> state) : state_(std::move(state)) {}
View::~View() = default;

std::unique_ptr<View> View::of_nothing() {
  return std::unique_ptr<View>(new View(nullptr));
}

Result<std::unique_ptr<View>> View::open(std::shared_ptr<const Partition> partition,
                                         std::string_view min, std::string_view max,
                                         const Schema& schema, Reach reach) {
  const Partition& of = *partition;
  min = std::max(min, std::string_view(of.identity_.min));
  max = std::min(max, std::string_view(of.identity_.max));
  if (min >= max) return of_nothing();
  const int64_t now_ms = schema.default_life_ms ? of.shared_.clock.now_ms() : 0;
  auto state = std::make_unique<State>(std::move(partition), *of.store_, now_ms, schema, reach);
  if (reach == Reach::memory && !state->use.entered()) return pass(Store::would_wait());
  if (auto ok = state->use.ok(); !ok) return pass(ok.error());
  const Store& store = state->store;
  auto reading = store.readings().take(store, reach);
  if (!reading) return pass(reading.error());
  state->reading = std::move(*reading);
  state->is_whole = min == of.identity_.min && max == of.identity_.max;
  if (state->is_whole) {
    state->key_min = of.items_min_;
    state->key_max = of.items_max_;
  } else {
    state->key_min = state->own_min = items_from(min);
    state->key_max = state->own_max = items_from(max);
  }
  state->all_of_it = state->is_whole && state->record().trimmed;
  state->items_at_most = state->record().items;
  if (!state->is_whole && is_one_key(min, max)) {
    auto size = store.get(store.ledger(), size_key(min), state->reading->snapshot(), reach);
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
  return state_ ? state_->record().lsn : 0;
}

bool View::is_indexed() const {
  if (!state_) return true;
  const PartitionRecord& record = state_->record();
  return record.items == 0 || (record.indexed && record.index_version == state_->index_version);
}

bool View::entries_are_items() const {
  return !state_ || state_->visibility.sees_all();
}

uint64_t View::items_at_most() const {
  return state_ ? state_->items_at_most : 0;
}

uint64_t View::estimate(std::string_view from, std::string_view to) const {
  if (!state_ || from >= to) return 0;
  rocksdb::DB& db = state_->store.db();
  rocksdb::ColumnFamilyHandle* family = state_->store.terms();
  // A few are counted: what is estimated from memory can be wrong by any factor, and then the same
  // query would be answered, and charged, now in one way and now in another.
  auto found = state_->count_up_to(from, to, kCountedMax);
  if (!found) {
    state_->failure = std::move(found.error());
    return 1;
  }
  const uint64_t counted = *found;
  if (counted < kCountedMax) return counted;
  const State::Span span = state_->span(from, to);
  const rocksdb::Range range(span.lower, span.upper);
  uint64_t in_memory = 0;
  uint64_t ignored = 0;
  db.GetApproximateMemTableStats(family, range, &in_memory, &ignored);
  uint64_t bytes = 0;
  const rocksdb::SizeApproximationOptions options;
  std::optional<MemoryOnly> memory_only;
  if (state_->reach == Reach::memory) memory_only.emplace();
  if (!db.GetApproximateSizes(options, family, &range, 1, &bytes).ok()) bytes = 0;
  if (memory_only && memory_only->has_missed()) {
    state_->failure = Store::would_wait();
    return counted;
  }
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
  return state_->partition->shapes_without(state_->index_version, term_path);
}

Result<std::vector<std::string_view>> View::fetch(std::span<const std::string> keys) {
  std::vector<std::string_view> bodies(keys.size());
  if (!state_ || keys.empty()) return bodies;
  if (state_->failure) return pass(*state_->failure);
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (!std::ranges::is_sorted(keys)) {
    std::ranges::sort(order, {}, [&](size_t i) -> const std::string& { return keys[i]; });
  }
  // What is out of the stretch may be in the files, and is another's.
  std::erase_if(order,
                [&](size_t i) { return keys[i] < state_->key_min || keys[i] >= state_->key_max; });
  state_->cached.clear();
  state_->cached.reserve(order.size());
  ItemCache& cache = state_->partition->shared_.caches->items;
  const uint64_t owner = state_->partition->cache_owner_;
  const bool is_follower = state_->store.is_follower();
  std::vector<ItemCache::Ticket> tickets;
  std::vector<size_t> missing;
  for (const size_t i : order) {
    ItemCache::Ticket ticket;
    // Nobody tells the cache what changed under a follower.
    auto item = is_follower ? nullptr : cache.find(owner, keys[i], ticket);
    // The cache has the newest state; one that is not newer than the view is the view's.
    if (!item || item->version.lsn > state_->record().lsn) {
      missing.push_back(i);
      tickets.push_back(ticket);
      continue;
    }
    if (state_->visibility.sees(keys[i], *item)) bodies[i] = item->body;
    state_->cached.push_back(std::move(item));
  }
  if (missing.empty()) return bodies;
  std::vector<rocksdb::Slice> sorted(missing.size());
  for (size_t i = 0; i < missing.size(); ++i) sorted[i] = keys[missing[i]];
  std::vector<rocksdb::Status> statuses(missing.size());
  state_->fetched = std::vector<rocksdb::PinnableSlice>(missing.size());
  const Store& store = state_->store;
  const rocksdb::ReadOptions options = state_->reading->options(state_->reach);
  if (state_->reach == Reach::files) {
    store.db().MultiGet(options, store.items(), sorted.size(), sorted.data(),
                        state_->fetched.data(), statuses.data(), /*sorted_input=*/true);
  } else {
    // RocksDB's MultiGet reads files whatever the options say.
    for (size_t i = 0; i < missing.size(); ++i) {
      auto found = store.get(options, store.items(), sorted[i].ToStringView(), state_->fetched[i],
                             state_->reach, "reading items");
      if (!found) return pass(found.error());
      if (!*found) statuses[i] = rocksdb::Status::NotFound();
    }
  }
  // What was read from the files is the newest state only if nothing was written until after the
  // tickets were taken.
  const bool is_newest = state_->reading->is_newest();
  for (size_t i = 0; i < missing.size(); ++i) {
    if (statuses[i].IsNotFound()) continue;
    if (!statuses[i].ok()) return pass(state_->failed(statuses[i], "reading items"));
    std::string_view body;
    auto item = decode_item(state_->fetched[i].ToStringView(), body);
    if (!item) return pass(item.error());
    if (state_->visibility.sees(keys[missing[i]], *item)) bodies[missing[i]] = body;
    if (is_newest && state_->put_in_cache < kCacheItemsMax) {
      ++state_->put_in_cache;
      item->body = body;
      cache.put(owner, keys[missing[i]], std::make_shared<const Item>(std::move(*item)),
                tickets[i]);
    }
  }
  return bodies;
}

// --- items --------------------------------------------------------------------------------------

struct ItemCursor::State {
  const View::State& view;
  const std::string lower;
  const std::string upper;
  const bool descending;
  const rocksdb::Slice lower_bound = lower;
  const rocksdb::Slice upper_bound = upper;
  std::unique_ptr<rocksdb::Iterator> it = nullptr;
  bool started = false;
};

ItemCursor::ItemCursor(std::unique_ptr<State> state) : state_(std::move(state)) {}
ItemCursor::~ItemCursor() = default;

Result<std::unique_ptr<ItemCursor>> View::items(const std::string* after, bool inclusive) const {
  if (!state_) return std::unique_ptr<ItemCursor>(new ItemCursor(nullptr));
  if (state_->failure) return pass(*state_->failure);
  std::string lower(state_->key_min);
  if (after != nullptr) lower = std::max(lower, inclusive ? *after : *after + '\0');
  return items_between(std::move(lower), std::string(state_->key_max), false);
}

Result<std::unique_ptr<ItemCursor>> View::items_descending(const std::string* before) const {
  if (!state_) return std::unique_ptr<ItemCursor>(new ItemCursor(nullptr));
  if (state_->failure) return pass(*state_->failure);
  std::string upper(state_->key_max);
  if (before != nullptr) upper = std::min(upper, *before);
  return items_between(std::string(state_->key_min), std::move(upper), true);
}

Result<std::unique_ptr<ItemCursor>> View::items_between(std::string lower, std::string upper,
                                                        bool descending) const {
  auto state =
      std::make_unique<ItemCursor::State>(*state_, std::move(lower), std::move(upper), descending);
  rocksdb::ReadOptions options = state_->reading->options(state_->reach);
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
  for (size_t passed = 0;; ++passed) {
    // Those that have expired are passed over, which must not take long either.
    if (passed == kPassedMax) {
      if (state_->view.reach == Reach::memory) return pass(Store::would_wait());
      return true;
    }
    if (!state_->started) {
      state_->descending ? it.SeekToLast() : it.SeekToFirst();
      state_->started = true;
    } else if (it.Valid()) {
      state_->descending ? it.Prev() : it.Next();
    }
    if (!it.Valid()) {
      if (!it.status().ok()) return pass(state_->view.failed(it.status(), "reading items"));
      return false;
    }
    auto item = decode_item(it.value().ToStringView(), body_);
    if (!item) return pass(item.error());
    key_ = it.key().ToStringView();
    if (state_->view.visibility.sees(key_, *item)) return true;
    body_ = {};
  }
}

// --- entries ------------------------------------------------------------------------------------

struct EntryCursor::State {
  State(const View::State& view_in, View::State::Span span, bool descending_in,
        std::string start_in)
      : view(view_in),
        lower(std::move(span.lower)),
        upper(std::move(span.upper)),
        descending(descending_in),
        one_term(span.one_term),
        filtered(!span.one_term && !view_in.all_of_it),
        start(std::move(start_in)) {}
  ~State() {
    if (entries) view.reading->give_back(std::move(entries));
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const View::State& view;
  const std::string lower;  // empty, as the other one, where the entries were counted
  const std::string upper;
  const bool descending;
  const bool one_term;
  const bool filtered;      // there may be entries of other stretches in between
  const std::string start;  // where to begin instead of at the first one
  std::unique_ptr<EntryIterator> entries;
  std::optional<CountedIterator> counted;
  rocksdb::Iterator* it = nullptr;  // one of these
  bool started = false;
  std::string term;  // of the entry last looked at, kept while the iterator moves on
  uint64_t terms_seen = 0;
  std::string target;  // of a jump; here so that its memory is used again
};

EntryCursor::EntryCursor(std::unique_ptr<State> state) : state_(std::move(state)) {}
EntryCursor::~EntryCursor() = default;

Result<std::unique_ptr<EntryCursor>> View::entries(std::string_view from, std::string_view to,
                                                   bool descending, const Place* after) const {
  if (!state_ || from >= to) return std::unique_ptr<EntryCursor>(new EntryCursor(nullptr));
  if (state_->failure) return pass(*state_->failure);
  const State::CountedRange* counted = state_->counted_in(from, to);
  // Counted entries need no bounds.
  State::Span span =
      counted != nullptr ? State::Span{{}, {}, is_one_term(from, to)} : state_->span(from, to);
  if (counted == nullptr && span.lower >= span.upper) {
    return std::unique_ptr<EntryCursor>(new EntryCursor(nullptr));
  }
  std::string start;
  if (after != nullptr) {
    start.append(after->term).append(after->key);
    if (!descending) start.push_back('\0');
  }
  auto state =
      std::make_unique<EntryCursor::State>(*state_, std::move(span), descending, std::move(start));
  if (counted != nullptr) {
    state->it = &state->counted.emplace(counted->entries);
  } else {
    state->entries = state_->reading->take_entries(state->lower, state->upper,
                                                   {state_->reach, state->one_term && !descending});
    state->it = state->entries->it.get();
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
    if (start.empty() || (state_->entries && start >= state_->upper)) return it.SeekToLast();
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
  if (!status.ok()) return pass(state_->view.failed(status, "reading the index"));
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
    const bool before = key() < state.view.key_min;
    if (!before && key() < state.view.key_max) return true;
    if (++passed < kStepsBeforeJump) {
      step();
      continue;
    }
    passed = 0;
    if (before != state.descending) {
      jump(before ? state.view.key_min : state.view.key_max);
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
  if (!state_) return false;
  if (state_->started && !state_->it->Valid()) return false;
  step();
  return settle();
}

Result<bool> EntryCursor::seek(std::string_view key) {
  if (!state_) return false;
  if (!state_->started && state_->one_term && state_->entries) {
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

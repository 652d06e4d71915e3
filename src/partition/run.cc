// See run.h.
#include "partition/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/fault.h"
#include "partition/history_entry.h"
#include "partition/precondition.h"
#include "partition/prepared_terms.h"
#include "value/term_value.h"

namespace orrery::partition {

namespace {

uint32_t chargeable(const std::vector<std::string_view>& terms, const Schema& schema) {
  return static_cast<uint32_t>(std::ranges::count_if(terms, [&](std::string_view term) {
    return !term.starts_with(value::kShapeLead) &&
           std::ranges::none_of(schema.free_paths,
                                [&](const std::string& path) { return term.starts_with(path); });
  }));
}

// What was made of the write's body before it was queued, if it is of the body that is written, and
// by the rules that the write comes with.
const PreparedTerms* prepared_terms(const Write& write) {
  if (!write.prepared || write.editor || write.verb == Verb::reindex) return nullptr;
  if (write.prepared->index_version != write.schema->index_version) return nullptr;
  return write.prepared.get();
}

}  // namespace

Run::Run(Store& store, const Partition::Identity& identity, const PartitionRecord& record,
         int64_t now_ms, const Limits& limits, const KnownSizes& known_sizes, size_t bytes)
    : store_(store),
      identity_(identity),
      now_ms_(now_ms),
      limits_(limits),
      known_sizes_(known_sizes),
      batch_(bytes),
      record_(record),
      purges_before_(store.purges().now()),
      ledger_(store.index_ledger()) {}

std::expected<std::vector<Written>, Run::Failure> Run::apply(
    const std::vector<Write>& transaction) {
  items_.mark();
  sizes_.mark();
  uniques_.mark();
  purges_.mark();
  batch_.SetSavePoint();
  found_bytes_ = 0;
  take_lsn();
  const PartitionRecord before = record_;
  deltas_from_ = deltas_.size();
  const size_t terms_before = terms_.size();
  const size_t term_bytes_before = term_bytes_.size();
  const size_t ledger_before = ledger_.entries().size();
  std::vector<Written> written;
  written.reserve(transaction.size());
  for (size_t i = 0; i < transaction.size(); ++i) {
    auto one = apply_one(transaction[i]);
    if (!one) {
      items_.roll_back();
      sizes_.roll_back();
      uniques_.roll_back();
      purges_.roll_back();
      batch_.RollbackToSavePoint();
      record_ = before;
      deltas_.resize(deltas_from_);
      terms_.resize(terms_before);
      term_bytes_.resize(term_bytes_before);
      ledger_.roll_back(ledger_before);
      return std::unexpected(Failure{std::move(one.error()), i});
    }
    written.push_back(std::move(*one));
  }
  batch_.PopSavePoint();
  return written;
}

void Run::take_lsn() {
  lsn_ = record_.lsn + 1;
  change_step_ = 0;
  history_step_ = 0;
  lsn_bytes_ = 0;
}

void Run::change_term(std::string_view term, std::string_view key, bool add) {
  terms_.push_back({term_bytes_.size(), term.size() + key.size(), term.size(), add});
  term_bytes_.append(term).append(key);
}

Result<std::optional<Item>> Run::current_item(const std::string& key) {
  if (const auto* written = items_.find(key)) return *written;
  auto stored = store_.get(store_.items(), key);
  if (!stored) return pass(stored.error());
  if (!*stored) return std::nullopt;
  return decode_item(**stored);
}

Result<LogicalSize> Run::current_size(const std::string& key) {
  if (const auto* written = sizes_.find(key)) return *written;
  if (auto known = known_sizes_.find(key)) return std::move(*known);
  auto stored = store_.get(store_.ledger(), key);
  if (!stored) return pass(stored.error());
  if (!*stored) return LogicalSize{};
  return decode_size(**stored);
}

Result<std::optional<std::string>> Run::current_holder(const std::string& key) {
  if (const auto* written = uniques_.find(key)) return *written;
  return store_.get(store_.ledger(), key);
}

Status Run::check(const Write& write, const std::optional<Item>& current, bool live) const {
  if (write.seen_lsn && *write.seen_lsn != (live ? current->version.lsn : 0)) {
    return fail(Code::retry, fmt::format("item '{}' was changed by another transaction in the "
                                         "meantime: run the transaction again",
                                         write.row));
  }
  return check_precondition(write, live ? &*current : nullptr, true);
}

Status Run::count_found(const Write& write, const Item& item) {
  found_bytes_ += item.body.size();
  run_found_bytes_ += item.body.size();
  if (found_bytes_ <= limits_.response_bytes) return {};
  return fail(Code::too_large,
              fmt::format("with item '{}' the transaction would answer with more than {} bytes: "
                          "use several",
                          write.row, limits_.response_bytes));
}

Result<Written> Run::apply_one(const Write& write) {
  if (write.placement < identity_.min || write.placement >= identity_.max) {
    return fail(Code::moved, "the key belongs to another partition");
  }
  if (auto adopted = adopt_rules(*write.schema); !adopted) return pass(adopted.error());
  if (write.verb == Verb::reindex) return apply_reindex(write);
  if (write.verb == Verb::indexed) return note_indexed();
  if (write.verb == Verb::purge) return apply_purge(write);
  if (write.verb == Verb::purged) return note_purged(write);
  if (!write.from.empty()) return apply_renaming(write);
  return apply_to_item(write);
}

Result<Written> Run::apply_to_item(const Write& write) {
  const std::string key = item_key(write.placement, write.row);
  auto found = current_item(key);
  if (!found) return pass(found.error());
  std::optional<Item>& current = *found;
  const Schema& schema = *write.schema;
  const bool live = current && is_live(schema, key, *current);
  if (auto checked = check(write, current, live); !checked) return pass(checked.error());

  Written written;
  written.replaced = live;
  written.old_bytes = current ? weight(write, current->body) : 0;
  if (write.wants_before && live) written.before = current->body;
  if (write.verb == Verb::expire && (!current || live)) {
    written.version = current ? current->version : Version{};
    return written;
  }
  if (write.verb == Verb::read) {
    if (auto counted = count_found(write, *current); !counted) return pass(counted.error());
    written.version = current->version;
    written.item = std::move(*current);
    return written;
  }

  const bool removal = write.verb == Verb::remove || write.verb == Verb::expire;
  auto edited = edit(write, current);
  if (!edited) return pass(edited.error());
  const std::shared_ptr<const Note>& note =
      *edited && (*edited)->note ? (*edited)->note : write.note;
  if (is_lsn_full()) take_lsn();
  Item& next = written.item;
  next.version = {lsn_, time_s(), identity_.range, change_step_};
  next.origin = next_origin(current, live || removal);
  next.expiry = expiry_of(write.lifetime, next.version.time_s);
  next.index_version = schema.index_version;
  if (!removal) {
    if (auto made = make_body(write, *edited, next); !made) return pass(made.error());
    written.new_bytes = weight(write, next.body);
  }
  const Item* before = current ? &*current : nullptr;
  const Item* after = removal ? nullptr : &next;
  if (auto indexed = reindex(write, key, before, after, written); !indexed) {
    return pass(indexed.error());
  }
  const int64_t grown =
      static_cast<int64_t>(written.new_bytes) - static_cast<int64_t>(written.old_bytes);
  const int64_t more = (removal ? 0 : 1) - (current ? 1 : 0);
  if (auto sized = change_size(write, grown, more, schema.logical_bytes_max); !sized) {
    return pass(sized.error());
  }
  put_change(write, key, before, live, after);
  if (note) {
    if (auto noted = put_note(write, *note); !noted) return pass(noted.error());
  }
  ++change_step_;
  lsn_bytes_ += written.old_bytes + written.new_bytes;
  note_version(next.version);
  written.version = next.version;
  if (removal) {
    items_.set(key, std::nullopt);
  } else if (write.wants_item) {
    items_.set(key, next);
  } else {
    items_.set(key, std::exchange(next, {}));
  }
  return written;
}

Origin Run::next_origin(const std::optional<Item>& current, bool keeps_it) {
  if (renamed_origin_) return *renamed_origin_;
  if (keeps_it) return current->origin;
  return {identity_.range, ++record_.made};
}

Result<std::optional<Editor::Edited>> Run::edit(const Write& write,
                                                const std::optional<Item>& current) {
  if (!write.editor || !current) return std::nullopt;
  auto edited = write.editor->edit(*current);
  if (!edited) return pass(edited.error());
  return std::move(*edited);
}

Status Run::make_body(const Write& write, std::optional<Editor::Edited>& edited, Item& next) {
  if (edited) next.expiry = expiry_of(edited->lifetime, next.version.time_s);
  if (write.finisher) {
    next.body =
        write.finisher->finish(edited ? edited->body : write.body, next.version, next.origin);
  } else {
    next.body = edited ? std::move(edited->body) : write.body;
  }
  return edited ? count_found(write, next) : Status{};
}

void Run::put_change(const Write& write, const std::string& key, const Item* before, bool live,
                     const Item* after) {
  if (before != nullptr) batch_.Delete(store_.changes(), change_key(before->version));
  // What has expired or was purged ends before something else takes its place.
  if (before != nullptr && !live) remember(end_of(key, *before), key, before, nullptr);
  if (after == nullptr) {
    if (live) remember(EventKind::remove, key, before, nullptr);
    return;
  }
  const EventKind change = write.is_edit ? EventKind::edit : EventKind::replace;
  remember(live ? change : EventKind::create, key, live ? before : nullptr, after);
  batch_.Put(store_.changes(), change_key(after->version), key);
}

void Run::note_version(const Version& version) {
  if (version.time_s < record_.time_s) {
    record_.time_order.note_step_back(record_.lsn, record_.time_s);
  }
  record_.lsn = version.lsn;
  record_.time_s = version.time_s;
}

Result<Written> Run::apply_renaming(const Write& write) {
  auto found = current_item(item_key(write.placement, write.from));
  if (!found) return pass(found.error());
  Write leave;
  leave.verb = Verb::remove;
  leave.placement = write.placement;
  leave.row = write.from;
  leave.key_text = write.key_text;
  leave.if_version = write.if_version;
  leave.schema = write.schema;
  leave.wants_before = write.wants_before;
  auto left = apply_one(leave);
  if (!left) return left;

  Write come = write;
  come.verb = Verb::create;
  come.from.clear();
  come.if_version.reset();
  if (*found) renamed_origin_ = (*found)->origin;
  auto written = apply_one(come);
  renamed_origin_.reset();
  if (!written) return written;
  written->replaced = true;
  written->before = std::move(left->before);
  written->old_bytes = left->old_bytes;
  written->terms_removed = left->terms_removed;
  return written;
}

// A history ends with new rules alone: a write that knows of none, and comes with the same rules,
// was made before it began (see history.cc).
Status Run::adopt_rules(const Schema& schema) {
  if (schema.index_version < record_.index_version) {
    return fail(Code::moved, "the container's index rules have changed");
  }
  const bool is_newer = schema.index_version > record_.index_version;
  const bool begins = schema.history_s > 0 && record_.history_after == kNoHistory;
  if (!is_newer && !begins) return {};
  if (is_newer) {
    record_.index_version = schema.index_version;
    record_.indexed = record_.items == 0;
    if (schema.history_s == 0) {
      record_.history_after = kNoHistory;
      record_.history_floors.clear();
    }
  }
  if (begins) record_.history_after = lsn_ - 1;
  batch_.Put(store_.ledger(), kRecordKey, encode_record(record_));
  return {};
}

// The item stays what it is: no LSN, no entry among the changes. Unique keys that the container has
// got since are claimed; those that it has given up are left.
Result<Written> Run::apply_reindex(const Write& write) {
  const std::string key = item_key(write.placement, write.row);
  auto found = current_item(key);
  if (!found) return pass(found.error());
  Written written;
  if (!*found || (*found)->index_version == write.schema->index_version) return written;
  const Item& before = **found;
  Item after = before;
  after.index_version = write.schema->index_version;
  if (auto indexed = reindex(write, key, &before, &after, written); !indexed) {
    return pass(indexed.error());
  }
  items_.set(key, std::move(after));
  return written;
}

// No item has terms by the definitions before: they are not needed any more. In memory they stay
// until the partition is next opened, for views from before.
Result<Written> Run::note_indexed() {
  record_.indexed = true;
  batch_.Put(store_.ledger(), kRecordKey, encode_record(record_));
  for (const auto& [from, to] :
       {std::pair(std::string(kDefinitions), definition_key(record_.index_version)),
        std::pair(std::string(kShapes), shape_key(record_.index_version, 0))}) {
    const rocksdb::Slice upper_bound = to;
    rocksdb::ReadOptions options = read_options();
    options.iterate_upper_bound = &upper_bound;
    std::unique_ptr<rocksdb::Iterator> it(store_.db().NewIterator(options, store_.ledger()));
    for (it->Seek(from); it->Valid(); it->Next()) batch_.Delete(store_.ledger(), it->key());
    if (!it->status().ok())
      return pass(store_.translate(it->status(), "reading the index's ledger"));
  }
  return Written{};
}

void Run::remember(EventKind operation, std::string_view key, const Item* before,
                   const Item* after) {
  if (record_.history_after == kNoHistory) return;
  HistoryEntry entry{.operation = operation, .time_s = time_s(), .item_key = key};
  if (before != nullptr) {
    entry.previous_lsn = before->version.lsn;
    entry.previous_body = before->body;
  }
  if (after != nullptr) entry.body = after->body;
  batch_.Put(store_.history(), history_key(lsn_, identity_.range, history_step_++),
             encode_history(entry));
}

Status Run::reindex(const Write& write, const std::string& key, const Item* before,
                    const Item* after, Written& written) {
  const Schema& schema = *write.schema;
  const bool same_rules = before != nullptr && before->index_version == schema.index_version;
  // Terms made by other rules may be there even if today's rules make none.
  const bool stale = before != nullptr && !same_rules;
  if (!schema.indexed && schema.unique_keys.empty() && !stale) return {};

  const bool is_read = schema.indexed || !schema.unique_keys.empty();
  std::optional<value::Document> old_body, new_body;
  if (before != nullptr) {
    auto parsed = schema.codec->parse(before->body);
    if (parsed) {
      old_body = std::move(*parsed);
    } else if (is_read) {
      return fail(Code::corrupt, fmt::format("the stored item '{}' cannot be read: {}", write.row,
                                             parsed.error().message));
    }
  }
  const PreparedTerms* prepared = after == nullptr ? nullptr : prepared_terms(write);
  if (after != nullptr && is_read && prepared == nullptr) {
    auto parsed = schema.codec->parse(after->body);
    if (!parsed) return pass(parsed.error());
    new_body = std::move(*parsed);
  }
  if (!schema.unique_keys.empty()) {
    std::optional<UniqueValues> old_values, new_values;
    if (old_body) old_values = unique_values(old_body->root(), schema);
    if (new_body) new_values = unique_values(new_body->root(), schema);
    const UniqueValues* coming = prepared != nullptr ? &prepared->unique_values
                                 : new_values        ? &*new_values
                                                     : nullptr;
    // Of an item that has expired, or was purged, another may have taken the values.
    const bool has_ended = write.verb == Verb::reindex && !is_live(schema, key, *before);
    const Claim claim = !stale ? Claim::held : !has_ended ? Claim::again : Claim::again_if_free;
    if (auto unique = put_unique(write, old_values ? &*old_values : nullptr, coming, claim);
        !unique) {
      return unique;
    }
  }

  TermSet gone, come;
  if (old_body && stale) {
    const auto policy = ledger_.policy(before->index_version);
    if (policy) gone = stored_terms(old_body->root(), *policy, before->index_version);
  } else if (old_body && schema.indexed) {
    gone = stored_terms(old_body->root(), schema.index, schema.index_version);
  }
  if (after != nullptr && schema.indexed) {
    come = new_terms(write, *after, prepared, new_body ? &new_body->root() : nullptr);
  }
  std::vector<std::string_view> removed, added;
  added.reserve(come.terms().size());
  std::ranges::set_difference(gone.terms(), come.terms(), std::back_inserter(removed));
  std::ranges::set_difference(come.terms(), gone.terms(), std::back_inserter(added));
  // For tests of what checks the index.
  if (!added.empty() && !fault::point("partition.term")) added.pop_back();
  for (std::string_view term : removed) change_term(term, key, false);
  for (std::string_view term : added) change_term(term, key, true);
  written.terms_removed = chargeable(removed, schema);
  written.terms_added = chargeable(added, schema);
  return {};
}

TermSet Run::stored_terms(const value::Node& item, const value::IndexPolicy& policy,
                          uint32_t version) const {
  TermSet set = TermSet::of(item, policy);
  if (policy.has_shapes()) set.add_shape(ledger_.name_of(version, set.shape()));
  return set;
}

TermSet Run::new_terms(const Write& write, const Item& after, const PreparedTerms* prepared,
                       const value::Node* item) {
  const Schema& schema = *write.schema;
  ledger_.use_policy(schema.index_version, schema.index);
  TermSet set;
  if (prepared == nullptr) {
    set = TermSet::of(*item, schema.index);
  } else {
    std::string bytes;
    std::vector<size_t> ends;
    if (write.finisher) {
      bytes.reserve(256);
      ends.reserve(write.finisher->added_names().size());
      write.finisher->each_added(after.version, after.origin, [&](const value::Value& value) {
        value::append_term_value(bytes, value, schema.index.definition().order);
        ends.push_back(bytes.size());
      });
    }
    std::vector<std::string_view> added;
    added.reserve(ends.size());
    for (size_t i = 0; i < ends.size(); ++i) {
      const size_t start = i == 0 ? 0 : ends[i - 1];
      added.push_back(std::string_view(bytes).substr(start, ends[i] - start));
    }
    set = TermSet::complete(prepared->draft, added);
  }
  if (schema.index.has_shapes()) {
    const auto& shape = prepared != nullptr ? prepared->draft.shape() : set.shape();
    set.add_shape(ledger_.give_name(schema.index_version, shape));
  }
  return set;
}

Status Run::change_size(const Write& write, int64_t bytes, int64_t items, uint64_t limit) {
  const std::string key = size_key(write.placement);
  auto size = current_size(key);
  if (!size) return pass(size.error());
  const uint64_t grown = size->bytes + static_cast<uint64_t>(bytes);
  if (bytes > 0 && grown > limit) {
    return fail(
        Code::partition_full,
        fmt::format("the logical partition of key {} is full: it holds {} bytes, this write "
                    "would make it {}, and the limit is {}. Delete items of this key, or "
                    "choose a partition key with more distinct values",
                    write.key_text, size->bytes, grown, limit));
  }
  size->bytes = grown;
  if (!fault::point("partition.size")) ++size->bytes;  // for tests of what checks sizes
  size->items += static_cast<uint64_t>(items);
  if (!write.key_text.empty()) size->key_text = write.key_text;  // expiry does not know it
  sizes_.set(key, std::move(*size));
  record_.bytes += static_cast<uint64_t>(bytes);
  record_.items += static_cast<uint64_t>(items);
  if (deltas_.size() == deltas_from_ || deltas_.back().placement != write.placement) {
    deltas_.push_back({.placement = write.placement});
  }
  deltas_.back().bytes += bytes;
  deltas_.back().items += items;
  return {};
}

}  // namespace orrery::partition

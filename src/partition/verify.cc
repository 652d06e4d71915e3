// See verify.h.
#include "partition/verify.h"

#include <fmt/format.h>
#include <rocksdb/snapshot.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/hash.h"
#include "partition/format.h"
#include "partition/prepared_terms.h"
#include "partition/purge_marks.h"
#include "partition/store.h"
#include "partition/term_set.h"
#include "value/ordered.h"

namespace orrery::partition {
namespace {

constexpr uint64_t kProgressEvery = 1'000;

// A set of byte strings as a number and a sum: two that differ have different ones, but for a
// chance of 2^-128.
class Tally {
 public:
  void add(std::string_view key, std::string_view value = {}) {
    buffer_.assign(key);
    buffer_ += '\0';
    buffer_ += value;
    const auto hash = murmur3_x64_128(buffer_, 0);
    uint64_t low = 0;
    uint64_t high = 0;
    std::memcpy(&low, hash.data(), sizeof low);
    std::memcpy(&high, hash.data() + sizeof low, sizeof high);
    low_ += low;
    high_ += high;
    ++count_;
  }
  uint64_t count() const { return count_; }
  bool operator==(const Tally& other) const {
    return count_ == other.count_ && low_ == other.low_ && high_ == other.high_;
  }

 private:
  uint64_t count_ = 0;
  uint64_t low_ = 0;
  uint64_t high_ = 0;
  std::string buffer_;
};

// What a term is about, as a path that people write.
std::string describe_term(std::string_view term) {
  if (term.empty()) return "an empty term";
  if (term[0] == 4) return "its shape";
  if (term[0] == 5) return "a composite index";
  const bool is_cell = term[0] == 6;
  if (is_cell) term.remove_prefix(1);
  std::string path;
  while (!term.empty() && (term[0] == 2 || term[0] == 3)) {
    const bool is_array = term[0] == 3;
    term.remove_prefix(1);
    if (is_array) {
      path += "/[]";
      continue;
    }
    auto name = value::take_ordered_bytes(term);
    if (!name) break;
    path += "/" + *name;
  }
  return (is_cell ? "a cell of " : "") + path;
}

}  // namespace

class Verifier {
 public:
  Verifier(const Store& store, const Partition::Identity& identity, const Schema& schema,
           const VerifyProgress& progress)
      : store_(store),
        identity_(identity),
        schema_(schema),
        progress_(progress),
        snapshot_(&store.db()),
        ledger_(store.index_ledger()),
        purges_(store.purges().now()),
        items_min_(items_from(identity.min)),
        items_max_(items_from(identity.max)) {}

  Result<Verification> run() {
    if (auto done = walk_items(); !done) return pass(done.error());
    if (auto done = check_totals(); !done) return pass(done.error());
    if (auto done = check_terms(); !done) return pass(done.error());
    if (auto done = check_changes(); !done) return pass(done.error());
    if (auto done = check_unique_values(); !done) return pass(done.error());
    return std::move(found_);
  }

 private:
  void note(Flaw::Kind kind, std::string what) {
    if (++flaws_[kind] > kFlawsMax) {
      ++found_.more_flaws;
    } else {
      found_.flaws.push_back({kind, std::move(what)});
    }
  }
  bool is_full(Flaw::Kind kind) const {
    const auto found = flaws_.find(kind);
    return found != flaws_.end() && found->second >= kFlawsMax;
  }

  rocksdb::ReadOptions options() const {
    rocksdb::ReadOptions options = read_options();
    options.snapshot = snapshot_.snapshot();
    options.fill_cache = false;
    return options;
  }

  // Calls `visit` with each key and value of [from, to); `visit` returns whether to go on.
  template <class Visit>
  Status walk(rocksdb::ColumnFamilyHandle* family, const std::string& from, const std::string& to,
              std::string_view doing, const Visit& visit) const {
    const rocksdb::Slice upper(to);
    rocksdb::ReadOptions reading = options();
    if (!to.empty()) reading.iterate_upper_bound = &upper;
    reading.readahead_size = 2U << 20;
    const std::unique_ptr<rocksdb::Iterator> it(store_.db().NewIterator(reading, family));
    for (it->Seek(from); it->Valid(); it->Next()) {
      auto goes_on = visit(it->key().ToStringView(), it->value().ToStringView());
      if (!goes_on) return pass(goes_on.error());
      if (!*goes_on) break;
    }
    if (!it->status().ok()) return pass(store_.translate(it->status(), doing));
    return {};
  }

  // The value under a key, in the snapshot.
  Result<std::optional<std::string>> get(rocksdb::ColumnFamilyHandle* family,
                                         const std::string& key) const {
    std::string value;
    const rocksdb::Status status = store_.db().Get(options(), family, key, &value);
    if (status.IsNotFound()) return std::optional<std::string>();
    if (!status.ok()) return pass(store_.translate(status, "looking up an entry"));
    return std::optional(std::move(value));
  }

  std::string name_of(std::string_view item_key) const {
    auto key = parse_item_key(item_key);
    return key ? fmt::format("item '{}'", key->row) : "an item whose key cannot be read";
  }

  bool is_purged(std::string_view item_key, const Item& item) const {
    if (!purges_) return false;
    const auto lsn = purge_of(*purges_, item_key);
    return lsn && item.version.lsn <= *lsn;
  }

  // The terms that an item should have. Nothing, and a flaw, when its body cannot be read. The
  // views are into `set`.
  std::optional<TermSet> terms_of(std::string_view item_key, const Item& item,
                                  const value::Node& root) {
    if (!schema_.indexed) return TermSet();
    const value::IndexPolicy* policy = policy_of(item.index_version);
    if (policy == nullptr) {
      note(Flaw::Kind::item,
           fmt::format("{} has terms of index version {}, whose definition is not there",
                       name_of(item_key), item.index_version));
      return std::nullopt;
    }
    TermSet set = TermSet::of(root, *policy);
    if (policy->has_shapes()) set.add_shape(ledger_.name_of(item.index_version, set.shape()));
    return set;
  }

  const value::IndexPolicy* policy_of(uint32_t version) {
    auto known = policies_.find(version);
    if (known == policies_.end()) {
      known = policies_.emplace(version, store_.index_ledger().policy(version)).first;
    }
    return known->second ? &*known->second : nullptr;
  }

  struct OpenItem {
    Item item;
    value::Document document;
  };
  // Nothing, and a flaw, when it cannot be read.
  std::optional<OpenItem> open_item(std::string_view key, std::string_view stored) {
    std::string_view body;
    auto item = decode_item(stored, body);
    if (!item) {
      note(Flaw::Kind::item, fmt::format("{}: {}", name_of(key), item.error().message));
      return std::nullopt;
    }
    auto document = schema_.codec->parse(body);
    if (!document) {
      note(Flaw::Kind::item, fmt::format("{}: {}", name_of(key), document.error().message));
      return std::nullopt;
    }
    return OpenItem{std::move(*item), std::move(*document)};
  }

  // --- items, and the sizes of their logical partitions, side by side ----------------------------
  Status walk_items() {
    std::string placement;
    Usage here;
    const auto end_of_key = [&]() -> Status {
      if (here.items == 0) return {};
      ++found_.keys;
      auto size = get(store_.ledger(), size_key(placement));
      if (!size) return pass(size.error());
      compare_size(here, *size);
      return {};
    };
    auto walked =
        walk(store_.items(), items_min_, items_max_, "reading items",
             [&](std::string_view key, std::string_view stored) -> Result<bool> {
               auto parsed = parse_item_key(key);
               if (!parsed) {
                 note(Flaw::Kind::item, fmt::format("a key of items: {}", parsed.error().message));
                 return true;
               }
               if (here.items == 0 || parsed->placement != placement) {
                 if (auto compared = end_of_key(); !compared) return pass(compared.error());
                 placement = parsed->placement;
                 here = {};
               }
               auto counted = count_item(key, *parsed, stored);
               if (!counted) return pass(counted.error());
               ++here.items;
               here.bytes += *counted;
               if (found_.usage.items % kProgressEvery == 0 && progress_)
                 progress_(found_.usage.items);
               return true;
             });
    if (!walked) return walked;
    if (auto compared = end_of_key(); !compared) return compared;
    return check_sizes_without_items();
  }

  // Adds an item to what is expected; gives what it weighs.
  Result<uint64_t> count_item(std::string_view key, const ItemKey& parsed,
                              std::string_view stored) {
    std::string_view body;
    const auto item = decode_item(stored, body);
    const uint64_t bytes = parsed.row.size() + (item ? body.size() : 0);
    ++found_.usage.items;
    found_.usage.bytes += bytes;
    auto open = open_item(key, stored);
    if (!open) return bytes;
    changes_expected_.add(change_key(open->item.version), key);
    if (const auto terms = terms_of(key, open->item, open->document.root())) {
      for (const std::string_view term : terms->terms()) {
        term_key_.assign(term);
        term_key_ += key;
        terms_expected_.add(term_key_);
      }
    }
    if (schema_.unique_keys.empty()) return bytes;
    const auto values = unique_values(open->document.root(), schema_);
    for (size_t i = 0; i < values.size(); ++i) {
      if (!values[i]) continue;
      const std::string unique = unique_key(parsed.placement, i, *values[i]);
      // Of a purged item another may have taken them. One that was written before the keys changed
      // may not hold them yet, or may hold some that are retired.
      const bool is_stale = open->item.index_version != schema_.index_version;
      if (!is_stale && is_retired(schema_.unique_keys[i])) continue;
      if (is_stale || is_purged(key, open->item)) {
        auto holder = get(store_.ledger(), unique);
        if (!holder) return pass(holder.error());
        if (!*holder || **holder != parsed.row) continue;
      }
      uniques_expected_.add(unique, parsed.row);
    }
    return bytes;
  }

  void compare_size(const Usage& here, const std::optional<std::string>& stored) {
    if (!stored) {
      note(Flaw::Kind::size,
           fmt::format("a partition key has {} items of {} bytes, and no size is recorded of it",
                       here.items, here.bytes));
      return;
    }
    auto size = decode_size(*stored);
    if (!size) {
      note(Flaw::Kind::size, size.error().message);
    } else if (size->items != here.items || size->bytes != here.bytes) {
      note(Flaw::Kind::size,
           fmt::format("partition key {} has {} items of {} bytes, and recorded are {} of {}",
                       size->key_text, here.items, here.bytes, size->items, size->bytes));
    }
  }

  Status check_sizes_without_items() {
    uint64_t sizes = 0;
    auto walked =
        walk(store_.ledger(), size_key(identity_.min), size_key(identity_.max), "reading sizes",
             [&](std::string_view, std::string_view stored) -> Result<bool> {
               auto size = decode_size(stored);
               if (!size || size->items > 0) ++sizes;
               return true;
             });
    if (!walked) return walked;
    if (sizes > found_.keys) {
      note(Flaw::Kind::size,
           fmt::format("{} partition keys have a size recorded, and {} have items", sizes,
                       found_.keys));
    }
    return {};
  }

  Status check_totals() {
    auto stored = get(store_.ledger(), std::string(kRecordKey));
    if (!stored) return pass(stored.error());
    if (!*stored) return {};  // nothing was ever written
    auto record = decode_record(**stored);
    if (!record) return pass(record.error());
    if (record->items != found_.usage.items || record->bytes != found_.usage.bytes) {
      note(Flaw::Kind::total,
           fmt::format("it has {} items of {} bytes, and recorded are {} of {}", found_.usage.items,
                       found_.usage.bytes, record->items, record->bytes));
    }
    return {};
  }

  // --- index entries
  // -------------------------------------------------------------------------------- The part of a
  // term's key that is the item's.
  static Result<std::string_view> item_of(std::string_view term_key) {
    auto size = value::term_size(term_key);
    if (!size) return pass(size.error());
    return term_key.substr(*size);
  }

  bool in_range(std::string_view item_key) const {
    return item_key >= items_min_ && item_key < items_max_;
  }

  Status check_terms() {
    Tally there;
    auto walked = walk(store_.terms(), "", "", "reading the index",
                       [&](std::string_view key, std::string_view) -> Result<bool> {
                         auto item = item_of(key);
                         if (!item) {
                           note(Flaw::Kind::term, item.error().message);
                         } else if (in_range(*item)) {
                           there.add(key);
                         }
                         return true;
                       });
    if (!walked) return walked;
    found_.terms = there.count();
    if (there == terms_expected_) return {};
    if (auto named = name_missing_terms(); !named) return named;
    return name_extra_terms();
  }

  Status name_missing_terms() {
    return walk(store_.items(), items_min_, items_max_, "reading items",
                [&](std::string_view key, std::string_view stored) -> Result<bool> {
                  auto open = open_item_quietly(stored);
                  if (!open) return true;
                  const auto terms = terms_of(key, open->item, open->document.root());
                  for (const std::string_view term :
                       terms ? terms->terms() : std::vector<std::string_view>()) {
                    auto entry = get(store_.terms(), std::string(term) + std::string(key));
                    if (!entry) return pass(entry.error());
                    if (*entry) continue;
                    note(Flaw::Kind::term,
                         fmt::format("{} is not found by {}: the index has no entry", name_of(key),
                                     describe_term(term)));
                    if (is_full(Flaw::Kind::term)) return false;
                  }
                  return true;
                });
  }

  Status name_extra_terms() {
    return walk(store_.terms(), "", "", "reading the index",
                [&](std::string_view key, std::string_view) -> Result<bool> {
                  auto item_key = item_of(key);
                  if (!item_key || !in_range(*item_key)) return true;
                  auto stored = get(store_.items(), std::string(*item_key));
                  if (!stored) return pass(stored.error());
                  const std::string_view term = key.substr(0, key.size() - item_key->size());
                  if (!*stored) {
                    note(Flaw::Kind::term,
                         fmt::format("the index finds {} by {}, and there is no such item",
                                     name_of(*item_key), describe_term(term)));
                  } else if (auto open = open_item_quietly(**stored)) {
                    const auto terms = terms_of(*item_key, open->item, open->document.root());
                    if (!terms || std::ranges::binary_search(terms->terms(), term)) return true;
                    note(Flaw::Kind::term,
                         fmt::format("the index finds {} by {} with a value that it does not have",
                                     name_of(*item_key), describe_term(term)));
                  }
                  return !is_full(Flaw::Kind::term);
                });
  }

  // What could not be read was told already.
  std::optional<OpenItem> open_item_quietly(std::string_view stored) const {
    std::string_view body;
    auto item = decode_item(stored, body);
    if (!item) return std::nullopt;
    auto document = schema_.codec->parse(body);
    if (!document) return std::nullopt;
    return OpenItem{std::move(*item), std::move(*document)};
  }

  // --- changes and unique values
  // ------------------------------------------------------------------
  Status check_changes() {
    Tally there;
    auto walked = walk(store_.changes(), "", "", "reading changes",
                       [&](std::string_view key, std::string_view item) -> Result<bool> {
                         if (in_range(item)) there.add(key, item);
                         return true;
                       });
    if (!walked || there == changes_expected_) return walked;
    note(Flaw::Kind::change,
         fmt::format("the log of changes has {} entries, and items have {}: they are not the same",
                     there.count(), changes_expected_.count()));
    return {};
  }

  Status check_unique_values() {
    Tally there;
    auto walked = walk(store_.ledger(), unique_range(identity_.min), unique_range(identity_.max),
                       "reading unique values",
                       [&](std::string_view key, std::string_view row) -> Result<bool> {
                         there.add(key, row);
                         return true;
                       });
    if (!walked || there == uniques_expected_) return walked;
    note(Flaw::Kind::unique,
         fmt::format("{} unique values are recorded, and items have {}: they are not the same",
                     there.count(), uniques_expected_.count()));
    return {};
  }

  const Store& store_;
  const Partition::Identity& identity_;
  const Schema& schema_;
  const VerifyProgress& progress_;
  mutable rocksdb::ManagedSnapshot snapshot_;  // it tells its snapshot to non-const callers only
  const IndexLedgerDraft ledger_;
  const PurgeMarksPtr purges_;
  const std::string items_min_;
  const std::string items_max_;
  std::unordered_map<uint32_t, std::optional<value::IndexPolicy>> policies_;
  std::map<Flaw::Kind, uint64_t> flaws_;
  Tally terms_expected_;
  Tally changes_expected_;
  Tally uniques_expected_;
  std::string term_key_;
  Verification found_;
};

Result<Verification> Partition::verify(const Schema& schema, const VerifyProgress& progress) const {
  const Store::Use use(*store_);
  if (auto ok = use.ok(); !ok) return pass(ok.error());
  return Verifier(*store_, identity_, schema, progress).run();
}

}  // namespace orrery::partition

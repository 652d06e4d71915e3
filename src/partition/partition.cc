// Opening and reading. Changes are in changes.cc, writing in writer.cc and run.cc, splitting in
// split.cc, collecting what has expired or was purged in collect.cc.
#include "partition/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <queue>
#include <thread>

#include "partition/format.h"
#include "partition/store.h"
#include "partition/writer.h"
#include "value/ordered.h"

namespace orrery::partition {
Result<std::shared_ptr<Partition>> Partition::open(Shared& shared, volume::Volume& volume,
                                                   std::string_view volume_name,
                                                   const Identity& identity, Opening opening) {
  auto claim =
      opening == Opening::claim ? volume.claim(volume_name) : volume.take_over(volume_name);
  if (!claim) return pass(claim.error());
  PartitionRecord fresh;
  fresh.range = identity.range;
  fresh.min = identity.min;
  fresh.max = identity.max;
  auto store = Store::open(shared, volume, std::move(*claim), fresh);
  if (!store) return pass(store.error());
  const PartitionRecord& record = (*store)->record();
  if (record.range != identity.range || record.min != identity.min || record.max != identity.max) {
    return fail(
        Code::corrupt,
        fmt::format("the files of '{}' belong to range {}, not to range {} that the catalog "
                    "expects there",
                    volume_name, record.range, identity.range));
  }
  if (!record.trimmed) (*store)->filter().activate(record.min, record.max);
  return std::shared_ptr<Partition>(new Partition(shared, volume, identity, std::move(*store)));
}

Result<uint64_t> Partition::stored_lsn(const Shared& shared, volume::Volume& volume,
                                       std::string_view volume_name) {
  auto claim = volume.claim(volume_name);
  if (!claim) return pass(claim.error());
  auto store = Store::open(shared, volume, std::move(*claim), {});
  if (!store) return pass(store.error());
  return (*store)->record().lsn;
}

Partition::Partition(Shared& shared, volume::Volume& volume, Identity identity,
                     std::unique_ptr<Store> store)
    : shared_(shared),
      volume_(volume),
      identity_(std::move(identity)),
      items_min_(items_from(identity_.min)),
      items_max_(items_from(identity_.max)),
      store_(std::move(store)),
      cache_owner_(shared_.caches->items.new_owner()),
      term_owner_(shared_.caches->terms),
      writer_(std::make_unique<Writer>(*this, shared_, *store_)) {}

Partition::~Partition() = default;

uint64_t Partition::epoch() const {
  return store_->claim().epoch();
}

uint64_t Partition::lsn() const {
  return writer_->lsn();
}

Usage Partition::usage() const {
  return writer_->usage();
}

uint32_t Partition::index_version() const {
  return writer_->record().index_version;
}

std::string Partition::read_only_reason() const {
  return writer_->read_only_reason();
}

void Partition::submit(std::vector<Write> transaction, Completion done) {
  writer_->submit(std::move(transaction), std::move(done));
}

void Partition::release_readings() const {
  const Store::Use use(*store_);
  store_->readings().drop();
}

void Partition::flush_removals() const {
  const Store::Use use(*store_, Store::Use::NoWaiting());
  if (use.ok()) store_->flush_removals();
}

void Partition::drain() {
  writer_->drain();
}

Status Partition::settle() const {
  if (auto flushed = store_->flush(); !flushed) return flushed;
  const auto busy = [this](std::string_view property) {
    uint64_t count = 0;
    return store_->db().GetAggregatedIntProperty(std::string(property), &count) && count > 0;
  };
  while (busy(rocksdb::DB::Properties::kNumRunningCompactions) ||
         busy(rocksdb::DB::Properties::kNumRunningFlushes) ||
         busy(rocksdb::DB::Properties::kCompactionPending)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return {};
}

Result<std::optional<Item>> Partition::read(std::string_view placement, std::string_view row,
                                            Reach reach) const {
  if (placement < identity_.min || placement >= identity_.max) {
    return fail(Code::moved, "the key belongs to another partition");
  }
  const std::string key = item_key(placement, row);
  const bool is_follower = store_->is_follower();
  // Whether it has expired is the caller's to say.
  Visibility visibility{std::nullopt, 0, store_->purges().now()};
  ItemCache::Ticket ticket;
  if (!is_follower) {
    if (auto cached = shared_.caches->items.find(cache_owner_, key, ticket)) {
      return visibility.sees(key, *cached) ? std::optional(*cached) : std::nullopt;
    }
  }
  std::optional<Store::Use> use;
  if (reach == Reach::files && !is_follower) {
    use.emplace(*store_);
  } else {
    use.emplace(*store_, Store::Use::NoWaiting{});
    if (!use->entered() && !is_follower) return pass(Store::would_wait());
  }
  if (auto ok = use->ok(); !ok) return pass(ok.error());
  if (is_follower) visibility = {std::nullopt, 0, store_->purges().now()};  // may have caught up
  rocksdb::PinnableSlice stored;
  auto found =
      store_->get(rocksdb::ReadOptions(), store_->items(), key, stored, reach, "reading an item");
  if (!found) return pass(found.error());
  if (!*found) return std::nullopt;
  auto item = decode_item(stored.ToStringView());
  if (!item) return pass(item.error());
  // Nobody tells the cache what changes under a follower.
  if (!is_follower) {
    shared_.caches->items.put(cache_owner_, key, std::make_shared<const Item>(*item), ticket);
  }
  if (!visibility.sees(key, *item)) return std::nullopt;
  return std::move(*item);
}

Result<Page> Partition::scan(std::string_view min, std::string_view max, const ItemKey* after,
                             size_t items_max, size_t bytes_max, const Schema& schema) const {
  Store::Use use(*store_);
  if (auto ok = use.ok(); !ok) return pass(ok.error());
  Page page;
  page.lsn = lsn();  // before the iterator's snapshot, so never more than it shows
  const Visibility visibility{schema.default_life_ms, shared_.clock.now_ms(),
                              store_->purges().now()};
  const std::string upper = items_from(std::min(max, std::string_view(identity_.max)));
  const rocksdb::Slice upper_bound = upper;
  rocksdb::ReadOptions options = read_options();
  options.iterate_upper_bound = &upper_bound;
  std::unique_ptr<rocksdb::Iterator> it(store_->db().NewIterator(options, store_->items()));
  std::string from = items_from(std::max(min, std::string_view(identity_.min)));
  if (after != nullptr) {
    std::string next = item_key(after->placement, after->row) + '\0';
    from = std::max(from, next);
  }
  size_t bytes = 0;
  size_t gone = 0;
  for (it->Seek(from); it->Valid(); it->Next()) {
    auto item = decode_item(it->value().ToStringView());
    if (!item) return pass(item.error());
    const bool is_gone = !visibility.sees(it->key().ToStringView(), *item);
    if (!is_gone && (page.items.size() >= items_max || bytes >= bytes_max)) {
      page.more = true;
      break;
    }
    if (is_gone && ++gone < kExpiredPassedMax) continue;
    auto key = parse_item_key(it->key().ToStringView());
    if (!key) return pass(key.error());
    page.last = *key;
    if (is_gone) {
      page.more = true;
      break;
    }
    bytes += item->body.size();
    page.items.emplace_back(std::move(*key), std::move(*item));
  }
  if (!it->status().ok()) return pass(store_->translate(it->status(), "reading items"));
  return page;
}

Result<std::optional<ItemKey>> Partition::find_by_term(std::string_view term) const {
  Store::Use use(*store_);
  if (auto ok = use.ok(); !ok) return pass(ok.error());
  rocksdb::ReadOptions options = read_options();
  options.total_order_seek = true;
  std::unique_ptr<rocksdb::Iterator> it(store_->db().NewIterator(options, store_->terms()));
  for (it->Seek(term); it->Valid() && it->key().starts_with(term); it->Next()) {
    auto key = parse_item_key(it->key().ToStringView().substr(term.size()));
    if (!key) return pass(key.error());
    if (key->placement >= identity_.min && key->placement < identity_.max) return std::move(*key);
  }
  if (!it->status().ok()) return pass(store_->translate(it->status(), "reading the index"));
  return std::nullopt;
}

uint64_t Partition::index_bytes() const {
  const Store::Use use(*store_);
  if (!use.ok()) return 0;
  uint64_t all = 0;
  for (const std::string& property : {rocksdb::DB::Properties::kLiveSstFilesSize,
                                      rocksdb::DB::Properties::kCurSizeAllMemTables}) {
    uint64_t bytes = 0;
    if (store_->db().GetIntProperty(store_->terms(), property, &bytes)) all += bytes;
  }
  return all;
}

Result<std::vector<std::pair<std::string, ItemKey>>> Partition::all_terms() const {
  Store::Use use(*store_);
  if (auto ok = use.ok(); !ok) return pass(ok.error());
  std::vector<std::pair<std::string, ItemKey>> all;
  rocksdb::ReadOptions options = read_options();
  options.total_order_seek = true;
  std::unique_ptr<rocksdb::Iterator> it(store_->db().NewIterator(options, store_->terms()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    std::string_view entry = it->key().ToStringView();
    auto size = value::term_size(entry);
    if (!size) return pass(size.error());
    auto key = parse_item_key(entry.substr(*size));
    if (!key) return pass(key.error());
    if (key->placement < identity_.min || key->placement >= identity_.max) continue;
    all.emplace_back(entry.substr(0, *size), std::move(*key));
  }
  if (!it->status().ok()) return pass(store_->translate(it->status(), "reading the index"));
  return all;
}

ShapesWithout Partition::shapes_without(uint32_t index_version, std::string_view term_path) const {
  return store_->index_ledger().shapes_without(index_version, term_path);
}

Result<std::vector<Partition::LogicalPartition>> Partition::largest(size_t count) const {
  Store::Use use(*store_);
  if (auto ok = use.ok(); !ok) return pass(ok.error());
  auto smaller_first = [](const LogicalPartition& a, const LogicalPartition& b) {
    return a.usage.bytes > b.usage.bytes;
  };
  std::priority_queue<LogicalPartition, std::vector<LogicalPartition>, decltype(smaller_first)> top(
      smaller_first);
  const std::string upper = size_key(identity_.max);
  const rocksdb::Slice upper_bound = upper;
  rocksdb::ReadOptions options = read_options();
  options.iterate_upper_bound = &upper_bound;
  std::unique_ptr<rocksdb::Iterator> it(store_->db().NewIterator(options, store_->ledger()));
  for (it->Seek(size_key(identity_.min)); it->Valid(); it->Next()) {
    auto size = decode_size(it->value().ToStringView());
    if (!size) return pass(size.error());
    if (top.size() == count && (count == 0 || size->bytes <= top.top().usage.bytes)) continue;
    if (top.size() == count) top.pop();
    top.push({std::move(size->key_text), {size->bytes, size->items}});
  }
  if (!it->status().ok()) return pass(store_->translate(it->status(), "reading sizes"));
  std::vector<LogicalPartition> out;
  for (; !top.empty(); top.pop()) out.push_back(top.top());
  std::ranges::reverse(out);
  return out;
}

}  // namespace orrery::partition

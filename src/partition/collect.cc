// Background garbage collection, within a budget: removes expired items, and those of purges
// (purge_marks.h). The writer checks each item again, so the scan may work on outdated data.
#include <algorithm>

#include "partition/format.h"
#include "partition/partition.h"
#include "partition/store.h"
#include "partition/work.h"
#include "value/ordered.h"

namespace orrery::partition {

class Partition::Removals {
 public:
  Removals(std::shared_ptr<const Schema> schema, const Prices& prices)
      : schema_(std::move(schema)), prices_(prices) {}

  void add(ItemKey key, const Item& item) {
    if (count_++ % kGroup == 0) groups_.emplace_back();
    charge_ += charge_of(prices_, key.row.size() + item.body.size(), 0);
    Write& write = groups_.back().emplace_back();
    write.verb = Verb::expire;
    write.placement = std::move(key.placement);
    write.row = std::move(key.row);
    write.schema = schema_;
  }
  size_t count() const { return count_; }
  double charge() const { return charge_; }  // by their size alone
  // One that fails is found again the next time round.
  void submit(Partition& partition, const std::function<void(double)>& pay) {
    for (std::vector<Write>& group : groups_) {
      partition.submit(std::move(group), [pay, &prices = prices_](const Outcome& outcome) {
        double charge = 0;
        for (const Written& written : outcome.written) {
          const bool removed = written.old_bytes > 0 && !written.replaced;
          if (removed) {
            charge += charge_of(prices, written.old_bytes, written.terms_removed);
          }
        }
        if (charge > 0) pay(charge);
      });
    }
  }

 private:
  static constexpr size_t kGroup = 100;

  static double charge_of(const Prices& prices, uint64_t bytes, uint32_t terms) {
    return prices.charge(
        {.kind = WorkKind::remove, .bytes = prices.counted(bytes), .terms_removed = terms});
  }

  const std::shared_ptr<const Schema> schema_;
  const Prices& prices_;
  std::vector<std::vector<Write>> groups_;
  size_t count_ = 0;
  double charge_ = 0;
};

Result<size_t> Partition::collect_expired(const std::shared_ptr<const Schema>& schema,
                                          const Prices& prices, size_t examine_max,
                                          double charge_max,
                                          const std::function<void(double)>& pay) {
  Removals removals(schema, prices);
  {
    MutexLock lock(expiry_mutex_);
    Store::Use use(*store_);
    if (auto ok = use.ok(); !ok) return pass(ok.error());
    const rocksdb::Slice upper_bound = items_max_;
    rocksdb::ReadOptions options = read_options();
    options.iterate_upper_bound = &upper_bound;
    options.fill_cache = false;
    std::unique_ptr<rocksdb::Iterator> it(store_->db().NewIterator(options, store_->items()));
    const int64_t now_ms = shared_.clock.now_ms();
    size_t examined = 0;
    for (it->Seek(expiry_cursor_.empty() ? items_min_ : expiry_cursor_);
         it->Valid() && examined < examine_max && removals.charge() < charge_max;
         it->Next(), ++examined) {
      auto item = decode_item(it->value().ToStringView());
      if (!item) return pass(item.error());
      if (!is_expired(*item, schema->default_life_ms, now_ms)) continue;
      auto key = parse_item_key(it->key().ToStringView());
      if (!key) return pass(key.error());
      removals.add(std::move(*key), *item);
    }
    if (!it->status().ok()) {
      return pass(store_->translate(it->status(), "looking for expired items"));
    }
    expiry_cursor_ = it->Valid() ? it->key().ToString() : "";
  }
  removals.submit(*this, pay);
  return removals.count();
}

size_t Partition::purges_pending() const {
  const PurgeMarksPtr marks = store_->purges().now();
  return marks ? marks->size() : 0;
}

Result<Partition::Collected> Partition::collect_purged(const std::shared_ptr<const Schema>& schema,
                                                       const Prices& prices, size_t examine_max,
                                                       double charge_max,
                                                       const std::function<void(double)>& pay) {
  Removals removals(schema, prices);
  std::vector<Write> ended;
  {
    MutexLock lock(purges_mutex_);
    const PurgeMarksPtr marks = store_->purges().now();
    if (!marks) {
      purge_walks_.clear();
      return Collected{};
    }
    std::erase_if(purge_walks_, [&](const auto& walk) { return !marks->contains(walk.first); });
    Store::Use use(*store_);
    if (auto ok = use.ok(); !ok) return pass(ok.error());
    size_t examined = 0;
    for (const auto& [prefix, lsn] : *marks) {
      if (prefix < items_min_ || prefix >= items_max_) continue;  // a sibling's, not trimmed yet
      PurgeWalk& walk = purge_walks_[prefix];
      if (walk.lsn != lsn) walk = {.lsn = lsn, .from = prefix};
      const std::string upper = value::after_prefix(prefix);
      const rocksdb::Slice upper_bound = upper;
      rocksdb::ReadOptions options = read_options();
      options.iterate_upper_bound = &upper_bound;
      options.fill_cache = false;
      std::unique_ptr<rocksdb::Iterator> it(store_->db().NewIterator(options, store_->items()));
      for (it->Seek(walk.from);
           it->Valid() && examined < examine_max && removals.charge() < charge_max;
           it->Next(), ++examined) {
        auto item = decode_item(it->value().ToStringView());
        if (!item) return pass(item.error());
        if (item->version.lsn > lsn) continue;
        auto key = parse_item_key(it->key().ToStringView());
        if (!key) return pass(key.error());
        removals.add(std::move(*key), *item);
        walk.found = true;
      }
      if (!it->status().ok()) {
        return pass(store_->translate(it->status(), "looking for purged items"));
      }
      if (it->Valid()) {
        walk.from = it->key().ToString();
        break;
      }
      // A walk that found none: all that were removed are, durably. Otherwise once more.
      if (!walk.found) {
        auto placement = parse_item_key(prefix);
        if (!placement) return pass(placement.error());
        Write& write = ended.emplace_back();
        write.verb = Verb::purged;
        write.placement = std::move(placement->placement);
        write.purge_lsn = lsn;
        write.schema = schema;
      }
      walk = {.lsn = lsn, .from = prefix};
    }
  }
  const Collected collected{.items = removals.count(), .purges = ended.size()};
  removals.submit(*this, pay);
  if (!ended.empty()) submit(std::move(ended), [](const Outcome&) {});
  return collected;
}

}  // namespace orrery::partition

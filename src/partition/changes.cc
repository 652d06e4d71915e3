// The change feed: items in the LSN order of their newest writes. A page ends between LSNs, so the
// writes of a transaction come together.
//
// `changes` has one entry for each item, that of its newest write. So a reader that resumes from
// its position gets the latest state of every item at least once, however often the item was
// written meanwhile, and sees the writes of one item in order.
//
// A page never goes beyond lsn(). An item whose entry in the snapshot is newer than that has no
// older entry there, and comes with the next page.
#include <fmt/format.h>

#include <algorithm>

#include "partition/format.h"
#include "partition/key_range.h"
#include "partition/partition.h"
#include "partition/store.h"
#include "partition/writer.h"
#include "value/ordered.h"

namespace orrery::partition {
Result<ChangePage> Partition::changes(const ChangeQuery& query, const Schema& schema) const {
  Store::Use use(*store_);
  if (auto ok = use.ok(); !ok) return pass(ok.error());
  const size_t items_max = std::max<size_t>(query.items_max, 1);  // otherwise it never gets on
  const KeyRange wanted = keys_between(identity_, query.min, query.max);
  const uint64_t visible = lsn();  // before the snapshot, so never more than it shows
  // Before the snapshot.
  const Visibility visibility{schema.default_life_ms, shared_.clock.now_ms(),
                              store_->purges().now()};
  ChangePage page;
  page.lsn = std::max(query.after, visible);
  // One snapshot, so that an entry and its item are of the same moment.
  const Store::Moment moment(*store_);
  rocksdb::ReadOptions options = read_options();
  options.snapshot = moment.snapshot();
  std::unique_ptr<rocksdb::Iterator> it(store_->db().NewIterator(options, store_->changes()));
  size_t bytes = 0;
  size_t passed_over = 0;
  uint64_t last = query.after;
  for (it->Seek(change_key(query.after + 1)); it->Valid(); it->Next()) {
    std::string_view position = it->key().ToStringView();
    auto lsn = value::take_u64(position);
    if (!lsn) return pass(lsn.error());
    if (*lsn > visible) break;
    if (*lsn != last && (page.changes.size() >= items_max || bytes >= query.bytes_max ||
                         passed_over >= kPassedOverMax)) {
      page.more = true;
      page.lsn = last;
      break;
    }
    last = *lsn;
    const std::string_view stored_key = it->value().ToStringView();
    if (!wanted.has(stored_key)) {
      ++passed_over;
      continue;
    }
    auto stored = store_->get(store_->items(), stored_key, moment.snapshot());
    if (!stored) return pass(stored.error());
    if (!*stored) {
      return fail(Code::corrupt, fmt::format("change {} names an item that is not there", *lsn));
    }
    auto item = decode_item(**stored);
    if (!item) return pass(item.error());
    if (!visibility.sees(stored_key, *item)) {
      ++passed_over;
      continue;
    }
    auto key = parse_item_key(stored_key);
    if (!key) return pass(key.error());
    bytes += item->body.size();
    page.changes.push_back({*lsn, std::move(*key), std::move(*item)});
  }
  if (!it->status().ok()) return pass(store_->translate(it->status(), "reading changes"));
  return page;
}

Result<uint64_t> Partition::position_at(int64_t time_s) const {
  Store::Use use(*store_);
  if (auto ok = use.ok(); !ok) return pass(ok.error());
  const KeyRange wanted = keys_between(identity_, value::placement_min(), value::placement_max());
  const PartitionRecord record = writer_->record();  // before the snapshot, which shows all of it
  const Store::Moment moment(*store_);
  rocksdb::ReadOptions options = read_options();
  options.snapshot = moment.snapshot();
  std::unique_ptr<rocksdb::Iterator> it(store_->db().NewIterator(options, store_->changes()));
  const auto first_after = [&](uint64_t lsn) -> Result<std::optional<TimedWrite>> {
    std::optional<TimedWrite> first;
    for (it->Seek(change_key(lsn + 1)); it->Valid(); it->Next()) {
      if (!wanted.has(it->value().ToStringView())) continue;
      auto stored = store_->get(store_->items(), it->value().ToStringView(), moment.snapshot());
      if (!stored) return pass(stored.error());
      if (!*stored) return fail(Code::corrupt, "a change names an item that is not there");
      std::string_view body;
      auto item = decode_item(**stored, body);
      if (!item) return pass(item.error());
      const Version& found = item->version;
      if (first && found.lsn != first->lsn) break;
      if (!first || found.time_s > first->time_s) first = TimedWrite{found.lsn, found.time_s};
      // Only merged partitions have several times at one LSN.
      if (found.lsn > record.time_order.from) break;
    }
    if (!it->status().ok()) return pass(store_->translate(it->status(), "reading changes"));
    return first;
  };
  return position_before(time_s, record.time_order, record.lsn, first_after);
}

}  // namespace orrery::partition

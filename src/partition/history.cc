// Reading the full history (every write, with deletions and intermediate versions), and truncating
// it.
//
// `history_after` in the partition's record is the LSN after which the history is complete. It
// begins with the first write, or Partition::reindex(), by a schema that keeps one. It ends when
// index rules are adopted that keep none: a container that gives its history up gets a new version
// of its rules. So a write that was on its way when the history began does not end it.
#include <fmt/format.h>

#include <algorithm>

#include "partition/format.h"
#include "partition/history_entry.h"
#include "partition/key_range.h"
#include "partition/partition.h"
#include "partition/store.h"
#include "partition/writer.h"

namespace orrery::partition {

Result<EventPage> Partition::history(const ChangeQuery& query) const {
  Store::Use use(*store_);
  if (auto ok = use.ok(); !ok) return pass(ok.error());
  const size_t items_max = std::max<size_t>(query.items_max, 1);  // otherwise it never gets on
  const KeyRange wanted = keys_between(identity_, query.min, query.max);
  // Together, and before the snapshot, so that it shows all that they promise.
  const PartitionRecord record = writer_->record();
  EventPage page;
  page.lsn = std::max(query.after, record.lsn);
  if (query.after >= record.lsn) return page;
  std::unique_ptr<rocksdb::Iterator> it(
      store_->db().NewIterator(read_options(), store_->history()));
  // Asked again with the iterator in place: what is forgotten from now on it still shows.
  if (const uint64_t from = std::max(record.history_from(query.min, query.max),
                                     writer_->record().history_from(query.min, query.max));
      query.after < from) {
    return fail(Code::invalid,
                fmt::format("the history does not go back to position {}: it was not kept then, or "
                            "for less long. Start again from now",
                            query.after));
  }
  size_t bytes = 0;
  size_t passed_over = 0;
  uint64_t last = query.after;
  for (it->Seek(history_key(query.after + 1)); it->Valid(); it->Next()) {
    auto lsn = lsn_of_history_key(it->key().ToStringView());
    if (!lsn) return pass(lsn.error());
    if (*lsn > record.lsn) break;
    // The entries of one LSN stay together: a position lies between transactions.
    if (*lsn != last && (page.events.size() >= items_max || bytes >= query.bytes_max ||
                         passed_over >= kPassedOverMax)) {
      page.more = true;
      page.lsn = last;
      break;
    }
    last = *lsn;
    auto entry = decode_history(it->value().ToStringView());
    if (!entry) return pass(entry.error());
    if (!wanted.has(entry->item_key)) {
      ++passed_over;
      continue;
    }
    auto key = parse_item_key(entry->item_key);
    if (!key) return pass(key.error());
    bytes += entry->body.size() + entry->previous_body.size();
    page.events.push_back({.lsn = *lsn,
                           .time_s = entry->time_s,
                           .operation = entry->operation,
                           .key = std::move(*key),
                           .body = std::string(entry->body),
                           .previous_lsn = entry->previous_lsn,
                           .previous_body = std::string(entry->previous_body)});
  }
  if (!it->status().ok()) return pass(store_->translate(it->status(), "reading the history"));
  return page;
}

namespace {

// The first write that the history has after an LSN. Of several with one LSN, which merged
// partitions have, the one of the latest time.
Result<std::optional<TimedWrite>> first_in_history(const Store& store, rocksdb::Iterator& it,
                                                   uint64_t lsn) {
  std::optional<TimedWrite> first;
  for (it.Seek(history_key(lsn + 1)); it.Valid(); it.Next()) {
    auto found = lsn_of_history_key(it.key().ToStringView());
    auto entry = decode_history(it.value().ToStringView());
    if (!found) return pass(found.error());
    if (!entry) return pass(entry.error());
    if (first && *found != first->lsn) break;
    if (!first || entry->time_s > first->time_s) first = TimedWrite{*found, entry->time_s};
  }
  if (!it.status().ok()) return pass(store.translate(it.status(), "reading the history"));
  return first;
}

}  // namespace

Result<uint64_t> Partition::history_position_at(int64_t time_s) const {
  Store::Use use(*store_);
  if (auto ok = use.ok(); !ok) return pass(ok.error());
  const PartitionRecord record = writer_->record();
  const std::unique_ptr<rocksdb::Iterator> it(
      store_->db().NewIterator(read_options(), store_->history()));
  return position_before(time_s, record.time_order, record.lsn,
                         [&](uint64_t lsn) { return first_in_history(*store_, *it, lsn); });
}

Status Partition::forget_history(int64_t before_s) {
  // Being split or trimmed: another time.
  if (!store_->maintenance().try_lock()) return {};
  Status done = forget_history_here(before_s);
  store_->maintenance().unlock();
  return done;
}

Status Partition::forget_history_here(int64_t before_s) {
  if (auto ok = store_->is_open(); !ok) return ok;
  const PartitionRecord record = writer_->record();
  std::unique_ptr<rocksdb::Iterator> it(
      store_->db().NewIterator(read_options(), store_->history()));
  const auto first_after = [&](uint64_t lsn) { return first_in_history(*store_, *it, lsn); };
  auto old = position_before(before_s, record.time_order, record.lsn, first_after);
  if (!old) return pass(old.error());
  auto oldest = first_after(record.history_after == kNoHistory ? 0 : record.history_after);
  if (!oldest) return pass(oldest.error());
  if (!*oldest || (*oldest)->lsn > *old) return {};
  it.reset();
  return writer_->forget_history(*old);
}

}  // namespace orrery::partition

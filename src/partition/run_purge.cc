// What a run does about purges; see purge_marks.h.
#include <fmt/format.h>

#include "partition/run.h"

namespace orrery::partition {

bool Run::is_purged(const std::string& key, const Item& item) const {
  if (!purges_.empty()) {
    const auto parsed = parse_item_key(key);
    const auto* changed = parsed ? purges_.find(items_from(parsed->placement)) : nullptr;
    if (changed != nullptr) return *changed && item.version.lsn <= **changed;
  }
  if (!purges_before_) return false;
  const auto lsn = purge_of(*purges_before_, key);
  return lsn && item.version.lsn <= *lsn;
}

std::optional<PurgeMarksPtr> Run::changed_purges() const {
  if (purges_.empty()) return std::nullopt;
  auto marks = purges_before_ ? std::make_shared<PurgeMarks>(*purges_before_)
                              : std::make_shared<PurgeMarks>();
  for (const std::string& prefix : purges_.keys()) {
    const std::optional<uint64_t>& lsn = *purges_.find(prefix);
    if (lsn) {
      marks->insert_or_assign(prefix, *lsn);
    } else {
      marks->erase(prefix);
    }
  }
  return marks;
}

// At most: a mark that the run has set again counts twice.
size_t Run::purges_count() const {
  return (purges_before_ ? purges_before_->size() : 0) + purges_.size();
}

Result<Written> Run::apply_purge(const Write& write) {
  Written written;
  written.version = {record_.lsn, record_.time_s, identity_.range, 0};
  auto size = current_size(size_key(write.placement));
  if (!size) return pass(size.error());
  if (size->items == 0) return written;  // nothing is there, purged or not
  const std::string prefix = items_from(write.placement);
  const bool is_new =
      purges_.find(prefix) == nullptr && (!purges_before_ || !purges_before_->contains(prefix));
  if (is_new && purges_count() >= limits_.partition_purges) {
    return pass({.code = Code::throttled,
                 .message = fmt::format(
                     "the items of {} partition keys are being deleted in this partition already, "
                     "which is the limit (partition-purges): wait until some are done",
                     purges_count()),
                 .retry_after_ms = 1'000});
  }
  written.version = {lsn_, time_s(), identity_.range, change_step_};
  batch_.Put(store_.ledger(), purge_key(write.placement), encode_purge(written.version.lsn));
  purges_.set(prefix, written.version.lsn);
  note_version(written.version);
  take_lsn();  // what the transaction writes after it stays
  return written;
}

Result<Written> Run::note_purged(const Write& write) {
  const std::string prefix = items_from(write.placement);
  std::optional<uint64_t> lsn;
  if (const auto* changed = purges_.find(prefix)) {
    lsn = *changed;
  } else if (purges_before_) {
    lsn = purge_of(*purges_before_, prefix);
  }
  // There may be a newer purge by now, whose items are still there.
  if (lsn == write.purge_lsn) {
    batch_.Delete(store_.ledger(), purge_key(write.placement));
    purges_.set(prefix, std::nullopt);
  }
  Written written;
  written.version = {record_.lsn, record_.time_s, identity_.range, 0};
  return written;
}

}  // namespace orrery::partition

// A run's unique keys: which item of a logical partition holds which values, and that an expired
// or purged one makes room. See run.h.
#include <fmt/format.h>

#include "partition/prepared_terms.h"
#include "partition/run.h"

namespace orrery::partition {

namespace {

std::string paths_text(const std::vector<value::Path>& paths) {
  std::string out;
  for (const value::Path& path : paths) {
    out += fmt::format("{}{}", out.empty() ? "" : ", ", to_string(path));
  }
  return out;
}

}  // namespace

Status Run::evict(const Write& cause, const std::string& row, const Item& item) {
  Write gone;
  gone.verb = Verb::expire;
  gone.placement = cause.placement;
  gone.row = row;
  gone.key_text = cause.key_text;
  gone.schema = cause.schema;
  const std::string key = item_key(gone.placement, row);
  Written ignored;
  if (auto indexed = reindex(gone, key, &item, nullptr, ignored); !indexed) return indexed;
  if (auto sized = change_size(gone, -static_cast<int64_t>(weight(gone, item.body)), -1,
                               gone.schema->logical_bytes_max);
      !sized) {
    return sized;
  }
  // It takes no LSN of its own: the write that wants its place takes one.
  remember(end_of(key, item), key, &item, nullptr);
  batch_.Delete(store_.changes(), change_key(item.version));
  items_.set(key, std::nullopt);
  return {};
}

Result<bool> Run::claim_unique(const Write& write, const std::string& key) {
  auto holder = current_holder(key);
  if (!holder) return pass(holder.error());
  if (*holder == write.row) return true;
  if (*holder) {
    const std::string other_key = item_key(write.placement, **holder);
    auto other = current_item(other_key);
    if (!other) return pass(other.error());
    if (*other && is_live(*write.schema, other_key, **other)) return false;
    // Expired or purged, and not collected yet. It must go now: should it come back to life
    // (the clock or the container's TTL may change), two items would have the value.
    if (*other) {
      if (auto gone = evict(write, std::string(**holder), **other); !gone) {
        return pass(gone.error());
      }
    }
  }
  batch_.Put(store_.ledger(), key, write.row);
  uniques_.set(key, write.row);
  return true;
}

Status Run::put_unique(const Write& write, const UniqueValues* before, const UniqueValues* after,
                       Claim claim) {
  const auto& unique_keys = write.schema->unique_keys;
  for (size_t i = 0; i < unique_keys.size(); ++i) {
    const bool is_gone = is_retired(unique_keys[i]);
    std::optional<std::string> old_key, new_key;
    if (before != nullptr && (*before)[i]) {
      old_key = unique_key(write.placement, i, *(*before)[i]);
    }
    if (after != nullptr && !is_gone && (*after)[i]) {
      new_key = unique_key(write.placement, i, *(*after)[i]);
    }
    if (claim == Claim::held && (is_gone || old_key == new_key)) continue;
    if (new_key) {
      auto claimed = claim_unique(write, *new_key);
      if (!claimed) return pass(claimed.error());
      if (!*claimed && claim != Claim::again_if_free) {
        auto holder = current_holder(*new_key);
        if (!holder) return pass(holder.error());
        return fail(Code::conflict,
                    fmt::format("unique key ({}): another item, with id '{}', has the same values "
                                "under the partition key {}",
                                paths_text(unique_keys[i]), holder->value_or(""), write.key_text));
      }
    }
    if (old_key && old_key != new_key) {
      auto holder = current_holder(*old_key);
      if (!holder) return pass(holder.error());
      if (*holder != write.row) continue;
      batch_.Delete(store_.ledger(), *old_key);
      uniques_.set(*old_key, std::nullopt);
    }
  }
  return {};
}

}  // namespace orrery::partition

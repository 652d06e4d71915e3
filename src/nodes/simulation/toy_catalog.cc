// See toy_catalog.h.
#include "nodes/simulation/toy_catalog.h"

#include <algorithm>

#include "volume/objects/mutation.h"

namespace orrery::nodes::simulation {
namespace {

constexpr uint32_t kRangesInAll = 12;  // in all

}  // namespace

uint64_t encode(const CatalogChange& change, uint64_t number) {
  return static_cast<uint64_t>(change.kind) | uint64_t{change.range} << 4 |
         uint64_t{change.child} << 12 | change.epoch << 20 | number << 36;
}

CatalogChange decode_change(uint64_t record) {
  return {.kind = static_cast<CatalogChange::Kind>(record & 0xF),
          .range = static_cast<uint32_t>(record >> 4 & 0xFF),
          .child = static_cast<uint32_t>(record >> 12 & 0xFF),
          .epoch = record >> 20 & 0xFFFF};
}

ToyCatalog::ToyCatalog(const std::vector<uint64_t>& records) {
  for (const uint64_t record : records) {
    const CatalogChange change = decode_change(record);
    switch (change.kind) {
      case CatalogChange::Kind::create:
        ranges_.insert(change.range);
        next_ = std::max(next_, change.range + 1);
        break;
      case CatalogChange::Kind::drop:
        ranges_.erase(change.range);
        break;
      case CatalogChange::Kind::intend:
        intents_[change.child] = {.parent = change.range, .epoch = change.epoch};
        next_ = std::max(next_, change.child + 2);
        break;
      case CatalogChange::Kind::publish:
        ranges_.erase(change.range);
        ranges_.insert({change.child, change.child + 1});
        intents_.erase(change.child);
        published_.insert(change.child);
        break;
      case CatalogChange::Kind::opened:
        std::erase_if(intents_, [&](const auto& intent) {
          return intent.second.parent == change.range && intent.second.epoch < change.epoch;
        });
        break;
    }
  }
}

ToyCatalog::Verdict ToyCatalog::judge(CatalogChange& change) const {
  switch (change.kind) {
    case CatalogChange::Kind::create:
      change.range = next_;
      return next_ < kRangesInAll ? Verdict::commit : Verdict::refused;
    case CatalogChange::Kind::drop:
      return has(change.range) ? Verdict::commit : Verdict::refused;
    case CatalogChange::Kind::intend:
      change.child = next_;
      return has(change.range) && next_ + 1 < kRangesInAll ? Verdict::commit : Verdict::refused;
    case CatalogChange::Kind::publish: {
      // The answer got lost. The children may have been dropped or split since.
      const bool is_published = is_mutated(Mutation::forget_published)
                                    ? has(change.child)
                                    : published_.contains(change.child);
      if (is_published) return Verdict::nothing_to_do;
      const auto intent = intents_.find(change.child);
      const bool is_intended = intent != intents_.end() && intent->second.parent == change.range;
      if (!has(change.range)) return Verdict::refused;
      return is_intended || is_mutated(Mutation::publish_unintended) ? Verdict::commit
                                                                     : Verdict::refused;
    }
    case CatalogChange::Kind::opened: {
      if (!has(change.range)) return Verdict::refused;
      const bool ends_intents = std::ranges::any_of(intents_, [&](const auto& intent) {
        return intent.second.parent == change.range && intent.second.epoch < change.epoch;
      });
      return ends_intents ? Verdict::commit : Verdict::nothing_to_do;
    }
  }
  return Verdict::refused;
}

}  // namespace orrery::nodes::simulation

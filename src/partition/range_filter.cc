// See range_filter.h.
#include "partition/range_filter.h"

#include <utility>

#include "partition/format.h"
#include "partition/history_entry.h"

namespace orrery::partition {
namespace {

class TermsFilter final : public rocksdb::CompactionFilter {
 public:
  explicit TermsFilter(const RangeFilter& range) : range_(range) {}
  const char* Name() const override { return "orrery.terms"; }
  bool Filter(int, const rocksdb::Slice& key, const rocksdb::Slice&, std::string*,
              bool*) const override {
    if (!range_.active()) return false;
    auto placement = placement_of_term(key.ToStringView());
    // What cannot be read is kept: dropping is only for what is known to be another's.
    return placement && !range_.keeps(*placement);
  }

 private:
  const RangeFilter& range_;
};

class ChangesFilter final : public rocksdb::CompactionFilter {
 public:
  explicit ChangesFilter(const RangeFilter& range) : range_(range) {}
  const char* Name() const override { return "orrery.changes"; }
  bool Filter(int, const rocksdb::Slice&, const rocksdb::Slice& item, std::string*,
              bool*) const override {
    if (!range_.active()) return false;
    auto key = parse_item_key(item.ToStringView());
    return key && !range_.keeps(key->placement);
  }

 private:
  const RangeFilter& range_;
};

class HistoryFilter final : public rocksdb::CompactionFilter {
 public:
  explicit HistoryFilter(const RangeFilter& range) : range_(range) {}
  const char* Name() const override { return "orrery.history"; }
  bool Filter(int, const rocksdb::Slice&, const rocksdb::Slice& value, std::string*,
              bool*) const override {
    if (!range_.active()) return false;
    auto entry = decode_history(value.ToStringView());
    if (!entry) return false;
    auto key = parse_item_key(entry->item_key);
    return key && !range_.keeps(key->placement);
  }

 private:
  const RangeFilter& range_;
};

}  // namespace

void RangeFilter::activate(std::string min, std::string max) {
  min_ = std::move(min);
  max_ = std::move(max);
  active_.store(true, std::memory_order_release);
}

std::unique_ptr<rocksdb::CompactionFilter> make_terms_filter(const RangeFilter& range) {
  return std::make_unique<TermsFilter>(range);
}

std::unique_ptr<rocksdb::CompactionFilter> make_changes_filter(const RangeFilter& range) {
  return std::make_unique<ChangesFilter>(range);
}

std::unique_ptr<rocksdb::CompactionFilter> make_history_filter(const RangeFilter& range) {
  return std::make_unique<HistoryFilter>(range);
}

}  // namespace orrery::partition

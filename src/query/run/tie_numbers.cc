// See tie_numbers.h.
#include "query/run/tie_numbers.h"

#include <algorithm>
#include <compare>

#include "base/bytes.h"
#include "query/evaluate/fingerprint.h"
#include "query/evaluate/order_values.h"

namespace orrery::query {

namespace {

// `least` is below 2^30 and the hash below 2^29, which leaves 2^29 numbers for counting on.
constexpr uint32_t kHashMask = (1U << 29) - 1;

uint32_t hash_of(const OrderValues& values) {
  const Fingerprint mark = fingerprint_of(values);
  return load_u32_be(mark.data()) & kHashMask;
}

}  // namespace

bool TieNumbers::equals_last(const OrderedRow& row) const {
  return last_ != nullptr &&
         compare(query_, last_->order, row.order) == std::strong_ordering::equal;
}

void TieNumbers::start_after(const OrderedRow& row, std::optional<uint32_t> number) {
  last_ = &row;
  number_ = number;
  values_hash_.reset();
}

uint32_t TieNumbers::next(const OrderedRow& row) {
  const bool is_tie = equals_last(row);
  if (!is_tie || !values_hash_) values_hash_ = hash_of(row.order);
  uint64_t number = uint64_t{numbering_.least(row.key)} + *values_hash_;
  if (is_tie && number_) number = std::max(number, uint64_t{*number_} + 1);
  last_ = &row;
  number_ = static_cast<uint32_t>(std::min<uint64_t>(number, kTieNumberMax));
  return *number_;
}

std::optional<uint32_t> TieNumbers::at(const OrderedRow& place) const {
  return equals_last(place) ? number_ : std::nullopt;
}

}  // namespace orrery::query

// Provisional names have a range that no partition has, so that they are easy to find in a text:
// every provisional etag has a fixed middle, and every provisional resource id a fixed start.
#include "api/cosmos/script/provisional_names.h"

#include <algorithm>

#include "api/cosmos/wire/etag.h"
#include "api/cosmos/wire/rid.h"

namespace orrery::cosmos {
namespace {

constexpr uint32_t kVersionRange = UINT32_MAX;
constexpr std::string_view kEtagMiddle = "-ffff-ffff";
constexpr size_t kEtagMiddleAt = 18;
constexpr size_t kEtagSize = 36;

constexpr uint32_t kOriginRange = (1U << kRidRangeBits) - 1;
// The container's 8 bytes and the range's 20 bits fill this many characters of base64.
constexpr size_t kRidStartSize = 14;
constexpr size_t kRidSize = 24;

}  // namespace

ProvisionalNames::ProvisionalNames(uint32_t database, uint32_t container)
    : database_(database),
      container_(container),
      rid_start_(item_rid(database, container, kOriginRange, 0).substr(0, kRidStartSize)) {}

partition::Version ProvisionalNames::next_version(int64_t now_s) {
  return {.lsn = ++made_, .time_s = static_cast<uint32_t>(now_s), .range = kVersionRange};
}

partition::Origin ProvisionalNames::next_origin() {
  return {.range = kOriginRange, .number = ++made_};
}

bool ProvisionalNames::is_provisional(const partition::Origin& origin) {
  return origin.range == kOriginRange;
}

std::string ProvisionalNames::rid(const partition::Origin& origin) const {
  return item_rid(database_, container_, origin.range, origin.number);
}

void ProvisionalNames::resolve(const partition::Version& provisional,
                               const partition::Version& version) {
  real_[etag_text(provisional)] = etag_text(version);
}

void ProvisionalNames::resolve(const partition::Origin& provisional,
                               const partition::Origin& origin) {
  if (is_provisional(provisional)) real_[rid(provisional)] = rid(origin);
}

std::string ProvisionalNames::translate(std::string_view text) const {
  std::string out;
  size_t done = 0;
  size_t etag = text.find(kEtagMiddle);
  size_t rid = text.find(rid_start_);
  // The next of either kind; one that is not known is left as it is.
  while (etag != std::string_view::npos || rid != std::string_view::npos) {
    const bool is_etag = etag < rid;
    const size_t found = is_etag ? etag : rid;
    const size_t start = is_etag && found >= kEtagMiddleAt ? found - kEtagMiddleAt : found;
    const size_t size = is_etag ? kEtagSize : kRidSize;
    const auto real = real_.find(std::string(text.substr(start, size)));
    if (real != real_.end() && start >= done) {
      out += text.substr(done, start - done);
      out += real->second;
      done = start + size;
    }
    (is_etag ? etag : rid) =
        is_etag ? text.find(kEtagMiddle, found + 1) : text.find(rid_start_, found + 1);
  }
  out += text.substr(done);
  return out;
}

std::string ScriptFinisher::finish(std::string_view body, const partition::Version& version,
                                   const partition::Origin& origin) const {
  names_->resolve(version_, version);
  names_->resolve(origin_, origin);
  return finisher_.finish(names_->translate(body), version, origin);
}

}  // namespace orrery::cosmos

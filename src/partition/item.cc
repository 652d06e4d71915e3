// See item.h.
#include "partition/item.h"

namespace orrery::partition {

bool is_expired(const Item& item, std::optional<int32_t> default_ttl_s, int64_t now_s) {
  if (!default_ttl_s) return false;
  const int32_t ttl_s = item.ttl_s.value_or(*default_ttl_s);
  return ttl_s > 0 && now_s >= static_cast<int64_t>(item.version.time_s) + ttl_s;
}

}  // namespace orrery::partition

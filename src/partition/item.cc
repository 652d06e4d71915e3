// See item.h.
#include "partition/item.h"

namespace orrery::partition {

namespace {

// A time that is out of reach of 64 bits never comes.
Expiry expires_at(int64_t from_ms, int64_t life_ms) {
  Expiry expiry{.kind = Expiry::Kind::at};
  if (__builtin_add_overflow(from_ms, life_ms, &expiry.time_ms))
    return {.kind = Expiry::Kind::never};
  return expiry;
}

}  // namespace

Expiry expiry_of(const Lifetime& lifetime, uint32_t written_s) {
  const int64_t from_ms = lifetime.from_ms.value_or(int64_t{written_s} * 1000);
  if (lifetime.ms == Lifetime::kForever) return {.kind = Expiry::Kind::never};
  if (lifetime.ms == Lifetime::kByDefault) return {Expiry::Kind::by_default, from_ms};
  return expires_at(from_ms, lifetime.ms);
}

bool is_expired(const Item& item, std::optional<int64_t> default_life_ms, int64_t now_ms) {
  if (!default_life_ms || item.expiry.kind == Expiry::Kind::never) return false;
  Expiry expiry = item.expiry;
  if (expiry.kind == Expiry::Kind::by_default) {
    if (*default_life_ms == Lifetime::kForever) return false;
    expiry = expires_at(expiry.time_ms, *default_life_ms);
  }
  return expiry.kind == Expiry::Kind::at && now_ms >= expiry.time_ms;
}

}  // namespace orrery::partition

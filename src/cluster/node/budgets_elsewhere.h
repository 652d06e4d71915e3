// Charges to partitions at other nodes. A query over several partitions runs at the node that was
// asked, and is charged to the partition where it starts. Its owner is told what it cost, and says
// how long the next one would have to wait: until then this node refuses it itself.
//
// What an owner says is known one page late, and a charge whose call fails is lost.
//
// Threading: any thread. Nothing blocks.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/pack.h"
#include "base/thread_annotations.h"
#include "cluster/routing.h"
#include "peer/link.h"

namespace orrery::cluster {

inline constexpr const char* kPayCall = "engine.pay";

struct ChargeElsewhere {
  uint32_t container = 0;
  uint32_t range = 0;
  double charge = 0;
  bool was_late = false;  // it was served though it would have had to wait

  static constexpr double kChargeMax = 1e12;
};

inline std::string encode(const ChargeElsewhere& paid) {
  return Packer()
      .number(paid.container)
      .number(paid.range)
      .number(static_cast<uint64_t>(std::llround(paid.charge * 1000)))
      .number(paid.was_late ? 1 : 0)
      .take();
}

inline std::optional<ChargeElsewhere> decode_charge(std::string_view bytes) {
  Unpacker from(bytes);
  ChargeElsewhere paid;
  paid.container = static_cast<uint32_t>(from.number());
  paid.range = static_cast<uint32_t>(from.number());
  paid.charge = static_cast<double>(from.number()) / 1000;
  paid.was_late = from.number() != 0;
  if (!from.is_good() || paid.charge > ChargeElsewhere::kChargeMax) return std::nullopt;
  return paid;
}

class BudgetsElsewhere {
 public:
  // Both outlive it, but for calls that are answered late.
  BudgetsElsewhere(peer::Link& link, const Clock& clock) : link_(link), clock_(clock) {}

  // How long an operation would have to wait by what the owner has said last; 0: it may start.
  uint32_t wait_ms(const Slot& slot) const {
    const int64_t now_us = clock_.steady_us();
    const MutexLock lock(known_->mutex);
    const auto found = known_->until_us.find({slot.container, slot.range.id});
    if (found == known_->until_us.end() || found->second <= now_us) return 0;
    return static_cast<uint32_t>((found->second - now_us + 999) / 1000);
  }

  void pay(const Slot& slot, const std::string& address, double charge, bool was_late) {
    const Key key{slot.container, slot.range.id};
    link_.call(address, kPayCall,
               encode({.container = slot.container,
                       .range = slot.range.id,
                       .charge = std::min(charge, ChargeElsewhere::kChargeMax),
                       .was_late = was_late}),
               kDeadline,
               [known = known_, key, now_us = clock_.steady_us()](Result<std::string> answer) {
                 Unpacker from(answer ? *answer : std::string_view());
                 const uint64_t wait_ms = from.number();
                 if (!answer || !from.is_good() || wait_ms > kWaitMsMax) return;
                 known->note(key, wait_ms == 0 ? 0 : now_us + static_cast<int64_t>(wait_ms) * 1000);
               });
  }

 private:
  using Key = std::pair<uint32_t, uint32_t>;  // of the container and the range
  static constexpr std::chrono::milliseconds kDeadline{5'000};
  static constexpr uint64_t kWaitMsMax = 3'600'000;
  static constexpr size_t kKnownMax = 100'000;

  // Outlives this, for answers that come late.
  struct Known {
    Mutex mutex;
    std::map<Key, int64_t> until_us ORRERY_GUARDED_BY(mutex);

    void note(const Key& key, int64_t until) {
      const MutexLock lock(mutex);
      if (until == 0) {
        until_us.erase(key);
      } else if (until_us.size() < kKnownMax || until_us.contains(key)) {
        until_us[key] = until;
      }
    }
  };

  peer::Link& link_;
  const Clock& clock_;
  const std::shared_ptr<Known> known_ = std::make_shared<Known>();
};

}  // namespace orrery::cluster

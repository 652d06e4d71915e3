// From a container and a placement key to the partition that owns it, on this node.
//
// A Routing is an immutable snapshot of one container: its catalog record and a slot for each of
// its ranges. A change (split, new policy, new throughput) makes a new Routing; slots of ranges
// that stay are shared between the old and the new one.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/thread_annotations.h"
#include "catalog/catalog.h"
#include "cluster/budgets/token_bucket.h"
#include "cluster/splitting/load_sample.h"
#include "partition/partition.h"

namespace orrery::cluster {

struct SlotCounters {
  std::atomic<uint64_t> reads{0};
  std::atomic<uint64_t> writes{0};
  std::atomic<uint64_t> throttled{0};
  std::atomic<double> charge{0};
  std::atomic<double> purge_charge{0};  // of it, for deleting all items of partition keys
  std::atomic<uint64_t> purged_items{0};
};

// One physical partition of a container. Its files are opened when they are first needed.
struct Slot {
  Slot(uint32_t container_in, catalog::PartitionRange range_in)
      : container(container_in), range(std::move(range_in)) {}

  const uint32_t container;
  const catalog::PartitionRange range;
  std::shared_ptr<TokenBucket> own_budget;  // set before the slot is shared
  std::unique_ptr<LoadSample> load;  // set before the slot is shared; null unless placed by order
  SlotCounters counters;
  std::atomic<int64_t> last_used_us{0};
  std::atomic<uint64_t> bytes{0};  // as last known, so that quotas count closed partitions too
  std::atomic<bool> split_wanted{false};        // a split is queued or running
  std::atomic<int64_t> split_not_before_us{0};  // after one that could not be done
  std::atomic<int64_t> scale_not_before_us{0};  // of scale_if_loaded()
  std::atomic<bool> gone{false};  // split or removed: its files must not be made again
  std::atomic<bool> here{true};   // false: another node is to serve it (serving_plan.h)

  // With a resolution of a second: a store for every use would invalidate the cache line of other
  // cores.
  void note_use(int64_t now_us) {
    if (now_us - last_used_us.load(std::memory_order_relaxed) < 1'000'000) return;
    last_used_us.store(now_us, std::memory_order_relaxed);
  }
  // What was charged a second lately; it changes every few seconds. For one thread.
  double charge_rate(int64_t now_us) {
    constexpr int64_t kEveryUs = 5'000'000;
    const int64_t passed_us = now_us - rate_since_us;
    if (passed_us < kEveryUs) return rate;
    const double charged = counters.charge.load(std::memory_order_relaxed);
    if (rate_since_us != 0) {
      rate = (charged - rate_since_charge) * 1e6 / static_cast<double>(passed_us);
    }
    rate_since_us = now_us;
    rate_since_charge = charged;
    return rate;
  }
  std::shared_ptr<partition::Partition> opened() const {
    MutexLock lock(mutex);
    return partition;
  }
  // Gives up what is open; it is never opened again. Whoever waits to open it finds it gone.
  std::shared_ptr<partition::Partition> close_for_good() {
    MutexLock opening(open_mutex);
    gone = true;
    MutexLock lock(mutex);
    return std::exchange(partition, nullptr);
  }

  int64_t rate_since_us = 0;  // of charge_rate()
  double rate_since_charge = 0;
  double rate = 0;

  mutable Mutex mutex;
  // Held while opening, so that it happens once. For the order of locks see engine_parts.h.
  Mutex open_mutex;
  // Opening that failed is not tried again at once for every request.
  std::optional<Error> open_error ORRERY_GUARDED_BY(open_mutex);
  int64_t open_again_us ORRERY_GUARDED_BY(open_mutex) = 0;
  std::shared_ptr<partition::Partition> partition ORRERY_GUARDED_BY(mutex);
};

// What a face has decoded of a container's definition, made at its first use. A container belongs
// to one face, which asks for the same type each time. Any thread may call.
class DecodedOnce {
 public:
  template <class T, class Decode>
  const T& get(Decode decode) const {
    std::call_once(once_, [&] { kept_ = std::make_shared<const T>(decode()); });
    return *static_cast<const T*>(kept_.get());
  }

 private:
  mutable std::once_flag once_;
  mutable std::shared_ptr<const void> kept_;
};

struct Routing {
  catalog::DatabasePtr database;
  catalog::ContainerPtr container;
  std::shared_ptr<const partition::Schema> schema;
  const partition::Prices* prices = nullptr;   // never null once it is made; a constant
  std::vector<std::shared_ptr<Slot>> slots;    // in the order of the map
  std::shared_ptr<TokenBucket> shared_budget;  // the database's, when the container has none
  DecodedOnce decoded;                         // of the container's definition, by its face

  const std::shared_ptr<Slot>& slot_of(std::string_view placement) const;
  // Whether a container with range placement has fewer ranges than its throughput needs. It cannot
  // be divided before there are keys, so it is split as keys arrive.
  bool wants_ranges = false;

  // The slots whose range meets [min, max), as a pair of indexes.
  std::pair<size_t, size_t> slots_of(std::string_view min, std::string_view max) const;
  const std::shared_ptr<TokenBucket>& budget_ptr(const Slot& slot) const {
    return shared_budget ? shared_budget : slot.own_budget;
  }
  TokenBucket& budget(const Slot& slot) const { return *budget_ptr(slot); }
};
using RoutingPtr = std::shared_ptr<const Routing>;

}  // namespace orrery::cluster

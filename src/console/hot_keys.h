// Which partition keys are asked for most, by a sample of the requests that come to the port. The
// engine counts by partition; this tells which key of a hot partition it is.
//
// Every kSampled-th request of a thread is looked at when it is answered: for the container in its
// path, the key in its header, and what it was charged. Of many requests fewer are looked at, one
// in kSampledLeast at the least, and each stands for so many more. One that was refused for want of
// throughput counts as much as the container's requests cost on average. For each container there
// are kKeys counters of units (Space-Saving: a key that is not counted takes over the least
// counter, so what is asked for most is always among them), halved every kHalfLifeMs. The least
// busy of kContainersMax containers makes room for another.
//
// Threading: any thread. A request that is not looked at costs a step of its thread's counter; one
// that is takes a lock that all threads share, which is why there are fewer of them under load.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/keyed_hash.h"
#include "base/thread_annotations.h"
#include "base/thread_number.h"

namespace orrery::console {

struct HotKey {
  std::string key;  // as the client wrote it: a JSON array
  double part = 0;  // of the units that the container's requests with a key ask for
  double units_per_s = 0;
};
struct HotKeyList {
  double sampled = 0;  // how many requests it is about, with a key and a charge
  std::vector<HotKey> keys;
};

class HotKeys {
 public:
  static constexpr uint32_t kSampled = 8;
  static constexpr uint32_t kSampledLeast = 128;
  // Of one thread: so many a second are enough to tell the hottest keys by within seconds.
  static constexpr int64_t kMostPerS = 100;
  static constexpr int64_t kFewPerS = 25;
  static constexpr size_t kKeys = 48;
  static constexpr size_t kKeyBytesMax = 1'024;
  static constexpr size_t kContainersMax = 256;
  static constexpr int64_t kHalfLifeMs = 10'000;

  // How many requests this one stands for; 0: it is not looked at.
  uint32_t take(const Clock& clock) {
    Pace& pace = paces_[thread_number() % kPaces];
    const uint32_t left = pace.left.load(std::memory_order_relaxed);
    if (left <= 1) return next(pace, clock.now_ms());
    pace.left.store(left - 1, std::memory_order_relaxed);
    return 0;
  }
  // `target` as sent; what is not about items of a container is passed over. `charge`: nothing of
  // one that was refused for want of throughput. `stands_for`: what take() said of it.
  void note(std::string_view target, std::string_view key, std::optional<double> charge,
            int64_t now_ms, uint32_t stands_for = kSampled);
  // The most asked for first.
  HotKeyList of(std::string_view database, std::string_view container, int64_t now_ms);

 private:
  // When the next request of a thread is looked at. Threads that share one may lose a step, and
  // nothing else.
  struct alignas(64) Pace {
    std::atomic<uint32_t> left = kSampled;
    std::atomic<uint32_t> period = kSampled;
    std::atomic<uint32_t> taken = 0;  // since `since_ms`
    std::atomic<int64_t> since_ms = 0;
  };
  static constexpr size_t kPaces = 16;

  struct Counter {
    std::string key;
    double units = 0;
  };
  struct Counts {
    std::vector<Counter> counters;
    double requests = 0;  // that were looked at
    double served = 0;    // of them
    double charged = 0;
    double units = 0;      // asked for: what was charged, and what the refused would have been
    double watched_s = 0;  // how long, up to halved_ms; fades as the counts do
    int64_t halved_ms = 0;
    void decay(int64_t now_ms);
  };

  static uint32_t next(Pace& pace, int64_t now_ms);

  std::array<Pace, kPaces> paces_;
  Mutex mutex_;
  KeyedMap<std::string, Counts> containers_ ORRERY_GUARDED_BY(mutex_);  // by dbs/…/colls/…
};

}  // namespace orrery::console

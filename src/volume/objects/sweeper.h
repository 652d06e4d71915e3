// A thread of a volume's that sweeps now and then, and logs what it removed. Each second it does
// what else the volume has to do.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/thread_annotations.h"
#include "volume/objects/sweep.h"

namespace orrery::volume {

class Sweeper {
 public:
  // With 0 it does nothing. The store outlives it.
  Sweeper(ObjectStore& store, uint32_t every_s, std::function<void()> each_second)
      : store_(store), every_s_(every_s), each_second_(std::move(each_second)) {
    if (every_s_ > 0) thread_ = std::thread([this] { run(); });
  }
  ~Sweeper() {
    {
      MutexLock lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  Sweeper(const Sweeper&) = delete;
  Sweeper& operator=(const Sweeper&) = delete;

 private:
  // False when it is to end.
  bool wait_a_second() {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    MutexLock lock(mutex_);
    for (auto now = std::chrono::steady_clock::now(); !stopping_ && now < until;
         now = std::chrono::steady_clock::now()) {
      wake_.wait_for(mutex_, until - now);
    }
    return !stopping_;
  }
  void run() {
    for (uint64_t second = 1; wait_a_second(); ++second) {
      each_second_();
      if (second % every_s_ == 0) sweep_now();
    }
  }
  void sweep_now() {
    auto swept = sweep(store_);
    if (!swept) {
      log::warn("cannot look for what dead processes left", {{"error", swept.error().message}});
    } else if (swept->roots + swept->tokens + swept->objects + swept->leases > 0) {
      log::info("removed what dead processes left", {{"roots", std::to_string(swept->roots)},
                                                     {"tokens", std::to_string(swept->tokens)},
                                                     {"objects", std::to_string(swept->objects)},
                                                     {"leases", std::to_string(swept->leases)}});
    }
  }

  ObjectStore& store_;
  const uint32_t every_s_;
  const std::function<void()> each_second_;
  Mutex mutex_;
  CondVar wake_;
  bool stopping_ ORRERY_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace orrery::volume

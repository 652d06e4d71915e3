// Lets the database of a partition be closed and reopened after a disk failure without pulling it
// away from readers.
//
// A reader enters for the length of one call. Readers share no lock: each thread counts in its own
// shard. close() blocks new readers and waits until those inside have left. A thread that is inside
// must not wait to enter again: that would deadlock with close().
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>

namespace orrery::partition {

class Gate {
 public:
  size_t enter() {
    for (;;) {
      if (auto shard = try_enter()) return *shard;
      closed_.wait(true);
    }
  }
  // Nothing when it is closed: for those who may be inside already, and must not wait.
  std::optional<size_t> try_enter() {
    const size_t shard = shard_of_thread();
    inside_[shard].count.fetch_add(1);
    if (!closed_.load()) return shard;
    leave(shard);
    return std::nullopt;
  }
  void leave(size_t shard) {
    if (inside_[shard].count.fetch_sub(1) == 1 && closed_.load()) inside_[shard].count.notify_all();
  }

  // One thread at a time.
  void close() {
    closed_.store(true);
    for (Shard& shard : inside_) {
      for (uint32_t count = shard.count.load(); count != 0; count = shard.count.load()) {
        shard.count.wait(count);
      }
    }
  }
  void open() {
    closed_.store(false);
    closed_.notify_all();
  }

 private:
  static size_t shard_of_thread() {
    return std::hash<std::thread::id>()(std::this_thread::get_id()) % kShards;
  }

  static constexpr size_t kShards = 16;
  struct alignas(64) Shard {
    std::atomic<uint32_t> count{0};
  };
  std::array<Shard, kShards> inside_;
  std::atomic<bool> closed_{false};
};

}  // namespace orrery::partition

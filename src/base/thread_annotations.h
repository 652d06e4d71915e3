// Locks that clang checks at compile time (-Wthread-safety).
#pragma once

#include <condition_variable>
#include <mutex>

#define ORRERY_GUARDED_BY(x) __attribute__((guarded_by(x)))
#define ORRERY_REQUIRES(x) __attribute__((requires_capability(x)))
// Of a lambda that runs at once, in a function that holds the locks: the compiler cannot see that.
#define ORRERY_HELD_BY_CALLER __attribute__((no_thread_safety_analysis))

namespace orrery {

class __attribute__((capability("mutex"))) Mutex {
 public:
  void lock() __attribute__((acquire_capability())) { mutex_.lock(); }
  void unlock() __attribute__((release_capability())) { mutex_.unlock(); }
  bool try_lock() __attribute__((try_acquire_capability(true))) { return mutex_.try_lock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class __attribute__((scoped_lockable)) MutexLock {
 public:
  // The caller has locked it.
  MutexLock(Mutex& mutex, std::adopt_lock_t /*locked*/) __attribute__((requires_capability(mutex)))
      : mutex_(mutex) {}
  explicit MutexLock(Mutex& mutex) __attribute__((acquire_capability(mutex))) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() __attribute__((release_capability())) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

class CondVar {
 public:
  // Spurious wake-ups happen: wait in a loop over the condition.
  void wait(Mutex& mutex) ORRERY_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    cv_.wait(lock);
    lock.release();
  }
  template <class Duration>
  bool wait_for(Mutex& mutex, Duration duration) ORRERY_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    bool signalled = cv_.wait_for(lock, duration) == std::cv_status::no_timeout;
    lock.release();
    return signalled;
  }
  void notify_one() { cv_.notify_one(); }
  void notify_all() { cv_.notify_all(); }

 private:
  std::condition_variable cv_;
};

}  // namespace orrery

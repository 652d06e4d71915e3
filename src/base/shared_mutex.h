// A lock that many may hold to read, or one to write, which clang checks at compile time
// (thread_annotations.h).
#pragma once

#include <shared_mutex>

#include "base/thread_annotations.h"

#define ORRERY_REQUIRES_SHARED(x) __attribute__((requires_shared_capability(x)))

namespace orrery {

class __attribute__((capability("mutex"))) SharedMutex {
 public:
  void lock() __attribute__((acquire_capability())) { mutex_.lock(); }
  void unlock() __attribute__((release_capability())) { mutex_.unlock(); }
  void lock_shared() __attribute__((acquire_shared_capability())) { mutex_.lock_shared(); }
  void unlock_shared() __attribute__((release_shared_capability())) { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
};

class __attribute__((scoped_lockable)) WriteLock {
 public:
  explicit WriteLock(SharedMutex& mutex) __attribute__((acquire_capability(mutex)))
      : mutex_(mutex) {
    mutex_.lock();
  }
  ~WriteLock() __attribute__((release_capability())) { mutex_.unlock(); }
  WriteLock(const WriteLock&) = delete;
  WriteLock& operator=(const WriteLock&) = delete;

 private:
  SharedMutex& mutex_;
};

class __attribute__((scoped_lockable)) ReadLock {
 public:
  explicit ReadLock(SharedMutex& mutex) __attribute__((acquire_shared_capability(mutex)))
      : mutex_(mutex) {
    mutex_.lock_shared();
  }
  ~ReadLock() __attribute__((release_generic_capability)) { mutex_.unlock_shared(); }
  ReadLock(const ReadLock&) = delete;
  ReadLock& operator=(const ReadLock&) = delete;

 private:
  SharedMutex& mutex_;
};

}  // namespace orrery

// SPDX-License-Identifier: MIT
// Mutex, scoped lock and condition variable with clang's thread-safety annotations, which the tidy
// preset checks. Guarded members carry KILN_GUARDED_BY(mutex_).
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#ifdef __clang__
#define KILN_THREAD_ATTRIBUTE(...) __attribute__((__VA_ARGS__))
#else
#define KILN_THREAD_ATTRIBUTE(...)
#endif

#define KILN_GUARDED_BY(mutex) KILN_THREAD_ATTRIBUTE(guarded_by(mutex))
#define KILN_PT_GUARDED_BY(mutex) KILN_THREAD_ATTRIBUTE(pt_guarded_by(mutex))
#define KILN_REQUIRES(...) KILN_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define KILN_EXCLUDES(...) KILN_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define KILN_ACQUIRE(...) KILN_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define KILN_RELEASE(...) KILN_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))

namespace kiln {

class KILN_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  void Lock() KILN_ACQUIRE() { mutex_.lock(); }
  void Unlock() KILN_RELEASE() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

// Holds the mutex for its own lifetime.
class KILN_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) KILN_ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() KILN_RELEASE() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Waits give the mutex up and take it again; they may return early, so wait in a loop over the
// state.
class CondVar {
 public:
  void Wait(Mutex& mutex) KILN_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    changed_.wait(lock);
    lock.release();
  }

  // False if the time was over.
  bool WaitFor(Mutex& mutex, std::chrono::nanoseconds timeout) KILN_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    const std::cv_status status = changed_.wait_for(lock, timeout);
    lock.release();
    return status == std::cv_status::no_timeout;
  }

  void NotifyOne() { changed_.notify_one(); }
  void NotifyAll() { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

}  // namespace kiln

// SPDX-License-Identifier: MIT
#include "runtime/graph/execute/record_threads.h"

#include <utility>

namespace kiln::graph {

// Lane 0 is the calling thread, so there is one thread less than lanes.
// The threads live as long as the executor: starting one for each frame would cost more than it
// records.
RecordThreads::RecordThreads(uint32_t lanes) {
  threads_.reserve(lanes - 1);
  for (uint32_t lane = 1; lane < lanes; ++lane) {
    threads_.emplace_back(Thread::Entry{.name = "recording"},
                          [this, lane](const std::stop_token&) { Serve(lane); });
  }
}

RecordThreads::~RecordThreads() {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
  }
  wake_.NotifyAll();
  for (Thread& thread : threads_) {
    thread.join();
  }
}

// Returns when all lanes are done, so `work` and `context` may live on the caller's stack.
void RecordThreads::RunAll(Work work, void* context) {
  {
    const MutexLock lock(mutex_);
    work_ = work;
    context_ = context;
    running_ = static_cast<uint32_t>(threads_.size());
    ++round_;
  }
  wake_.NotifyAll();
  // The calling thread does its own share, and only then waits.
  std::exception_ptr thrown = Do(work, context, 0);
  {
    const MutexLock lock(mutex_);
    while (running_ != 0) {
      done_.Wait(mutex_);
    }
    // One exception is passed on, that of the calling thread first.
    thrown = thrown == nullptr ? std::exchange(thrown_, nullptr) : thrown;
    thrown_ = nullptr;
  }
  if (thrown != nullptr) {
    std::rethrow_exception(thrown);
  }
}

// Nothing may leave a thread by an exception; it is carried to the caller.
std::exception_ptr RecordThreads::Do(Work work, void* context, uint32_t lane) {
  try {
    work(context, lane);
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

// A round has a number, so a thread that is late does not take the same round twice and misses
// none.
bool RecordThreads::Next(uint64_t& served, Work& work, void*& context) {
  const MutexLock lock(mutex_);
  while (!stop_ && round_ == served) {
    wake_.Wait(mutex_);
  }
  served = round_;
  work = work_;
  context = context_;
  return !stop_;
}

void RecordThreads::Serve(uint32_t lane) {
  uint64_t served = 0;
  Work work = nullptr;
  void* context = nullptr;
  while (Next(served, work, context)) {
    const std::exception_ptr thrown = Do(work, context, lane);
    const MutexLock lock(mutex_);
    thrown_ = thrown_ == nullptr ? thrown : thrown_;
    if (--running_ == 0) {
      done_.NotifyOne();
    }
  }
}

}  // namespace kiln::graph

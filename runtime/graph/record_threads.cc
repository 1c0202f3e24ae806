// SPDX-License-Identifier: MIT
#include "runtime/graph/record_threads.h"

namespace kiln::graph {

RecordThreads::RecordThreads(uint32_t lanes) {
  threads_.reserve(lanes - 1);
  for (uint32_t lane = 1; lane < lanes; ++lane) {
    threads_.emplace_back([this, lane] { Serve(lane); });
  }
}

RecordThreads::~RecordThreads() {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
  }
  wake_.NotifyAll();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void RecordThreads::RunAll(Work work, void* context) {
  {
    const MutexLock lock(mutex_);
    work_ = work;
    context_ = context;
    running_ = static_cast<uint32_t>(threads_.size());
    ++round_;
  }
  wake_.NotifyAll();
  work(context, 0);
  const MutexLock lock(mutex_);
  while (running_ != 0) {
    done_.Wait(mutex_);
  }
}

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
    work(context, lane);
    const MutexLock lock(mutex_);
    if (--running_ == 0) {
      done_.NotifyOne();
    }
  }
}

}  // namespace kiln::graph

// SPDX-License-Identifier: MIT
// Threads that record the lanes of a frame: the caller does the first, each other one has a thread
// that sleeps between frames. Private to runtime/graph. See spec/graph 8.2
#pragma once

#include <cstdint>
#include <exception>
#include <vector>

#include "compiler/base/mutex.h"
#include "compiler/base/threads/thread.h"

namespace kiln::graph {

class RecordThreads {
 public:
  // lanes ≥ 2
  explicit RecordThreads(uint32_t lanes);
  ~RecordThreads();
  RecordThreads(const RecordThreads&) = delete;
  RecordThreads& operator=(const RecordThreads&) = delete;

  // Calls work(lane) for every lane, at the same time, and returns when all are done. What a lane
  // throws is thrown here then; of several the first lane's own, else any.
  template <class F>
  void Run(F& work) {
    RunAll([](void* context, uint32_t lane) { (*static_cast<F*>(context))(lane); }, &work);
  }

 private:
  using Work = void (*)(void* context, uint32_t lane);

  void RunAll(Work work, void* context);
  // What it threw; null: nothing.
  static std::exception_ptr Do(Work work, void* context, uint32_t lane);
  void Serve(uint32_t lane);
  // Waits for work that the thread has not done; false: there will be none.
  bool Next(uint64_t& served, Work& work, void*& context);

  Mutex mutex_;
  CondVar wake_;
  CondVar done_;
  uint64_t round_ KILN_GUARDED_BY(mutex_) = 0;
  uint32_t running_ KILN_GUARDED_BY(mutex_) = 0;
  bool stop_ KILN_GUARDED_BY(mutex_) = false;
  std::exception_ptr thrown_ KILN_GUARDED_BY(mutex_);  // by another lane of this round
  Work work_ KILN_GUARDED_BY(mutex_) = nullptr;
  void* context_ KILN_GUARDED_BY(mutex_) = nullptr;
  std::vector<Thread> threads_;
};

}  // namespace kiln::graph

// SPDX-License-Identifier: MIT
// Threads that record the lanes of a frame: the caller does the first, each other one has a thread
// that sleeps between frames. Private to runtime/graph. Spec: graph §8.2
#pragma once

#include <cstdint>
#include <thread>
#include <vector>

#include "compiler/base/mutex.h"

namespace kiln::graph {

class RecordThreads {
 public:
  // lanes ≥ 2
  explicit RecordThreads(uint32_t lanes);
  ~RecordThreads();
  RecordThreads(const RecordThreads&) = delete;
  RecordThreads& operator=(const RecordThreads&) = delete;

  // Calls work(lane) for every lane, at the same time, and returns when all are done.
  template <class F>
  void Run(F& work) {
    RunAll([](void* context, uint32_t lane) { (*static_cast<F*>(context))(lane); }, &work);
  }

 private:
  using Work = void (*)(void* context, uint32_t lane);

  void RunAll(Work work, void* context);
  void Serve(uint32_t lane);
  // Waits for work that the thread has not done; false: there will be none.
  bool Next(uint64_t& served, Work& work, void*& context);

  Mutex mutex_;
  CondVar wake_;
  CondVar done_;
  uint64_t round_ KILN_GUARDED_BY(mutex_) = 0;
  uint32_t running_ KILN_GUARDED_BY(mutex_) = 0;
  bool stop_ KILN_GUARDED_BY(mutex_) = false;
  Work work_ KILN_GUARDED_BY(mutex_) = nullptr;
  void* context_ KILN_GUARDED_BY(mutex_) = nullptr;
  std::vector<std::thread> threads_;
};

}  // namespace kiln::graph

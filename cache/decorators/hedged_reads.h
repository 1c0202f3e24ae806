// SPDX-License-Identifier: MIT
// Reads from a distant store that do not wait for its slowest answers: what takes longer than 95 of
// a hundred reads did is asked a second time, and the first answer counts. See spec/cache 5.3
//
// Threads: Get may be called from any number of threads. Calls run on a few threads of its own; one
// mutex guards the queue, one the latencies, and one each read.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "cache/store.h"
#include "compiler/base/mutex.h"
#include "compiler/base/threads/thread.h"

namespace kiln::cache {

class HedgedReads {
 public:
  // Store and clock must outlive the object.
  HedgedReads(BlobStore& store, Clock& clock, uint32_t threads = 8);
  ~HedgedReads();
  HedgedReads(const HedgedReads&) = delete;
  HedgedReads& operator=(const HedgedReads&) = delete;

  // Errors: those of the store; kDeadlineExceeded, kCancelled.
  Result<Blob> Get(const Key& key, const Call& call);

  // When a second read starts: nothing before there were kSamples reads.
  std::optional<Duration> HedgeAfter();
  uint64_t hedged() const { return hedged_; }

  static constexpr size_t kSamples = 64;

 private:
  struct Race;
  void Start(const std::shared_ptr<Race>& race, const Key& key);
  void Note(Duration latency);
  void Work();

  BlobStore& store_;
  Clock& clock_;
  std::atomic<uint64_t> hedged_{0};
  Mutex latencies_mutex_;
  std::array<Duration, kSamples> latencies_ KILN_GUARDED_BY(latencies_mutex_){};  // a ring
  uint64_t noted_ KILN_GUARDED_BY(latencies_mutex_) = 0;
  Mutex mutex_;
  CondVar changed_;
  std::deque<std::function<void()>> tasks_ KILN_GUARDED_BY(mutex_);
  bool ended_ KILN_GUARDED_BY(mutex_) = false;
  std::vector<Thread> threads_;
};

}  // namespace kiln::cache

// SPDX-License-Identifier: MIT
#include "cache/decorators/hedged_reads.h"

#include <algorithm>
#include <utility>

#include "cache/wait.h"

namespace kiln::cache {

// One read: the calls that were made for it, and the first answer.
struct HedgedReads::Race {
  Mutex mutex;
  CondVar changed;
  std::stop_source stop;
  Deadline deadline = Deadline::max();
  uint32_t running KILN_GUARDED_BY(mutex) = 0;
  std::optional<Result<Blob>> answer KILN_GUARDED_BY(mutex);
};

HedgedReads::HedgedReads(BlobStore& store, Clock& clock, uint32_t threads)
    : store_(store), clock_(clock) {
  for (uint32_t i = 0; i < threads; ++i) {
    threads_.emplace_back(Thread::Entry{.name = "hedged reads"},
                          [this](const std::stop_token&) { Work(); });
  }
}

HedgedReads::~HedgedReads() {
  {
    const MutexLock lock(mutex_);
    ended_ = true;
    tasks_.clear();
    changed_.NotifyAll();
  }
  for (Thread& thread : threads_) {
    thread.join();
  }
}

void HedgedReads::Work() {
  for (;;) {
    std::function<void()> task;
    {
      const MutexLock lock(mutex_);
      while (tasks_.empty() && !ended_) {
        changed_.Wait(mutex_);
      }
      if (ended_) {
        return;
      }
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

// Content and "not found" are answers; an error counts only if no other call is on the way.
void HedgedReads::Start(const std::shared_ptr<Race>& race, const Key& key) {
  {
    const MutexLock lock(race->mutex);
    ++race->running;
  }
  const MutexLock lock(mutex_);
  tasks_.push_back([this, race, key] {
    const Duration start = clock_.Monotonic();
    Result<Blob> got = Error{.code = ErrorCode::kCancelled, .context = "late"};
    if (!race->stop.stop_requested()) {
      const Result<void> asked = CatchAll([&] {
        got = store_.Get(key, {.stop = race->stop.get_token(), .deadline = race->deadline});
      });
      if (!asked.ok()) {
        got = asked.error();  // whoever waits is told
      }
    }
    const bool answered = got.ok() || got.error().code == ErrorCode::kNotFound;
    if (answered) {
      Note(clock_.Monotonic() - start);
    }
    const MutexLock race_lock(race->mutex);
    --race->running;
    if (!race->answer.has_value() && (answered || race->running == 0)) {
      race->answer = std::move(got);
    }
    race->changed.NotifyAll();
  });
  changed_.NotifyOne();
}

Result<Blob> HedgedReads::Get(const Key& key, const Call& call) {
  const auto race = std::make_shared<Race>();
  race->deadline = call.deadline;
  const std::optional<Duration> after = HedgeAfter();
  Deadline hedge_at = after.has_value() ? clock_.Monotonic() + *after : Deadline::max();
  Start(race, key);
  const StopWakes wakes(call.stop, race->mutex, race->changed);
  Result<void> waited;
  bool hedge = false;
  for (;;) {
    if (hedge) {
      ++hedged_;
      Start(race, key);
      hedge = false;
    }
    const MutexLock lock(race->mutex);
    if (race->answer.has_value()) {
      race->stop.request_stop();  // the other one
      return *std::move(race->answer);
    }
    waited =
        WaitOnce(race->changed, race->mutex, clock_, call.Until(std::min(call.deadline, hedge_at)));
    if (waited.ok()) {
      continue;
    }
    if (waited.error().code != ErrorCode::kDeadlineExceeded || hedge_at >= call.deadline) {
      race->stop.request_stop();
      return waited.error();
    }
    hedge_at = Deadline::max();
    hedge = true;
  }
}

void HedgedReads::Note(Duration latency) {
  const MutexLock lock(latencies_mutex_);
  latencies_[noted_++ % kSamples] = latency;
}

std::optional<Duration> HedgedReads::HedgeAfter() {
  std::array<Duration, kSamples> sorted;
  {
    const MutexLock lock(latencies_mutex_);
    if (noted_ < kSamples) {
      return std::nullopt;
    }
    sorted = latencies_;
  }
  const auto p95 = sorted.begin() + kSamples * 95 / 100;
  std::nth_element(sorted.begin(), p95, sorted.end());
  return *p95;
}

}  // namespace kiln::cache

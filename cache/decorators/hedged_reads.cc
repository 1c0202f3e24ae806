// SPDX-License-Identifier: MIT
#include "cache/decorators/hedged_reads.h"

#include <algorithm>
#include <utility>

#include "cache/wait.h"

namespace kiln::cache {

// One read: the calls that were made for it, and the first answer.
struct HedgedReads::Race {
  // Guards the answer and the count. It is never held while the store is asked.
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
    // A fixed number of threads bounds how many calls an upstream gets, and what a slow one can tie
    // up.
    threads_.emplace_back(Thread::Entry{.name = "hedged reads"},
                          [this](const std::stop_token&) { Work(); });
  }
}

HedgedReads::~HedgedReads() {
  {
    const MutexLock lock(mutex_);
    ended_ = true;
    // Callers must be gone by now: a race whose task is dropped gets no answer.
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
    // The race may have been won while this waited for a thread.
    if (!race->stop.stop_requested()) {
      const Result<void> asked = CatchAll([&] {
        got = store_.Get(key, {.stop = race->stop.get_token(), .deadline = race->deadline});
      });
      if (!asked.ok()) {
        got = asked.error();  // whoever waits is told
      }
    }
    const bool answered = got.ok() || got.error().code == ErrorCode::kNotFound;
    // Only answers count into the latency from which the hedge follows. Errors come at once or
    // after the whole deadline.
    if (answered) {
      Note(clock_.Monotonic() - start);
    }
    const MutexLock race_lock(race->mutex);
    --race->running;
    // The first answer wins. An error is kept back while another call is on the way.
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
  // The second call goes out when the first one takes longer than 95 % of the last ones did: about
  // one read in twenty is made twice, and the slowest ones are cut off.
  Deadline hedge_at = after.has_value() ? clock_.Monotonic() + *after : Deadline::max();
  Start(race, key);
  // Leaving wakes this wait and, through the token of the race, the calls.
  const StopWakes wakes(call.stop, race->mutex, race->changed);
  Result<void> waited;
  bool hedge = false;
  for (;;) {
    if (hedge) {
      // Outside of the race's mutex, because Start takes it.
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
    // The caller's own end, not the time of the hedge.
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
  // Selecting one rank of 64 numbers is cheaper than sorting them, and is done for each read.
  const auto p95 = sorted.begin() + kSamples * 95 / 100;
  std::nth_element(sorted.begin(), p95, sorted.end());
  return *p95;
}

}  // namespace kiln::cache

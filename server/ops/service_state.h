// SPDX-License-Identifier: MIT
// How the daemon is: health with reasons, whether it takes new work, and for how long nobody has
// wanted anything. See spec/daemon 13.3, 14.4, 14.5
//
// Threads: all functions may run concurrently; one mutex, held for O(1).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/mutex.h"

namespace kiln::ops {

// The numbers of the wire.
enum class Health : uint8_t {
  kStarting = 1,
  kServing = 2,
  kDegraded = 3,
  kDraining = 4,
  kStopped = 5,
};

std::string_view HealthName(Health health);  // "SERVING"

class ServiceState {
 public:
  // The clock must outlive the object.
  explicit ServiceState(Clock& clock) : clock_(clock), start_(clock.Monotonic()) {}

  Health health();
  std::vector<std::string> reasons();  // of being degraded: those that stay, then those of now
  // Of every call, so neither asks for the reasons of now.
  bool TakesWork();  // SERVING or DEGRADED
  bool Starting();
  bool Ready();           // Serve was called, whatever came after it
  bool TakesBatchWork();  // false above the hard limit of memory
  void TakeBatchWork(bool takes);

  void Serve();                      // DEGRADED if there are reasons
  void Degrade(std::string reason);  // for good; once per reason
  // Asked for the reasons of now, outside the mutex, and not before Serve. Set before Serve.
  void Observe(std::function<std::vector<std::string>()> conditions);
  void Drain();
  void Stop();

  // A call is between these two.
  void CallBegan();
  void CallEnded();
  // Since the last call ended; zero while there are calls.
  Duration IdleFor();
  uint64_t calls();  // ever
  Duration Uptime() { return clock_.Monotonic() - start_; }

 private:
  Clock& clock_;
  const Duration start_;
  std::function<std::vector<std::string>()> conditions_;
  Mutex mutex_;
  Health health_ KILN_GUARDED_BY(mutex_) = Health::kStarting;
  bool ready_ KILN_GUARDED_BY(mutex_) = false;
  bool takes_batch_ KILN_GUARDED_BY(mutex_) = true;
  std::vector<std::string> reasons_ KILN_GUARDED_BY(mutex_);
  uint64_t active_ KILN_GUARDED_BY(mutex_) = 0;
  uint64_t calls_ KILN_GUARDED_BY(mutex_) = 0;
  Duration last_end_ KILN_GUARDED_BY(mutex_) = clock_.Monotonic();
};

}  // namespace kiln::ops

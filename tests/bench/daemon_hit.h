// SPDX-License-Identifier: MIT
// Warm Compile calls as daemon_bench makes them, for measurements that need such a call.
#pragma once

#include <cstdint>
#include <memory>

#include "tests/bench/daemon_measures.h"

namespace kiln::bench {

// The uber material by digest, the artifact inline; answered from memory.
class HitCall {
 public:
  // Sends the source along once.
  explicit HitCall(const DaemonBench& bench);
  ~HitCall();
  HitCall(const HitCall&) = delete;
  HitCall& operator=(const HitCall&) = delete;

  // How long a call takes, in microseconds; negative if it failed.
  double Us();
  uint64_t request_bytes() const;
  uint64_t reply_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kiln::bench

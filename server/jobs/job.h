// SPDX-License-Identifier: MIT
// The unit of dispatch: a chunk of work with a lane, a deadline and a way to stop it.
// See spec/daemon 5
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "cache/store.h"

namespace kiln::jobs {

// The lane follows from the RPC: somebody waits for interactive work, nobody for batch work.
// What a job may take at most, if nobody asks for less (spec/daemon 9.1).
inline constexpr Duration kInteractiveDeadline = std::chrono::seconds(30);
inline constexpr Duration kItemDeadline = std::chrono::minutes(10);  // of a batch

// What one call may keep in memory at once of what its sender chose, beside its messages.
inline constexpr uint64_t kCallBytes = uint64_t{1} << 30;

// What a thread may work on one program or variant, from its sources to its words. spec/daemon 10
inline constexpr Duration kJobCpu = std::chrono::seconds(10);

enum class Lane : uint8_t { kInteractive, kBatch };
inline constexpr uint32_t kLaneCount = 2;
inline constexpr uint32_t kMostUrgent = 9;

// Of an interactive job: bounded by one compile, or by seconds, as what counts, lists or explains.
enum class Length : uint8_t { kShort, kLong };

struct Job {
  Lane lane = Lane::kInteractive;
  std::string name;          // for logs and status: "compile rock/forward"
  std::string tenant;        // whose share of the lane it uses; "" is the daemon's user
  std::string session = {};  // of the tenant's: a batch, a project that is watched
  Length length = Length::kShort;
  uint32_t priority = 0;  // 0 to kMostUrgent: each step doubles the session's share of its tenant's
  cache::Deadline deadline = cache::Deadline::max();
  std::stop_token stop = {};  // read between stages and between variants
  // Runs on one worker thread. Must return soon after `stop` was requested or the deadline passed.
  std::function<void(const cache::Call&)> run;
};

}  // namespace kiln::jobs

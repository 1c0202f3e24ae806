// SPDX-License-Identifier: MIT
// What benchmarks measure with: clocks of threads and processes, memory of this process.
#pragma once

#include <cstdint>
#include <ctime>
#include <fstream>
#include <malloc.h>
#include <unistd.h>

namespace kiln::bench {

// Time of a clock such as CLOCK_THREAD_CPUTIME_ID, which goes on only while this thread runs.
inline double NanosecondsOf(clockid_t clock) {
  timespec now{};
  (void)clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

inline double ThreadCpuMicroseconds() { return NanosecondsOf(CLOCK_THREAD_CPUTIME_ID) * 1e-3; }

// Pages of this process in memory.
inline uint64_t ResidentKib() {
  std::ifstream file("/proc/self/statm");
  uint64_t total = 0;
  uint64_t resident = 0;
  file >> total >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / 1024;
}

// The same after giving free memory back.
inline uint64_t TrimmedKib() {
  (void)malloc_trim(0);
  return ResidentKib();
}

}  // namespace kiln::bench

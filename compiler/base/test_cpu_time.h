// SPDX-License-Identifier: MIT
// What work costs, for tests that bound it: time of the processor, which other work on the machine
// does not spend. A test must never bound the time that passes.
#pragma once

#include <charconv>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "compiler/base/clock.h"

namespace kiln {

inline Duration CpuOf(clockid_t clock) {
  timespec time{};
  (void)::clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}
inline Duration CpuOfThisThread() { return CpuOf(CLOCK_THREAD_CPUTIME_ID); }
inline Duration CpuOfThisProcess() { return CpuOf(CLOCK_PROCESS_CPUTIME_ID); }

// Of all threads of this process that live and have the word in their names.
inline Duration CpuOfThreads(std::string_view word) {
  Duration sum{};
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    const std::string number = task.path().filename().string();
    int thread = 0;
    (void)std::from_chars(number.data(), number.data() + number.size(), thread);
    if (name.find(word) != std::string::npos) {
      // How Linux names the clock of a thread: pthread_getcpuclockid gives the same.
      constexpr int kOfOneThread = 4, kScheduled = 2;
      sum += CpuOf(~thread * 8 | kOfOneThread | kScheduled);
    }
  }
  return sum;
}

}  // namespace kiln

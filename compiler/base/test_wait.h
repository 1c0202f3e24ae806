// SPDX-License-Identifier: MIT
// How tests let time pass; the only place of tests that sleeps (`tests/check_waits.py`).
#pragma once

#include <chrono>
#include <thread>

namespace kiln {

// Far longer than anything takes on a busy machine: a test that runs into it has found a fault.
inline constexpr std::chrono::seconds kTestPatience{60};

// Looks at the condition until it holds. False: it did not within `patience`.
template <class Condition>
bool WaitUntil(Condition condition, std::chrono::milliseconds patience = kTestPatience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

// For a test that varies the moment at which it does something, or has something happen slowly. Not
// for waiting: no test may need that something is over, or is not, after it.
inline void LetPass(std::chrono::microseconds time) { std::this_thread::sleep_for(time); }

}  // namespace kiln

// SPDX-License-Identifier: MIT
// CheckStop between steps that take milliseconds each. CheckStop asks the clock only every few
// times, which is right for a loop that comes round in a microsecond; with slow steps a deadline
// would pass unseen for as many of them.
#pragma once

#include <cstdint>

namespace kiln {

// How often CheckStop is called for each time that it asks the clock.
inline constexpr uint32_t kLooksPerTime = 17;

// As CheckStop, and the clock is asked for certain. Throws Stopped.
void CheckStopBetweenSlowSteps();

}  // namespace kiln

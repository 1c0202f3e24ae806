// SPDX-License-Identifier: MIT
#include "compiler/base/threads/slow_step.h"

#include "compiler/base/threads/stop.h"

namespace kiln {

// One of so many looks in a row asks the clock, whatever came before; the others cost a load each.
void CheckStopBetweenSlowSteps() {
  for (uint32_t look = 0; look < kLooksPerTime; ++look) {
    CheckStop();
  }
}

}  // namespace kiln

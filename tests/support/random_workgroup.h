// SPDX-License-Identifier: MIT
// Random compute programs whose invocations work together: phases of reading anything and writing
// what belongs to the invocation alone, with barriers in between, loops and branches on what the
// whole workgroup knows, and atomics whose sum does not depend on the order.
#pragma once

#include <cstdint>
#include <string>

#include "tests/support/compute_rig.h"

namespace kiln::oracle {

struct RandomWorkgroup {
  std::string source;
  ComputeRun run;
};

RandomWorkgroup MakeRandomWorkgroup(uint32_t seed);

}  // namespace kiln::oracle

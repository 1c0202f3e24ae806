// SPDX-License-Identifier: MIT
// Counts what the program allocates on the heap: its operators new are in the place of the standard
// ones wherever the library is linked.
#pragma once

#include <cstdint>

namespace kiln::test {

// Since the program began, of all threads.
uint64_t AllocationCount();

}  // namespace kiln::test

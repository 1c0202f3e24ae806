// SPDX-License-Identifier: MIT
// The options that a build consulted, with the values that it saw.
#pragma once

#include <vector>

#include "compiler/base/bitset.h"
#include "compiler/driver/request.h"

namespace kiln::driver {

// `reads` by OptionId of the program. Sorted by name.
std::vector<OptionRead> ReadsOf(const resolve::Program& program,
                                const resolve::OptionValues& values, const Bitset& reads);

}  // namespace kiln::driver

// SPDX-License-Identifier: MIT
// What mutated_seeds_test feeds to the entry of a fuzzer: each program has seeds of its own.
#pragma once

#include <vector>

#include "compiler/base/bytes.h"

namespace kiln::fuzz {

// Sound inputs, from which damaged ones are made.
std::vector<Bytes> Seeds();

}  // namespace kiln::fuzz

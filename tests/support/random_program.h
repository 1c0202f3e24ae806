// SPDX-License-Identifier: MIT
// Random well-typed RPL programs for the pixel bench, each with its meaning beside its text: every
// expression and statement is written as source and, in the same breath, as a function of C++ that
// does what rpl.md says about that source. So the front end, closing and the interpreter of closed
// IR are checked too, not only emission. Equal seeds give equal programs (of one compiler of C++).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/support/interpreter.h"
#include "tests/support/pixel_bench.h"

namespace kiln::oracle {

struct RandomProgram {
  std::string source;                // defines `probe`
  std::vector<std::string> options;  // values of its options
  // What the source says that pixel `index` writes.
  std::function<Outcome(const Samples&, uint32_t index)> run;
};

RandomProgram MakeRandomProgram(uint32_t seed);

// Inputs that suit these programs: floats are dyadic, half of the integers small.
Samples MakeRandomSamples(uint32_t seed);

}  // namespace kiln::oracle

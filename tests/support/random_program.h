// SPDX-License-Identifier: MIT
// Random well-typed RPL programs for the pixel rig, each with its meaning beside its text: every
// expression and statement is written as source and, in the same breath, as a function of C++ that
// does what spec/rpl says about that source. So the front end, closing and the interpreter of
// specialised IR are checked too, not only emission. Equal seeds give equal programs (of one
// compiler).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/interpreter.h"
#include "tests/support/pixel_rig.h"

namespace kiln::oracle {

struct RandomProgram {
  std::string source;                // defines `probe`
  std::vector<std::string> options;  // values of its options
  // What the source says that pixel `index` writes.
  std::function<Outcome(const Samples&, uint32_t index)> run;
};

enum class Language : uint8_t {
  kVersion1,
  kVersion2,
  kVersion2Compute,  // without stage functions; results are fields of a parameter `result`
};
RandomProgram MakeRandomProgram(uint32_t seed, Language language = Language::kVersion1);

// Inputs that suit these programs: floats are dyadic, half of the integers small.
Samples MakeRandomSamples(uint32_t seed);

}  // namespace kiln::oracle

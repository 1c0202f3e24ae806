// SPDX-License-Identifier: MIT
// What is computed once per source, program, constant and specialised unit, beside its budget
// (spec/architecture 10.5), in microseconds of the machine at hand.
#pragma once

#include "tests/bench/variant_paths.h"

namespace kiln::bench {

struct UnitTimes {
  double parse_per_kb = 0;  // a source to its generic module
  double link = 0;          // modules to a program
  double constant = 0;      // a constant to its code object
  double unit_version = 0;  // a declaration or region, specialised and lowered
};
// Medians of several runs.
UnitTimes MeasureUnits(const UberProgram& uber);

}  // namespace kiln::bench

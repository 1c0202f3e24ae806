// SPDX-License-Identifier: MIT
// Every variant of a program tried, each message said once with the condition under which it
// comes. Program, entry points, values of options -> diagnostics with a note, counts.
// See spec/daemon 3.1
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/driver/failure_condition.h"
#include "compiler/driver/request.h"

namespace kiln::driver {

// More combinations than this are not tried.
inline constexpr uint64_t kMaxCheckedVariants = 65536;

struct SpaceReport {
  uint64_t variants = 0;
  uint64_t failing = 0;                 // with an error
  std::vector<Diagnostic> diagnostics;  // those of some variants only have a note that says which
};

// The axes of a program, by OptionId: flags and enums take all of their values, numbers their
// default.
std::vector<Axis> AxesOf(const resolve::Program& program);

// Errors: kInvalidArgument, LIMIT: more than kMaxCheckedVariants combinations.
Result<SpaceReport> CheckSpace(const LinkedProgram& linked,
                               std::span<const resolve::EntryPoint> entries,
                               const target::Target& target);

}  // namespace kiln::driver

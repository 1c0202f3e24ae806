// SPDX-License-Identifier: MIT
// Rows of overloads.def as WGSL: each operator and function with operands that are constants, and
// with the same operands in variables. What is computed where the module is read has to be what is
// computed where it runs.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace kiln::wgsl::front {

struct MeaningRow {
  std::string name;        // "Add V=vec3<f32>"
  std::string statements;  // set `equal` to whether both are one
};

// All rows, in the same order on every machine: overloads, conversions, constructors, bitcasts,
// pointers.
std::vector<MeaningRow> MeaningRows();

// A compute program that writes 2 to `made[i]` where row i is equal, 1 where it is not.
std::string ProgramOf(std::span<const MeaningRow> rows);

}  // namespace kiln::wgsl::front
